/**
 * Formulas: trees of the document, compiled to functions of the names in scope.
 *
 * A formula means what it means in Python, on exact numbers (spec/notation.rst).
 */

import { Complex, Real, floorDiv } from "./exact.js";
import { Aval, Dtype, Program, Signature, Tensor, Tree } from "./values.js";

// The tree of a formula, as the document has it.
export type Node = { is: string; [member: string]: any };
export type Value = any;
export type Formula = (scope: Scope) => Value;
export type Functions = Readonly<Record<string, (...args: Value[]) => Value>>;

/** Names and what they stand for; those of formulas are computed when first asked for. */
export class Scope {
  private readonly known: Map<string, Value>;
  constructor(
    names: Record<string, Value>,
    private readonly formulas: Record<string, Formula> = {},
    private readonly outer?: Scope,
  ) {
    this.known = new Map(Object.entries(names));
  }
  get(name: string): Value {
    let scope: Scope | undefined = this;
    for (; scope; scope = scope.outer) {
      if (scope.known.has(name)) return scope.known.get(name);
      if (Object.hasOwn(scope.formulas, name)) {
        const found = scope.formulas[name](scope);
        scope.known.set(name, found);
        return found;
      }
    }
    throw new ReferenceError(`${name} is no name here`);
  }
}

const isNumber = (x: Value): boolean => typeof x === "bigint" || typeof x === "boolean" || x instanceof Real || x instanceof Complex;

/** An operation on numbers: of integers, of reals, or of complex numbers. */
function arithmetic(a: Value, b: Value, whole: ((a: bigint, b: bigint) => Value) | null, name: "add" | "sub" | "mul" | "div"): Value {
  if (a instanceof Complex || b instanceof Complex) return Complex.of(a)[name](Complex.of(b));
  if (a instanceof Real || b instanceof Real || !whole) return Real.of(a)[name](Real.of(b));
  return whole(BigInt(a), BigInt(b));
}

export function plus(a: Value, b: Value): Value {
  return Array.isArray(a) ? [...a, ...b] : arithmetic(a, b, (x, y) => x + y, "add");
}

export function times(a: Value, b: Value): Value {
  if (Array.isArray(a)) return Array.from({ length: Number(b) }, () => a).flat();
  return arithmetic(a, b, (x, y) => x * y, "mul");
}

export const negated = (a: Value): Value => (a instanceof Real || a instanceof Complex ? a.neg() : -BigInt(a));

function floorQuotient(a: Value, b: Value): Value {
  return a instanceof Real || b instanceof Real ? Real.of(a).div(Real.of(b)).floor() : floorDiv(BigInt(a), BigInt(b));
}

const BINARY: Record<string, (a: Value, b: Value) => Value> = {
  "+": plus,
  "-": (a, b) => arithmetic(a, b, (x, y) => x - y, "sub"),
  "*": times,
  "/": (a, b) => arithmetic(a, b, null, "div"),
  "//": floorQuotient,
  "%": (a, b) => BINARY["-"](a, times(b, floorQuotient(a, b))),
  "&": (a, b) => (typeof a === "boolean" ? a && b : a & b),
  "|": (a, b) => (typeof a === "boolean" ? a || b : a | b),
};

export function equal(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return compare(a, b) === 0;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, k) => equal(x, b[k]));
  if (a instanceof Aval && b instanceof Aval) return a.same(b) && a.weak === b.weak;
  return a === b;
}

/** Negative, 0 or positive, or NaN where the two have no order. */
export function compare(a: Value, b: Value): number {
  if (Array.isArray(a)) {
    const differs = a.findIndex((x, k) => k < b.length && !equal(x, b[k]));
    return differs < 0 ? a.length - b.length : compare(a[differs], b[differs]);
  }
  if (a instanceof Complex || b instanceof Complex) {
    const [x, y] = [Complex.of(a), Complex.of(b)];
    return x.re.compare(y.re) === 0 && x.im.compare(y.im) === 0 ? 0 : x.compare(y);
  }
  if (a instanceof Real || b instanceof Real) return Real.of(a).compare(Real.of(b));
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

const has = (group: Value, item: Value): boolean => (group instanceof Map || group instanceof Set ? group.has(item) : group.some((x: Value) => equal(item, x)));

const COMPARE: Record<string, (a: Value, b: Value) => boolean> = {
  "==": equal,
  "!=": (a, b) => !equal(a, b),
  "<": (a, b) => compare(a, b) < 0,
  "<=": (a, b) => compare(a, b) <= 0,
  ">": (a, b) => compare(a, b) > 0,
  ">=": (a, b) => compare(a, b) >= 0,
  in: (a, b) => has(b, a),
  "not in": (a, b) => !has(b, a),
  is: (a, b) => a === b,
  "is not": (a, b) => a !== b,
};

export function truth(x: Value): boolean {
  if (Array.isArray(x)) return x.length > 0;
  if (x instanceof Real || x instanceof Complex) return !x.zero;
  return Boolean(x);
}

export const sizes = (shape: readonly number[]): bigint[] => shape.map(BigInt);

function attribute(of: Value, name: string): Value {
  const type = of instanceof Tensor ? of.aval : of;
  if (type instanceof Aval) {
    if (name === "shape") return sizes(type.shape);
    if (name === "vma") return [...type.vma];
    return name === "dtype" ? type.dtype : type.weak;
  }
  if (of instanceof Dtype) return name === "kind" ? of.kind : BigInt(name === "bits" ? of.bits : Math.ceil(of.bits / 8));
  if (of instanceof Signature || of instanceof Program) return name === "in_avals" ? of.ins : of.outs;
  if (of instanceof Tree) return BigInt(of.leaves);
  return of[name];
}

function element(of: Value, at: Value): Value {
  if (of instanceof Tensor) return of.at(at.map(Number));
  if (of instanceof Map) return of.get(at);
  const k = Number(at) < 0 ? of.length + Number(at) : Number(at);
  if (!(k in of)) throw new RangeError(`no element ${at}`);
  return of[k];
}

export const total = (items: Value[]): Value => (items.length ? items.reduce(plus) : 0n);
export const product = (items: Value[]): Value => (items.length ? items.reduce(times) : 1n);
const extreme = (sign: number) => (items: Value[]): Value => {
  if (!items.length) throw new RangeError("an extreme of nothing");
  return items.reduce((best, x) => (compare(x, best) * sign > 0 ? x : best));
};
const FOLDS: Record<string, (items: Value[]) => Value> = {
  sum: total,
  prod: product,
  max: extreme(1),
  min: extreme(-1),
  tuple: (items) => items,
};

/** Python's own functions. */
export const PYTHON: Functions = {
  len: (x) => BigInt(x.size ?? x.length),
  sum: total,
  all: (x) => x.every(truth),
  any: (x) => x.some(truth),
  max: (...x) => FOLDS.max(x.length > 1 ? x : x[0]),
  min: (...x) => FOLDS.min(x.length > 1 ? x : x[0]),
  tuple: (x) => [...x],
  range: (a, b) => {
    const [from, to] = b === undefined ? [0n, a] : [a, b];
    return Array.from({ length: Math.max(0, Number(to - from)) }, (_, k) => from + BigInt(k));
  },
};

export function number(value: Value): Value {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : Real.of(value);
  if (value && typeof value === "object") return "int" in value ? BigInt(value.int) : Real.of(fromHex(value.float));
  return value;
}

function fromHex(text: string): number {
  const [, sign, whole, part = "", e] = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?p([+-]\d+)$/.exec(text) ?? [];
  if (whole === undefined) return Number(text.replace("inf", "Infinity"));
  return (sign ? -1 : 1) * parseInt(whole + part, 16) * 2 ** (Number(e) - 4 * part.length);
}

/** The function of names that a tree is; `functions` are those that it may call. */
export function compile(node: Node, functions: Functions): Formula {
  const sub = (inner: Node): Formula => compile(inner, functions);
  switch (node.is) {
    case "constant": {
      const value = number(node.value);
      return () => value;
    }
    case "name":
      return (s) => s.get(node.name);
    case "attribute": {
      const of = sub(node.of);
      return (s) => attribute(of(s), node.name);
    }
    case "tuple": {
      const items = node.items.map(sub) as Formula[];
      return (s) => items.map((f) => f(s));
    }
    case "element": {
      const [of, at] = [sub(node.of), sub(node.at)];
      return (s) => element(of(s), at(s));
    }
    case "slice": {
      const [of, from, to] = [node.of, node.from, node.to].map((n) => n && sub(n));
      return (s) => of(s).slice(from ? Number(from(s)) : 0, to ? Number(to(s)) : undefined);
    }
    case "binary": {
      const [left, right, apply] = [sub(node.left), sub(node.right), BINARY[node.op]];
      return (s) => apply(left(s), right(s));
    }
    case "negate": {
      const of = sub(node.of);
      return (s) => negated(of(s));
    }
    case "not": {
      const of = sub(node.of);
      return (s) => !truth(of(s));
    }
    case "and":
    case "or": {
      const parts = node.parts.map(sub) as Formula[];
      const decides = node.is === "or";
      return (s) => {
        let found: Value = null;
        for (const part of parts) if (truth((found = part(s))) === decides) return found;
        return found;
      };
    }
    case "compare": {
      const first = sub(node.first);
      const rest = node.rest.map((r: Node) => [COMPARE[r.op], sub(r.to)] as const);
      return (s) => {
        let left = first(s);
        for (const [holds, to] of rest) {
          const right = to(s);
          if (!holds(left, right)) return false;
          left = right;
        }
        return true;
      };
    }
    case "if": {
      const [test, then, other] = [sub(node.test), sub(node.then), sub(node.else)];
      return (s) => (truth(test(s)) ? then(s) : other(s));
    }
    case "call": {
      const given = node.arguments.map(sub) as Formula[];
      const known = functions[node.function];
      return (s) => (known ?? s.get(node.function))(...given.map((f) => f(s)));
    }
    case "fold":
      return fold(node, sub);
  }
  throw new Error(`no formula: ${node.is}`);
}

function fold(node: Node, sub: (n: Node) => Formula): Formula {
  const [item, over, where] = [sub(node.item), sub(node.over), node.where && sub(node.where)];
  const bind = (x: Value): Record<string, Value> =>
    typeof node.names === "string" ? { [node.names]: x } : Object.fromEntries(node.names.map((n: string, k: number) => [n, x[k]]));
  const decides = { any: true, all: false }[node.function as string];
  return (s) => {
    const found: Value[] = [];
    for (const x of over(s)) {
      const inner = new Scope(bind(x), {}, s);
      if (where && !truth(where(inner))) continue;
      const value = item(inner);
      if (decides !== undefined && truth(value) === decides) return decides;
      found.push(value);
    }
    return decides === undefined ? FOLDS[node.function](found) : !decides;
  };
}
