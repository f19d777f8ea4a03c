/** Which labels say the rule of a block: what may be chosen, and what happens without a click. */

import type { Layout } from "../layout";
import type { Dynamic } from "../rules";
import type { LabelName } from "./labels";

/** What of a layout its rule depends on. */
export interface Ruled {
  kind: Layout["kind"];
  /** Of a graph: whether edges are arrows. */
  directed?: boolean;
}

/** The label that says what may be chosen. */
export function mayLabel({ kind, directed }: Ruled, dynamic: Dynamic): LabelName {
  if (kind === "grid") return dynamic === "travel" ? "rule_travel" : `rule_squares_${dynamic}`;
  if (dynamic !== "neighbour" || kind === "buttons") return dynamic === "travel" ? "rule_arms_travel" : "rule_arms_standard";
  return kind === "graph" && directed ? "rule_arrows_neighbour" : `rule_${kind}_neighbour`;
}

/** The labels of the line below the arms, in their order. */
export function ruleLabels(layout: Ruled, dynamic: Dynamic, hasDeadline: boolean): LabelName[] {
  if (layout.kind === "grid" && hasDeadline) return [`rule_${dynamic}`];
  const may = mayLabel(layout, dynamic);
  if (!hasDeadline) return [may, "rule_no_deadline"];
  if (dynamic === "travel") return [may];
  return [may, dynamic === "neighbour" ? "rule_no_click_stay" : "rule_no_click"];
}
