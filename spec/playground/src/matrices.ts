/** Factorizations of small matrices of complex numbers, with 200 bits: more than any dtype has. */

import { Complex, power2, Real } from "./exact.js";
import { modulus, sqrt } from "./functions.js";

export type Matrix = Complex[][];

const ZERO = new Complex(Real.ZERO);
const ONE = new Complex(Real.ONE);

function near(x: Real): Real {
  if (x.special || x.zero) return x;
  const unit = power2(x.exponent() - 200);
  return x.div(unit).round().mul(unit);
}
const rounded = (z: Complex): Complex => new Complex(near(z.re), near(z.im));
const times = (a: Complex, b: Complex): Complex => rounded(a.mul(b));
const minus = (a: Complex, b: Complex): Complex => rounded(a.sub(b));
const over = (a: Complex, b: Complex): Complex => rounded(a.div(b));
const real = (x: Real): Complex => new Complex(x);
const total = (items: Complex[]): Complex => items.reduce((a, b) => rounded(a.add(b)), ZERO);

export const matrix = (rows: number, columns: number, f: (j: number, k: number) => Complex): Matrix =>
  Array.from({ length: rows }, (_, j) => Array.from({ length: columns }, (_, k) => f(j, k)));
export const identity = (n: number): Matrix => matrix(n, n, (j, k) => (j === k ? ONE : ZERO));
const product = (a: Matrix, b: Matrix): Matrix => a.map((row) => (b[0] ?? []).map((_, k) => total(row.map((x, c) => times(x, b[c][k])))));
/** The conjugate transpose of a matrix with so many columns. */
export const adjoint = (a: Matrix, columns = a[0]?.length ?? 0): Matrix => matrix(columns, a.length, (j, k) => a[k][j].conj());
export const isFinite = (a: Matrix): boolean => a.flat().every((z) => z.finite);
const dot = (a: Complex[], b: Complex[]): Complex => total(a.map((x, c) => times(x.conj(), b[c])));
const length = (a: Complex[]): Real => sqrt(near(dot(a, a).re));

/** The lower triangle of which a definite matrix is the square; null where it is not definite. */
export function cholesky(a: Matrix): Matrix | null {
  const lower = a.map((row) => row.map(() => ZERO));
  for (let k = 0; k < a.length; k++) {
    const pivot = near(a[k][k].re.sub(total(lower[k].slice(0, k).map((x) => times(x, x.conj()))).re));
    if (!(pivot.compare(Real.ZERO) > 0)) return null;
    lower[k][k] = real(near(sqrt(pivot)));
    for (let j = k + 1; j < a.length; j++) {
      const rest = minus(a[j][k], total(lower[j].slice(0, k).map((x, c) => times(x, lower[k][c].conj()))));
      lower[j][k] = over(rest, lower[k][k]);
    }
  }
  return lower;
}

/** The factors by elimination, and the row that each step exchanged for its own. */
export function lu(a: Matrix, columns: number): { factors: Matrix; exchanges: number[] } {
  const rows = a.map((row) => [...row]);
  const exchanges: number[] = [];
  const size = (z: Complex): Real => z.re.abs().add(z.im.abs());
  for (let k = 0; k < Math.min(a.length, columns); k++) {
    let best = k;
    for (let j = k + 1; j < a.length; j++) if (size(rows[j][k]).compare(size(rows[best][k])) > 0) best = j;
    exchanges.push(best);
    [rows[k], rows[best]] = [rows[best], rows[k]];
    if (rows[k][k].zero) continue;
    for (let j = k + 1; j < a.length; j++) {
      const share = over(rows[j][k], rows[k][k]);
      rows[j] = rows[j].map((x, c) => (c < k ? x : c === k ? share : minus(x, times(share, rows[k][c]))));
    }
  }
  return { factors: rows, exchanges };
}

/** The solution of a triangular system for one right side; `down` if the lower triangle counts. */
export function substitute(a: Matrix, y: Complex[], down: boolean): Complex[] {
  const x: Complex[] = [];
  const order = y.map((_, k) => (down ? k : y.length - 1 - k));
  order.forEach((j, n) => {
    const known = order.slice(0, n);
    x[j] = over(known.reduce((rest, c) => minus(rest, times(a[j][c], x[c])), y[j]), a[j][j]);
  });
  return x;
}

const less = (v: Complex[], q: Complex[], share: Complex): Complex[] => v.map((x, c) => minus(x, times(q[c], share)));

/** Vectors of length 1, each orthogonal to those before; where one adds nothing, another is taken in its place. */
export function orthonormal(vectors: Complex[][], size: number, count: number): Complex[][] {
  const found: Complex[][] = [];
  const spare = identity(size);
  const rest = (v: Complex[]): Complex[] => {
    // Twice, for what rounding has left.
    for (let n = 0; n < 2; n++) for (const q of found) v = less(v, q, dot(q, v));
    return v;
  };
  for (let k = 0; k < count; k++) {
    const given = vectors[k] ?? [];
    const scale = given.length ? length(given) : Real.ZERO;
    let v = given.length ? rest(given) : [];
    if (scale.zero || length(v).compare(scale.mul(power2(-90))) <= 0) {
      v = spare.map(rest).reduce((a, b) => (length(b).compare(length(a)) > 0 ? b : a));
    }
    const unit = real(length(v));
    found.push(v.map((x) => over(x, unit)));
  }
  return found;
}

/** Eigenvalues, ascending, and eigenvectors as columns, of a matrix that is its own adjoint: by Jacobi's rotations. */
export function eigh(a: Matrix): { values: Real[]; vectors: Matrix } {
  const n = a.length;
  let [rest, vectors] = [a, identity(n)];
  const scale = near(a.flat().reduce((s, z) => s.add(modulus(z)), Real.ZERO));
  for (let sweep = 0; sweep < 40; sweep++) {
    let turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const off = near(modulus(rest[p][q]));
        if (off.compare(scale.mul(power2(-170))) <= 0) continue;
        turned = true;
        const slope = near(rest[q][q].re.sub(rest[p][p].re).div(off).div(Real.of(2)));
        const size = near(Real.ONE.div(slope.abs().add(sqrt(near(slope.mul(slope).add(Real.ONE))))));
        const t = slope.negative ? size.neg() : size;
        const c = near(Real.ONE.div(sqrt(near(t.mul(t).add(Real.ONE)))));
        const phase = over(rest[p][q], real(off)).conj();
        const turn = identity(n);
        [turn[p][p], turn[p][q]] = [real(c), real(near(t.mul(c)))];
        [turn[q][p], turn[q][q]] = [times(phase, real(near(t.mul(c)).neg())), times(phase, real(c))];
        rest = product(product(adjoint(turn), rest), turn);
        vectors = product(vectors, turn);
      }
    }
    if (!turned) break;
  }
  const order = rest.map((_, k) => k).sort((j, k) => rest[j][j].re.compare(rest[k][k].re));
  return { values: order.map((k) => rest[k][k].re), vectors: vectors.map((row) => order.map((k) => row[k])) };
}

/** Singular values, descending, and both orthogonal factors, the second as rows. */
export function svd(a: Matrix, columns: number, lefts: number): { values: Real[]; left: Matrix; right: Matrix } {
  const rows = a.length;
  const square = product(adjoint(a, columns), a);
  const { values: squares, vectors } = eigh(columns && rows ? square : matrix(columns, columns, () => ZERO));
  const right = adjoint(vectors, columns).reverse();
  const least = Math.min(rows, columns);
  const values = squares.reverse().slice(0, least).map((s) => (s.negative ? Real.ZERO : near(sqrt(s))));
  const floor = near((values[0] ?? Real.ZERO).mul(power2(-80)));
  const columnsOf = values.flatMap((s, k) => (s.compare(floor) > 0 ? [a.map((row) => over(total(row.map((x, c) => times(x, right[k][c].conj()))), real(s)))] : [[]]));
  return { values, left: adjoint(orthonormal(columnsOf, rows, lefts).map((v) => v.map((x) => x.conj())), rows), right };
}
