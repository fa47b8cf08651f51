/** Derivatives by the templates of rows: forward mode, linearization, transposition (spec/transforms.rst). */

import { SpecError } from "./errors.js";
import { Scope, truth } from "./formula.js";
import { CODED_JVP, CODED_TRANSPOSE } from "./coded.js";
import type { Row, Template } from "./spec.js";
import { broadcast, filled, scalar, Trace, Tracer, Tracing, zeros, type Value } from "./tracing.js";
import { apply as evaluate } from "./evaluate.js";
import { Aval, Literal, Program, type Param, type Params } from "./values.js";
import { tensorOf } from "./tracing.js";

/** A tangent; null is a symbolic zero. */
export type Tangent = Value | null;

export const isInexact = (a: Aval): boolean => a.dtype.kind === "floating" || a.dtype.kind === "complex";

/** Regions that mean what the equations of their program mean in their place. */
export const INLINED: Record<string, string> = { jit: "jaxpr", remat2: "jaxpr" };

// Templates --------------------------------------------------------------------------------

/** The operands of a row by name; a variadic one is the list of its values. */
export function byName<T>(row: Row, values: readonly T[]): Record<string, T | readonly T[]> {
  return Object.fromEntries(row.inputs.map((n, k) => [n, row.variadic && k === row.inputs.length - 1 ? values.slice(k) : values[k]]));
}

export const nameOf = (row: Row, k: number): string => row.inputs[Math.min(k, row.inputs.length - 1)];

/** A value that is computed when it is first read. */
export type Late = (() => Value) & { late: true };
export function once(make: () => Value): Late {
  let found: Value | undefined;
  return Object.assign(() => (found ??= make()), { late: true as const });
}
const now = (v: Value | Late): Value => (typeof v === "function" ? v() : v);

/** Apply the first template whose condition holds; null where it gives a symbolic zero. */
function applied(t: Tracing, row: Row, templates: Template[], avals: Aval[], params: Params, values: Record<string, any>, like: Value): Value[] | null {
  const scope = new Scope({}, { out: () => outs(t, row, avals, params) }, t.spec.scope(row, avals, params));
  return byTemplate(t, row, templates, scope, values, like);
}

export function byTemplate(t: Tracing, row: Row, templates: Template[], scope: Scope, values: Record<string, any>, like: Value): Value[] | null {
  const template = templates.find((c) => !c.when || truth(c.when(scope)));
  if (!template) throw t.spec.error("derive.missing", `${row.name} with these params`);
  if (!template.results.length) return null;
  const known = { ...values };
  const operands = (parts: Template["results"], k = -1): Value[] => {
    const read = (p: Template["results"][number]): Value[] => {
      if (p.is === "name") return [now(known[p.name])];
      return p.is !== "spread" ? [] : k < 0 ? known[p.name].map(now) : [now(known[p.name][k])];
    };
    const found = parts.map(read);
    const beside = found.flat().find((v) => v.aval.dtype.kind !== "boolean")?.aval ?? like.aval;
    return parts.flatMap((p, n): Value[] => {
      if (p.is === "hole") return [scalar(t, p.formula(scope), beside)];
      return p.is === "number" ? [scalar(t, p.value, p.dtype ? new Aval([], t.spec.dtype(p.dtype)) : beside)] : found[n];
    });
  };
  const apply = (s: Template["statements"][number], inner: Scope, k?: number): Value[] => {
    const given = Object.fromEntries(s.params.map(([n, f]) => [n, f(inner)]));
    return operation(t, s.primitive, operands(s.operands, k), t.spec.withDefaults(s.primitive, given));
  };
  let last: Value[] = [];
  for (const s of template.statements) {
    const several = s.each ? s.operands.find((o) => o.is === "spread")! : null;
    if (several?.is === "spread") known[s.results[0]] = known[several.name].map((_: Value, k: number) => apply(s, new Scope({ k: BigInt(k) }, {}, scope), k)[0]);
    else {
      last = apply(s, scope);
      s.results.forEach((n, k) => (known[n] = last[k]));
    }
  }
  return template.whole ? last : operands(template.results);
}

export function outs(t: Tracing, row: Row, avals: Aval[], params: Params): Aval | Aval[] {
  const found = t.spec.infer(row.name, params, avals);
  return Array.isArray(row.out) && row.out.length === 1 ? found[0] : found;
}

/** An operation of a template: one that changes nothing is left out, one that only converts a number is done at once. */
function operation(t: Tracing, primitive: string, values: Value[], params: Params): Value[] {
  const row = t.spec.find(primitive);
  const avals = values.map((v) => v.aval);
  if (row.identity && truth(row.identity(t.spec.scope(row, avals, params)))) return values;
  if (row.folds && values.every((v) => v instanceof Literal)) {
    return evaluate(t.spec, primitive, params, values.map(tensorOf)).map((x) => scalar(t, x.data[0], x.aval));
  }
  return t.bind(primitive, values, params);
}

// Forward mode -----------------------------------------------------------------------------

/** The results of a primitive and their tangents, in the trace in force (derive.jvp). */
export function jvp(t: Tracing, primitive: string, primals: Value[], tangents: Tangent[], params: Params): [Value[], Tangent[]] {
  const coded = CODED_JVP[primitive];
  if (coded) return coded(t, primals, tangents, params);
  const row = t.spec.find(primitive);
  const { derivative } = row;
  if (!derivative || !(derivative.zero || derivative.linear.length || Object.keys(derivative.jvp).length)) {
    throw derivative === null && row.steps ? new SpecError("", `the derivative of ${primitive}`, true) : t.spec.error("derive.missing", primitive);
  }
  const results = t.bind(primitive, primals, params);
  if (derivative.zero || !results.some((v) => isInexact(v.aval))) return [results, results.map(() => null)];
  const found = derivative.linear.length
    ? t.bind(primitive, primals.map((p, k) => (derivative.linear.includes(nameOf(row, k)) ? (tangents[k] ?? zeros(t, p.aval)) : p)), params)
    : [contributions(t, row, primals, tangents, params, results)];
  return [results, results.map((v, k) => (found[k] && isInexact(v.aval) ? broadcast(t, found[k], v.aval.shape) : null))];
}

/** The sum of what the templates give of each tangent, or of all together. */
function contributions(t: Tracing, row: Row, primals: Value[], tangents: Tangent[], params: Params, results: Value[]): Tangent {
  const single = Array.isArray(row.out) && row.out.length === 1;
  const values: Record<string, any> = { ...byName(row, primals), out: single ? results[0] : results };
  const moved = primals.flatMap((_, k) => (tangents[k] ? [[nameOf(row, k), tangents[k]] as const] : []));
  const together = moved.map(([n]) => n).join(" ");
  const templates = row.derivative!.jvp;
  const shape = results[0].aval.shape;
  const run = (key: string, named: Record<string, Value>): Tangent => applied(t, row, templates[key], primals.map((p) => p.aval), params, { ...values, ...named }, primals[0])?.[0] ?? null;
  if (moved.length > 1 && templates[together]) return run(together, Object.fromEntries(moved.map(([n, x]) => [`t_${n}`, x])));
  const parts = moved.flatMap(([n, x]) => (templates[n] ? (run(n, { t: x }) ?? []) : []));
  return parts.length ? parts.reduce((a, b) => t.one("add_any", [broadcast(t, a, shape), broadcast(t, b, shape)])) : null;
}

/** A value and its tangent, each of the trace around the function. */
export class Dual extends Tracer {
  constructor(
    readonly trace: JvpTrace,
    readonly primal: Value,
    readonly tangent: Value,
  ) {
    super();
  }
  get aval(): Aval {
    return this.primal.aval;
  }
}

/** Carries tangents along; `around` is where what it applies is handled. */
export class JvpTrace extends Trace {
  bind(primitive: string, values: readonly Value[], params: Params): Value[] {
    const { tracing } = this;
    const inlined = INLINED[primitive];
    if (inlined) return tracing.apply(params[inlined] as Program, values);
    if (primitive === "custom_jvp_call" || primitive === "custom_vjp_call") throw tracing.spec.error("custom.named", primitive);
    const pairs = values.map((v) => this.split(v));
    const [results, tangents] = tracing.within(this.parent, () => jvp(tracing, primitive, pairs.map((p) => p[0]), pairs.map((p) => p[1]), params));
    return results.map((v, k) => this.pair(v, tangents[k]));
  }

  split(v: Value): [Value, Tangent] {
    return v instanceof Dual && v.trace === this ? [v.primal, v.tangent] : [v, null];
  }

  pair(primal: Value, tangent: Tangent): Value {
    return tangent ? new Dual(this, primal, tangent) : primal;
  }
}

/** Call a function on primals and tangents: its results and theirs. */
export function pushForward(t: Tracing, transform: string, f: (values: Value[]) => Value[], primals: Value[], tangents: Tangent[]): [Value[], Tangent[]] {
  const trace = new JvpTrace(t, transform);
  const found = t.within(trace, () => f(primals.map((p, k) => trace.pair(p, tangents[k]))).map((v) => trace.split(v)));
  return [found.map((p) => p[0]), found.map((p) => p[1])];
}

// Linearization and transposition -----------------------------------------------------------

/** A tangent that is not known yet. */
export class Unknown extends Tracer {
  constructor(
    readonly trace: TangentTrace,
    readonly aval: Aval,
  ) {
    super();
  }
}

interface LinearEquation {
  primitive: string;
  inputs: readonly Value[];
  outputs: Unknown[];
  params: Params;
}

/** Records operations on tangents; all others are handled by the traces around it. */
export class TangentTrace extends Trace {
  readonly tape: LinearEquation[] = [];
  bind(primitive: string, values: readonly Value[], params: Params): Value[] {
    // A linear function is its own derivative, whatever rule it has.
    if (primitive === "custom_jvp_call") return this.tracing.apply(params.call_jaxpr as Program, values);
    if (primitive === "shard_map") throw new SpecError("", "the transpose of shard_map", true);
    const outputs = this.tracing.spec.infer(primitive, params, values.map((v) => v.aval)).map((a) => new Unknown(this, a));
    this.tape.push({ primitive, inputs: values, outputs, params });
    return outputs;
  }
}

/** A linear function: its tape, inputs, and the tangents of its results. */
export interface Linear {
  tape: LinearEquation[];
  inputs: (Unknown | null)[];
  outputs: Tangent[];
}

/** Call a function in forward mode on unknown tangents (derive.linearize). */
export function linearize(t: Tracing, transform: string, f: (values: Value[]) => Value[], primals: Value[], moved: boolean[]): [Value[], Linear] {
  const tangents = new TangentTrace(t, transform);
  const inputs = primals.map((p, k) => (moved[k] ? new Unknown(tangents, p.aval) : null));
  const [results, outputs] = t.within(tangents, () => pushForward(t, transform, f, primals, inputs));
  return [results, { tape: tangents.tape, inputs, outputs }];
}

/** What depends on nothing that a result depends on is left out. */
export function live(linear: Linear): Linear {
  const needed = new Set<Value | null>(linear.outputs);
  const tape = linear.tape.toReversed().filter((e) => {
    const kept = e.outputs.some((o) => needed.has(o));
    if (kept) for (const v of e.inputs) needed.add(v);
    return kept;
  });
  return { ...linear, tape: tape.reverse() };
}

/** The tangents of the results by those of the inputs. */
export function push(t: Tracing, linear: Linear, tangents: Value[]): Tangent[] {
  const known = new Map<Value | null, Value>();
  linear.inputs.forEach((v, k) => v && known.set(v, tangents[k]));
  for (const e of linear.tape) {
    const found = t.bind(e.primitive, e.inputs.map((v) => known.get(v) ?? v), e.params);
    e.outputs.forEach((o, k) => known.set(o, found[k]));
  }
  return linear.outputs.map((o) => known.get(o) ?? o);
}

/** The cotangents of the inputs by those of the results, from the last operation to the first (derive.transpose). */
export function pullBack(t: Tracing, linear: Linear, cotangents: Tangent[]): Tangent[] {
  const known = new Map<Value, Value>();
  const add = (v: Value, ct: Value): unknown => known.set(v, known.has(v) ? t.one("add_any", [known.get(v)!, ct]) : ct);
  linear.outputs.forEach((o, k) => o instanceof Unknown && cotangents[k] && add(o, cotangents[k]));
  for (const e of linear.tape.toReversed()) {
    const found = e.outputs.map((o) => known.get(o) ?? null);
    for (const o of e.outputs) known.delete(o);
    if (found.every((ct) => !ct)) continue;
    const given = transposed(t, e, found);
    e.inputs.forEach((v, k) => v instanceof Unknown && given[k] && add(v, given[k]));
  }
  return linear.inputs.map((v) => (v ? (known.get(v) ?? null) : null));
}

function transposed(t: Tracing, e: LinearEquation, cotangents: Tangent[]): Tangent[] {
  const { primitive, inputs, params, outputs } = e;
  const linear = inputs.map((v) => v instanceof Unknown);
  const coded = CODED_TRANSPOSE[primitive];
  if (coded) return coded(t, cotangents, inputs, linear, params);
  const row = t.spec.find(primitive);
  const single = Array.isArray(row.out) && row.out.length === 1;
  const whole = cotangents.map((ct, k) => ct ?? zeros(t, outputs[k].aval));
  const found: Tangent[] = inputs.map(() => null);
  for (let k = 0; k < inputs.length; k++) {
    if (!linear[k] || found[k]) continue;
    const name = nameOf(row, k);
    const templates = row.derivative?.transpose[name];
    const values = { ...byName(row, inputs), ct: single ? whole[0] : whole };
    if (!templates || readsLinear(templates, values)) throw t.spec.error("derive.nonlinear", `operand ${k} of ${primitive}`);
    const results = applied(t, row, templates, inputs.map((v) => v.aval), params, values, whole[0]);
    if (results && row.variadic && results.length > 1) results.forEach((r, n) => (found[row.inputs.length - 1 + n] = r));
    else if (results) found[k] = unbroadcast(t, results[0], inputs[k].aval.shape);
  }
  return found;
}

/** True if a template reads an operand that carries a tangent itself. */
function readsLinear(templates: Template[], values: Record<string, any>): boolean {
  const read = templates.flatMap((c) => [...c.results, ...c.statements.flatMap((s) => s.operands)]).flatMap((p) => ("name" in p ? [p.name] : []));
  return read.some((n) => n !== "ct" && [values[n]].flat().some((v) => v instanceof Unknown));
}

/** A cotangent summed to the shape of its operand (derive.broadcast). */
function unbroadcast(t: Tracing, v: Value, shape: readonly number[]): Value {
  const own = v.aval.shape;
  if (own.length === shape.length && own.every((n, d) => n === shape[d])) return v;
  const axes = own.flatMap((n, d) => (!shape.length || n !== shape[d] ? [BigInt(d)] : []));
  const summed = t.one("reduce_sum", [v], { axes });
  return shape.length ? t.one("reshape", [summed], { new_sizes: shape.map(BigInt) }) : summed;
}

export const one = (t: Tracing, aval: Aval): Value => filled(t, 1n, aval);
export type { Param };
