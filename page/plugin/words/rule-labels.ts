/** Which labels say the rule of a block: what may be chosen, and what happens without a click. */

import type { Layout } from "../layout";
import type { Dynamic } from "../rules";
import type { LabelName } from "./labels";

/** The label that says what may be chosen. */
export function mayLabel(kind: Layout["kind"], dynamic: Dynamic): LabelName {
  if (kind === "grid") return dynamic === "travel" ? "rule_travel" : `rule_squares_${dynamic}`;
  if (dynamic !== "neighbour" || kind === "buttons") return dynamic === "travel" ? "rule_arms_travel" : "rule_arms_standard";
  return `rule_${kind}_neighbour`;
}

/** The labels of the line below the arms, in their order. */
export function ruleLabels(kind: Layout["kind"], dynamic: Dynamic, hasDeadline: boolean): LabelName[] {
  if (kind === "grid" && hasDeadline) return [`rule_${dynamic}`];
  const may = mayLabel(kind, dynamic);
  if (!hasDeadline) return [may, "rule_no_deadline"];
  if (dynamic === "travel") return [may];
  return [may, dynamic === "neighbour" ? "rule_no_click_stay" : "rule_no_click"];
}
