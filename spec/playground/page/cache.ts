/** A session of the cache, played event by event through the machine's drawing. */

import { readArray, type Spec } from "../src/index.js";
import type { Transition } from "../src/machine.js";
import { Session, type Outcome } from "../src/sessions.js";
import { arrayText, button, choice, code, labelled, make, ruleLink, table, told } from "./dom.js";

type Json = any;
export type Sessions = Record<string, Json>;

export interface State {
  session: string;
  at: string;
}

/** One that the reader makes of calls; its name in links, with the calls behind it. */
const OWN = "a session of your own";
const CALLS = ["f32[]", "f32[3]", "i32[]", "make_jaxpr", "clear"];

/** The step of a call that is named in a link. */
function stepOf(name: string): Json {
  if (name === "clear") return { is: "setting", name: "clear_cache", args: ["f"] };
  const dtype = name.startsWith("i") ? "int32" : "float32";
  const shape = name === "f32[3]" ? [3] : [];
  const element = dtype === "int32" ? "2" : "0x1.0000000000000p+1";
  const array = { type: { dtype, shape, weak: false }, elements: Array.from({ length: shape[0] ?? 1 }, () => element) };
  return { is: "call", function: "f", args: [{ array }], kwargs: {}, via: name === "make_jaxpr" ? name : "jit", staged: false };
}

/** The session with a function of one operation that a reader starts from. */
function ownSession(calls: string[]): Json {
  const x = { is: "name", text: "x" };
  const binder = (name: string): Json => ({ is: "binder", name, aval: null, value: null, static: false });
  const equation = { is: "equation", outputs: [binder("y")], primitive: "mul", effects: [], params: [], inputs: [x, x] };
  const program = { is: "program", constants: [], inputs: [binder("x")], equations: [equation], results: [{ is: "name", text: "y" }] };
  const f = { is: "function", name: "f", program, same_as: null, options: {}, kind: null, number: 0, transforms: [], typed: null };
  return { is: "session", functions: { f }, objects: {}, steps: calls.map(stepOf) };
}

/** An argument, a result or an answer as it is written. */
function valueText(spec: Spec, x: Json): string {
  if (x && typeof x === "object" && "array" in x) return valueText(spec, x.array);
  if (x && typeof x === "object" && "type" in x) {
    const tensor = readArray(spec, x);
    return `${tensor.aval} ${arrayText(tensor)}`;
  }
  const items = x?.list ?? x?.tuple;
  return items ? `(${items.map((y: Json) => valueText(spec, y)).join(", ")})` : typeof x === "object" && x ? Object.values(x).join(" ") : String(x);
}

function stepText(spec: Spec, step: Json): string {
  const kwargs = Object.entries<Json>(step.kwargs ?? {}).map(([n, v]) => `${n}=${valueText(spec, v)}`);
  const inside = [...(step.args ?? []).map((a: Json) => valueText(spec, a)), ...kwargs].join(", ");
  if (step.is === "call") return step.via === "jit" ? `${step.function}(${inside})` : `${step.via}(${step.function})(${inside})`;
  return `${step.name}(${inside})`;
}

function outcomeCell(spec: Spec, outcome: Outcome | null): HTMLElement {
  if (!outcome) return make("span", {}, "done");
  if (outcome.event === "answers") return make("span", {}, code(typeof outcome.answer === "object" ? valueText(spec, outcome.answer) : String(outcome.answer)));
  const said = outcome.rule ? [" ", ruleLink(outcome.rule)] : (outcome.values ?? []).flatMap((v) => [" ", code(valueText(spec, v))]);
  return make("span", {}, make("b", {}, outcome.event), ...said);
}

/** What an event was to the machine: the rows that were taken, and the states that these found. */
interface Played {
  outcome: Outcome | null;
  taken: { row: Transition; found: string }[];
}

/** Show in the drawing which states the last event found, and the rows that it took. */
function light(played: Played[]): void {
  const last = played.findLast((p) => p.taken.length)?.taken ?? [];
  for (const e of document.querySelectorAll("svg.machine [data-state], svg.machine [data-row]")) {
    const rows = e.getAttribute("data-row")?.split(" ") ?? [];
    const state = e.getAttribute("data-state");
    e.classList.toggle("lit", last.some(({ row, found }) => rows.includes(row.id) || found === state));
  }
}

/** True if a session can be played here from its first event to its last. */
function isPlayed(spec: Spec, session: Json): boolean {
  try {
    new Session(spec, session).run();
    return true;
  } catch {
    return false;
  }
}

export function cachePage(spec: Spec, sessions: Sessions, state: State, changed: (state: State) => void): HTMLElement {
  const [first, calls = ""] = state.session.split(": ");
  const own: string[] = first === OWN ? calls.split(" ").filter((c) => CALLS.includes(c)) : [];
  const names = [...Object.keys(sessions).filter((name) => isPlayed(spec, sessions[name].session)), OWN];
  const which = choice(names, first);
  const out = make("div", { class: "out", "aria-live": "polite" });
  const extra = make("div", { class: "nest" });
  let at = Number(state.at) || 0;
  const session = (): Json => (which.value === OWN ? ownSession(own) : sessions[which.value].session);
  const update = (): void => {
    const data = session();
    at = Math.max(0, Math.min(at, data.steps.length));
    changed({ session: which.value === OWN ? `${OWN}: ${own.join(" ")}` : which.value, at: String(at) });
    extra.hidden = which.value !== OWN;
    const parts: HTMLElement[] = [];
    const text = sessions[which.value]?.text;
    if (text) parts.push(make("pre", { class: "laid-out" }, text));
    const played: Played[] = [];
    try {
      const playing = new Session(spec, data);
      for (const step of data.steps.slice(0, at)) {
        const taken: Played["taken"] = [];
        playing.watch = (row, found) => taken.push({ row, found });
        played.push({ outcome: playing.step(step), taken });
      }
    } catch (error) {
      parts.push(told(error));
    }
    const rows = played.map(({ outcome, taken }, k) => {
      const why = taken.map(({ row, found }) => make("div", {}, `${found}: `, ruleLink(row.id), ` ${row.says}`));
      return [code(stepText(spec, data.steps[k])), outcomeCell(spec, outcome), make("span", {}, ...why)];
    });
    const next = data.steps[at];
    parts.push(table(["event", "what comes of it", "the state that was found, and the row that was taken"], rows));
    parts.push(make("p", {}, next ? make("span", {}, "Next: ", code(stepText(spec, next))) : "The session is at its end."));
    out.replaceChildren(...parts);
    light(played);
  };
  const move = (by: number): void => {
    at += by;
    update();
  };
  for (const name of CALLS) {
    extra.append(button(name === "clear" ? "clear_cache(f)" : name === "make_jaxpr" ? "make_jaxpr(f)(f32[])" : `f(${name})`, () => {
      own.splice(at, own.length, name);
      move(1);
    }));
  }
  which.addEventListener("input", () => {
    at = 0;
    update();
  });
  const controls = make("div", { class: "nest" }, button("next event", () => move(1)), button("back", () => move(-1)), button("from the start", () => move(-at)));
  update();
  return make("div", {}, labelled("Session", which), extra, controls, out);
}

