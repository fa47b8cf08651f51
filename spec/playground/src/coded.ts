/** Derivatives that no template can express: a choice among many, a product of many factors, lines in order. */

import { pushForward, type Tangent } from "./derivatives.js";
import { filled, scalar, zeros, type Tracing, type Value } from "./tracing.js";
import type { Params } from "./values.js";

type CodedJvp = (t: Tracing, primals: Value[], tangents: Tangent[], params: Params) => [Value[], Tangent[]];
type CodedTranspose = (t: Tracing, cotangents: Tangent[], inputs: readonly Value[], linear: boolean[], params: Params) => Tangent[];

const cut = (t: Tracing, x: Value, axis: number, start: number, stop: number, stride = 1): Value => {
  const along = (v: number, other: (n: number) => number): bigint[] => x.aval.shape.map((n, d) => BigInt(d === axis ? v : other(n)));
  return t.one("slice", [x], { start_indices: along(start, () => 0), limit_indices: along(stop, (n) => n), strides: along(stride, () => 1) });
};

/** The choice among the tangents; a zero stands for those that are. */
const select: CodedJvp = (t, primals, tangents, params) => {
  const results = t.bind("select_n", primals, params);
  if (tangents.slice(1).every((x) => !x)) return [results, [null]];
  const zero = zeros(t, results[0].aval);
  return [results, [t.one("select_n", [primals[0], ...tangents.slice(1).map((x) => x ?? zero)])]];
};

/** To each case its cotangent where it was chosen, and zero elsewhere. */
const transposeSelect: CodedTranspose = (t, [ct], inputs, linear) => {
  const zero = zeros(t, ct!.aval);
  const [which, ...cases] = inputs;
  const parts = cases.map((_, k): Tangent => {
    if (!linear[k + 1]) return null;
    if (cases.length === 1) return ct;
    if (which.aval.dtype.kind === "boolean") return t.one("select_n", [which, ...cases.map((_, n) => (n === k ? ct! : zero))]);
    const here = t.one("eq", [which, scalar(t, BigInt(k), which.aval.with({ weak: false }))]);
    return t.one("select_n", [here, zero, ct!]);
  });
  return [null, ...parts];
};

/** The product over axes by halves, again and again, so that no factor is divided by. */
function productTree(t: Tracing, x: Value, axes: number[]): Value {
  if (axes.length > 1) {
    const { shape } = x.aval;
    const rest = shape.map((_, d) => d).filter((d) => !axes.includes(d));
    const order = [...axes, ...rest];
    if (order.some((d, k) => d !== k)) x = t.one("transpose", [x], { permutation: order.map(BigInt) });
    const size = axes.reduce((n, d) => n * shape[d], 1);
    x = t.one("reshape", [x], { new_sizes: [size, ...rest.map((d) => shape[d])].map(BigInt) });
    axes = [0];
  }
  for (const axis of axes) {
    for (let n = x.aval.shape[axis]; n > 1; n = x.aval.shape[axis]) {
      const half = Math.floor((n + 1) / 2);
      const first = cut(t, x, axis, 0, half);
      let second = cut(t, x, axis, half, n);
      if (n % 2) second = t.one("pad", [second, scalar(t, 1n, x.aval)], { padding_config: x.aval.shape.map((_, d) => [0n, d === axis ? 1n : 0n, 0n]) });
      x = t.one("mul", [first, second]);
    }
  }
  const { shape } = x.aval;
  if (axes.some((a) => shape[a] === 0)) return filled(t, 1n, x.aval.with({ shape: shape.filter((_, d) => !axes.includes(d)) }));
  return axes.length ? t.one("squeeze", [x], { dimensions: axes.map(BigInt) }) : x;
}

/** What elements up to each place make together: of pairs, pairs of pairs, and those between. */
function prefixes(t: Tracing, combine: (a: Value, b: Value) => Value, x: Value, axis: number): Value {
  const n = x.aval.shape[axis];
  if (n < 2) return x;
  const pairs = combine(cut(t, x, axis, 0, n - 1, 2), cut(t, x, axis, 1, n, 2));
  const odd = prefixes(t, combine, pairs, axis);
  const before = n % 2 ? odd : cut(t, odd, axis, 0, odd.aval.shape[axis] - 1);
  const between = n > 2 ? [combine(before, cut(t, x, axis, 2, n, 2))] : [];
  const even = t.one("concatenate", [cut(t, x, axis, 0, 1), ...between], { dimension: BigInt(axis) });
  const pad = (v: Value, low: number, high: number): Value =>
    t.one("pad", [v, scalar(t, 0n, v.aval)], { padding_config: v.aval.shape.map((_, d) => (d === axis ? [BigInt(low), BigInt(high), 1n] : [0n, 0n, 0n])) });
  const [e, o] = [even.aval.shape[axis], odd.aval.shape[axis]];
  return t.one("add", [pad(even, 0, e === o ? 1 : 0), pad(odd, 1, e === o ? 0 : 1)]);
}

function byScan(primitive: string, combine: (t: Tracing, a: Value, b: Value) => Value): CodedJvp {
  return (t, primals, tangents, params) => {
    if (!tangents[0]) return [t.bind(primitive, primals, params), [null]];
    const axis = Number(params.axis);
    const rev = (x: Value): Value => (params.reverse ? t.one("rev", [x], { dimensions: [BigInt(axis)] }) : x);
    const f = ([x]: Value[]): Value[] => [rev(prefixes(t, (a, b) => combine(t, a, b), rev(x), axis))];
    return pushForward(t, "jvp", f, primals, tangents);
  };
}

export const CODED_JVP: Record<string, CodedJvp> = {
  select_n: select,
  reduce_prod: (t, primals, tangents, params) => pushForward(t, "jvp", ([x]) => [productTree(t, x, (params.axes as bigint[]).map(Number))], primals, tangents),
  cumprod: byScan("cumprod", (t, a, b) => t.one("mul", [a, b])),
  cummax: byScan("cummax", (t, a, b) => t.one("max", [a, b])),
  cummin: byScan("cummin", (t, a, b) => t.one("min", [a, b])),
};

export const CODED_TRANSPOSE: Record<string, CodedTranspose> = { select_n: transposeSelect };
