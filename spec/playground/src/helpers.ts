/** The helpers that formulas may call (spec/notation.rst, "Helpers"). */

import { Complex, largest, power2, Real } from "./exact.js";
import { compare, equal, negated, plus, product, PYTHON, sizes, times, type Functions, type Value } from "./formula.js";
import { modulus, real } from "./functions.js";
import { gamma, threefry } from "./random.js";
import { Aval, box, Dtype, Tensor } from "./values.js";

type Index = readonly bigint[];

const shapeOf = (x: Tensor | Aval): readonly number[] => (x instanceof Tensor ? x.aval.shape : x.shape);
const take = (shape: Index, axes: Index): Index => axes.map((d) => need(shape[Number(d)]));
const drop = (shape: Index, axes: Index): Index => shape.filter((_, d) => !axes.includes(BigInt(d)));

function need<T>(x: T | undefined): T {
  if (x === undefined) throw new RangeError("no such element");
  return x;
}

function place(axes: Index, chosen: Index, rest: Index): Index {
  const left = [...rest];
  return Array.from({ length: axes.length + rest.length }, (_, d) => {
    const k = axes.indexOf(BigInt(d));
    return need(k < 0 ? left.shift() : chosen[k]);
  });
}

function renumber(index: Index, shape: Index, other: Index): Index {
  let flat = index.reduce((n, i, d) => n * shape[d] + i, 0n);
  return other
    .toReversed()
    .map((n) => {
      const i = n ? flat % n : 0n;
      flat = n ? flat / n : 0n;
      return i;
    })
    .reverse();
}

const broadcastable = (...shapes: Index[]): boolean => {
  const some = shapes.filter((s) => s.length);
  return some.every((s) => s.length === some[0].length) && (some[0] ?? []).every((_, d) => new Set(some.map((s) => s[d]).filter((n) => n !== 1n)).size < 2);
};

const broadcastShapes = (...shapes: Index[]): Index => {
  const some = shapes.filter((s) => s.length);
  return (some[0] ?? []).map((_, d) => some.map((s) => s[d]).find((n) => n !== 1n) ?? 1n);
};

/** The element of `x` for an index of the result: what has extent 1 stretches. */
function at(x: Tensor, index: Index): Value {
  const shape = x.aval.shape;
  return x.at(shape.map((n, d) => (n === 1 ? 0 : Number(need(index[d])))));
}

export function limits(dtype: Dtype): [Value, Value] {
  switch (dtype.kind) {
    case "boolean":
      return [false, true];
    case "signed":
      return [-(1n << BigInt(dtype.bits - 1)), (1n << BigInt(dtype.bits - 1)) - 1n];
    case "unsigned":
    case "key":
      return [0n, (1n << BigInt(dtype.bits)) - 1n];
    case "floating": {
      const f = dtype.format;
      const most = (f.beyond ?? "inf") === "inf" ? Real.INF : largest(f);
      return [f.zero === "none" ? power2(f.least) : most.neg(), most];
    }
    case "complex":
      return [new Complex(Real.INF.neg()), new Complex(Real.INF)];
  }
}

const typeOf = (x: Tensor | Aval): Aval => (x instanceof Tensor ? x.aval : x);

/** The pivots by which a matrix, given row by row, is eliminated. */
function pivots(entries: Value[], size: bigint): Value[] {
  const n = Number(size);
  const rows = Array.from({ length: n }, (_, j) => entries.slice(j * n, j * n + n));
  for (let k = 0; k < n; k++) {
    for (let j = k + 1; j < n; j++) {
      if (equal(rows[k][k], 0n)) continue;
      const share = quotient(rows[j][k], rows[k][k]);
      for (let c = k; c < n; c++) rows[j][c] = plus(rows[j][c], negated(times(share, rows[k][c])));
    }
  }
  return rows.map((row, k) => (row[k] instanceof Complex ? row[k].re : row[k]));
}

const quotient = (a: Value, b: Value): Value =>
  a instanceof Complex || b instanceof Complex ? Complex.of(a).div(Complex.of(b)) : Real.of(a).div(Real.of(b));

function exchanged(places: Index, size: bigint): Index {
  const found = PYTHON.range(size) as bigint[];
  places.forEach((p, k) => {
    const n = Number(p);
    if (n >= 0 && n < found.length && k < found.length) [found[k], found[n]] = [found[n], found[k]];
  });
  return found;
}

/** The product of matrices 1 - f v v*, as its elements row by row. */
function reflections(vectors: Value[][], factors: Value[], size: bigint): Value[] {
  const n = Number(size);
  let rows: Value[][] = Array.from({ length: n }, (_, j) => Array.from({ length: n }, (_, k) => (j === k ? 1n : 0n)));
  vectors.forEach((v, m) => {
    rows = rows.map((row) => {
      const along = product([factors[m], row.map((x, k) => times(x, v[k])).reduce(plus)]);
      return row.map((x, k) => plus(x, negated(times(along, real("mirror", v[k])))));
    });
  });
  return rows.flat();
}

export const HELPERS: Functions = {
  ...PYTHON,
  take,
  drop,
  box: (shape: Index) => box(shape.map(Number)).map(sizes),
  place,
  renumber,
  distinct: (items: Value[]) => items.every((x, k) => !items.slice(0, k).some((y) => equal(x, y))),
  prod: product,
  broadcastable,
  broadcast_shapes: broadcastShapes,
  at,
  types: (avals: (Tensor | Aval)[]) => avals.map((a) => [sizes(shapeOf(a)), typeOf(a).dtype]),
  positions: (axes: Value[]) => axes.filter((a) => typeof a === "bigint"),
  resized: (type: Aval | Tensor, shape: Index, dtype?: Dtype, vma?: string[]) => typeOf(type).with({ shape: shape.map(Number), dtype: dtype ?? typeOf(type).dtype, vma }),
  limits,
  abs: (x: Value) => (x instanceof Complex ? modulus(x) : compare(x, 0n) < 0 || (x instanceof Real && x.negative) ? negated(x) : x),
  pivots,
  exchanged,
  reflections,
  real,
  threefry,
  gamma,
};
