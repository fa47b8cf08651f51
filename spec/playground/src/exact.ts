/**
 * Exact numbers: rationals with infinities, NaN and signed zeros, and pairs of them.
 *
 * What a formula computes is exact; it is rounded once, where an element is stored.
 */

const low = (n: bigint): bigint => n & -n;

function gcd(a: bigint, b: bigint): bigint {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

export const bitLength = (n: bigint): number => (n < 0n ? -n : n).toString(16).length * 4 - LEAD[parseInt((n < 0n ? -n : n).toString(16)[0], 16)];
const LEAD = [4, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];

export const floorDiv = (a: bigint, b: bigint): bigint => {
  const q = a / b;
  return a % b && a < 0n !== b < 0n ? q - 1n : q;
};

export const abs = (n: bigint): bigint => (n < 0n ? -n : n);

/** 2 to a power, as a Real. */
export const power2 = (e: number): Real => (e >= 0 ? Real.ratio(1n << BigInt(e)) : Real.ratio(1n, 1n << BigInt(-e)));

/** A rational number, an infinity or a NaN. Zeros and infinities have a sign, too. */
export class Real {
  private constructor(
    readonly num: bigint,
    readonly den: bigint,
    readonly special: "" | "inf" | "nan",
    readonly negative: boolean,
    /** The pattern of a NaN that is not the usual one, which full text keeps. */
    readonly bits?: bigint,
  ) {}

  static readonly NAN = new Real(0n, 1n, "nan", false);
  static readonly INF = new Real(0n, 1n, "inf", false);
  static readonly ZERO = new Real(0n, 1n, "", false);
  static readonly ONE = new Real(1n, 1n, "", false);

  /** num / den; `negative` is the sign of a zero. */
  static ratio(num: bigint, den = 1n, negative = false): Real {
    if (den < 0n) [num, den] = [-num, -den];
    if (!num) return new Real(0n, 1n, "", negative);
    if (den === 1n) return new Real(num, den, "", num < 0n);
    const shared = den & (den - 1n) ? gcd(num, den) : low(num) < den ? low(num) : den;
    return new Real(num / shared, den / shared, "", num < 0n);
  }

  static nanOf(bits: bigint): Real {
    return new Real(0n, 1n, "nan", false, bits);
  }

  static infinity(negative: boolean): Real {
    return new Real(0n, 1n, "inf", negative);
  }

  /** The number that a double is. */
  static of(x: number | bigint | boolean | Real): Real {
    if (x instanceof Real) return x;
    if (typeof x !== "number") return Real.ratio(BigInt(x));
    if (Number.isNaN(x)) return Real.NAN;
    if (!Number.isFinite(x)) return Real.infinity(x < 0);
    if (Number.isInteger(x)) return Real.ratio(BigInt(x), 1n, Object.is(x, -0));
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, x);
    const bits = view.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 2047n);
    const fraction = (bits & ((1n << 52n) - 1n)) | (exponent ? 1n << 52n : 0n);
    const size = Real.ratio(fraction).mul(power2(Math.max(exponent, 1) - 1075));
    return x < 0 ? size.neg() : size;
  }

  get nan(): boolean {
    return this.special === "nan";
  }
  get finite(): boolean {
    return !this.special;
  }
  get zero(): boolean {
    return !this.special && !this.num;
  }
  get integral(): boolean {
    return !this.special && this.den === 1n;
  }

  neg(): Real {
    return this.nan ? this : new Real(-this.num, this.den, this.special, !this.negative);
  }

  abs(): Real {
    return this.negative ? this.neg() : this;
  }

  /** An exact cancellation is +0; zeros of one sign keep it. */
  add(b: Real): Real {
    if (this.special || b.special) {
      if (this.nan || b.nan || (this.special && b.special && this.negative !== b.negative)) return Real.NAN;
      return Real.infinity(this.special ? this.negative : b.negative);
    }
    return Real.ratio(this.num * b.den + b.num * this.den, this.den * b.den, this.negative && b.negative);
  }

  sub(b: Real): Real {
    return this.add(b.neg());
  }

  mul(b: Real): Real {
    const negative = this.negative !== b.negative;
    if (this.special || b.special) {
      return this.nan || b.nan || this.zero || b.zero ? Real.NAN : Real.infinity(negative);
    }
    return Real.ratio(this.num * b.num, this.den * b.den, negative);
  }

  div(b: Real): Real {
    const negative = this.negative !== b.negative;
    if (this.nan || b.nan || (this.special && b.special) || (this.zero && b.zero)) return Real.NAN;
    if (this.special || b.zero) return Real.infinity(negative);
    return b.special ? Real.ratio(0n, 1n, negative) : Real.ratio(this.num * b.den, this.den * b.num, negative);
  }

  /** -1, 0 or 1; NaN where one of the two is no number. */
  compare(b: Real): number {
    if (this.nan || b.nan) return NaN;
    const [p, q] = [this, b].map((x) => (x.special ? (x.negative ? -1 : 1) : 0));
    if (p || q) return Math.sign(p - q);
    const difference = this.num * b.den - b.num * this.den;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }

  floor(): Real {
    return this.special ? this : Real.ratio(floorDiv(this.num, this.den), 1n, this.negative);
  }

  trunc(): Real {
    return this.special ? this : Real.ratio(this.num / this.den, 1n, this.negative);
  }

  /** The nearest whole number; of two the even one, or the one away from 0. */
  round(away = false): Real {
    if (this.special) return this;
    const size = abs(this.num) * 2n + this.den;
    let whole = size / (2n * this.den);
    if (!away && size % (2n * this.den) === 0n && whole & 1n) whole -= 1n;
    return Real.ratio(this.negative ? -whole : whole, 1n, this.negative);
  }

  /** The exponent of the leading bit. */
  exponent(): number {
    const found = bitLength(this.num) - bitLength(this.den);
    const [a, b] = [abs(this.num), this.den];
    return (found >= 0 ? a >= b << BigInt(found) : a << BigInt(-found) >= b) ? found : found - 1;
  }

  /** The nearest double. */
  toNumber(): number {
    if (this.special) return this.nan ? NaN : this.negative ? -Infinity : Infinity;
    if (!this.num) return this.negative ? -0 : 0;
    const near = rounded(this, FLOAT64);
    if (near.special) return this.negative ? -Infinity : Infinity;
    const shift = bitLength(near.den) - 1;
    return Number(near.num) / 2 ** Math.min(shift, 1000) / 2 ** Math.max(shift - 1000, 0);
  }
}

/** A complex number: two extended reals. */
export class Complex {
  constructor(
    readonly re: Real,
    readonly im: Real = Real.ZERO,
  ) {}

  static of(x: Complex | Real | bigint | boolean): Complex {
    return x instanceof Complex ? x : new Complex(Real.of(x));
  }
  get nan(): boolean {
    return this.re.nan || this.im.nan;
  }
  get finite(): boolean {
    return this.re.finite && this.im.finite;
  }
  get infinite(): boolean {
    return this.re.special === "inf" || this.im.special === "inf";
  }
  get zero(): boolean {
    return this.re.zero && this.im.zero;
  }

  neg(): Complex {
    return new Complex(this.re.neg(), this.im.neg());
  }
  conj(): Complex {
    return new Complex(this.re, this.im.neg());
  }
  add(b: Complex): Complex {
    return new Complex(this.re.add(b.re), this.im.add(b.im));
  }
  sub(b: Complex): Complex {
    return this.add(b.neg());
  }
  mul(b: Complex): Complex {
    const { re, im } = this;
    return new Complex(re.mul(b.re).sub(im.mul(b.im)), re.mul(b.im).add(im.mul(b.re)));
  }

  /** Division as Annex G of the C standard has it (accuracy.complex-limits). */
  div(b: Complex): Complex {
    if (this.finite && b.finite && !b.zero) {
      const size = b.re.mul(b.re).add(b.im.mul(b.im));
      const top = this.mul(b.conj());
      return new Complex(top.re.div(size), top.im.div(size));
    }
    if ((this.infinite && b.finite) || (b.zero && !this.nan && !this.zero)) return new Complex(Real.INF, Real.INF);
    if (this.finite && b.infinite) return new Complex(Real.ZERO, Real.ZERO);
    return new Complex(Real.NAN, Real.NAN);
  }

  /** By the real parts, then by the imaginary ones. */
  compare(b: Complex): number {
    if (this.nan || b.nan) return NaN;
    return this.re.compare(b.re) || this.im.compare(b.im);
  }
}

/**
 * A floating format: the bits of the fraction, the least and the greatest exponent; and where it is not as IEEE 754 has it,
 * its greatest number, what is beyond, and its zeros.
 */
export interface Format {
  max?: Real;
  beyond?: "inf" | "nan" | "max";
  zero?: "both" | "one" | "none";
  fraction: number;
  least: number;
  most: number;
}

export const FLOAT64: Format = { fraction: 52, least: -1022, most: 1023 };

/** The distance of neighbours of the format at a number. */
export const unitAt = (x: Real, f: Format): Real => power2(Math.max(x.zero ? f.least : x.exponent(), f.least) - f.fraction);

/** The greatest finite number of a format. */
export const largest = (f: Format): Real => f.max ?? power2(f.most + 1).sub(power2(f.most - f.fraction));

/** The nearest number of a format, ties to even. */
export function rounded(x: Real, f: Format): Real {
  if (x.nan) return f.beyond === "max" ? Real.ratio(0n, 1n, true) : x;
  if (x.special) return beyond(x.negative, f);
  if (x.zero) return zeroOf(x.negative, f);
  const unit = unitAt(x, f);
  const near = x.div(unit).round().mul(unit);
  if (near.zero) return f.zero === "none" && !x.negative ? unit : zeroOf(x.negative, f);
  if (f.zero === "none" && x.negative) return Real.NAN;
  return near.abs().compare(largest(f)) > 0 ? beyond(x.negative, f) : near;
}

/** What stands for a number that is too large. */
function beyond(negative: boolean, f: Format): Real {
  if (f.beyond === "nan") return Real.NAN;
  if (f.beyond !== "max") return Real.infinity(negative);
  return negative ? largest(f).neg() : largest(f);
}

/** A zero of a sign, where there is one. */
function zeroOf(negative: boolean, f: Format): Real {
  return f.zero === "none" ? Real.NAN : Real.ratio(0n, 1n, negative && f.zero !== "one");
}

/** A number as hexadecimal text, `-0x1.8000000000000p+1`. */
export function hex(x: Real): string {
  const sign = x.negative ? "-" : "";
  if (x.nan) return "nan";
  if (x.special) return `${sign}inf`;
  if (x.zero) return `${sign}0x0.0p+0`;
  const exponent = Math.max(x.exponent(), FLOAT64.least);
  const digits = x.abs().mul(power2(52 - exponent)).round().num;
  const fraction = (digits & ((1n << 52n) - 1n)).toString(16).padStart(13, "0");
  return `${sign}0x${digits >> 52n}.${fraction}p${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
}

/** A number of a text: decimal or hexadecimal, `inf` or `nan`; null where it is none. */
export function readReal(text: string): Real | null {
  const negative = text.startsWith("-");
  const body = text.replace(/^[+-]/, "");
  if (body === "nan") return Real.NAN;
  if (body === "inf") return Real.infinity(negative);
  const sixteen = /^0x([0-9a-fA-F]+)(?:\.([0-9a-fA-F]*))?(?:p([+-]?\d+))?$/.exec(body);
  const ten = /^(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(body);
  const [, whole, part = "", exponent = "0"] = sixteen ?? ten ?? ["", ""];
  if (!whole) return null;
  const digits = BigInt((sixteen ? "0x" : "") + whole + part);
  const e = Number(exponent);
  if (Math.abs(e) > 20000) return e > 0 && digits ? Real.infinity(negative) : Real.ratio(0n, 1n, negative);
  const scale = sixteen ? power2(e - 4 * part.length) : decimal(e - part.length);
  const size = Real.ratio(digits).mul(scale);
  return negative ? size.neg() : size;
}

const decimal = (e: number): Real => (e < 0 ? Real.ratio(1n, 10n ** BigInt(-e)) : Real.ratio(10n ** BigInt(e)));
