/** Every text of the plugin in English; a study may give its own with the parameter `labels`. */

export const DEFAULT_LABELS = {
  reward_caption: "Last reward",
  counter: "Choice {number} of {total}",
  points: "Points in this part: {points}",
  money: "Earned in this part: {money}",
  grid: "Squares in {columns} columns and {rows} rows. Arrow keys move, Enter or Space chooses.",
  square: "Column {column}, row {row}",
  square_blue: "your dot",
  square_yellow: "your next choice",
  square_unavailable: "not available",
  square_suggested: "suggested",
  said_reward: "Reward {reward}. Your dot is in column {column}, row {row}.",
  said_next: "Next: column {column}, row {row}.",
  said_suggested: "Suggested: column {column}, row {row}.",
  arms: "{total} options. Arrow keys move, Enter or Space chooses.",
  arms_digits: "{total} options. A digit chooses one; or arrow keys move, Enter or Space chooses.",
  arm: "Option {number}",
  arm_of: "option {number} of {total}",
  arm_joined: "joined to {arms}",
  arm_leads: "leads to {arms}",
  arm_reward: "reward {reward}",
  said_reward_at: "{arm}: reward {reward}.",
  said_recorded_at: "{arm}: choice recorded.",
  said_next_at: "Next: {arm}.",
  said_suggested_at: "Suggested: {arm}.",
  said_foregone: "The others: {rewards}.",
  said_open: "Open this time: {arms}.",
  rule_standard: "Choose any square. If you do not click, your last choice is repeated.",
  rule_neighbour: "Stay, or choose a square next to the blue dot. If you do not click, you stay.",
  rule_travel: "Choose any square as your goal. The blue dot walks there, one square at a time.",
  rule_squares_standard: "Choose any square.",
  rule_squares_neighbour: "Stay, or choose a square next to the blue dot.",
  rule_arms_standard: "Choose any option.",
  rule_line_neighbour: "Stay, or choose an option next to the blue dot.",
  rule_graph_neighbour: "Stay, or choose an option that a line joins to the blue dot.",
  rule_arrows_neighbour: "Stay, or choose an option that an arrow leads to from the blue dot.",
  rule_arms_travel: "Choose any option as your goal. The blue dot goes there, one step at a time.",
  rule_no_click: "If you do not click, your last choice is repeated.",
  rule_no_click_stay: "If you do not click, you stay.",
  rule_no_deadline: "Take your time.",
  rule_one_open: "Only one option is open this time: {arm}.",
  rule_some_open: "Hatched options are closed this time.",
  hint_unavailable: "Too far away: you can only choose squares next to the blue dot.",
  hint_too_far: "Too far away: you can only choose options next to the blue dot.",
  hint_closed: "This option is closed this time.",
  saving: "Saving your choice…",
  connection_lost: "The connection was lost. Your choice is kept, and we are trying again.",
  paused_title: "Paused",
  paused_text: "The clock has stopped. When you continue, you will have the full time for this choice again.",
  paused_text_no_clock: "Continue when you are ready.",
  resume: "Continue",
} as const;

export type LabelName = keyof typeof DEFAULT_LABELS;
export type Labels = Record<LabelName, string>;

/** The text with its {placeholders} filled in; a placeholder without a value stays as it is. */
export function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
