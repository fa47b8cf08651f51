/**
 * Functions of complex numbers, by those of real ones; at infinities and NaNs the values of
 * Annex G of the C standard (accuracy.complex-limits).
 */

import { Complex, Real } from "./exact.js";
import type { Value } from "./formula.js";

type RealFunctions = Record<string, (...x: any[]) => Value>;
type Function = (...z: Complex[]) => Value;

const [ZERO, ONE, TWO] = [Real.ZERO, Real.ONE, Real.of(2)];
const UNIT = new Complex(ONE);
const UNKNOWN = new Complex(Real.NAN, Real.NAN);

export function complexFunctions(f: RealFunctions): Record<string, Function> {
  const modulus = (z: Complex): Real => f.modulus(z);
  const scaled = (size: Real, y: Real): Complex => new Complex(size.mul(f.cos(y)), y.zero ? y : size.mul(f.sin(y)));

  function exp(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (y.zero) return new Complex(f.exp(x), y);
    if (y.finite && !x.nan) return scaled(f.exp(x), y);
    if (x.special === "inf") return x.negative ? new Complex(ZERO, ZERO) : new Complex(Real.INF, Real.NAN);
    return UNKNOWN;
  }

  const log = (z: Complex): Complex => new Complex(f.log(modulus(z)), f.atan2(z.im, z.re));

  function sqrt(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (z.zero) return new Complex(ZERO, y);
    if (y.special === "inf") return new Complex(Real.INF, y);
    if (x.special === "inf") {
      const other = y.nan ? y : ZERO;
      return x.negative ? new Complex(other, y.negative ? Real.INF.neg() : Real.INF) : new Complex(x, y.nan ? y : Real.ratio(0n, 1n, y.negative));
    }
    if (z.nan) return UNKNOWN;
    // Of the two parts the one that does not cancel is computed first.
    const size = f.sqrt(modulus(z).add(x.abs()).div(TWO)) as Real;
    const other = y.abs().div(size.mul(TWO));
    const [re, im] = x.negative ? [other, size] : [size, other];
    return new Complex(re, y.negative ? im.neg() : im);
  }

  /** sinh and cosh of both parts make those of the number. */
  function cosh(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (y.zero || x.zero) {
      const im = x.nan || y.nan || y.special ? ZERO : Real.ratio(0n, 1n, x.negative !== y.negative);
      return y.zero ? new Complex(f.cosh(x), im) : new Complex(f.cos(y), im);
    }
    if (x.special === "inf" && !y.finite) return new Complex(Real.INF, Real.NAN);
    return z.nan || !y.finite ? UNKNOWN : new Complex(f.cosh(x).mul(f.cos(y)), f.sinh(x).mul(f.sin(y)));
  }
  function sinh(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (y.zero) return new Complex(f.sinh(x), y);
    if (x.zero) return new Complex(x, f.sin(y));
    if (x.special === "inf" && !y.finite) return new Complex(Real.INF, Real.NAN);
    return z.nan || !y.finite ? UNKNOWN : new Complex(f.sinh(x).mul(f.cos(y)), f.cosh(x).mul(f.sin(y)));
  }
  function tanh(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (y.zero) return new Complex(f.tanh(x), y);
    if (x.zero) return new Complex(x, y.finite ? f.tan(y) : Real.NAN);
    const far = x.finite && x.abs().compare(Real.of(2000)) > 0;
    if (x.special === "inf" || (far && y.finite)) {
      const turn = y.finite ? (f.sin(y.mul(TWO)) as Real) : ZERO;
      return new Complex(x.negative ? ONE.neg() : ONE, Real.ratio(0n, 1n, turn.negative));
    }
    return z.nan || !y.finite ? UNKNOWN : sinh(z).div(cosh(z));
  }

  /** asinh(z) = log(z + sqrt(1 + z^2)), of the half plane in which nothing cancels. */
  function asinh(z: Complex): Complex {
    if (z.re.negative && !z.re.nan) return asinh(z.neg()).neg();
    const { re: x, im: y } = z;
    if (z.infinite) return new Complex(Real.INF, x.nan || y.nan ? Real.NAN : f.atan2(y, x));
    if (z.nan) return new Complex(Real.NAN, y.zero ? y : Real.NAN);
    if (z.zero) return z;
    // Of sqrt(1 + iz) and sqrt(1 - iz): the parts of the result without cancellation.
    const a = sqrt(new Complex(ONE.add(y), x.neg()));
    const b = sqrt(new Complex(ONE.sub(y), x));
    const re = f.asinh(a.re.mul(b.im).sub(a.im.mul(b.re)));
    return new Complex(re, f.atan2(y, a.mul(b).re));
  }
  function acos(z: Complex): Complex {
    const { re: x, im: y } = z;
    if (z.infinite && !z.nan) return new Complex(f.atan2(y.abs(), x), y.negative ? Real.INF : Real.INF.neg());
    if (z.infinite) return new Complex(Real.NAN, y.special === "inf" && y.negative ? Real.INF : Real.INF.neg());
    if (z.nan) return new Complex(x.zero ? f.acos(ZERO) : Real.NAN, Real.NAN);
    const [a, b] = [sqrt(new Complex(ONE.sub(x), y.neg())), sqrt(new Complex(ONE.add(x), y))];
    const im = f.asinh(b.conj().mul(a).im) as Real;
    return new Complex(TWO.mul(f.atan2(a.re, b.re)), im.zero ? Real.ratio(0n, 1n, !y.negative) : im);
  }
  /** acosh(z) = i acos(z) or -i acos(z), with a real part that is not negative. */
  function acosh(z: Complex): Complex {
    if (z.nan || z.infinite) return new Complex(z.infinite ? Real.INF : Real.NAN, z.re.zero ? f.acos(ZERO) : z.nan ? Real.NAN : f.atan2(z.im, z.re));
    const found = acos(z);
    return z.im.negative ? new Complex(found.im, found.re.neg()) : new Complex(found.im.neg(), found.re);
  }
  function atanh(z: Complex): Complex {
    const { re: x, im: y } = z;
    const half = Real.of(0.5);
    const quarter = f.acos(ZERO) as Real;
    if (z.infinite) return new Complex(Real.ratio(0n, 1n, x.negative), y.nan ? y : y.negative ? quarter.neg() : quarter);
    if (z.nan) return new Complex(x.zero ? x : Real.NAN, Real.NAN);
    if (y.zero && x.abs().compare(ONE) === 0) return new Complex(Real.infinity(x.negative), y);
    const square = (a: Real): Real => a.mul(a);
    const near = square(ONE.sub(x)).add(square(y));
    const re = half.mul(half).mul(f.log1p(x.mul(Real.of(4)).div(near)));
    const im = half.mul(f.atan2(y.mul(TWO), ONE.sub(square(x)).sub(square(y))));
    return new Complex(x.zero ? x : re, y.zero && x.abs().compare(ONE) < 0 ? y : im);
  }

  const turned = (z: Complex): Complex => new Complex(z.im.neg(), z.re);
  const back = (z: Complex): Complex => new Complex(z.im, z.re.neg());
  /** A circular function by its hyperbolic one. */
  const circular = (g: (z: Complex) => Complex) => (z: Complex): Complex => back(g(turned(z)));

  function expm1(z: Complex): Complex {
    if (z.zero) return new Complex(ZERO, z.im);
    if (!z.finite) return exp(z).sub(UNIT);
    if (z.im.zero) return new Complex(f.expm1(z.re), z.im);
    const half = f.sin(z.im.div(TWO)) as Real;
    const around = f.exp(z.re).mul(half).mul(half).mul(TWO) as Real;
    return new Complex(f.expm1(z.re).sub(around), f.exp(z.re).mul(f.sin(z.im)));
  }
  function log1p(z: Complex): Complex {
    if (!z.finite) return log(z);
    if (z.im.zero && z.re.compare(ONE.neg()) === 0) return new Complex(Real.INF.neg(), z.im);
    const { re: x, im: y } = z;
    return new Complex(f.log1p(x.mul(TWO).add(x.mul(x)).add(y.mul(y))).div(TWO), f.atan2(y, x.add(ONE)));
  }
  function power(a: Complex, b: Complex): Complex {
    if (b.zero) return UNIT;
    if (!a.zero && b.im.zero && b.re.compare(ONE) === 0) return a;
    if (!(a.finite && b.finite)) return UNKNOWN;
    const n = b.im.zero && b.re.integral ? Number(b.re.num) : NaN;
    if (a.zero) return b.re.negative ? UNIT.div(a) : new Complex(ZERO, ZERO);
    if (Math.abs(n) <= 64) {
      const whole = Array.from({ length: Math.abs(n) }, () => a).reduce((p, q) => p.mul(q));
      return n < 0 ? UNIT.div(whole) : whole;
    }
    return exp(b.mul(log(a)));
  }
  function sign(z: Complex): Complex {
    if (z.zero) return z;
    return z.finite ? z.div(new Complex(modulus(z))) : UNKNOWN;
  }

  return {
    re: (z) => z.re,
    im: (z) => z.im,
    conj: (z) => z.conj(),
    mirror: (z) => z.conj(),
    abs: modulus,
    sign,
    sqrt,
    rsqrt: (z) => UNIT.div(sqrt(z)),
    exp,
    exp2: (z) => exp(new Complex(z.re.mul(f.log(TWO)), z.im.mul(f.log(TWO)))),
    expm1,
    log,
    log1p,
    logistic: (z) => UNIT.div(UNIT.add(exp(z.neg()))),
    sinh,
    cosh,
    tanh,
    asinh,
    acosh,
    atanh,
    sin: circular(sinh),
    cos: (z) => cosh(turned(z)),
    tan: circular(tanh),
    asin: circular(asinh),
    acos,
    atan: circular(atanh),
    pow: power,
  };
}
