/** The domains that params lie in (spec/notation.rst, "Domains"). */

import { Complex, Real } from "./exact.js";
import { Aval, Dtype, HostFunction, Program, Tree, type Param } from "./values.js";

type Test = (x: Param) => boolean;

const none: Test = (x) => x === null;
const flag: Test = (x) => typeof x === "boolean";
const int: Test = (x) => typeof x === "bigint";
const text: Test = (x) => typeof x === "string";
const many = (item: Test, count?: number): Test => (x) => Array.isArray(x) && (count ?? x.length) === x.length && x.every(item);
const maybe = (item: Test): Test => (x) => none(x) || item(x);
const is = (type: abstract new (...args: never[]) => unknown): Test => (x) => x instanceof type;
const either = (a: Test, b: Test): Test => (x) => a(x) || b(x);

const ints = many(int);
const precision: Test = (x) => ["Precision.DEFAULT", "Precision.HIGH", "Precision.HIGHEST"].includes(x as string);

const DOMAINS: Record<string, Test> = {
  none,
  flag,
  int,
  name: text,
  axes: ints,
  shape: ints,
  indices: ints,
  maybe_indices: maybe(ints),
  axis_name: text,
  axis_names: many(either(text, int)),
  pairs: many(many(int, 2)),
  dtype: is(Dtype),
  maybe_dtype: maybe(is(Dtype)),
  precision: maybe(many(precision, 2)),
  padding: many(many(int, 3)),
  dimension_numbers: many(many(ints, 2), 2),
  convolution: many(ints, 3),
  gather_numbers: many(ints, 5),
  scatter_numbers: many(ints, 5),
  index_mode: (x) => typeof x === "string" && /^GatherScatterMode\.(CLIP|FILL_OR_DROP|PROMISE_IN_BOUNDS|ONE_HOT)$/.test(x),
  maybe_number: maybe((x) => flag(x) || int(x) || x instanceof Real || x instanceof Complex),
  jaxpr: is(Program),
  jaxprs: many(is(Program)),
  function: is(HostFunction),
  flags: many(flag),
  avals: many(is(Aval)),
  maybe_name: maybe(text),
  text,
  tree: is(Tree),
  mesh: many((x) => Array.isArray(x) && x.length === 3 && text(x[0]) && int(x[1]) && ["Auto", "Explicit", "Manual"].includes(x[2] as string)),
  name_set: many(text),
  specs: many(many(many(text))),
  options: many((x) => Array.isArray(x) && x.length === 2 && (text(x[0]) || int(x[0]))),
};

export const fits = (domain: string, value: Param): boolean => DOMAINS[domain](value);
