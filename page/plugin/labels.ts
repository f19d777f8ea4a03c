/** Every text of the plugin in English; a study may give its own with the parameter `labels`. */

export const DEFAULT_LABELS = {
  reward_caption: "Last reward",
  counter: "Choice {number} of {total}",
  points: "Points in this part: {points}",
  grid: "Squares in {columns} columns and {rows} rows. Arrow keys move, Enter or Space chooses.",
  square: "Column {column}, row {row}",
  square_blue: "your dot",
  square_yellow: "your next choice",
  square_unavailable: "not available",
  square_suggested: "suggested",
  said_reward: "Reward {reward}. Your dot is in column {column}, row {row}.",
  said_next: "Next: column {column}, row {row}.",
  said_suggested: "Suggested: column {column}, row {row}.",
  rule_standard: "Choose any square. If you do not click, your last choice is repeated.",
  rule_neighbour: "Stay, or choose a square next to the blue dot. If you do not click, you stay.",
  rule_travel: "Choose any square as your goal. The blue dot walks there, one square at a time.",
  hint_unavailable: "Too far away: you can only choose squares next to the blue dot.",
  saving: "Saving your choice…",
  connection_lost: "The connection was lost. Your choice is kept, and we are trying again.",
  paused_title: "Paused",
  paused_text: "The clock has stopped. When you continue, you will have the full time for this choice again.",
  resume: "Continue",
} as const;

export type LabelName = keyof typeof DEFAULT_LABELS;
export type Labels = Record<LabelName, string>;

/** The text with its {placeholders} filled in; a placeholder without a value stays as it is. */
export function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
