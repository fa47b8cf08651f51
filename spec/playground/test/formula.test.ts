import assert from "node:assert/strict";
import { test } from "node:test";
import { Real } from "../src/exact.js";
import { compile, Scope, type Node } from "../src/formula.js";
import { HELPERS } from "../src/helpers.js";

const name = (n: string): Node => ({ is: "name", name: n });
const constant = (value: unknown): Node => ({ is: "constant", value });
const call = (f: string, ...given: Node[]): Node => ({ is: "call", function: f, arguments: given });
const value = (node: Node, names: Record<string, unknown> = {}): unknown => compile(node, HELPERS)(new Scope(names));

test("integers are Python's", () => {
  assert.equal(value({ is: "binary", op: "//", left: constant(-7), right: constant(2) }), -4n);
  assert.equal(value({ is: "binary", op: "%", left: constant(-7), right: constant(2) }), 1n);
});

test("an index outside has no value", () => {
  assert.throws(() => value({ is: "element", of: name("t"), at: constant(2) }, { t: [1n, 2n] }), RangeError);
});

test("a decision is not gone beyond", () => {
  const beyond = { is: "element", of: name("t"), at: constant(9) };
  assert.equal(value({ is: "or", parts: [constant(true), beyond] }, { t: [] }), true);
});

test("NaN is unordered, a sum of nothing is 0", () => {
  const less = { is: "compare", first: name("x"), rest: [{ op: "<", to: name("x") }] };
  assert.equal(value(less, { x: Real.NAN }), false);
  const fold = { is: "fold", function: "sum", item: name("v"), names: "v", over: name("t"), where: null };
  assert.equal(value(fold, { t: [] }), 0n);
});

test("helpers are those of the chapter", () => {
  const [t, i] = [(...n: number[]) => n.map(BigInt), (...n: number[]) => constantTuple(n)];
  assert.deepEqual(value(call("take", i(2, 3, 4), i(2, 0))), t(4, 2));
  assert.deepEqual(value(call("drop", i(2, 3, 4), i(2, 0))), t(3));
  assert.deepEqual(value(call("place", i(1), i(9), i(5, 6))), t(5, 9, 6));
  assert.deepEqual(value(call("renumber", i(1, 2), i(2, 3), i(3, 2))), t(2, 1));
  assert.deepEqual(value(call("exchanged", i(2, 2), constant(3))), t(2, 0, 1));
  assert.deepEqual(value(call("threefry", ...[0, 0, 0, 0].map(constant))), [1797259609n, 2579123966n]);
});

const constantTuple = (n: number[]): Node => ({ is: "tuple", items: n.map(constant) });
