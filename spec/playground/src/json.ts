/** Programs, arrays and params as JSON (spec/conformance.rst, "The cases as data"). */

import { abs, Complex, hex, readReal, Real } from "./exact.js";
import { nanOf, usualNan } from "./formats.js";
import { payloadText } from "./numerals.js";
import type { Spec } from "./spec.js";
import { Aval, Dtype, HostFunction, Literal, numberOfWords, Program, programsIn, Tensor, Tree, Var, wordsOfNumber, type Atom, type Element, type Equation, type Param } from "./values.js";

export type Json = any;

export const readType = (spec: Spec, t: Json): Aval => new Aval(t.shape, spec.dtype(t.dtype), t.weak ?? false, t.vma ?? []);
export const writeType = (a: Aval): Json => ({ dtype: a.dtype.name, shape: [...a.shape], weak: a.weak, ...(a.vma.length && { vma: a.vma }) });

/** A hexadecimal text; a NaN that is not the usual one has a sign, or all its bits. */
function readFloat(text: string, width = 64, fraction = 52): Real {
  const bits = /^nan\((0x[0-9a-f]+)\)$/.exec(text);
  if (bits) return nanOf(BigInt(bits[1]), width, fraction)!;
  return text === "-nan" ? Real.nanOf(usualNan(width, fraction) | (1n << BigInt(width - 1))) : readReal(text)!;
}

function writeFloat(x: Real, width = 64, fraction = 52): string {
  if (x.bits === undefined) return hex(x);
  return x.bits === (usualNan(width, fraction) | (1n << BigInt(width - 1))) ? "-nan" : payloadText(x.bits, width);
}

export function readElement(x: Json, dtype: Dtype): Element {
  if (dtype.kind === "boolean") return Boolean(x);
  if (dtype.kind === "floating") return readFloat(x, dtype.bits, dtype.format.fraction);
  if (dtype.kind === "complex") return new Complex(...(x.map((p: Json) => readFloat(p, dtype.bits / 2, dtype.format.fraction)) as [Real, Real]));
  const whole = BigInt(x);
  return dtype.kind === "key" ? wordsOfNumber(whole, dtype) : whole;
}

export function writeElement(x: Element, dtype: Dtype): Json {
  if (x instanceof Real) return writeFloat(x, dtype.bits, dtype.format.fraction);
  if (x instanceof Complex) return [x.re, x.im].map((p) => writeFloat(p, dtype.bits / 2, dtype.format.fraction));
  if (typeof x === "boolean") return x;
  return String(typeof x === "bigint" ? x : numberOfWords(x));
}

export function readArray(spec: Spec, a: Json): Tensor {
  const aval = readType(spec, a.type);
  return new Tensor(aval, a.elements.map((x: Json) => readElement(x, aval.dtype)));
}
export const writeArray = (x: Tensor): Json => ({ type: writeType(x.aval), elements: x.data.map((v) => writeElement(v, x.aval.dtype)) });

/** Programs that stand in several places, by their numbers. */
type Shared<K, V> = Map<K, V>;

export function readParam(spec: Spec, p: Json, known: Shared<number, Program> = new Map()): Param {
  if (p === null || typeof p === "boolean" || typeof p === "string") return p;
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
      return value.map((v: Json) => readParam(spec, v, known));
    case "dtype":
      return spec.dtype(value);
    case "type":
      return readType(spec, value);
    case "program": {
      if (value.number !== undefined && known.has(value.number)) return known.get(value.number)!;
      const program = readProgram(spec, value, known);
      if (value.number !== undefined) known.set(value.number, program);
      return program;
    }
    case "function":
      return new HostFunction(value);
    case "tree":
      return new Tree(value);
  }
  throw new Error(`no param: ${kind}`);
}

export function writeParam(p: Param, shared: Shared<Program, number> = new Map()): Json {
  if (typeof p === "bigint") return abs(p) < 1n << 53n ? Number(p) : { int: String(p) };
  if (p instanceof Real) return { float: writeFloat(p) };
  if (p instanceof Complex) return { complex: [writeFloat(p.re), writeFloat(p.im)] };
  if (p instanceof Dtype) return { dtype: p.name };
  if (p instanceof Aval) return { type: writeType(p) };
  if (p instanceof Program) return { program: { ...writeProgram(p, shared), ...(shared.has(p) && { number: shared.get(p) }) } };
  if (p instanceof HostFunction) return { function: p.name };
  if (p instanceof Tree) return { tree: p.text };
  return Array.isArray(p) ? { tuple: p.map((q) => writeParam(q, shared)) } : p;
}

export function readProgram(spec: Spec, data: Json, known: Shared<number, Program> = new Map()): Program {
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
    const params = Object.entries<Json>(e.params).map(([n, p]) => [n, readParam(spec, p, known)] as const);
    return { primitive: e.primitive, inputs: e.inputs.map(atom), params: Object.fromEntries(params), outputs: e.outputs.map(binder), effects: e.effects ?? [] };
  });
  return new Program(constants, given, inputs, equations, data.results.map(atom));
}

/** The programs within one that stand there more than once, numbered. */
function repeated(program: Program): Shared<Program, number> {
  const [seen, found] = [new Set<Program>(), new Map<Program, number>()];
  const visit = (p: Program): void => {
    for (const inner of p.equations.flatMap((e) => Object.values(e.params)).flatMap(programsIn)) {
      if (!seen.has(inner)) visit(inner);
      else if (!found.has(inner)) found.set(inner, found.size);
      seen.add(inner);
    }
  };
  visit(program);
  return found;
}

export function writeProgram(program: Program, shared = repeated(program)): Json {
  const numbers = new Map<Var, number>();
  const number = (v: Var): number => {
    if (!numbers.has(v)) numbers.set(v, numbers.size);
    return numbers.get(v)!;
  };
  const binder = (v: Var): Json => ({ var: number(v), type: writeType(v.aval) });
  const atom = (a: Atom): Json => {
    if (a instanceof Var) return numbers.has(a) ? { var: number(a) } : binder(a);
    return { literal: writeElement(a.value, a.aval.dtype), type: writeType(a.aval) };
  };
  return {
    constants: program.constants.map((v, k) => ({ ...binder(v), ...(program.values[k] && { elements: writeArray(program.values[k]).elements }) })),
    inputs: program.inputs.map(binder),
    equations: program.equations.map((e) => ({
      primitive: e.primitive,
      params: Object.fromEntries(Object.entries(e.params).map(([n, p]) => [n, writeParam(p, shared)])),
      effects: [...e.effects].sort(),
      inputs: e.inputs.map(atom),
      outputs: e.outputs.map(binder),
    })),
    results: program.results.map(atom),
  };
}
