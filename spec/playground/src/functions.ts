/**
 * Real functions at exact points (spec/notation.rst, "Functions of numbers").
 *
 * Where a value is not rational it has 90 digits, by decimal.js: more than any dtype rounds to.
 */

import { Decimal } from "decimal.js";
import { complexFunctions } from "./complex.js";
import { fromDecimal, PI, precisely, toDecimal } from "./decimals.js";
import { abs, Complex, power2, Real } from "./exact.js";
import { nextafter, ofPattern, pattern, shortened } from "./formats.js";
import type { Value } from "./formula.js";
import { SPECIAL } from "./special.js";

const [ZERO, ONE] = [Real.ZERO, Real.ONE];
const sign = (size: Real, like: Real): Real => (like.negative ? size.neg() : size);
const partOfPi = (share: number, negative: boolean): Real => sign(fromDecimal(PI.mul(share)), negative ? ONE.neg() : ONE);
/** Beyond it exponentials are larger, or smaller, than any dtype's numbers. */
const FAR = Real.of(12000);

/** A function that decimal.js has: `at` gives its values at zeros, infinities and outside its domain. */
function known(name: keyof Decimal, at: (x: Real) => Real | null = () => null): (x: Real) => Real {
  return (x) => (x.nan ? x : at(x) ?? fromDecimal((toDecimal(x)[name] as () => Decimal)()));
}
/** Turns are taken off a large angle exactly, so it needs all its digits. */
function periodic(name: "sin" | "cos" | "tan"): (x: Real) => Real {
  return (x) => {
    if (x.special) return Real.NAN;
    if (x.zero) return name === "cos" ? ONE : x;
    return fromDecimal(precisely(100 + Math.max(0, Math.ceil(x.exponent() / 3)), () => toDecimal(x)[name]()));
  };
}
const oddZero = (x: Real): Real | null => (x.zero ? x : null);
const within1 = (x: Real): boolean => x.finite && x.abs().compare(ONE) <= 0;

const log = known("ln", (x) => (x.zero ? Real.INF.neg() : x.negative ? Real.NAN : x.special ? x : null));
const exp = known("exp", (x) => (x.special || x.abs().compare(FAR) > 0 ? (x.negative ? ZERO : Real.INF) : null));
const small = (x: Real): boolean => x.abs().compare(power2(-100)) < 0;

/** log(1 + x) and exp(x) - 1; near 0 by the first terms of their series. */
function log1p(x: Real): Real {
  if (x.special || x.zero) return x.special && x.negative ? Real.NAN : x;
  return small(x) ? x.sub(x.mul(x).div(Real.of(2))) : log(ONE.add(x));
}
function expm1(x: Real): Real {
  if (x.special || x.zero) return x.special && x.negative ? ONE.neg() : x;
  return small(x) ? x.add(x.mul(x).div(Real.of(2))) : exp(x).sub(ONE);
}

export function sqrt(x: Real): Real {
  if (x.zero || x.nan) return x;
  if (x.negative) return Real.NAN;
  return x.special ? x : fromDecimal(toDecimal(x).sqrt());
}

function pow(a: Real, b: Real): Real {
  if (b.zero || a.compare(ONE) === 0) return ONE;
  if (a.nan || b.nan) return Real.NAN;
  if (b.special) {
    const side = a.abs().compare(ONE);
    return side === 0 ? ONE : side > 0 === b.negative ? ZERO : Real.INF;
  }
  const negative = a.negative && b.integral && (b.num & 1n) === 1n;
  if (a.zero || a.special) return a.zero !== b.negative ? Real.ratio(0n, 1n, negative) : Real.infinity(negative);
  if (a.negative && !b.integral) return Real.NAN;
  const size = a.abs();
  if (b.integral && abs(b.num) <= 64n) {
    const whole = Real.ratio(size.num ** abs(b.num), size.den ** abs(b.num));
    return sign(b.negative ? ONE.div(whole) : whole, negative ? ONE.neg() : ONE);
  }
  const exponent = toDecimal(b).mul(toDecimal(size).ln());
  if (exponent.abs().gt(12000)) return exponent.isNegative() ? Real.ratio(0n, 1n, negative) : Real.infinity(negative);
  return sign(fromDecimal(exponent.exp()), negative ? ONE.neg() : ONE);
}

export function atan2(y: Real, x: Real): Real {
  if (y.nan || x.nan) return Real.NAN;
  if (y.special) return partOfPi(x.finite ? 0.5 : x.negative ? 0.75 : 0.25, y.negative);
  if (y.zero || x.special) return x.negative ? partOfPi(1, y.negative) : Real.ratio(0n, 1n, y.negative);
  return fromDecimal(Decimal.atan2(toDecimal(y), toDecimal(x)));
}

function fmod(a: Real, b: Real): Real {
  if (a.special || b.nan || b.zero) return Real.NAN;
  if (b.special) return a;
  const left = a.sub(b.mul(a.div(b).trunc()));
  return left.zero ? Real.ratio(0n, 1n, a.negative) : left;
}

const FUNCTIONS: Record<string, (...x: Real[]) => Value> = {
  ...SPECIAL,
  sqrt,
  rsqrt: (x) => ONE.div(sqrt(x)),
  cbrt: (x) => (x.special || x.zero ? x : fromDecimal(toDecimal(x).cbrt())),
  exp,
  exp2: (x) => (x.nan ? x : pow(Real.of(2), x)),
  expm1,
  log,
  log1p,
  log_sum: log,
  pow,
  sin: periodic("sin"),
  cos: periodic("cos"),
  tan: periodic("tan"),
  asin: known("asin", (x) => (within1(x) ? oddZero(x) : Real.NAN)),
  acos: known("acos", (x) => (within1(x) ? null : Real.NAN)),
  atan: known("atan", (x) => (x.special ? partOfPi(0.5, x.negative) : oddZero(x))),
  atan2,
  sinh: known("sinh", (x) => (x.special || x.zero ? x : x.abs().compare(FAR) > 0 ? Real.infinity(x.negative) : null)),
  cosh: known("cosh", (x) => (x.special || x.abs().compare(FAR) > 0 ? Real.INF : null)),
  tanh: known("tanh", (x) => (x.zero ? x : x.special || x.abs().compare(FAR) > 0 ? sign(ONE, x) : null)),
  asinh: known("asinh", (x) => (x.special || x.zero ? x : small(x) ? x : null)),
  acosh: known("acosh", (x) => (x.compare(ONE) < 0 ? Real.NAN : x.special ? x : null)),
  atanh: known("atanh", (x) => (x.zero ? x : !within1(x) ? Real.NAN : x.abs().compare(ONE) === 0 ? Real.infinity(x.negative) : null)),
  logistic: (x) => (x.nan ? x : ONE.div(ONE.add(exp(x.neg())))),
  floor: (x) => x.floor(),
  trunc: (x) => x.trunc(),
  round_even: (x) => x.round(),
  round_away: (x) => x.round(true),
  fmod,
  nextafter,
  re: (x) => x,
  im: () => ZERO,
  mirror: (x) => x,
  conj: (x) => new Complex(x),
  turn,
  shortened,
};

/** The number of length 1 at so many parts of a whole turn. */
function turn(place: Real, count: Real): Complex {
  const share = place.div(count).sub(place.div(count).floor()).mul(Real.of(4));
  if (share.integral) return new Complex(...([[1, 0], [0, 1], [-1, 0], [0, -1]][Number(share.num)].map(Real.of) as [Real, Real]));
  const angle = toDecimal(share).mul(PI).div(2);
  return new Complex(fromDecimal(angle.cos()), fromDecimal(angle.sin()));
}

/** The distance of a complex number from zero. */
export function modulus(z: Complex): Real {
  if (z.infinite) return Real.INF;
  return z.nan ? Real.NAN : sqrt(z.re.mul(z.re).add(z.im.mul(z.im)));
}

const COMPLEX = complexFunctions({ ...FUNCTIONS, modulus: modulus as never });

/** The function `name` of real or of complex numbers. */
export function real(name: string, ...given: Value[]): Value {
  if (name === "pair") return new Complex(Real.of(given[0]), Real.of(given[1]));
  if (name === "pattern") return pattern(Real.of(given[0]), given[1]);
  if (name === "of_pattern") return ofPattern(given[0], given[1]);
  if (given.some((x) => x instanceof Complex)) return COMPLEX[name](...given.map(Complex.of));
  return FUNCTIONS[name](...given.map(Real.of));
}
