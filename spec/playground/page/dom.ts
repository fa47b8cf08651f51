/** What pages are built of: elements, arrays as text, and the state that a link carries. */

import { numberText, readNumber, sizeOf, SpecError, Tensor, type Aval } from "../src/index.js";

type Child = Node | string;

/** An element with attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

/** A control below its name. */
export const labelled = (name: string, control: HTMLElement): HTMLElement => make("label", {}, make("span", {}, name), control);

export function button(name: string, act: () => void): HTMLButtonElement {
  const found = make("button", { type: "button" }, name);
  found.addEventListener("click", act);
  return found;
}

export function choice(options: readonly string[], chosen: string): HTMLSelectElement {
  const found = make("select", {}, ...options.map((o) => make("option", {}, o)));
  found.value = options.includes(chosen) ? chosen : options[0];
  return found;
}

export function area(text: string, rows: number): HTMLTextAreaElement {
  const found = make("textarea", { rows: String(rows), spellcheck: "false", autocapitalize: "off", wrap: "off" });
  found.value = text;
  return found;
}

/** A table; the first row is its head. */
export function table(head: string[], rows: Child[][]): HTMLElement {
  const line = (tag: "th" | "td", cells: Child[]): HTMLElement => make("tr", {}, ...cells.map((c) => make(tag, {}, c)));
  return make("div", { class: "scrolled" }, make("table", {}, make("thead", {}, line("th", head)), make("tbody", {}, ...rows.map((r) => line("td", r)))));
}

export const code = (text: string): HTMLElement => make("code", {}, text);

/** Where each rule stands in the site, by page. */
export interface Places {
  root: string;
  rules: Record<string, string[]>;
}

let places: Places = { root: "", rules: {} };
export const setPlaces = (found: Places): void => void (places = found);

/** A rule's id, which leads to where it stands. */
export function ruleLink(id: string): HTMLElement {
  const page = Object.keys(places.rules).find((p) => places.rules[p].includes(id));
  return page === undefined ? code(id) : make("a", { href: `${places.root}${page}.html#${id}` }, code(id));
}

/** An error as it is told: the sentence, then the rule. */
export function told(error: unknown): HTMLElement {
  if (!(error instanceof SpecError)) return make("p", { class: "refused" }, `This page cannot do that: ${error instanceof Error ? error.message : error}`);
  const sentence = error.message.replace(/ \[[\w.-]+\]$/, "");
  const why = error.unsupported ? `Not computed on this page: ${sentence}` : sentence;
  const place = error.at === undefined ? [] : [` At character ${error.at}.`];
  return make("p", { class: "refused" }, why, ...place, ...(error.rule ? [" ", ruleLink(error.rule)] : []));
}

/** An array as nested lists. */
export function arrayText(x: Tensor): string {
  const { shape, dtype } = x.aval;
  const one = (k: number): string => (dtype.kind === "key" ? String(((x.data[k] as [bigint, bigint])[0] << 32n) | (x.data[k] as [bigint, bigint])[1]) : numberText(x.data[k], dtype, false));
  const part = (depth: number, at: number): string => {
    if (depth === shape.length) return one(at);
    const step = sizeOf(shape.slice(depth + 1));
    return `[${Array.from({ length: shape[depth] }, (_, k) => part(depth + 1, at + k * step)).join(", ")}]`;
  };
  return part(0, 0);
}

/** An array of a type from numbers in a text, in order; brackets and commas only part them. */
export function readTensor(text: string, aval: Aval): Tensor {
  const words = text.split(/[\s,[\]()]+/).filter(Boolean);
  const size = sizeOf(aval.shape);
  if (words.length !== size) throw new Error(`${aval} has ${size} elements, and ${words.length} are given.`);
  return new Tensor(aval, words.map((word) => {
    if (aval.dtype.kind === "key") return [BigInt(word) >> 32n, BigInt(word) & 0xffffffffn] as const;
    const found = readNumber(word, aval.dtype);
    if (found === null) throw new Error(`${word} is no element of ${aval}.`);
    return found;
  }));
}

/** Some array of a type: 1, 2, 3 and so on, halved where that can be. */
export function someArray(aval: Aval): string {
  const { kind } = aval.dtype;
  const one = (k: number): string => {
    if (kind === "boolean") return k % 2 ? "False" : "True";
    return kind === "floating" || kind === "complex" ? `${(k + 1) / 2}` : `${(k % 100) + 1}`;
  };
  return Array.from({ length: sizeOf(aval.shape) }, (_, k) => one(k)).join(" ");
}

/** The state of a page, as its address has it behind the #. */
export const readState = (): Record<string, string> => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export function writeState(state: Record<string, string>): void {
  history.replaceState(null, "", `#${new URLSearchParams(state)}`);
}

/** Tell of what has changed, a moment after the last change. */
export function settled(act: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(act, 120);
  };
}
