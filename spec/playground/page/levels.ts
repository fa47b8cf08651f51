/** Nested transforms, and the trace that each operation belongs to. */

import { check, parse, type Aval, type Program, type Spec } from "../src/index.js";
import { TangentTrace } from "../src/derivatives.js";
import { Tracing, type Trace, type Value } from "../src/tracing.js";
import { TRANSFORMS, type Fun } from "../src/transforms.js";
import { area, button, choice, code, labelled, make, ruleLink, settled, table, told } from "./dom.js";

export interface State {
  program: string;
  nest: string;
}

export const FIRST: State = { program: "{ lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul a b in (c,) }", nest: "jit vmap grad" };

const BATCH = 3;
const MOST = 5;
const NAMES = ["jit", "vmap", "grad", "jvp"];

/** An operation as it came to the traces. */
interface Event {
  primitive: string;
  handler: Trace | null;
}

/** The types of arguments of nested transforms of a program. */
const typesOf = (program: Program, nest: string[]): Aval[] =>
  [...nest].reverse().reduce<Aval[]>((avals, name) => {
    if (name === "vmap") return avals.map((a) => a.with({ shape: [BATCH, ...a.shape] }));
    return name === "jvp" ? [...avals, ...avals] : avals;
  }, program.ins);

function jitted(t: Tracing, f: Fun): Fun {
  return (...args) => {
    const { program, captured } = t.stage("jit", args.map((v) => v.aval), (inputs) => f(...inputs));
    return t.bind("jit", [...captured, ...args], { name: "f", jaxpr: program });
  };
}

/** Every operation while the outermost function is traced, in order. */
export function played(spec: Spec, program: Program, nest: string[]): Event[] {
  const tracing = new Tracing(spec);
  const found: Event[] = [];
  const inner: Fun = Object.assign((...values: Value[]) => tracing.apply(program, values), { single: program.outs.length === 1 });
  const f = [...nest].reverse().reduce<Fun>((g, name) => (name === "jit" ? jitted(tracing, g) : TRANSFORMS[name](tracing, g, {})), inner);
  tracing.watch = (primitive, handler) => found.push({ primitive, handler });
  tracing.stage("make_jaxpr", typesOf(program, nest), (inputs) => f(...inputs));
  return found;
}

/** The level of a trace; that of the tangents of a derivative has the level of its pairs. */
function levelOf(trace: Trace | null): number {
  let level = trace instanceof TangentTrace ? 1 : 0;
  for (let t = trace; t; t = t.parent) if (!(t instanceof TangentTrace)) level++;
  return level;
}

/** The boxes of the traces, one within the other. */
function boxes(names: string[]): HTMLElement {
  return names.reduceRight<HTMLElement>(
    (inside, name, k) => make("div", { class: `level level-${(k % 6) + 1}` }, make("b", {}, `level ${k + 1}: ${name}`), inside),
    make("div", { class: "level" }, code("f(x)")),
  );
}

function shown(spec: Spec, state: State): HTMLElement[] {
  const nest = state.nest.split(" ").filter((n) => NAMES.includes(n));
  const program = check(spec, parse(spec, state.program));
  const events = played(spec, program, nest);
  const rows = events.map(({ primitive, handler }) => {
    const level = levelOf(handler);
    const name = make("span", { class: `belongs level-${((level + 5) % 6) + 1}`, style: `margin-left: ${nest.length + 1 - level}em` }, code(primitive));
    const part = handler instanceof TangentTrace ? ", tangents" : "";
    return [name, handler ? `level ${level}: ${handler.transform}${part}` : "level 0: evaluated"];
  });
  return [
    boxes(["make_jaxpr", ...nest]),
    make("p", {}, "Operations, in the order in which they come. What a trace asks for while it handles one stands below it, moved to the right. The row that says whose an operation is: ", ruleLink("level.bind"), "."),
    table(["operation", "belongs to"], rows),
  ];
}

/** Transforms to choose, outermost first, and the function within. */
export function levelsPage(spec: Spec, state: State, changed: (state: State) => void): HTMLElement {
  const program = area(state.program, 4);
  const row = make("div", { class: "nest" });
  const out = make("div", { class: "out", "aria-live": "polite" });
  const update = (): void => {
    const nest = [...row.querySelectorAll("select")].map((s) => s.value);
    const now = { program: program.value, nest: nest.filter((n) => n !== "-").join(" ") };
    changed(now);
    try {
      out.replaceChildren(...shown(spec, now));
    } catch (error) {
      out.replaceChildren(told(error));
    }
  };
  const add = (name: string): void => {
    if (row.querySelectorAll("select").length >= MOST) return;
    const one = choice(["-", ...NAMES], name);
    one.setAttribute("aria-label", "a transform");
    one.addEventListener("input", update);
    row.append(one);
  };
  state.nest.split(" ").forEach(add);
  program.addEventListener("input", settled(update));
  update();
  const more = button("one more within", () => add("-"));
  return make("div", {}, labelled("The function, as a program", program), make("p", {}, "Transforms of it, the outermost first:"), row, more, out);
}
