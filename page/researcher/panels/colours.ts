/** Colours that people with any colour vision tell apart (Okabe and Ito), and dashes so that colour is never alone. */

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
const DASHES: number[][] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

const nth = <Type>(list: Type[], names: string[], name: string): Type => list[Math.max(0, names.indexOf(name)) % list.length] as Type;

/** The colour of one of these names. */
export const colourOf = (names: string[], name: string): string => nth(COLOURS, names, name);

/** The dashes of one of these names. */
export const dashOf = (names: string[], name: string): number[] => nth(DASHES, names, name);

/** A colour of six hexadecimal digits, made transparent. */
export const pale = (colour: string, alpha: number): string =>
  colour + Math.round(255 * alpha).toString(16).padStart(2, "0");
