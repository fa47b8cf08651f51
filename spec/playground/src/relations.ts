/** Results that are known by relations: some are proposed, and must satisfy them (spec/notation.rst, "Relations"). */

import { Complex, power2, Real, unitAt } from "./exact.js";
import { Scope, sizes, truth, type Value } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { adjoint, cholesky, eigh, isFinite, lu, matrix, orthonormal, substitute, svd, type Matrix } from "./matrices.js";
import type { Row } from "./spec.js";
import { box, settle, sizeOf, Tensor, unsupported, type Aval } from "./values.js";

/** What is proposed for one matrix, or for one of each operand: the elements of each result. */
type Proposal = (get: (name: string) => Value, ...operands: Matrix[]) => Value[][];

const NAN = new Complex(Real.NAN, Real.NAN);
const columnsOf = (get: (name: string) => Value): number => Number(get("columns"));
const nothing = (get: (name: string) => Value, types: Aval[]): Value[][] =>
  types.map((t) => Array(sizeOf(t.shape.slice(get("stack").length))).fill(t.dtype.kind === "signed" ? 0n : NAN));
/** The same of `qr`, whose second result is zero below its diagonal all the same. */
const triangular = (get: (name: string) => Value, types: Aval[]): Value[][] => {
  const [q, r] = nothing(get, types);
  const columns = columnsOf(get);
  return [q, r.map((x, n) => (n % columns < Math.floor(n / columns) ? new Complex(Real.ZERO) : x))];
};

/** The matrix of which one triangle counts. */
const mirrored = (a: Matrix, lower: boolean): Matrix =>
  a.map((row, j) => row.map((x, k) => (j === k ? new Complex(x.re) : j > k === lower ? x : a[k][j].conj())));

const PROPOSALS: Record<string, Proposal> = {
  cholesky: (_, a) => {
    const found = cholesky(mirrored(a, true));
    return [found ? found.flat() : a.flat().map(() => NAN)];
  },
  lu: (get, a) => {
    const { factors, exchanges } = lu(a, columnsOf(get));
    const order = HELPERS.exchanged(exchanges.map(BigInt), BigInt(a.length));
    return [factors.flat(), exchanges.map(BigInt), order];
  },
  qr: (get, a) => {
    const inner = Number(get("inner"));
    const columns = adjoint(a, columnsOf(get)).map((row) => row.map((x) => x.conj()));
    const q = orthonormal(columns, a.length, inner);
    const r = q.map((v, j) => columns.map((c, k) => (j > k ? new Complex(Real.ZERO) : v.map((x, n) => x.conj().mul(c[n])).reduce((s, x) => s.add(x)))));
    return [matrix(a.length, inner, (j, k) => q[k][j]).flat(), r.flat()];
  },
  eigh: (get, a) => {
    const { values, vectors } = eigh(mirrored(a, get("lower")));
    return [vectors.flat(), values];
  },
  svd: (get, a) => {
    const full = get("compute_uv");
    const { values, left, right } = svd(a, columnsOf(get), full ? Number(get("lefts")) : 0);
    return full ? [values, left.flat(), right.slice(0, Number(get("rights"))).flat()] : [values];
  },
  triangular_solve: (get, a, y) => {
    const turned = get("transpose_a") ? adjoint(a).map((row) => row.map((x) => x.conj())) : a;
    const whole = turned.map((row, j) => row.map((x, k) => (j === k && get("unit_diagonal") ? new Complex(Real.ONE) : get("conjugate_a") ? x.conj() : x)));
    if (get("left_side")) {
      const solved = (y[0] ?? []).map((_, k) => substitute(whole, y.map((row) => row[k]), get("down")));
      return [matrix(y.length, solved.length, (j, k) => solved[k][j]).flat()];
    }
    const other = whole.map((_, j) => whole.map((row) => row[j]));
    return [y.flatMap((row) => substitute(other, row, !get("down")))];
  },
};

/** Results of the types that satisfy the relations of a row. */
export function related(row: Row, scope: Scope, types: Aval[], operands: readonly Tensor[]): Tensor[] {
  const propose = PROPOSALS[row.name];
  if (!propose) throw unsupported(`${row.name}, whose results are known by relations`);
  const get = (name: string): Value => scope.get(name);
  const stack = get("stack").map(Number);
  const found: Value[][] = types.map(() => []);
  for (let n = 0; n < sizeOf(stack); n++) {
    const given = operands.map((x) => matrixAt(x, n, stack.length));
    const finite = row.name === "triangular_solve" || row.name === "cholesky" || given.every(isFinite);
    const parts = finite ? propose(get, ...given) : (INDEFINITE[row.name] ?? nothing)(get, types, ...given);
    parts.forEach((part, k) => found[k].push(...part));
  }
  const results = types.map((t, k) => new Tensor(t, found[k].map((x) => settle(t.dtype.kind === "complex" || !(x instanceof Complex) ? x : x.re, t.dtype))));
  verify(row, scope, operands[0].aval, results);
  return results;
}

const unknown = (get: (name: string) => Value, _: Aval[], a: Matrix): Value[][] => [
  a.flat().map(() => NAN),
  Array.from({ length: Number(get("least")) }, (_, k) => BigInt(k)),
  a.map((_, k) => BigInt(k)),
];

/** What some rows give for a matrix that is not finite; the others give nothing. */
const INDEFINITE: Record<string, (get: (name: string) => Value, types: Aval[], ...operands: Matrix[]) => Value[][]> = { lu: unknown, qr: triangular };

function matrixAt(x: Tensor, n: number, lead: number): Matrix {
  const [rows, columns] = x.aval.shape.slice(lead);
  return matrix(rows, columns, (j, k) => Complex.of(x.data[(n * rows + j) * columns + k] as Complex));
}

/** Every relation must hold at every index into its shape. */
function verify(row: Row, scope: Scope, first: Aval, results: Tensor[]): void {
  const half = unitAt(Real.ONE, first.dtype.format).div(Real.of(first.dtype.kind === "complex" ? 0.5 : 2));
  const known = { u: half, tiny: power2(first.dtype.format.least), ...Object.fromEntries(row.results.map((n, k) => [n, results[k]])) };
  for (const relation of row.post) {
    for (const i of box(relation.over(new Scope(known, {}, scope)).map(Number))) {
      if (!truth(relation.holds(new Scope({ ...known, i: sizes(i) }, row.each, scope)))) throw new RangeError(`${row.name} at ${i}: ${relation.says}`);
    }
  }
}
