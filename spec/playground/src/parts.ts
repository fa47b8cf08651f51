/** Programs of the parts that devices have, run for all devices of a mesh (shard_map.value). */

import { BatchTrace, placeAt, type Dim } from "./batching.js";
import { PARTS } from "./evaluate.js";
import { tensorOf, Tracing, type Value } from "./tracing.js";
import { sizeOf, type Program, type Tensor } from "./values.js";

/** Of each dimension of an array the axes that divide it. */
type Division = readonly (readonly string[])[];
type Sizes = ReadonlyMap<string, number>;

const names = (division: Division, axis: string): boolean => division.some((axes) => axes.includes(axis));
const at = (division: Division, dim: number): readonly string[] => division[dim] ?? [];
const count = (axes: readonly string[], sizes: Sizes): number => sizeOf(axes.map((a) => sizes.get(a)!));
const reshaped = (t: Tracing, v: Value, shape: readonly number[]): Value => t.one("reshape", [v], { new_sizes: shape.map(BigInt) });
const ordered = (t: Tracing, v: Value, order: readonly number[]): Value => t.one("transpose", [v], { permutation: order.map(BigInt) });

/** The parts of an array, along first dimensions, in the order of the mesh. */
function divided(t: Tracing, v: Value, division: Division, sizes: Sizes): Value {
  const [extents, own, places]: [number[], number[], Map<string, number>] = [[], [], new Map()];
  v.aval.shape.forEach((n, d) => {
    for (const axis of at(division, d)) {
      places.set(axis, extents.length);
      extents.push(sizes.get(axis)!);
    }
    own.push(extents.length);
    extents.push(n / count(at(division, d), sizes));
  });
  const first = [...sizes.keys()].filter((a) => places.has(a)).map((a) => places.get(a)!);
  return ordered(t, reshaped(t, v, extents), [...first, ...own]);
}

/** The array that parts make up. */
function joined(t: Tracing, v: Value, division: Division, sizes: Sizes): Value {
  const first = [...sizes.keys()].filter((a) => names(division, a));
  const part = v.aval.shape.slice(first.length);
  const order = part.flatMap((_, d) => [...at(division, d).map((a) => first.indexOf(a)), first.length + d]);
  return reshaped(t, ordered(t, v, order), part.map((n, d) => n * count(at(division, d), sizes)));
}

/** The first device's. */
function ofFirst(t: Tracing, v: Value, dim: number): Value {
  const ends = (end: bigint): bigint[] => v.aval.shape.map((n, d) => (d === dim ? end : end * BigInt(n)));
  return t.one("squeeze", [t.one("slice", [v], { start_indices: ends(0n), limit_indices: ends(1n) })], { dimensions: [BigInt(dim)] });
}

/** The results for all devices: those along each axis are the examples of a batch whose axis has its name. */
function along(t: Tracing, axes: readonly string[], sizes: Sizes, parts: readonly Value[], ins: readonly Division[], outs: readonly Division[], body: (parts: readonly Value[]) => Value[]): Value[] {
  if (!axes.length) return body(parts);
  const [name, ...rest] = axes;
  const size = sizes.get(name)!;
  const trace = new BatchTrace(t, { name, size });
  const given = parts.map((v, k) => trace.give(v, names(ins[k], name) ? 0 : null));
  const found = t.within(trace, () => along(t, rest, sizes, given, ins, outs, body).map((v): [Value, Dim] => trace.take(v)));
  return found.map(([v, dim], k) => (names(outs[k], name) ? placeAt(t, v, dim, size, 0) : dim === null ? v : ofFirst(t, v, dim)));
}

PARTS.run = (spec, program: Program, args: readonly Tensor[], mesh, manual, ins, outs): Tensor[] => {
  const t = new Tracing(spec);
  const own = manual as readonly string[];
  const sizes: Sizes = new Map((mesh as [string, bigint, string][]).filter(([name]) => own.includes(name)).map(([name, size]) => [name, Number(size)]));
  const [from, to] = [ins, outs] as [Division[], Division[]];
  const parts = args.map((x, k) => divided(t, x, from[k], sizes));
  const found = along(t, [...sizes.keys()], sizes, parts, from, to, (values) => t.apply(program, values));
  return found.map((v, k) => tensorOf(joined(t, v, to[k], sizes)));
};
