/**
 * What formulas and programs are about: dtypes, types, arrays, programs.
 *
 * Of a param or a formula, an integer is a bigint, a float a Real, a tuple a JavaScript array.
 */

import { Complex, FLOAT64, Real, rounded, type Format } from "./exact.js";
import { SpecError } from "./errors.js";

export class Dtype {
  constructor(
    readonly name: string,
    readonly short: string,
    readonly kind: "boolean" | "signed" | "unsigned" | "floating" | "complex" | "key",
    readonly bits: number,
    /** The format of a floating dtype, or of the parts of a complex one. */
    readonly format: Format = FLOAT64,
  ) {}
}

/** An abstract value: shape, dtype and weakness. */
export class Aval {
  constructor(
    readonly shape: readonly number[],
    readonly dtype: Dtype,
    readonly weak = false,
    /** The axes of a mesh along which devices may have values of their own. */
    readonly vma: readonly string[] = [],
  ) {}
  with(change: { shape?: readonly number[]; dtype?: Dtype; weak?: boolean; vma?: readonly string[] }): Aval {
    return new Aval(change.shape ?? this.shape, change.dtype ?? this.dtype, change.weak ?? this.weak, change.vma ?? this.vma);
  }
  same(other: Aval): boolean {
    return this.dtype === other.dtype && this.shape.length === other.shape.length && this.shape.every((n, d) => n === other.shape[d]);
  }
  toString(): string {
    return `${this.dtype.short}[${this.shape.join(",")}]`;
  }
}

/** A key is its words. */
export type Element = boolean | bigint | Real | Complex | readonly bigint[];

/** The words of a key as one number, the first above the others. */
export function numberOfWords(words: readonly bigint[]): bigint {
  return words.reduce((whole, word) => (whole << 32n) | word, 0n);
}

/** The words of a key that is such a number. */
export function wordsOfNumber(whole: bigint, dtype: Dtype): bigint[] {
  const count = dtype.bits / 32;
  return Array.from({ length: count }, (_, k) => (whole >> BigInt(32 * (count - 1 - k))) & 0xffffffffn);
}

/** An array: its elements are exact, each one that its dtype has. */
export class Tensor {
  constructor(
    readonly aval: Aval,
    readonly data: readonly Element[],
  ) {}
  at(index: readonly number[]): Element {
    let flat = 0;
    this.aval.shape.forEach((n, d) => {
      if (!(index[d] >= 0 && index[d] < n)) throw new RangeError(`no element ${index} in ${this.aval}`);
      flat = flat * n + index[d];
    });
    if (index.length !== this.aval.shape.length) throw new RangeError(`no element ${index} in ${this.aval}`);
    return this.data[flat];
  }
  /** The array that stands at one index of the first dimension. */
  row(k: number): Tensor {
    const aval = this.aval.with({ shape: this.aval.shape.slice(1) });
    const size = sizeOf(aval.shape);
    return new Tensor(aval, this.data.slice(k * size, (k + 1) * size));
  }
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Every index into an array of this shape, the last position fastest. */
export function box(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>((found, n) => found.flatMap((i) => Array.from({ length: n }, (_, k) => [...i, k])), [[]]);
}

/** The element that an exact value becomes when it is stored: rounded once, or wrapped. */
export function settle(want: unknown, dtype: Dtype): Element {
  switch (dtype.kind) {
    case "boolean":
      return want instanceof Real ? !want.zero : Boolean(want);
    case "signed":
    case "unsigned": {
      const whole = want instanceof Real ? want.trunc().num : BigInt(want as bigint);
      return dtype.kind === "signed" ? BigInt.asIntN(dtype.bits, whole) : BigInt.asUintN(dtype.bits, whole);
    }
    case "floating":
      return rounded(Real.of(want as Real), dtype.format);
    case "complex": {
      const z = Complex.of(want as Complex);
      return new Complex(rounded(z.re, dtype.format), rounded(z.im, dtype.format));
    }
    case "key":
      return [...(want as bigint[])];
  }
}

// Programs -------------------------------------------------------------------------------

/** A variable; two are the same if they are one object. */
export class Var {
  constructor(readonly aval: Aval) {}
}

/** A number in a program; it keeps what was written, and is rounded where it is read. */
export class Literal {
  constructor(
    readonly value: Element,
    readonly aval: Aval,
  ) {}
  get tensor(): Tensor {
    return new Tensor(this.aval, [settle(this.value, this.aval.dtype)]);
  }
}

export type Atom = Var | Literal;

/** A function of the host language, of which a program knows the name. */
export class HostFunction {
  constructor(
    readonly name: string,
    readonly call?: (...args: never[]) => unknown,
  ) {}
}

/** The structure of a tree, as it is printed. */
export class Tree {
  constructor(readonly text: string) {}
  get leaves(): number {
    return this.text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "").split("*").length - 1;
  }
}

export type Param = null | boolean | bigint | Real | Complex | string | Dtype | Aval | Program | HostFunction | Tree | readonly Param[];
export type Params = Readonly<Record<string, Param>>;

export interface Equation {
  readonly primitive: string;
  readonly inputs: readonly Atom[];
  readonly outputs: readonly Var[];
  readonly params: Params;
  readonly effects: readonly string[];
}

/** A closed program: constants with their values, inputs, equations, results. */
export class Program {
  constructor(
    readonly constants: readonly Var[],
    readonly values: readonly Tensor[],
    readonly inputs: readonly Var[],
    readonly equations: readonly Equation[],
    readonly results: readonly Atom[],
  ) {}
  get ins(): Aval[] {
    return this.inputs.map((v) => v.aval);
  }
  get outs(): Aval[] {
    return this.results.map((a) => a.aval);
  }
}

/** What a row sees of a program: the types of its operands and results. */
export class Signature {
  constructor(
    readonly ins: readonly Aval[],
    readonly outs: readonly Aval[],
  ) {}
}

/** The programs that a value of a param holds. */
export function programsIn(value: Param): Program[] {
  if (value instanceof Program) return [value];
  return Array.isArray(value) ? value.flatMap(programsIn) : [];
}

/** The value with each program in it replaced. */
export function mapPrograms(value: Param, change: (p: Program) => unknown): unknown {
  if (value instanceof Program) return change(value);
  return Array.isArray(value) ? value.map((v) => mapPrograms(v, change)) : value;
}

export const unsupported = (what: string): SpecError => new SpecError("", what, true);
