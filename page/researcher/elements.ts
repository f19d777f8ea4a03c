/** Elements and numbers as text. Everything goes to the page as text: nothing that people or robots wrote is ever HTML. */

type Child = Node | string;

/** An element with a class and children. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** An element of a drawing. */
export function svg(name: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** The element of the page with this id. */
export function byId<Type extends HTMLElement>(id: string): Type {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element as Type;
}

/** Changes a text only if it differs, so that a refresh that brings nothing new touches nothing. */
export function setText(element: Node, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function button(text: string, press: () => void, className = ""): HTMLButtonElement {
  const made = el("button", className, text);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const whole = (value: number): string => grouped.format(value);
/** 1 person, 1,000 people. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`;
export const fixed = (value: number | null, digits: number): string => (value === null ? "–" : value.toFixed(digits));
export const percent = (share: number | null, digits = 1): string =>
  share === null ? "–" : `${(100 * share).toFixed(digits)} %`;
export const clock = (seconds: number): string => new Date(1000 * seconds).toLocaleTimeString();
export const day = (seconds: number): string => new Date(1000 * seconds).toLocaleString();

/** How long ago, in the largest unit that fits. */
export function ago(seconds: number): string {
  if (seconds < 10) return "now";
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
