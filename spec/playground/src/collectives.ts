/** Operations over the axis of a batch: reductions of the batched dimension, or movements along it. */

import { move, placeAt, type Axis, type Dim } from "./batching.js";
import { scalar, stretch, type Tracing, type Value } from "./tracing.js";
import type { Param, Params } from "./values.js";

type Placed = [Value, Dim];
type Collective = (t: Tracing, v: Value, dim: Dim, axis: Axis, params: Params) => Placed;

const resized = (t: Tracing, v: Value, shape: readonly number[]): Value => t.one("reshape", [v], { new_sizes: shape.map(BigInt) });

/** Two dimensions as one; a dimension as parts along a dimension of their own before it. */
const merged = (t: Tracing, v: Value, dim: number): Value => resized(t, v, v.aval.shape.toSpliced(dim, 2, v.aval.shape[dim] * v.aval.shape[dim + 1]));
const parted = (t: Tracing, v: Value, dim: number, count: number): Value =>
  resized(t, v, v.aval.shape.toSpliced(dim, 1, count, Math.floor(v.aval.shape[dim] / Math.max(count, 1))));

/** The sum of equal examples. */
const times = (t: Tracing, v: Value, size: number): Value => t.one("mul", [scalar(t, BigInt(size), v.aval), v]);

const folded = (name: string, repeated: (t: Tracing, v: Value, size: number) => Value): Collective => (t, v, dim, axis, params) => {
  const axes = params.axes as Param[];
  if (dim === null) {
    const left = axes.filter((a) => a !== axis.name);
    const same = repeated(t, v, axis.size);
    return [left.length ? t.one(name, [same], { ...params, axes: left }) : same, null];
  }
  const numbers = axes.map((a) => (a === axis.name ? 0n : typeof a === "bigint" ? a + 1n : a));
  return [t.one(name, [move(t, v, dim, 0)], { ...params, axes: numbers }), null];
};

/** The examples in another order; zeros for one that nothing is sent to. */
const ppermute: Collective = (t, v, dim, axis, params) => {
  const perm = params.perm as bigint[][];
  if (perm.flat().some((k) => k >= axis.size)) throw t.spec.error("axis.permutation", String(perm));
  const at = dim ?? 0;
  const batch = placeAt(t, v, dim, axis.size, at);
  const { shape } = batch.aval;
  const parts = Array.from({ length: axis.size }, (_, k) => {
    const source = perm.find(([, to]) => Number(to) === k)?.[0];
    if (source === undefined) return stretch(t, scalar(t, 0n, batch.aval.with({ weak: false })), shape.with(at, 1), []);
    const ends = (end: bigint): bigint[] => shape.map((n, d) => (d === at ? source + end : end * BigInt(n)));
    return t.one("slice", [batch], { start_indices: ends(0n), limit_indices: ends(1n) });
  });
  return [t.one("concatenate", parts, { dimension: BigInt(at) }), at];
};

/** Each example's part for another becomes that one's part from it. */
const allToAll: Collective = (t, v, dim, axis, params) => {
  const [split, joined] = [params.split_axis, params.concat_axis].map(Number);
  if (split !== joined) return [parted(t, merged(t, placeAt(t, v, dim, axis.size, joined), joined), split, axis.size), split];
  const at = dim ?? 0;
  const here = split + (at <= split ? 1 : 0);
  const parts = parted(t, placeAt(t, v, dim, axis.size, at), here, axis.size);
  const examples = at + (here < at ? 1 : 0);
  const order = parts.aval.shape.map((_, d) => BigInt(d === here ? examples : d === examples ? here : d));
  return [merged(t, t.one("transpose", [parts], { permutation: order }), here), at];
};

const OWN: Record<string, Collective> = {
  psum: folded("psum", times),
  pmax: folded("pmax", (_, v) => v),
  pmin: folded("pmin", (_, v) => v),
  ppermute,
  pvary: (_t, v, dim) => [v, dim],
  psum_invariant: (t, v, dim, axis, params) => OWN.psum(t, v, dim, axis, { ...params, axis_index_groups: null }),
  all_to_all: allToAll,
  all_gather: (t, v, dim, axis, params) => {
    const to = Number(params.all_gather_dimension);
    const gathered = placeAt(t, v, dim, axis.size, to);
    return [params.tiled ? merged(t, gathered, to) : gathered, null];
  },
  reduce_scatter: (t, v, dim, axis, params) => {
    const to = Number(params.scatter_dimension);
    const total = dim === null ? times(t, v, axis.size) : t.one("reduce_sum", [v], { axes: [BigInt(dim)] });
    return [params.tiled ? parted(t, total, to, axis.size) : total, to];
  },
};

/** An operation over the axis of a batch, and the batched dimension of its result. */
export function overAxis(t: Tracing, primitive: string, axis: Axis, values: Value[], dims: Dim[], params: Params): Placed {
  if (primitive === "axis_index") return [t.one("iota", [], { dimension: 0n, dtype: t.spec.dtype("int32"), shape: [BigInt(axis.size)] }), 0];
  return OWN[primitive](t, values[0], dims[0], axis, params);
}
