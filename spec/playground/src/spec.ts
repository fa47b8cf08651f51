/** The document, loaded: rows whose formulas are functions, dtypes, and what formulas know anywhere. */

import { readReal, type Format } from "./exact.js";
import { compile, number, Scope, type Formula, type Functions, type Node, type Value } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { Aval, Dtype, mapPrograms, Program, Signature, type Param, type Params, type Tensor } from "./values.js";
import { SpecError } from "./errors.js";

export interface Clause {
  id: string;
  says: string;
  at: string;
  holds: Formula | null;
}

export interface ParamRow {
  name: string;
  domain: string;
  optional: boolean;
  default: Param;
  print: string;
  parse: Formula | null;
  applies: string;
}

/** An operand of a template's equation: a name, a spread name, a number, or the value of a formula. */
export type Operand = { is: "name"; name: string } | { is: "spread"; name: string } | { is: "number"; value: any; dtype: string } | { is: "hole"; formula: Formula };

/** A template: equations, then what it gives; used where `when` holds. An empty one gives a symbolic zero. */
export interface Template {
  when: Formula | null;
  statements: { results: string[]; primitive: string; params: [string, Formula][]; operands: Operand[]; each: boolean }[];
  results: Operand[];
  whole: boolean;
}

export interface Derivative {
  zero: boolean;
  linear: string[];
  jvp: Record<string, Template[]>;
  transpose: Record<string, Template[]>;
}

export interface Row {
  name: string;
  inputs: string[];
  variadic: boolean;
  params: ParamRow[];
  order: string[];
  names: string;
  clauses: Clause[];
  let: Record<string, Formula>;
  each: Record<string, Formula>;
  out: Formula | Record<"shape" | "dtype" | "weak_type", Formula>[];
  value: Formula | null;
  steps: Formula | null;
  across: Formula | null;
  post: { over: Formula; holds: Formula; says: string }[];
  results: string[];
  accuracy: string;
  derivative: Derivative | null;
  batch: { rule: string; params: Record<string, Formula>; dim: Formula | null; scalars: string[]; shared: string[]; let: Record<string, Formula>; empty: string; cases: Template[] };
  effects: string[];
  identity: Formula | null;
  folds: boolean;
}

const isTree = (x: any): x is Node => x !== null && typeof x === "object" && typeof x.is === "string";

/** A part of the document with the trees in it compiled, wherever they stand. */
export function compiled(part: any, functions: Functions): any {
  if (Array.isArray(part)) return part.map((p) => compiled(p, functions));
  if (isTree(part)) return compile(part, functions);
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, p]) => [name, compiled(p, functions)]));
}

/** The formulas of `steps` call functions that are names of their scope. */
const TERMS = { ...HELPERS };

/** What dtypes of keys are called in formulas, which have no brackets in names. */
function keyNames(dtypes: ReadonlyMap<string, Dtype>): Record<string, Dtype> {
  const keys = [...dtypes.values()].filter((d) => d.kind === "key");
  return Object.fromEntries(keys.map((d) => [d.name.replace("<fry>", "").replace("<", "_").replace(">", ""), d]));
}

/** The format of a row of the dtypes. */
function formatOf({ digits, least, max, beyond, zero }: any): Format {
  const [fraction, greatest] = [digits - 1, readReal(max.float)!];
  return { fraction, least: readReal(least.float)!.exponent() + fraction, most: greatest.exponent(), max: greatest, beyond, zero };
}

export class Spec {
  readonly dtypes = new Map<string, Dtype>();
  readonly shorts = new Map<string, Dtype>();
  readonly rows = new Map<string, Row>();
  /** Older spellings: today's name, params that have another name today, and those that are passed over. */
  readonly spellings = new Map<string, { means: string; params: Record<string, string>; ignores: string[] }>();
  readonly names: Scope;
  readonly program: Clause[];
  readonly says = new Map<string, string>();
  /** Functions of the host that programs can name and that do something here. */
  hosts: Record<string, (args: Tensor[]) => Tensor[]> = {};

  constructor(readonly document: any) {
    const { lattice, prims, program, others } = document.rules;
    for (const d of Object.values<any>(lattice.dtypes)) {
      const made = new Dtype(d.name, d.short, d.kind, d.bits, d.digits ? formatOf(d) : undefined);
      this.dtypes.set(d.name, made);
      this.shorts.set(d.short, made);
    }
    const sets = Object.entries<string[]>(lattice.sets).map(([name, members]) => [name, members.map((m) => this.dtypes.get(m)!)]);
    this.names = new Scope({ ...keyNames(this.dtypes), ...Object.fromEntries(this.dtypes), ...Object.fromEntries(sets) });
    for (const row of Object.values<any>(prims)) {
      this.rows.set(row.name, this.row(row));
      for (const was of row.was) this.spellings.set(was.name, was);
      for (const c of row.clauses) this.says.set(c.id, c.says);
    }
    this.program = compiled(program, HELPERS);
    for (const c of [...program, ...others]) this.says.set(c.id, c.says);
  }

  private row(data: any): Row {
    const { params, derivative, batch, inputs, results, order, ...rest } = data;
    const templates = (all: Record<string, any[]>): Record<string, Template[]> =>
      Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.map((t) => this.template(t))]));
    return {
      ...compiled(rest, TERMS),
      inputs,
      results,
      order,
      params: params.map((p: any) => ({ ...p, optional: p.has_default, default: this.param(p.default), parse: p.parse && compile(p.parse, HELPERS) })),
      batch: { ...compiled({ ...batch, cases: [] }, HELPERS), cases: batch.cases.map((t: any) => this.template(t)) },
      derivative: derivative && { ...derivative, jvp: templates(derivative.jvp), transpose: templates(derivative.transpose) },
    };
  }

  private template({ when, template }: any): Template {
    if (!template) return { when: when && compile(when, HELPERS), statements: [], results: [], whole: false };
    const operand = (o: any): Operand => (o.is === "hole" ? { ...o, formula: compile(o.formula, HELPERS) } : o.is === "number" ? { ...o, value: number(o.value) } : o);
    const statements = template.statements.map((s: any) => ({
      ...s,
      params: s.params.map(([name, f]: [string, Node]) => [name, compile(f, HELPERS)]),
      operands: s.operands.map(operand),
    }));
    return { when: when && compile(when, HELPERS), statements, results: template.results.map(operand), whole: template.whole };
  }

  /** A default, as the document has it. */
  private param(data: any): Param {
    if (data && typeof data === "object" && "tuple" in data) return data.tuple.map((d: any) => this.param(d));
    return data && typeof data === "object" && "dtype" in data ? this.dtypes.get(data.dtype)! : number(data);
  }

  dtype(name: string): Dtype {
    const found = this.dtypes.get(name);
    if (!found) throw new Error(`no dtype ${name}`);
    return found;
  }

  find(primitive: string): Row {
    const found = this.rows.get(primitive);
    if (!found) throw this.error("program.primitive", primitive);
    return found;
  }

  /** The params of an equation and the defaults of those that are left out, by name. */
  withDefaults(primitive: string, params: Params): Params {
    const usual = this.find(primitive).params.filter((p) => p.optional).map((p) => [p.name, p.default]);
    return sorted({ ...Object.fromEntries(usual), ...params });
  }

  /** What the formulas of a row know: operands, params, and the names of its `let`. */
  scope(row: Row, operands: readonly (Aval | Tensor)[], params: Params): Scope {
    const known: Record<string, Value> = Object.fromEntries(Object.entries(params).map(([n, p]) => [n, mapPrograms(p, (q) => q)]));
    row.inputs.forEach((name, k) => {
      known[name] = row.variadic && k === row.inputs.length - 1 ? operands.slice(k) : operands[k];
    });
    return new Scope(known, row.let, this.names);
  }

  error(rule: string, got: string): SpecError {
    return new SpecError(rule, `${this.says.get(rule) ?? "refused"} Got: ${got}`);
  }

  /** The error of the first clause that does not hold. */
  demand(clauses: readonly Clause[], scope: Scope, got: string): void {
    for (const clause of clauses) {
      if (clause.holds && !clause.holds(scope)) throw new SpecError(clause.id, `${clause.says} Got: ${got}`);
    }
  }

  /** The types of the results of a primitive: its clauses hold, and its row says what they are. */
  infer(primitive: string, params: Params, operands: readonly Aval[]): Aval[] {
    const row = this.find(primitive);
    const scope = this.scope(row, operands, signed(params));
    this.demand(row.clauses, scope, `${primitive} of ${operands.join(" ")}`);
    if (typeof row.out === "function") return row.out(scope);
    return row.out.map((o) => new Aval(o.shape(scope).map(Number), this.dtypeOf(o.dtype(scope)), o.weak_type(scope)));
  }

  private dtypeOf(found: Dtype | string): Dtype {
    return typeof found === "string" ? this.dtype(found) : found;
  }
}

export const sorted = <T>(record: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Params in which programs are known by their types alone. */
export const signed = (params: Params): Params =>
  Object.fromEntries(Object.entries(params).map(([n, p]) => [n, mapPrograms(p, (q: Program) => new Signature(q.ins, q.outs)) as Param]));
