/** Special functions: the error function, gamma and what is made of it, Bessel functions (spec/special.rst). */

import { Decimal } from "decimal.js";
import { fromDecimal, PI, precisely, toDecimal } from "./decimals.js";
import { Real } from "./exact.js";
import { unsupported } from "./values.js";

const [ZERO, ONE] = [Real.ZERO, Real.ONE];
const D = (x: Decimal.Value): Decimal => new Decimal(x);
/** Terms below this share of a sum change no digit that counts. */
const small = (): Decimal => D(10).pow(20 - Decimal.precision);
const LONGEST = 50_000;
const tooLong = (): Error => unsupported("a special function where its series are too long");

/** The sum of terms of which `next` makes each from the one before and its number. */
function series(first: Decimal, next: (term: Decimal, n: number) => Decimal): Decimal {
  let [sum, term] = [first, first];
  const enough = small();
  for (let n = 1; n <= LONGEST; n++) {
    term = next(term, n);
    sum = sum.add(term);
    if (term.abs().lte(sum.abs().mul(enough))) return sum;
  }
  throw tooLong();
}

// Error functions ------------------------------------------------------------------------

/** erf by the series without cancellation, times 2 exp(-x^2) / sqrt(pi). */
const erfNear = (x: Decimal): Decimal =>
  series(x, (t, n) => t.mul(x).mul(x).mul(2).div(2 * n + 1))
    .mul(x.mul(x).neg().exp())
    .mul(2)
    .div(PI.sqrt());

function erfcFar(x: Decimal): Decimal {
  const steps = Math.ceil(4000 / Math.min(x.toNumber(), 60) ** 1.2) + 60;
  let below = x;
  for (let n = steps; n > 0; n--) below = x.add(D(n).div(2).div(below));
  return x.mul(x).neg().exp().div(below).div(PI.sqrt());
}

const erfcOf = (x: Decimal): Decimal => (x.lt(3) ? precisely(110, () => D(1).sub(erfNear(x))) : erfcFar(x));

function erf(x: Real): Real {
  if (x.nan || x.zero) return x;
  if (x.special || x.abs().compare(Real.of(20)) > 0) return x.negative ? ONE.neg() : ONE;
  const size = erfNear(toDecimal(x.abs()));
  return fromDecimal(x.negative ? size.neg() : size);
}

function erfc(x: Real): Real {
  if (x.nan) return x;
  if (x.special || x.abs().compare(Real.of(200)) > 0) return x.negative ? Real.of(2) : ZERO;
  return fromDecimal(x.negative ? D(1).add(erfNear(toDecimal(x.neg()))) : erfcOf(toDecimal(x)));
}

/** By Newton's steps from below, on the complement where x is near 1. */
function erfInv(x: Real): Real {
  if (x.nan || x.zero) return x;
  const side = x.abs().compare(ONE);
  if (x.special || side > 0) return Real.NAN;
  if (side === 0) return Real.infinity(x.negative);
  const size = toDecimal(x.abs());
  const rest = toDecimal(ONE.sub(x.abs()));
  let y = size.mul(PI.sqrt()).div(2);
  for (let n = 0; n < 500; n++) {
    const off = size.lt(0.5) ? size.sub(erfNear(y)) : erfcOf(y).sub(rest);
    const step = off.mul(PI.sqrt()).div(2).mul(y.mul(y).exp());
    y = y.add(step);
    if (step.abs().lt(y.mul("1e-60"))) return fromDecimal(x.negative ? y.neg() : y);
  }
  throw new RangeError("no inverse of erf");
}

// Gamma ----------------------------------------------------------------------------------

/** Bernoulli numbers of even index, B(2), B(4), ... */
const BERNOULLI: Real[] = [];
function bernoulli(j: number): Decimal {
  if (!BERNOULLI.length) {
    const row: Real[] = [];
    for (let m = 0; m <= 120; m++) {
      row[m] = Real.ratio(1n, BigInt(m + 1));
      for (let k = m; k > 0; k--) row[k - 1] = Real.of(k).mul(row[k - 1].sub(row[k]));
      if (m && m % 2 === 0) BERNOULLI.push(row[0]);
    }
  }
  return toDecimal(BERNOULLI[j - 1]);
}

/** Stirling's series holds from here on, to all digits. */
const FAR = 60;

function logGamma(x: Decimal): Decimal {
  let [shifted, y] = [D(1), x];
  for (; y.lt(FAR); y = y.add(1)) shifted = shifted.mul(y);
  let sum = y.sub(0.5).mul(y.ln()).sub(y).add(PI.mul(2).ln().div(2));
  for (let j = 1; j <= 50; j++) sum = sum.add(bernoulli(j).div(2 * j * (2 * j - 1)).div(y.pow(2 * j - 1)));
  return sum.sub(shifted.ln());
}

const whole = (x: Real): boolean => x.integral && !x.special;

function lgamma(x: Real): Real {
  if (x.nan) return x;
  if (x.special || (whole(x) && (x.negative || x.zero))) return Real.INF;
  if (!x.negative) return fromDecimal(precisely(140, () => logGamma(toDecimal(x))));
  return fromDecimal(
    precisely(140, () => {
      const sine = toDecimal(x.sub(x.floor())).mul(PI140()).sin();
      return PI140().div(sine.abs()).ln().sub(logGamma(D(1).sub(toDecimal(x))));
    }),
  );
}

const PI140 = (): Decimal => Decimal.acos(-1);

function digammaOf(x: Decimal): Decimal {
  let [sum, y] = [D(0), x];
  for (; y.lt(FAR); y = y.add(1)) sum = sum.sub(D(1).div(y));
  sum = sum.add(y.ln()).sub(D(0.5).div(y));
  for (let j = 1; j <= 50; j++) sum = sum.sub(bernoulli(j).div(2 * j).div(y.pow(2 * j)));
  return sum;
}

function digamma(x: Real): Real {
  if (x.nan || (x.special && !x.negative)) return x;
  if (x.special || (whole(x) && (x.negative || x.zero))) return Real.NAN;
  return fromDecimal(
    precisely(140, () => {
      if (!x.negative) return digammaOf(toDecimal(x));
      const angle = toDecimal(x.sub(x.floor())).mul(PI140());
      return digammaOf(D(1).sub(toDecimal(x))).sub(PI140().mul(angle.cos()).div(angle.sin()));
    }),
  );
}

/** The sum of (q + k)^-s over all k, by the formula of Euler and Maclaurin. */
function zetaOf(s: Decimal, q: Decimal): Decimal {
  const power = (y: Decimal): Decimal => (y.isNegative() ? (s.mod(2).isZero() ? y.abs().pow(s.neg()) : y.abs().pow(s.neg()).neg()) : y.pow(s.neg()));
  let [sum, y] = [D(0), q];
  for (; y.lt(FAR); y = y.add(1)) {
    const term = power(y);
    sum = sum.add(term);
    if (y.gt(2) && term.abs().lt(sum.abs().mul("1e-120"))) return sum;
  }
  const last = power(y);
  sum = sum.add(last.mul(y).div(s.sub(1))).add(last.div(2));
  let factor = last.mul(s).div(y).div(2);
  for (let j = 1; j <= 50; j++) {
    sum = sum.add(bernoulli(j).mul(factor));
    factor = factor.mul(s.add(2 * j - 1)).mul(s.add(2 * j)).div(D(2 * j + 1).mul(2 * j + 2)).div(y).div(y);
  }
  return sum;
}

/** The sum, so many times. */
function zeta(s: Real, q: Real, times = D(1)): Real {
  if (s.nan || q.nan || s.compare(ONE) < 0) return Real.NAN;
  if (s.compare(ONE) === 0) return Real.INF;
  if (q.zero) return Real.INF;
  // Terms of both sides of a pole have one sign if the exponent is even.
  if (whole(q) && q.negative) return whole(s) && s.num % 2n === 0n ? Real.INF : Real.NAN;
  if (q.special) return q.negative ? Real.NAN : ZERO;
  if (q.negative && !whole(s)) return Real.NAN;
  if (s.special) return q.compare(ONE) < 0 ? Real.INF : q.compare(ONE) === 0 ? ONE : ZERO;
  if (q.negative && q.compare(Real.of(-5000)) < 0) return Real.NAN;
  return fromDecimal(precisely(140, () => zetaOf(toDecimal(s), toDecimal(q)).mul(times)));
}

function polygamma(n: Real, x: Real): Real {
  if (n.nan || x.nan || n.negative || !whole(n)) return Real.NAN;
  if (n.zero) return digamma(x);
  const odd = (n.num & 1n) === 1n;
  if (whole(x) && (x.negative || x.zero)) return odd ? Real.INF : Real.NAN;
  const found = zeta(n.add(ONE), x, logGamma(toDecimal(n).add(1)).exp());
  return odd ? found : found.neg();
}

// Incomplete gamma and beta functions ------------------------------------------------------

/** The logarithm of gamma at 1 + a: of a tiny a by its series there. */
function logGammaAfter1(a: Decimal): Decimal {
  if (a.gt("1e-40")) return logGamma(a.add(1));
  const cubic = zetaOf(D(3), D(1)).mul(a).div(-3).add(PI.mul(PI).div(12));
  return cubic.mul(a).add(digammaOf(D(1))).mul(a);
}

/** The share below x of the integral with the form a. */
function lower(a: Decimal, x: Decimal): Decimal {
  const front = a.mul(x.ln()).sub(x).sub(logGammaAfter1(a)).exp();
  return front.mul(series(D(1), (t, n) => t.mul(x).div(a.add(n))));
}

/** The share above x, by the continued fraction where that is the smaller part. */
function upper(a: Decimal, x: Decimal): Decimal {
  if (x.lt(1) || x.lt(a)) return D(1).sub(lower(a, x));
  let [c, d] = [D("1e200"), D(1).div(x.add(1).sub(a))];
  let [h, b] = [d, x.add(1).sub(a)];
  const enough = small();
  for (let n = 1; ; n++) {
    if (n > LONGEST) throw tooLong();
    const an = a.sub(n).mul(n);
    b = b.add(2);
    d = D(1).div(an.mul(d).add(b));
    c = b.add(an.div(c));
    h = h.mul(d).mul(c);
    if (d.mul(c).sub(1).abs().lt(enough)) break;
  }
  return a.mul(x.ln()).sub(x).sub(logGamma(a)).exp().mul(h);
}

const below0 = (x: Real): boolean => x.compare(ZERO) < 0;

/** Where the forms are infinite, zero or none: the share below x; null elsewhere. */
function ends(a: Real, x: Real): Real | null {
  if (a.nan || x.nan || below0(a) || below0(x) || (a.special && x.special) || (a.zero && x.zero)) return Real.NAN;
  if (x.zero || a.special) return ZERO;
  return a.zero || x.special ? ONE : null;
}

const smaller = (a: Real, x: Real): boolean => x.compare(a) < 0;

function igamma(a: Real, x: Real): Real {
  return ends(a, x) ?? fromDecimal(precisely(130, () => (smaller(a, x) ? lower(toDecimal(a), toDecimal(x)) : D(1).sub(upper(toDecimal(a), toDecimal(x))))));
}

/** The digits that are lost where a tiny form makes all but as much of 1. */
const digitsOf = (a: Real): number => Math.max(0, Math.ceil(-0.7 * a.exponent()));

function igammac(a: Real, x: Real): Real {
  const end = ends(a, x);
  return end ? ONE.sub(end) : fromDecimal(precisely(x.compare(ONE) < 0 ? 130 + digitsOf(a) : 130, () => upper(toDecimal(a), toDecimal(x))));
}

/** The derivative of the share by the form: a difference of which half the digits are left. */
function gradient(a: Decimal, x: Decimal): Decimal {
  const h = a.mul("1e-60");
  return precisely(260 + 2 * Math.max(0, -a.e), () => lower(a.add(h), x).sub(lower(a.sub(h), x)).div(h.mul(2)));
}

function igammaGradA(a: Real, x: Real): Real {
  const end = ends(a, x);
  if (end) return end.nan || a.zero ? Real.NAN : ZERO;
  return fromDecimal(gradient(toDecimal(a), toDecimal(x)));
}

function randomGammaGrad(a: Real, x: Real): Real {
  const end = ends(a, x);
  if (end) return end.nan || a.zero || a.special || x.special ? Real.NAN : ZERO;
  const [form, place] = [toDecimal(a), toDecimal(x)];
  const density = form.sub(1).mul(place.ln()).sub(place).sub(logGamma(form)).exp();
  return fromDecimal(gradient(form, place).neg().div(density));
}

function betainc(a: Real, b: Real, x: Real): Real {
  const [low, high] = [x.zero, x.compare(ONE) === 0];
  if (a.nan || b.nan || x.nan || below0(x) || x.compare(ONE) > 0 || below0(a) || below0(b)) return Real.NAN;
  if ((a.zero && b.zero) || (a.special && b.special)) return Real.NAN;
  // All of the integral lies at one end, or on one side.
  if (a.zero || b.special) return ONE;
  if (b.zero || a.special || low) return ZERO;
  if (high) return ONE;
  const share = (p: Decimal, q: Decimal, z: Decimal): Decimal =>
    p.mul(z.ln()).add(q.mul(D(1).sub(z).ln())).sub(logGamma(p)).sub(logGamma(q)).add(logGamma(p.add(q))).exp().div(p)
      .mul(series(D(1), (t, n) => t.mul(p.add(q).add(n - 1)).div(p.add(n)).mul(z)));
  const [p, q, z] = [a, b, x].map(toDecimal);
  const near = z.lt(p.add(1).div(p.add(q).add(2)));
  return fromDecimal(precisely(130, () => (near ? share(p, q, z) : D(1).sub(share(q, p, D(1).sub(z))))));
}

// Bessel functions -----------------------------------------------------------------------

/** exp(-x) I(order, x): a series of positive terms, far out the asymptotic one. */
function bessel(order: number, x: Real): Real {
  if (x.nan) return x;
  const odd = order === 1 && x.negative;
  if (x.special || x.zero) return order === 0 && x.zero ? ONE : Real.ratio(0n, 1n, odd);
  const z = toDecimal(x.abs());
  const size = z.gt(400) ? far(order, z) : z.div(2).pow(order).mul(z.neg().exp()).mul(series(D(1), (t, n) => t.mul(z).mul(z).div(4 * n * (n + order))));
  return fromDecimal(odd ? size.neg() : size);
}

const far = (order: number, z: Decimal): Decimal =>
  series(D(1), (t, n) => t.mul((2 * n - 1) ** 2 - 4 * order * order).div(z.mul(8 * n))).div(PI.mul(z).mul(2).sqrt());

export const SPECIAL: Record<string, (...x: Real[]) => Real> = {
  erf,
  erfc,
  erf_inv: erfInv,
  lgamma,
  digamma,
  zeta: (s, q) => zeta(s, q),
  polygamma,
  igamma,
  igammac,
  igamma_grad_a: igammaGradA,
  random_gamma_grad: randomGammaGrad,
  betainc,
  bessel_i0e: (x) => bessel(0, x),
  bessel_i1e: (x) => bessel(1, x),
};
