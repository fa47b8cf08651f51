/**
 * Functions of the host: untyped programs whose equations are operations, questions to values, and calls
 * (spec/cases.rst, "Host functions").
 */

import { Example } from "./batching.js";
import { Dual, Unknown } from "./derivatives.js";
import { SpecError } from "./errors.js";
import { compile, Scope, truth } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { readType } from "./json.js";
import { kindOf, readNumber, readPlain } from "./numerals.js";
import { RecordTracer, tensorOf, Tracer, Tracing, type Value } from "./tracing.js";
import { Complex, Real } from "./exact.js";
import { Aval, Literal, Tensor, unsupported, type Param } from "./values.js";

/** What a host function handles: values of traces, tuples, and what Python has besides. */
export type Thing = any;
export type Callee = (args: Thing[], kwargs?: Record<string, Thing>) => Thing;

export const isValue = (x: Thing): x is Value => x instanceof Tensor || x instanceof Literal || x instanceof Tracer;

/** The exception of `host_raise`. */
export class HostError extends SpecError {
  constructor() {
    super("host", "raised by the host function");
  }
}

/** A number of the host as an operand: weak, or a bool. */
export function asValue(t: Tracing, x: Thing, x64 = false): Value {
  if (isValue(x)) return x;
  const name = typeof x === "boolean" ? "bool" : typeof x === "bigint" ? (x64 ? "int64" : "int32") : x instanceof Real ? (x64 ? "float64" : "float32") : x instanceof Complex ? "complex64" : "";
  if (!name) throw t.spec.error("jit.argument", String(x));
  const type = new Aval([], t.spec.dtype(name), name !== "bool");
  if (typeof x === "bigint" && readNumber(String(x), type.dtype) === null) throw t.spec.error("jit.overflow", String(x));
  return new Literal(x, type);
}

/** What a session offers to its functions. */
export interface Surroundings {
  tracing: Tracing;
  globals: Map<string, Thing>;
  /** The functions of the session, under `jit`, and as they are. */
  jitted: Map<string, Callee>;
  plain: Map<string, Callee>;
  leaked: Thing[];
  notes: Thing[];
  clear: (name: string) => void;
  x64: () => boolean;
}

/** How much is known of a value, as a step of the table (level.strictest). */
export function knowledge(t: Tracing, v: Value): number {
  const { knowledge: order, transforms } = t.spec.document.rules.levels;
  if (!(v instanceof Tracer)) return order.length - 1;
  const own = order.indexOf(v instanceof Unknown ? "shape" : transforms[v.trace.transform].knows);
  return v instanceof Dual ? Math.min(own, knowledge(t, v.primal)) : v instanceof Example ? Math.min(own, knowledge(t, v.batched)) : own;
}

/** The array that a value stands for, which is known. */
export const concrete = (v: Value): Tensor => (v instanceof Dual ? concrete(v.primal) : v instanceof RecordTracer ? (v.atom as Literal).tensor : tensorOf(v));

/** A question of the host to a value; refused by its row where too little is known (level.answer). */
function ask(host: Surroundings, row: any, v: Value): Thing {
  const { spec } = host.tracing;
  const { knowledge: order, nesting } = spec.document.rules.levels;
  const needed = order.indexOf(row.needs);
  const scope = new Scope({ known: BigInt(knowledge(host.tracing, v)), needed: BigInt(needed < 0 ? order.length : needed) });
  if (!compile(nesting["level.answer"].answers, HELPERS)(scope)) throw spec.error(row.id, String(v.aval));
  const { shape } = v.aval;
  const element = (): any => {
    if (shape.some((n) => n !== 1)) throw spec.error(row.action === "host_bool" ? "array.truth" : "array.scalar", String(v.aval));
    return concrete(v).data[0];
  };
  switch (row.action) {
    case "host_bool":
      return truth(element());
    case "host_number":
      if (v.aval.dtype.kind === "key") throw spec.error("array.key", String(v.aval));
      return Real.of(element());
    case "host_index":
      if (shape.length || (v.aval.dtype.kind !== "signed" && v.aval.dtype.kind !== "unsigned")) throw spec.error("array.index", String(v.aval));
      return element();
    case "host_array":
      return concrete(v);
    case "host_item":
      return element();
    case "host_shape":
      return shape.map(BigInt);
    case "host_len":
      if (!shape.length) throw spec.error("array.length", String(v.aval));
      return BigInt(shape[0]);
    case "host_iter":
      if (!shape.length) throw spec.error("array.iterate", String(v.aval));
      return Array.from({ length: shape[0] }, (_, k) => rowOf(host.tracing, v, k));
    case "host_print":
      return "";
  }
  throw unsupported(`the question ${row.action}`);
}

function rowOf(t: Tracing, v: Value, k: number): Value {
  const { shape } = v.aval;
  const starts = shape.map((_, d) => (d ? 0n : BigInt(k)));
  const part = t.one("slice", [v], { start_indices: starts, limit_indices: shape.map((n, d) => BigInt(d ? n : k + 1)), strides: shape.map(() => 1n) });
  return t.one("squeeze", [part], { dimensions: [0n] });
}

/** Actions that are neither questions nor operations. */
const ACTIONS: Record<string, (host: Surroundings, args: Thing[], params: Record<string, Thing>) => Thing> = {
  host_level: (_, [x]) => BigInt(x instanceof Tracer ? x.trace.place : 0),
  host_tuple: (_, args) => args,
  host_call: (_, [f, ...args]) => f(args),
  host_close: (_, [f, ...values]) => (args: Thing[]) => f([...values, ...args]),
  host_leak: (host, args) => {
    host.leaked.push(...args);
    return args[0];
  },
  host_leaked: (host) => host.leaked.at(-1),
  host_note: (host, args) => {
    host.notes.push(...args.map((x) => (isValue(x) ? concrete(x).data[0] : x)));
    return null;
  },
  host_clear: (host, _, { function: f }) => host.clear(f),
  host_raise: (host, [x]) => {
    if (isValue(x) ? ask(host, host.tracing.spec.document.rules.levels.asks["level.concretize.bool"], x) : truth(x)) throw new HostError();
    return null;
  },
};

/** A function of the nodes of an untyped program; `ran` is told when its body runs. */
export function hostFunction(host: Surroundings, program: Thing, ran: () => void): Callee {
  const names = program.inputs.map((b: Thing) => b.name) as string[];
  return (args, kwargs = {}) => {
    ran();
    const env = new Map<string, Thing>(names.map((n, k) => [n, k < args.length ? args[k] : kwargs[n]]));
    for (const e of program.equations) {
      const found = perform(host, env, e);
      const outputs = e.outputs.map((b: Thing) => b.name) as string[];
      if (outputs.length === 1) env.set(outputs[0], found);
      else if (outputs.length) {
        const items = isValue(found) ? ask(host, host.tracing.spec.document.rules.levels.asks["level.iterate"], found) : found;
        outputs.forEach((n, k) => env.set(n, items[k]));
      }
    }
    const results = program.results.map((a: Thing) => operand(host, env, a));
    return results.length === 1 ? results[0] : results;
  };
}

function perform(host: Surroundings, env: Map<string, Thing>, e: Thing): Thing {
  const { tracing } = host;
  const { spec } = tracing;
  const name: string = e.primitive;
  const args = e.inputs.map((a: Thing) => operand(host, env, a));
  const row = spec.rows.get(name);
  const domain = (p: string): string => row?.params.find((r) => r.name === p)?.domain ?? "any";
  const params: Record<string, Param> = Object.fromEntries(e.params.map((p: Thing) => [p.name, paramOf(host, env, p.value, domain(p.name))]));
  const question = Object.values<Thing>(spec.document.rules.levels.asks).find((a) => a.action === name);
  if (question) return isValue(args[0]) ? ask(host, question, args[0]) : args[0];
  if (ACTIONS[name]) return ACTIONS[name](host, args, Object.fromEntries(e.params.map((p: Thing) => [p.name, p.value.text])));
  const callee = env.get(name) ?? host.jitted.get(name);
  if (callee) return callee(args, params);
  if (!row && /[._]/.test(name)) throw unsupported(name);
  const found = tracing.bind(name, args.map((x: Thing) => asValue(tracing, x, host.x64())), params);
  return found.length === 1 && Array.isArray(row?.out) ? found[0] : found;
}

function operand(host: Surroundings, env: Map<string, Thing>, node: Thing): Thing {
  const { spec } = host.tracing;
  if (node.is === "number" && node.aval) {
    const aval = readType(spec, node.aval.type);
    return new Literal(readNumber(node.text, aval.dtype)!, aval);
  }
  if (node.is === "number") return hostNumber(node.text);
  const { text } = node;
  if (env.has(text)) return env.get(text);
  if (host.globals.has(text)) return host.globals.get(text);
  if (/^(True|true|False|false|nan|inf)$/.test(text)) return hostNumber(text);
  if (host.plain.has(text)) return host.plain.get(text);
  if (text === "None") return null;
  throw spec.error("text.syntax", text);
}

const hostNumber = (text: string): Thing => (kindOf(text) === "boolean" ? /^[Tt]/.test(text) : readPlain(text));

/** The value of a param of the host's; a word that names a variable is its value. */
export function paramOf(host: Surroundings, env: Map<string, Thing>, node: Thing, domain: string): Thing {
  const { spec } = host.tracing;
  switch (node.is) {
    case "number":
      return hostNumber(node.text);
    case "many":
      return node.items.map((n: Thing) => paramOf(host, env, n, domain));
    case "word": {
      const { text } = node;
      if (node.quoted) return text;
      if (env.has(text)) return env.get(text);
      if (host.plain.has(text)) return host.plain.get(text);
      if (host.globals.has(text)) return host.globals.get(text);
      if (domain === "name" || domain === "text") return text;
      const words: Record<string, Thing> = { None: null, True: true, true: true, False: false, false: false, nan: Real.NAN, inf: Real.INF };
      return text in words ? words[text] : (spec.dtypes.get(text) ?? text);
    }
  }
  throw unsupported(`a param that is a ${node.is}`);
}
