/** Batching by the classes of rows: each operation is applied once, to all examples (spec/transforms.rst). */

import { overAxis } from "./collectives.js";
import { SpecError } from "./errors.js";
import { Scope, truth } from "./formula.js";
import { INLINED } from "./derivatives.js";
import type { Row } from "./spec.js";
import { filled, namedAxes, scalar, stretch, Trace, Tracer, Tracing, type Value } from "./tracing.js";
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

/** The params that the row gives for this dimension, and that of the results. */
function changed(t: Tracing, row: Row, avals: Aval[], params: Params, size: number, dim: number, moved: boolean): [Params, number] {
  const examples = avals.map((a) => a.with({ shape: without(a.shape, dim) }));
  const scope = new Scope({ d: BigInt(dim), size: BigInt(size), moved }, {}, t.spec.scope(row, examples, params));
  const given = Object.fromEntries(Object.entries(row.batch.params).map(([n, f]): [string, Param] => [n, f(scope)]));
  return [{ ...params, ...given }, row.batch.dim ? Number(row.batch.dim(scope)) : dim];
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

const inFront = (t: Tracing, axis: Axis, values: Value[], dims: Dim[]): Value[] => values.map((v, k) => placeAt(t, v, dims[k], axis.size, 0));

const anywhere: Rule = (t, axis, values, dims, params, row) => {
  const moved = dims.some((d) => d === null || d !== dims[0]);
  const lined = moved ? inFront(t, axis, values, dims) : values;
  const [given, dim] = changed(t, row, lined.map((v) => v.aval), params, axis.size, moved ? 0 : dims[0]!, moved);
  return applied(t, row, lined, given, dim);
};

const front: Rule = (t, axis, values, dims, params, row) => {
  const lined = inFront(t, axis, values, dims);
  const avals = lined.map((v) => v.aval);
  const [given, dim] = changed(t, row, avals, params, axis.size, 0, true);
  if (row.identity && truth(row.identity(t.spec.scope(row, avals, given)))) return [lined, [dim]];
  return applied(t, row, lined, given, dim);
};

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
  const [given, dim] = changed(t, row, values.map((v) => v.aval), params, axis.size, dims[0]!, false);
  return applied(t, row, values, given, dim);
};

// Primitives with rules of their own

const pad: Rule = (t, axis, [x, value], dims, params) => {
  const v = dims[0] === null ? placeAt(t, x, null, axis.size, 0) : x;
  const dim = dims[0] ?? 0;
  const config = { padding_config: (params.padding_config as Param[]).toSpliced(dim, 0, [0n, 0n, 0n]) };
  if (dims[1] === null) return [[t.one("pad", [v, value], config)], [dim]];
  const padded = t.one("pad", [v, scalar(0n, v.aval)], config);
  const flags = v.aval.with({ dtype: t.spec.dtype("bool"), weak: false });
  const inside = t.one("pad", [filled(t, true, flags), scalar(false, flags)], config);
  return [[t.one("select_n", [inside, stretch(t, value, padded.aval.shape, [dim]), padded])], [dim]];
};

const plus1 = (axes: Param): bigint[] => (axes as bigint[]).map((a) => a + 1n);

const gather: Rule = (t, axis, [x, indices], [own, rows], params) => {
  const given: Record<string, Param> = { ...params };
  let [windows, single, names, batched, along] = given.dimension_numbers as bigint[][];
  const sizes = given.slice_sizes as bigint[];
  if (own !== null) x = move(t, x, own, 0);
  if (rows !== null) {
    indices = move(t, indices, rows, 0);
    [along, windows] = [plus1(along), plus1(windows)];
    if (own === null) Object.assign(given, { indices_are_sorted: false, unique_indices: false });
    else given.slice_sizes = [1n, ...sizes];
  } else {
    windows = [0n, ...plus1(windows)];
    given.slice_sizes = [BigInt(axis.size), ...sizes];
  }
  if (own !== null) {
    [single, names, batched] = [single, names, batched].map(plus1);
    if (rows !== null) [batched, along] = [[0n, ...batched], [0n, ...along]];
  }
  return [t.bind("gather", [x, indices], { ...given, dimension_numbers: [windows, single, names, batched, along] }), [0]];
};

const scatter: Rule = (t, axis, [x, indices, updates], dims, params, row) => {
  const numbers = params.dimension_numbers as bigint[][];
  const [x0, u0] = [placeAt(t, x, dims[0], axis.size, 0), placeAt(t, updates, dims[2], axis.size, 0)];
  let [windows, single, names, batched] = numbers.slice(0, 4).map(plus1);
  let along = numbers[4];
  if (dims[1] === null) windows = [0n, ...windows];
  else {
    indices = move(t, indices, dims[1], 0);
    [batched, along] = [[0n, ...batched], [0n, ...plus1(along)]];
  }
  return [t.bind(row.name, [x0, indices, u0], { ...params, dimension_numbers: [windows, single, names, batched, along] }), [0]];
};

/** Starts as one row of indices, or as one for each example. */
function startRows(t: Tracing, starts: Value[], dims: Dim[], size: number): [Value, Dim] {
  const lead = dims.every((d) => d === null) ? [] : [size];
  const parts = starts.map((s, k) => stretch(t, s, [...lead, 1], dims[k] === null ? [] : [0]));
  return [parts.length > 1 ? t.one("concatenate", parts, { dimension: BigInt(lead.length) }) : parts[0], lead.length ? 0 : null];
}

const boxes = (rank: number): bigint[][] => {
  const every = Array.from({ length: rank }, (_, d) => BigInt(d));
  return [every, [], every, [], []];
};
const CLIPPED = { indices_are_sorted: true, unique_indices: true, mode: "GatherScatterMode.CLIP" };

const dynamicSlice: Rule = (t, axis, [x, ...starts], [own, ...dims], params, row) => {
  const sizes = params.slice_sizes as bigint[];
  if (!sizes.length) return [[x], [own]];
  const [indices, rows] = startRows(t, starts, dims, axis.size);
  return gather(t, axis, [x, indices], [own, rows], { dimension_numbers: boxes(sizes.length), slice_sizes: sizes, fill_value: null, ...CLIPPED }, row);
};

const dynamicUpdate: Rule = (t, axis, [x, update, ...starts], [own, other, ...dims]) => {
  const rank = x.aval.shape.length - (own === null ? 0 : 1);
  if (!rank) return [[update], [other]];
  const [indices, rows] = startRows(t, starts, dims, axis.size);
  const params = { dimension_numbers: boxes(rank), update_consts: [], update_jaxpr: null, ...CLIPPED };
  return scatter(t, axis, [x, indices, update], [own, rows, other], params, t.spec.find("scatter"));
};

const sort: Rule = (t, axis, values, dims, params, row) => {
  const dim = dims.find((d) => d !== null)!;
  const lined = values.map((v, k) => placeAt(t, v, dims[k], axis.size, dim));
  const sorted = Number(params.dimension);
  return applied(t, row, lined, { ...params, dimension: BigInt(sorted + (dim <= sorted ? 1 : 0)) }, dim);
};

const CLASSES: Record<string, Rule> = {
  pointwise,
  aligned,
  anywhere,
  front,
  contraction,
  collective,
  constant: (t, _, values, __, params, row) => applied(t, row, values, params, null),
};
const OWN: Record<string, Rule> = { pad, gather, sort, dynamic_slice: dynamicSlice, dynamic_update_slice: dynamicUpdate };
for (const kind of ["", "-add", "-sub", "-mul", "-min", "-max"]) OWN[`scatter${kind}`] = scatter;

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
    const rule = CLASSES[row.batch.rule] ?? OWN[primitive];
    if (!rule) throw new SpecError("", `a batch of ${primitive}`, true);
    const taken = values.map((v) => this.take(v));
    const [results, dims] = tracing.within(this.parent, () => rule(tracing, axis, taken.map((p) => p[0]), taken.map((p) => p[1]), params, row));
    return results.map((v, k) => this.give(v, dims[k]));
  }
}
