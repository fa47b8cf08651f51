/** Floating formats: numbers as patterns of bits, their neighbours, and numbers of fewer bits. */

import { largest, power2, Real, unitAt, type Format } from "./exact.js";
import type { Dtype } from "./values.js";

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

/**
 * The pattern of a number of a dtype. Those without a sign are in the order of their numbers: from zero, or from the least
 * number where there is no zero, to the greatest; infinity is next, or NaN, which is the pattern of -0 where that is free.
 */
export function pattern(x: Real, { bits: width, format }: Dtype): bigint {
  const top = 1n << BigInt(width - 1);
  if (x.nan && format.zero === "one") return top;
  const first = format.zero === "none" ? 1n : 0n;
  const sign = x.negative && !x.nan ? top : 0n;
  if (!x.special) return sign | (x.zero ? 0n : place(x.abs(), format) - first);
  const quiet = x.nan && (format.beyond ?? "inf") === "inf" ? 1n << BigInt(format.fraction - 1) : 0n;
  return sign | ((place(largest(format), format) - first + 1n) | quiet);
}

/** The place of a number above zero among those of a format. */
function place(x: Real, { fraction: m, least }: Format): bigint {
  const lead = Math.max(x.exponent(), least);
  return (BigInt(lead - least) << BigInt(m)) + x.div(power2(lead - m)).trunc().num;
}

/** The number of a dtype that has a pattern, which is the lowest bits of a number. */
export function ofPattern(bits: bigint, { bits: width, format }: Dtype): Real {
  const whole = BigInt.asUintN(width, bits);
  const top = 1n << BigInt(width - 1);
  const unsigned = format.zero === "none";
  const negative = !unsigned && whole >= top;
  const k = unsigned ? whole + 1n : BigInt.asUintN(width - 1, whole);
  const last = place(largest(format), format);
  if (k > last || (negative && k === 0n && format.zero === "one")) {
    return (format.beyond ?? "inf") === "inf" && k === last + 1n ? Real.infinity(negative) : Real.NAN;
  }
  const [m, high] = [format.fraction, Number(k >> BigInt(format.fraction))];
  const rest = BigInt.asUintN(m, k);
  const size = Real.ratio(high ? rest + (1n << BigInt(m)) : rest).mul(power2(format.least + Math.max(high, 1) - 1 - m));
  return negative ? size.neg() : size;
}

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

