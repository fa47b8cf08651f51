/** A program that is typed, checked, laid out, evaluated step by step, differentiated and batched. */

import { check, parse, print, Program, run, SpecError, Tensor, type Aval, type Spec, type Step } from "../src/index.js";
import { apply } from "../src/evaluate.js";
import { namedAxes, Tracing, type Value } from "../src/tracing.js";
import { TRANSFORMS } from "../src/transforms.js";
import { HostFunction, programsIn } from "../src/values.js";
import { area, arrayText, choice, code, labelled, make, readTensor, settled, someArray, table, told } from "./dom.js";

export interface State {
  program: string;
  arguments: string;
  as: string;
}

export const FIRST: State = {
  program: "{ lambda ; a:f32[3]. let\n    b:f32[3] = sin a\n    c:f32[3] = mul b 2.0:f32[]\n    d:f32[] = reduce_sum[axes=(0,)] c\n  in (d,) }",
  arguments: "0 0.5 1",
  as: "as it is",
};

/** How many examples a batch has on this page. */
const BATCH = 3;
/** Elements that are shown one by one. */
const MANY = 64;

/** A transform of programs: its name, and the types of the operands of the result. */
const WAYS: Record<string, { transform: string; types: (p: Program) => Aval[]; options?: (p: Program) => Record<string, bigint> }> = {
  "as it is": { transform: "", types: (p) => p.ins },
  "jvp: with tangents": { transform: "jvp", types: (p) => [...p.ins, ...p.ins] },
  "vjp: with cotangents": { transform: "vjp", types: (p) => [...p.ins, ...p.outs], options: (p) => ({ results: BigInt(p.outs.length) }) },
  "grad: the derivative of one number": { transform: "grad", types: (p) => p.ins },
  "vmap: for a batch of 3": {
    transform: "vmap",
    types: (p) => p.ins.map((a) => a.with({ shape: [BATCH, ...a.shape] })),
    options: () => ({ axis_size: BigInt(BATCH) }),
  },
};

/** The functions of the host that programs can name on this page, and what they do. */
const HOSTS: Record<string, { says: string; call: (spec: Spec) => (args: Tensor[]) => Tensor[] }> = {
  double: { says: "twice its argument", call: (spec) => ([x]) => apply(spec, "add", {}, [x, x]) },
  total: {
    says: "the sum of its argument",
    call: (spec) => ([x]) => apply(spec, "reduce_sum", spec.withDefaults("reduce_sum", { axes: x.aval.shape.map((_, d) => BigInt(d)) }), [x]),
  },
  tell: { says: "gives nothing: what it is told stands below, step by step", call: () => () => [] },
};

/** The specification with the functions of this page. */
export function withHosts(spec: Spec): Spec {
  spec.hosts = Object.fromEntries(Object.entries(HOSTS).map(([name, { call }]) => [name, call(spec)]));
  return spec;
}

/** What a program asks of its surroundings: the names of axes, and functions of the host. */
function surroundings(spec: Spec, program: Program): { axes: string[]; calls: boolean } {
  const every = program.equations.flatMap((e) => namedAxes(spec, e.primitive, e.params));
  const inner = (p: Program): boolean => p.equations.some((e) => Object.values(e.params).some((v) => v instanceof HostFunction || programsIn(v).some(inner)));
  return { axes: [...new Set(every)], calls: inner(program) };
}

/** The program of a transform of a program. */
export function transformed(spec: Spec, program: Program, way: string): Program {
  const { transform, types, options } = WAYS[way] ?? WAYS["as it is"];
  if (!transform) return program;
  const tracing = new Tracing(spec);
  const [axis = null, ...others] = transform === "vmap" ? surroundings(spec, program).axes : [];
  if (others.length) throw new SpecError("", "a batch over several named axes", true);
  const body = (values: Value[]): Value[] => tracing.apply(program, values);
  const named = { ...options?.(program), ...(axis !== null && { axis_name: axis }) };
  const f = TRANSFORMS[transform](tracing, Object.assign((...values: Value[]) => body(values), { single: program.outs.length === 1 }), named);
  return tracing.stage("make_jaxpr", types(program), (inputs) => f(...inputs)).program;
}

/** The arguments of a text, a line each; where there is none for an operand, some. */
function argumentsOf(program: Program, text: string): Tensor[] {
  const lines = text.split("\n");
  return program.ins.map((aval, k) => readTensor(lines[k]?.trim() ? lines[k] : someArray(aval), aval));
}

function elements(x: Tensor): HTMLElement {
  const { shape } = x.aval;
  const places = shape.reduce<number[][]>((found, n) => found.flatMap((i) => Array.from({ length: n }, (_, k) => [...i, k])), [[]]);
  if (!shape.length || places.length > MANY) return make("p", {}, code(`${x.aval}`), " ", code(arrayText(x)));
  const rows = places.map((i, k) => [code(`[${i}]`), code(arrayText(new Tensor(x.aval.with({ shape: [] }), [x.data[k]])))]);
  return make("div", {}, make("p", {}, code(`${x.aval}`)), table(["index", "element"], rows));
}

function stepsTable(steps: Step[]): HTMLElement {
  const rows = steps.map(({ primitive, operands, results, depth }) => [
    make("span", { style: `padding-left: ${depth}em` }, code(primitive)),
    make("span", {}, ...operands.map((x) => make("div", {}, code(arrayText(x))))),
    make("span", {}, ...results.map((x) => make("div", {}, code(`${x.aval}`), " ", code(arrayText(x))))),
  ]);
  return table(["operation", "operands", "results"], rows);
}

/** The parts below the program: what it is, and what it gives. */
function shown(spec: Spec, state: State): HTMLElement[] {
  const program = check(spec, parse(spec, state.program));
  const made = transformed(spec, program, state.as);
  const { axes, calls } = surroundings(spec, program);
  const names = Object.entries(HOSTS).flatMap(([name, { says }]) => [" ", code(name), ` (${says}).`]);
  const about = [
    ...(axes.length ? [make("p", {}, "It is about the examples of ", code(axes.join(", ")), ": ", code("vmap"), ` gives that name to its ${BATCH} examples, stacked.`)] : []),
    ...(calls ? [make("p", {}, "It calls the host, of whose functions this page has three:", ...names)] : []),
  ];
  const types = (all: Aval[]): string => `(${all.join(", ")})`;
  const head = [
    make("p", { class: "accepted" }, "Well formed: ", code(`${types(made.ins)} → ${types(made.outs)}`)),
    make("h3", {}, state.as === "as it is" ? "Laid out" : "The program of the transform"),
    make("pre", { class: "laid-out" }, print(spec, made)),
    ...about,
  ];
  try {
    const steps: Step[] = [];
    const found = run(spec, made, argumentsOf(made, state.arguments), (step) => steps.push(step));
    return [...head, make("h3", {}, "Results"), ...found.map(elements), make("h3", {}, "Step by step"), stepsTable(steps)];
  } catch (error) {
    return [...head, make("h3", {}, "No results"), told(error)];
  }
}

/** A program with its arguments and a transform; each change is told, and shown at once. */
export function programPage(spec: Spec, state: State, changed: (state: State) => void): HTMLElement {
  const program = area(state.program, Math.min(16, state.program.split("\n").length + 1));
  const given = area(state.arguments, Math.max(2, state.arguments.split("\n").length));
  const as = choice(Object.keys(WAYS), state.as);
  const out = make("div", { class: "out", "aria-live": "polite" });
  const update = (): void => {
    const now = { program: program.value, arguments: given.value, as: as.value };
    changed(now);
    try {
      out.replaceChildren(...shown(spec, now));
    } catch (error) {
      out.replaceChildren(told(error));
    }
  };
  const later = settled(update);
  for (const control of [program, given, as]) control.addEventListener("input", later);
  update();
  return make("div", {}, labelled("Program", program), labelled("Arguments: a line for each, in order", given), labelled("Transform", as), out);
}
