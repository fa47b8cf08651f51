/** The events of a session as text, in the language of cases (spec/cases.rst, "Sessions"). */

import { readArray, writeArray, type Spec } from "../src/index.js";
import { Grammar, type ParseTree } from "../src/grammar.js";
import { Complex, Real } from "../src/exact.js";
import { readParam, writeParam } from "../src/json.js";
import { complexText, floatText, numberText, readPlain } from "../src/numerals.js";
import { arrayOf } from "../src/reader.js";

type Json = any;

/** What an event is, and what the text says that comes of it, if it says so. */
export interface Event {
  step: Json;
  said: string;
}

/** Questions to a session; what is neither one nor a function is a setting. */
const QUESTIONS = ["cache_size", "notes"];
const WORDS: Record<string, Json> = { None: null, True: true, true: true, False: false, false: false };

/** An argument, a result or an answer, as cases write it. */
export function objectText(spec: Spec, x: Json): string {
  if (x === null || typeof x !== "object") return typeof x === "string" ? `'${x}'` : x === null ? "None" : String(x);
  if ("array" in x) return objectText(spec, x.array);
  if ("type" in x) {
    const { aval, data } = readArray(spec, x);
    return `${aval.weak ? "~" : ""}${aval}{${data.map((v) => numberText(v, aval.dtype, true)).join(" ")}}`;
  }
  const inner = (all: Json[]): string => all.map((y) => objectText(spec, y)).join(", ");
  if (x.tuple) return `(${inner(x.tuple)}${x.tuple.length === 1 ? "," : ""})`;
  if (x.list) return `[${inner(x.list)}]`;
  if (x.dict) return `{${x.dict.map((pair: Json[]) => pair.map((y) => objectText(spec, y)).join(": ")).join(", ")}}`;
  const found = "ref" in x ? x.ref : readParam(spec, x);
  return found instanceof Real ? floatText(found) : found instanceof Complex ? complexText(found) : String(found);
}

/** An event in a line. */
export function eventText(spec: Spec, step: Json): string {
  const named = Object.entries<Json>(step.kwargs ?? {}).map(([name, x]) => `${name}=${objectText(spec, x)}`);
  const inside = [...step.args.map((x: Json) => objectText(spec, x)), ...named].join(", ");
  const via = step.is === "call" && step.via !== "jit" ? `${step.via} ` : "";
  return `${via}${step.is === "call" ? step.function : step.name}(${inside})`;
}

function object(spec: Spec, tree: ParseTree): Json {
  const [part] = tree.parts;
  if (typeof part === "string") {
    const parts = tree.all("object").map((o) => object(spec, o));
    if (part === "(") return { tuple: parts };
    if (part === "[") return { list: parts };
    return part === "{" ? { dict: tree.all("string").map((name, k) => [name.text.slice(1, -1), parts[k]]) } : null;
  }
  if (part.rule === "array") return { array: writeArray(arrayOf(spec, part)) };
  if (part.rule === "string") return part.text.slice(1, -1);
  const word = part.rule === "number" ? part.parts.map((p) => (typeof p === "string" ? p : p.text)).join("") : part.text;
  if (word in WORDS) return WORDS[word];
  return part.rule === "number" ? writeParam(readPlain(word)) : { ref: word };
}

/** The events of a text, which are divided by lines or `;`; `functions` are those that can be called. */
export function readEvents(spec: Spec, text: string, functions: readonly string[]): Event[] {
  const grammar = new Grammar(spec.document.grammar);
  return text.split(/[;\n]/).filter((line) => line.trim()).map((line) => {
    const tree = grammar.parse("step", line.trimEnd());
    const names = tree.all("name").map((n) => n.text);
    const name = names.at(-1) ?? "cache_size";
    const given = tree.one("arguments")?.all("argument") ?? [];
    const value = (a: ParseTree): Json => object(spec, a.one("object")!);
    const args = tree.one("arguments") ? given.filter((a) => !a.one("name")).map(value) : tree.all("string").map((s) => s.text.slice(1, -1));
    const kwargs = Object.fromEntries(given.filter((a) => a.one("name")).map((a) => [a.one("name")!.text, value(a)]));
    if (!functions.includes(name)) return { step: { is: QUESTIONS.includes(name) ? "probe" : "setting", name, args }, said: "" };
    const said = tree.parts.find((p) => p === "traces" || p === "hits" || p === "raises");
    return { step: { is: "call", function: name, args, kwargs, via: names.length > 1 ? names[0] : "jit", staged: false }, said: String(said ?? "") };
  });
}
