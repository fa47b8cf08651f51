/** Floating formats: numbers as patterns of bits, their neighbours, and numbers of fewer bits. */

import { largest, power2, Real, unitAt } from "./exact.js";

const sign = (size: Real, like: Real): Real => (like.negative ? size.neg() : size);

/** The bits of the usual NaN. */
export const usualNan = (width: number, fraction: number): bigint => (((1n << BigInt(width - fraction)) - 1n) << BigInt(fraction - 1)) & ((1n << BigInt(width - 1)) - 1n);

/** The NaN that has these bits, null where they are those of none. */
export function nanOf(bits: bigint, width: number, fraction: number): Real | null {
  const exponent = (1n << BigInt(width - fraction - 1)) - 1n;
  const isNan = bits < 1n << BigInt(width) && ((bits >> BigInt(fraction)) & exponent) === exponent && bits & ((1n << BigInt(fraction)) - 1n);
  return !isNan ? null : bits === usualNan(width, fraction) ? Real.NAN : Real.nanOf(bits);
}

/** The pattern of a number, with so many bits of an exponent and of a fraction. */
export function bitsOf(x: Real, e: number, m: number): bigint {
  const [most, bias] = [(1n << BigInt(e)) - 1n, 2 ** (e - 1) - 1];
  const top = x.negative && !x.nan ? 1n << BigInt(e + m) : 0n;
  if (x.special) return top | (most << BigInt(m)) | (x.nan ? 1n << BigInt(m - 1) : 0n);
  if (x.zero) return top;
  const lead = Math.max(x.exponent(), 1 - bias);
  return top | ((BigInt(lead + bias - 1) << BigInt(m)) + x.abs().div(power2(lead - m)).trunc().num);
}

/** The number that has a pattern. */
export function numberOf(bits: bigint, e: number, m: number): Real {
  const rest = BigInt.asUintN(m, bits);
  const high = Number(BigInt.asUintN(e, bits >> BigInt(m)));
  const negative = ((bits >> BigInt(m + e)) & 1n) === 1n;
  if (high === 2 ** e - 1) return rest ? Real.NAN : Real.infinity(negative);
  const lead = Math.max(high, 1) - (2 ** (e - 1) - 1);
  const size = Real.ratio(high ? rest + (1n << BigInt(m)) : rest).mul(power2(lead - m));
  return negative ? size.neg() : size;
}

export const pattern = (x: Real, e: Real, m: Real): bigint => bitsOf(x, Number(e.num), Number(m.num));
export const ofPattern = (x: Real, e: Real, m: Real): Real => numberOf(x.num, Number(e.num), Number(m.num));

/** A number with fewer bits; its dtype has an exponent of `whole` bits. */
export function shortened(x: Real, power: Real, fraction: Real, whole: Real): Real {
  if (x.special || x.zero) return x;
  const [own, m] = [Number(whole.num), Number(fraction.num)];
  const e = Math.min(Number(power.num), own);
  const [bias, ownBias] = [2 ** (e - 1) - 1, 2 ** (own - 1) - 1];
  const lead = Math.max(x.exponent(), 1 - ownBias);
  const unit = power2(lead - m);
  // A tie goes to the even one of two patterns; without a fraction that is about exponents.
  const below = Real.of(lead + ownBias - 1).mul(power2(m));
  const size = x.abs().div(unit).add(below).round().sub(below).mul(unit);
  if (size.compare(power2(bias + 1)) >= 0) return Real.infinity(x.negative);
  return e < own && size.compare(power2(1 - bias)) < 0 ? Real.ratio(0n, 1n, x.negative) : sign(size, x);
}

/** The neighbour of `a` on the side of `b`, in the format of so many bits. */
export function nextafter(a: Real, b: Real, power: Real, fraction: Real): Real {
  if (a.nan || b.nan) return Real.NAN;
  if (a.compare(b) === 0) return b;
  const most = 2 ** (Number(power.num) - 1) - 1;
  const format = { fraction: Number(fraction.num), least: 1 - most, most };
  if (a.special) return sign(largest(format), a);
  if (a.zero) return sign(unitAt(Real.ZERO, format), b);
  const [size, unit] = [a.abs(), unitAt(a, format)];
  const away = b.compare(a) < 0 === a.negative;
  const next = away ? size.add(unit) : size.sub(unitAt(size.sub(unit.div(Real.of(2))), format));
  return sign(next.compare(largest(format)) > 0 ? Real.INF : next, a);
}

