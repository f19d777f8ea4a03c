/** Numbers, points and money as a language writes them. */

/** How rewards are shown. */
export interface Rewards {
  kind: "points" | "money" | "hidden";
  currency: string;
  /** Of money: what a point is worth. */
  per_point: number;
}

export const AS_POINTS: Rewards = { kind: "points", currency: "", per_point: 1 };
/** Of an amount of money, however little a point is worth. */
const MOST_DIGITS = 4;

/** Made once each: making one takes much longer than writing with it. */
const FORMATS = new Map<string, Intl.NumberFormat>();

function format(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${options.currency ?? ""} ${options.maximumFractionDigits ?? ""}`;
  const made = FORMATS.get(key) ?? new Intl.NumberFormat(language || undefined, options);
  FORMATS.set(key, made);
  return made;
}

/** A number with at most two decimals. */
export function writeNumber(value: number, language: string): string {
  return format(language, { maximumFractionDigits: 2 }).format(value);
}

/** An amount of money; of small units as many decimals are shown as they have. */
export function writeMoney(value: number, currency: string, language: string, unit = 1): string {
  try {
    const usual = format(language, { style: "currency", currency });
    const digits = Math.min(MOST_DIGITS, Math.max(usual.resolvedOptions().maximumFractionDigits ?? 2, decimals(unit)));
    return format(language, { style: "currency", currency, maximumFractionDigits: digits }).format(value);
  } catch {
    // A currency that is not in ISO 4217, such as "credits".
    return `${writeNumber(value, language)} ${currency}`;
  }
}

/** So many points as people see them. */
export function writeReward(points: number, rewards: Rewards, language: string): string {
  if (rewards.kind !== "money") return writeNumber(points, language);
  return writeMoney(points * rewards.per_point, rewards.currency, language, rewards.per_point);
}

function decimals(unit: number): number {
  return unit.toFixed(MOST_DIGITS).replace(/0+$/, "").split(".")[1]?.length ?? 0;
}
