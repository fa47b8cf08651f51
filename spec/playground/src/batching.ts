/** Batching by the classes of rows: each operation is applied once, to all examples (spec/transforms.rst). */

import { overAxis } from "./collectives.js";
import { SpecError } from "./errors.js";
import { Scope, truth } from "./formula.js";
import { byName, byTemplate, INLINED, nameOf, once, outs } from "./derivatives.js";
import type { Row } from "./spec.js";
import { namedAxes, stretch, Trace, Tracer, Tracing, type Value } from "./tracing.js";
import { Aval, type Param, type Params, type Program } from "./values.js";

/** The batched dimension of a value; null where all examples have the same. */
export type Dim = number | null;
export interface Axis {
  name: string | null;
  size: number;
}
type Batched = [Value[], Dim[]];
type Rule = (t: Tracing, axis: Axis, values: Value[], dims: Dim[], params: Params, row: Row) => Batched;

// Dimensions moved, added and repeated

export function move(t: Tracing, v: Value, from: number, to: number): Value {
  if (from === to) return v;
  const order = v.aval.shape.map((_, d) => d).filter((d) => d !== from);
  order.splice(to, 0, from);
  return t.one("transpose", [v], { permutation: order.map(BigInt) });
}

export function placeAt(t: Tracing, v: Value, dim: Dim, size: number, to: number): Value {
  if (dim !== null) return move(t, v, dim, to);
  const shape = v.aval.shape.toSpliced(to, 0, size);
  return stretch(t, v, shape, shape.map((_, d) => d).filter((d) => d !== to));
}

const without = (shape: readonly number[], dim: Dim): readonly number[] => (dim === null ? shape : shape.toSpliced(dim, 1));
const same = (a: readonly unknown[], b: readonly unknown[]): boolean => a.length === b.length && a.every((x, k) => x === b[k]);

/** The batched dimension of all operands of one shape; those left out do not count. */
function common(values: Value[], dims: Dim[], leftOut: boolean[]): Dim {
  const rest = values.map((v, k) => [dims[k], ...v.aval.shape]).filter((_, k) => !leftOut[k]);
  return rest.length && rest.every((r) => same(r, rest[0])) ? rest[0][0] : null;
}

const applied = (t: Tracing, row: Row, values: Value[], params: Params, dim: Dim): Batched => {
  const results = t.bind(row.name, values, params);
  return [results, results.map(() => dim)];
};

interface Placing {
  dim: number;
  moved: boolean;
}

/** Apply what the row says to operands that have the dimension there; shared ones have it first, or not at all. */
function placed(t: Tracing, axis: Axis, values: Value[], dims: Dim[], params: Params, row: Row, { dim, moved }: Placing): Batched {
  const { batch } = row;
  const shared = values.map((_, k) => batch.shared.includes(nameOf(row, k)));
  const places = dims.map((d, k): Dim => (!shared[k] ? dim : d === null ? null : 0));
  const at = (k: number): Value => (places[k] === null ? values[k] : placeAt(t, values[k], dims[k], axis.size, places[k]));
  if (batch.empty && !axis.size) return [[at(row.inputs.indexOf(batch.empty))], [dim]];
  const examples = values.map((v, k) => v.aval.with({ shape: without(v.aval.shape, dims[k]) }));
  const known = { d: BigInt(dim), size: BigInt(axis.size), moved, sanitize: false, dims: places.map((d) => (d === null ? null : BigInt(d))) };
  const scope = new Scope(known, batch.let, t.spec.scope(row, examples, params));
  const to = batch.dim ? Number(batch.dim(scope)) : dim;
  if (batch.cases.length) {
    const operands = byName(row, values.map((_, k) => once(() => at(k))));
    const outer = new Scope({}, { out: () => outs(t, row, examples, params) }, scope);
    return [byTemplate(t, row, batch.cases, outer, operands, values[0])!, [to]];
  }
  const lined: Value[] = [];
  for (const last of [false, true]) values.forEach((_, k) => shared[k] === last && (lined[k] = at(k)));
  const given = { ...params, ...Object.fromEntries(Object.entries(batch.params).map(([n, f]): [string, Param] => [n, f(scope)])) };
  const changes = batch.rule !== "front" || !row.identity || !truth(row.identity(t.spec.scope(row, lined.map((v) => v.aval), given)));
  return changes ? applied(t, row, lined, given, to) : [lined, [to]];
}

// Classes

const pointwise: Rule = (t, _, values, dims, params, row) => {
  const scalars = values.map((v, k) => dims[k] === null && !v.aval.shape.length);
  const dim = common(values, dims, scalars);
  if (dim !== null) return applied(t, row, values, params, dim);
  const lined = values.map((v, k) => {
    if (dims[k] !== null) return move(t, v, dims[k], 0);
    return v.aval.shape.length ? stretch(t, v, [1, ...v.aval.shape], v.aval.shape.map((_, d) => d + 1)) : v;
  });
  const rank = Math.max(...lined.map((v) => v.aval.shape.length));
  const full = lined.map((v, k) => {
    const missing = rank - v.aval.shape.length;
    return dims[k] !== null && missing ? stretch(t, v, [...v.aval.shape, ...Array(missing).fill(1)], v.aval.shape.map((_, d) => d)) : v;
  });
  return applied(t, row, full, params, 0);
};

const aligned: Rule = (t, axis, values, dims, params, row) => {
  const may = values.map((_, k) => row.batch.scalars.includes(row.inputs[Math.min(k, row.inputs.length - 1)]));
  const scalars = values.map((v, k) => dims[k] === null && !v.aval.shape.length);
  let stay = may.map((m, k) => m && scalars[k]);
  const dim = common(values, dims, stay);
  if (dim !== null) return applied(t, row, values, params, dim);
  // One of those that may stay has to be stretched, and so all have.
  if (stay.some((s, k) => s !== may[k])) stay = stay.map(() => false);
  const shapes = values.map((v, k) => without(v.aval.shape, dims[k]));
  const shape = [axis.size, ...shapes.reduce((a, b) => (b.length > a.length ? b : a))];
  const lined = [...values];
  for (const last of [false, true]) {
    lined.forEach((v, k) => {
      if (stay[k] || scalars[k] !== last) return;
      const { length } = v.aval.shape;
      lined[k] = dims[k] !== null ? move(t, v, dims[k], 0) : stretch(t, v, shape, v.aval.shape.map((_, d) => shape.length - length + d));
    });
  }
  return applied(t, row, lined.map((v, k) => (stay[k] || same(v.aval.shape, shape) ? v : stretch(t, v, shape, [0]))), params, 0);
};

const anywhere: Rule = (t, axis, values, dims, params, row) => {
  const own = dims.filter((_, k) => !row.batch.shared.includes(nameOf(row, k)));
  const moved = own.some((d) => d === null || d !== own[0]);
  return placed(t, axis, values, dims, params, row, { dim: moved ? 0 : own[0]!, moved });
};

const front: Rule = (t, axis, values, dims, params, row) => placed(t, axis, values, dims, params, row, { dim: 0, moved: true });

const together: Rule = (t, axis, values, dims, params, row) => placed(t, axis, values, dims, params, row, { dim: dims.find((d) => d !== null)!, moved: true });

const after = (axes: Param, dim: Dim): bigint[] => (axes as bigint[]).map((a) => (dim === null || a < dim ? a : a + 1n));

const contraction: Rule = (t, _, values, [left, right], params, row) => {
  const [[lc, rc], [lb, rb]] = params.dimension_numbers as Param[][];
  const [l, r] = [[after(lc, left), after(lb, left)], [after(rc, right), after(rb, right)]];
  const free = (axes: bigint[][], dim: number): number => Array.from({ length: dim }, (_, a) => BigInt(a)).filter((a) => !axes.flat().includes(a)).length;
  let dim = 0;
  if (left !== null && right !== null) {
    l[1] = [BigInt(left), ...l[1]];
    r[1] = [BigInt(right), ...r[1]];
  } else if (left !== null) dim = (lb as bigint[]).length + free(l, left);
  else dim = values[0].aval.shape.length - (lc as bigint[]).length + free(r, right!);
  return applied(t, row, values, { ...params, dimension_numbers: [[l[0], r[0]], [l[1], r[1]]] }, dim);
};

const collective: Rule = (t, axis, values, dims, params, row) => {
  if (axis.name !== null && namedAxes(t.spec, row.name, params).includes(axis.name)) {
    const [result, to] = overAxis(t, row.name, axis, values, dims, params);
    return [[result], [to]];
  }
  return placed(t, axis, values, dims, params, row, { dim: dims[0]!, moved: false });
};

const CLASSES: Record<string, Rule> = {
  pointwise,
  aligned,
  anywhere,
  front,
  together,
  contraction,
  collective,
  constant: (t, _, values, __, params, row) => applied(t, row, values, params, null),
};
/** One example of a batch: its type is the example's, `batched` holds all. */
export class Example extends Tracer {
  readonly aval: Aval;
  constructor(
    readonly trace: BatchTrace,
    readonly batched: Value,
    readonly dim: number,
  ) {
    super();
    this.aval = batched.aval.with({ shape: without(batched.aval.shape, dim) });
  }
}

/** Applies each operation to all examples at once. */
export class BatchTrace extends Trace {
  constructor(
    tracing: Tracing,
    readonly axis: Axis,
  ) {
    super(tracing, "vmap");
    if (axis.name !== null) this.axes = new Map([...this.axes, [axis.name, axis.size]]);
  }

  override names(axes: readonly string[]): boolean {
    return this.axis.name !== null && axes.includes(this.axis.name);
  }

  take(v: Value): [Value, Dim] {
    return v instanceof Example && v.trace === this ? [v.batched, v.dim] : [v, null];
  }

  give(v: Value, dim: Dim): Value {
    return dim === null ? v : new Example(this, v, dim);
  }

  bind(primitive: string, values: readonly Value[], params: Params): Value[] {
    const { tracing, axis } = this;
    const row = tracing.spec.find(primitive);
    const inlined = INLINED[primitive];
    if (inlined) return tracing.apply(params[inlined] as Program, values);
    const rule = CLASSES[row.batch.rule];
    if (!rule) throw new SpecError("", `a batch of ${primitive}`, true);
    const taken = values.map((v) => this.take(v));
    const [results, dims] = tracing.within(this.parent, () => rule(tracing, axis, taken.map((p) => p[0]), taken.map((p) => p[1]), params, row));
    return results.map((v, k) => this.give(v, dims[k]));
  }
}
