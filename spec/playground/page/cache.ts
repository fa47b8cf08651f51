/** A session of the cache, played event by event through the machine's drawing. */

import type { Spec } from "../src/index.js";
import type { Transition } from "../src/machine.js";
import { Session, type Outcome } from "../src/sessions.js";
import { area, button, choice, code, labelled, make, ruleLink, settled, table, told } from "./dom.js";
import { eventText, objectText, readEvents, type Event } from "./events.js";

type Json = any;
export type Sessions = Record<string, Json>;

/** `events` is their text where the reader has changed it, and else empty. */
export interface State {
  session: string;
  events: string;
  at: string;
}

/** One with a function of one operation, for events of the reader's. */
const OWN = "a session of your own";
const EVENTS = ["f(f32[]{2})", "f(f32[3]{1 2 3})", "f(i32[]{2})", "make_jaxpr f(f32[]{2})", "clear_cache('f')", "cache_size('f')"];

function ownSession(): Json {
  const x = { is: "name", text: "x" };
  const binder = (name: string): Json => ({ is: "binder", name, aval: null, value: null, static: false });
  const equation = { is: "equation", outputs: [binder("y")], primitive: "mul", effects: [], params: [], inputs: [x, x] };
  const program = { is: "program", constants: [], inputs: [binder("x")], equations: [equation], results: [{ is: "name", text: "y" }] };
  const f = { is: "function", name: "f", program, same_as: null, options: {}, kind: null, number: 0, transforms: [], typed: null };
  return { is: "session", functions: { f }, objects: {}, steps: [] };
}

function outcomeCell(spec: Spec, outcome: Outcome | null, said: string): HTMLElement {
  if (!outcome) return make("span", {}, "done");
  if (outcome.event === "answers") return make("span", {}, code(objectText(spec, outcome.answer)));
  const why = outcome.rule ? [" ", ruleLink(outcome.rule)] : (outcome.values ?? []).flatMap((v) => [" ", code(objectText(spec, v))]);
  const missed = said && said !== outcome.event ? [make("span", { class: "refused" }, ` The text says that it ${said}.`)] : [];
  return make("span", {}, make("b", {}, outcome.event), ...why, ...missed);
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
  const all: Sessions = { ...sessions, [OWN]: { text: "given f = { lambda ; x. let y = mul x x in (y,) }", session: ownSession() } };
  const which = choice(Object.keys(all).filter((name) => isPlayed(spec, all[name].session)), state.session);
  const written = (): string => all[which.value].session.steps.map((step: Json) => eventText(spec, step)).join("\n");
  const text = area(state.events || written(), 6);
  const out = make("div", { class: "out", "aria-live": "polite" });
  let at = Number(state.at) || 0;
  const shown = (events: Event[]): HTMLElement[] => {
    at = Math.max(0, Math.min(at, events.length));
    const played: Played[] = [];
    const parts: HTMLElement[] = [];
    try {
      const playing = new Session(spec, all[which.value].session);
      for (const { step } of events.slice(0, at)) {
        const taken: Played["taken"] = [];
        playing.watch = (row, found) => taken.push({ row, found });
        played.push({ outcome: playing.step(step), taken });
      }
    } catch (error) {
      parts.push(told(error));
    }
    const rows = played.map(({ outcome, taken }, k) => {
      const why = taken.map(({ row, found }) => make("div", {}, `${found}: `, ruleLink(row.id), ` ${row.says}`));
      return [code(eventText(spec, events[k].step)), outcomeCell(spec, outcome, events[k].said), make("span", {}, ...why)];
    });
    light(played);
    const next = events[at]?.step;
    const rest = make("p", {}, next ? make("span", {}, "Next: ", code(eventText(spec, next))) : "The session is at its end.");
    return [table(["event", "what comes of it", "the state that was found, and the row that was taken"], rows), ...parts, rest];
  };
  const update = (): void => {
    const { text: about, session } = all[which.value];
    const head = make("pre", { class: "laid-out" }, about);
    try {
      out.replaceChildren(head, ...shown(readEvents(spec, text.value, Object.keys(session.functions))));
    } catch (error) {
      out.replaceChildren(head, told(error));
    }
    changed({ session: which.value, events: text.value === written() ? "" : text.value, at: String(at) });
  };
  const move = (by: number): void => {
    at += by;
    update();
  };
  /** The buttons put their event where the session stands. */
  const insert = (event: string): void => {
    const lines = text.value.split(/[;\n]/).filter((line) => line.trim());
    text.value = lines.toSpliced(at, 0, event).join("\n");
    move(1);
  };
  which.addEventListener("input", () => {
    at = 0;
    text.value = written();
    update();
  });
  text.addEventListener("input", settled(update));
  const more = make("div", { class: "nest" }, ...EVENTS.map((event) => button(event, () => insert(event))));
  const controls = make("div", { class: "nest" }, button("next event", () => move(1)), button("back", () => move(-1)), button("from the start", () => move(-at)));
  update();
  return make("div", {}, labelled("Session", which), labelled("Events: a line each, in the language of cases", text), more, controls, out);
}
