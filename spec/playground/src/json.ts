/** Programs, arrays and params as JSON (spec/conformance.rst, "The cases as data"). */

import { Complex, hex, readReal, Real } from "./exact.js";
import type { Spec } from "./spec.js";
import { Aval, Dtype, HostFunction, Literal, Program, Tensor, Tree, Var, type Atom, type Element, type Equation, type Param } from "./values.js";

export type Json = any;

export const readType = (spec: Spec, t: Json): Aval => new Aval(t.shape, spec.dtype(t.dtype), t.weak ?? false);
export const writeType = (a: Aval): Json => ({ dtype: a.dtype.name, shape: [...a.shape], weak: a.weak });

const readFloat = (text: string): Real => readReal(text.replace("-nan", "nan"))!;

export function readElement(x: Json, dtype: Dtype): Element {
  if (dtype.kind === "boolean") return Boolean(x);
  if (dtype.kind === "floating") return readFloat(x);
  if (dtype.kind === "complex") return new Complex(readFloat(x[0]), readFloat(x[1]));
  const whole = BigInt(typeof x === "object" ? x.int : x);
  return dtype.kind === "key" ? [whole >> 32n, whole & 0xffffffffn] : whole;
}

export function writeElement(x: Element): Json {
  if (x instanceof Real) return hex(x);
  if (x instanceof Complex) return [hex(x.re), hex(x.im)];
  if (typeof x === "boolean") return x;
  return typeof x === "bigint" ? x : (x[0] << 32n) | x[1];
}

export function readArray(spec: Spec, a: Json): Tensor {
  const aval = readType(spec, a.type);
  return new Tensor(aval, a.elements.map((x: Json) => readElement(x, aval.dtype)));
}
export const writeArray = (x: Tensor): Json => ({ type: writeType(x.aval), elements: x.data.map(writeElement) });

export function readParam(spec: Spec, p: Json): Param {
  if (p === null || typeof p === "boolean" || typeof p === "string" || typeof p === "bigint") return p;
  if (typeof p === "number") return BigInt(p);
  const [kind, value] = Object.entries<Json>(p)[0];
  switch (kind) {
    case "int":
      return BigInt(value);
    case "float":
      return readFloat(value);
    case "complex":
      return new Complex(readFloat(value[0]), readFloat(value[1]));
    case "tuple":
    case "list":
      return value.map((v: Json) => readParam(spec, v));
    case "dtype":
      return spec.dtype(value);
    case "type":
      return readType(spec, value);
    case "program":
      return readProgram(spec, value);
    case "function":
      return new HostFunction(value);
    case "tree":
      return new Tree(value);
  }
  throw new Error(`no param: ${kind}`);
}

export function writeParam(p: Param): Json {
  if (p instanceof Real) return { float: hex(p) };
  if (p instanceof Complex) return { complex: [hex(p.re), hex(p.im)] };
  if (p instanceof Dtype) return { dtype: p.name };
  if (p instanceof Aval) return { type: writeType(p) };
  if (p instanceof Program) return { program: writeProgram(p) };
  if (p instanceof HostFunction) return { function: p.name };
  if (p instanceof Tree) return { tree: p.text };
  return Array.isArray(p) ? { tuple: p.map(writeParam) } : p;
}

export function readProgram(spec: Spec, data: Json): Program {
  const vars = new Map<number, Var>();
  const binder = (b: Json): Var => {
    if (!vars.has(b.var)) vars.set(b.var, new Var(b.type ? readType(spec, b.type) : (undefined as never)));
    return vars.get(b.var)!;
  };
  const atom = (a: Json): Atom => {
    if (!("literal" in a)) return binder(a);
    const aval = readType(spec, a.type);
    return new Literal(readElement(a.literal, aval.dtype), aval);
  };
  const constants = data.constants.map(binder);
  const given = data.constants.filter((c: Json) => c.elements).map((c: Json) => readArray(spec, c));
  const inputs = data.inputs.map(binder);
  const equations = data.equations.map((e: Json): Equation => {
    const params = Object.entries<Json>(e.params).map(([n, p]) => [n, readParam(spec, p)] as const);
    return { primitive: e.primitive, inputs: e.inputs.map(atom), params: Object.fromEntries(params), outputs: e.outputs.map(binder), effects: e.effects ?? [] };
  });
  return new Program(constants, given, inputs, equations, data.results.map(atom));
}

export function writeProgram(program: Program): Json {
  const numbers = new Map<Var, number>();
  const number = (v: Var): number => {
    if (!numbers.has(v)) numbers.set(v, numbers.size);
    return numbers.get(v)!;
  };
  const binder = (v: Var): Json => ({ var: number(v), type: writeType(v.aval) });
  const atom = (a: Atom): Json => {
    if (a instanceof Var) return numbers.has(a) ? { var: number(a) } : binder(a);
    return { literal: writeElement(a.tensor.data[0]), type: writeType(a.aval) };
  };
  return {
    constants: program.constants.map((v, k) => ({ ...binder(v), ...(program.values[k] && { elements: program.values[k].data.map(writeElement) }) })),
    inputs: program.inputs.map(binder),
    equations: program.equations.map((e) => ({
      primitive: e.primitive,
      params: Object.fromEntries(Object.entries(e.params).map(([n, p]) => [n, writeParam(p)])),
      effects: [...e.effects].sort(),
      inputs: e.inputs.map(atom),
      outputs: e.outputs.map(binder),
    })),
    results: program.results.map(atom),
  };
}

/** JSON read with integers that a double does not hold kept exact, and written as they are. */
export function parseJson(text: string): Json {
  return JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|(-?\d{16,})(?![\d.eE])/g, (all, string, digits) => string ?? (Number.isSafeInteger(Number(digits)) ? all : `{"int":"${digits}"}`)));
}

export function writeJson(data: Json): string {
  const marked = JSON.stringify(data, (_, x) => (typeof x === "bigint" ? (x >= -(2n ** 53n) && x <= 2n ** 53n ? Number(x) : `\u0000${x}`) : x));
  return marked.replace(/"\\u0000(-?\d+)"/g, "$1");
}
