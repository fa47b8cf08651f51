import assert from "node:assert/strict";
import { test } from "node:test";
import { Complex, FLOAT64, hex, readReal, Real, rounded } from "../src/exact.js";
import { real } from "../src/functions.js";
import { floatText, readNumber } from "../src/numerals.js";
import { Dtype, settle } from "../src/values.js";

const half = new Dtype("float16", "f16", "floating", 16, { fraction: 10, least: -14, most: 15 });
const brain = new Dtype("bfloat16", "bf16", "floating", 16, { fraction: 7, least: -126, most: 127 });
const single = new Dtype("float32", "f32", "floating", 32, { fraction: 23, least: -126, most: 127 });

test("numbers are rounded once, ties to even", () => {
  const third = Real.ratio(1n, 3n);
  assert.equal(hex(settle(third, single) as Real), "0x1.5555560000000p-2");
  assert.equal(hex(settle(third, half) as Real), "0x1.5540000000000p-2");
  assert.equal(hex(settle(third, brain) as Real), "0x1.5600000000000p-2");
  assert.equal(hex(settle(Real.of(65519.999), half) as Real), "0x1.ffc0000000000p+15");
  assert.equal(hex(settle(Real.of(65520), half) as Real), "inf");
  assert.equal(hex(rounded(Real.ratio(1n, 1n << 1075n), FLOAT64)), "0x0.0p+0");
  assert.equal(hex(rounded(Real.ratio(3n, 1n << 1075n), FLOAT64)), "0x0.0000000000002p-1022");
});

test("integers wrap", () => {
  assert.equal(settle(300n, new Dtype("uint8", "u8", "unsigned", 8)), 44n);
  assert.equal(settle(1n << 31n, new Dtype("int32", "i32", "signed", 32)), -(1n << 31n));
});

test("zeros and infinities have signs", () => {
  assert.equal(hex(Real.of(-0).add(Real.of(-0))), "-0x0.0p+0");
  assert.equal(hex(Real.ONE.sub(Real.ONE)), "0x0.0p+0");
  assert.equal(hex(Real.of(-1).div(Real.ZERO)), "-inf");
  assert.ok(Real.INF.sub(Real.INF).nan);
  assert.ok(new Complex(Real.ONE).div(new Complex(Real.ZERO)).infinite);
});

test("text is read and written exactly", () => {
  for (const x of [0.1, -5e-324, 1.7976931348623157e308, 1e16, 1e-5, 123456.75]) assert.equal(readReal(hex(Real.of(x)))!.toNumber(), x);
  assert.equal(floatText(Real.of(1e16)), "1e+16");
  assert.equal(floatText(Real.of(0.00001)), "1e-05");
  assert.equal(floatText(Real.of(100)), "100.0");
  assert.equal(readNumber("1.5", new Dtype("int8", "i8", "signed", 8)), null);
});

test("real functions have the values of tables", () => {
  const near = (name: string, value: number, ...x: number[]): void => assert.equal(real(name, ...x.map(Real.of)).toNumber(), value);
  near("exp", Math.E, 1);
  near("erf", 0.8427007929497149, 1);
  near("erfc", 2.088487583762545e-45, 10);
  near("erf_inv", 0.4769362762044699, 0.5);
  near("lgamma", 0.5723649429247001, 0.5);
  near("digamma", -0.5772156649015329, 1);
  near("zeta", 1.6449340668482264, 2, 1);
  near("igamma", 0.6321205588285577, 1, 1);
  near("bessel_i0e", 0.46575960759364043, 1);
  near("sin", -0.8178819121159085, 1e300);
});
