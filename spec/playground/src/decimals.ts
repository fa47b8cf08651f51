/** Numbers of 90 digits, by decimal.js, and exact ones. */

import { Decimal } from "decimal.js";
import { Real } from "./exact.js";

Decimal.set({ precision: 90, minE: -9e15, maxE: 9e15, toExpNeg: -9e15, toExpPos: 9e15, modulo: Decimal.ROUND_DOWN });

export const toDecimal = (x: Real): Decimal => new Decimal(x.num.toString()).div(x.den.toString());

export function fromDecimal(x: Decimal): Real {
  if (x.isNaN()) return Real.NAN;
  if (!x.isFinite()) return Real.infinity(x.isNegative());
  if (x.isZero() || x.e < -8000) return Real.ratio(0n, 1n, x.isNegative());
  if (x.e > 8000) return Real.infinity(x.isNegative());
  const digits = x.d.map((word, k) => (k ? String(word).padStart(7, "0") : String(word))).join("");
  const places = x.e + 1 - digits.length;
  const size = places < 0 ? Real.ratio(BigInt(digits), 10n ** BigInt(-places)) : Real.ratio(BigInt(digits) * 10n ** BigInt(places));
  return x.isNegative() ? size.neg() : size;
}

export const PI = Decimal.acos(-1);

/** With so many digits, for what is a difference of numbers nearly equal. */
export function precisely<T>(digits: number, compute: () => T): T {
  const before = Decimal.precision;
  Decimal.set({ precision: digits });
  try {
    return compute();
  } finally {
    Decimal.set({ precision: before });
  }
}
