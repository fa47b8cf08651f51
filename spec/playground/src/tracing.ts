/** Levels: values of traces, and which trace handles an operation (spec/levels.rst). */

import { effectsOf } from "./check.js";
import { apply as evaluate } from "./evaluate.js";
import { Scope } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { compiled, type Spec } from "./spec.js";
import { Aval, Literal, Program, settle, Tensor, Var, programsIn, type Atom, type Element, type Equation, type Params } from "./values.js";

/** An array, a number, or what stands for an array while a function is traced. */
export type Value = Tensor | Literal | Tracer;

/** A value that a trace has made: a type, and what the trace knows besides. */
export abstract class Tracer {
  abstract readonly trace: Trace;
  abstract readonly aval: Aval;
}

/** A handler of operations while it is in force. */
export abstract class Trace {
  /** Its place among the traces in force when it began; that of the innermost one that handles all operations. */
  readonly place: number;
  readonly whole: number;
  /** The names of axes in force, and their sizes. */
  axes: ReadonlyMap<string, number>;

  constructor(
    readonly tracing: Tracing,
    readonly transform: string,
  ) {
    const { current, spec } = tracing;
    this.parent = current;
    this.place = (current?.place ?? 0) + 1;
    this.whole = spec.document.rules.levels.transforms[transform].handles === "all" ? this.place : (current?.whole ?? 0);
    this.axes = current?.axes ?? new Map();
  }
  parent: Trace | null;

  abstract bind(primitive: string, values: readonly Value[], params: Params): Value[];

  /** True if an operation names the axis of this trace. */
  names(_axes: readonly string[]): boolean {
    return false;
  }
}

/** The trace in force, and the rules by which operations find theirs. */
export class Tracing {
  current: Trace | null = null;
  /** Told of each operation: who handles it. */
  watch: ((primitive: string, handler: Trace | null) => void) | null = null;
  private readonly rules: any;

  constructor(
    readonly spec: Spec,
    /** Whether 64-bit types are on. */
    readonly x64: () => boolean = () => false,
  ) {
    this.rules = compiled(spec.document.rules.levels.nesting, HELPERS);
  }

  within<T>(trace: Trace | null, body: () => T): T {
    const outer = this.current;
    this.current = trace;
    try {
      return body();
    } finally {
      this.current = outer;
    }
  }

  /** The traces in force, from the innermost outwards. */
  open(): Trace[] {
    const found: Trace[] = [];
    for (let t = this.current; t; t = t.parent) found.push(t);
    return found;
  }

  /** Apply a primitive, in the trace that the rows name (level.bind, level.lift). */
  bind(primitive: string, values: readonly Value[], given: Params = {}): Value[] {
    const { spec } = this;
    const params = spec.rows.has(primitive) ? spec.withDefaults(primitive, given) : given;
    const open = this.open();
    const homes = values.filter((v) => v instanceof Tracer).map((v) => v.trace);
    for (const home of homes) {
      if (!this.rules["level.lift"].holds(new Scope({ home, open }))) throw spec.error("level.lift", primitive);
    }
    const axes = this.current?.axes.size ? namedAxes(spec, primitive, params) : [];
    const named = open.find((t) => axes.length && t.names(axes))?.place ?? 0;
    const known = { whole: this.current?.whole ?? 0, own: Math.max(0, ...homes.map((h) => h.place)), named, depth: open.length };
    const place = Number(this.rules["level.bind"].level(new Scope(Object.fromEntries(Object.entries(known).map(([n, k]) => [n, BigInt(k)])))));
    const handler = open.find((t) => t.place === place) ?? null;
    this.watch?.(primitive, handler);
    return this.within(handler, () => (handler ? handler.bind(primitive, values, params) : evaluate(spec, primitive, params, values.map(tensorOf))));
  }

  one(primitive: string, values: readonly Value[], params: Params = {}): Value {
    return this.bind(primitive, values, params)[0];
  }

  /** Apply a program's equations to values, in the trace in force. */
  apply(program: Program, values: readonly Value[]): Value[] {
    const known = new Map<Atom, Value>();
    program.constants.forEach((v, k) => known.set(v, new Tensor(v.aval, program.values[k].data)));
    program.inputs.forEach((v, k) => known.set(v, values[k]));
    const read = (a: Atom): Value => (a instanceof Literal ? a : known.get(a)!);
    for (const e of program.equations) {
      const found = this.bind(e.primitive, e.inputs.map(read), e.params);
      e.outputs.forEach((v, k) => known.set(v, found[k]));
    }
    return program.results.map(read);
  }

  /** The program of a function, traced on types; what it used of traces around it comes first among the inputs. */
  stage(transform: string, avals: readonly Aval[], body: (inputs: Value[]) => Value[]): { program: Program; captured: Tracer[]; trace: RecordTrace } {
    const trace = new RecordTrace(this, transform);
    return this.within(trace, () => {
      const inputs = avals.map((a) => trace.input(a));
      const results = body(inputs).map((v) => trace.atom(v));
      const captured = [...trace.captures.keys()];
      const constants = [...trace.constants.values()];
      const vars = [...captured.map((t) => trace.captures.get(t)!), ...inputs.map((t) => t.atom as Var)];
      return { program: new Program(constants, [...trace.constants.keys()], vars, trace.equations, results), captured, trace };
    });
  }
}

export const tensorOf = (v: Value): Tensor => (v instanceof Tensor ? v : (v as Literal).tensor);

/** The names of axes in an operation's params, and in the programs there. */
export function namedAxes(spec: Spec, primitive: string, params: Params): string[] {
  const own = spec.rows.get(primitive)?.params.filter((p) => p.domain.startsWith("axis_name")) ?? [];
  const here = own.flatMap((p) => params[p.name] as never).filter((a: unknown) => typeof a === "string");
  const within = Object.values(params).flatMap(programsIn);
  return [...here, ...within.flatMap((p) => p.equations.flatMap((e) => namedAxes(spec, e.primitive, e.params)))];
}

/** A value of a program that is being recorded. */
export class RecordTracer extends Tracer {
  constructor(
    readonly trace: RecordTrace,
    readonly atom: Atom,
  ) {
    super();
  }
  get aval(): Aval {
    return this.atom.aval;
  }
}

/** Records every operation as an equation. */
export class RecordTrace extends Trace {
  readonly equations: Equation[] = [];
  readonly constants = new Map<Tensor, Var>();
  readonly captures = new Map<Tracer, Var>();

  input(aval: Aval): RecordTracer {
    return new RecordTracer(this, new Var(aval));
  }

  /** What stands for a value in the program: arrays become constants, numbers literals, values of other traces inputs. */
  atom(v: Value): Atom {
    if (v instanceof Literal) return v;
    if (v instanceof RecordTracer && v.trace === this) return v.atom;
    const known: Map<Value, Var> = v instanceof Tensor ? (this.constants as Map<Value, Var>) : (this.captures as Map<Value, Var>);
    if (!known.has(v)) known.set(v, new Var(v.aval));
    return known.get(v)!;
  }

  bind(primitive: string, values: readonly Value[], params: Params): Value[] {
    const { spec } = this.tracing;
    const inputs = values.map((v) => this.atom(v));
    const outputs = spec.infer(primitive, params, inputs.map((a) => a.aval)).map((a) => new Var(a));
    this.equations.push({ primitive, inputs, outputs, params, effects: effectsOf(spec, primitive, params) });
    return outputs.map((v) => new RecordTracer(this, v));
  }
}

// Values that rules of transforms make ---------------------------------------------------

/** A number of a type's dtype; weak where that is and a number of the host can be. */
export function scalar(t: Tracing, number: Element, aval: Aval): Value {
  const { dtype } = aval;
  const wide = !t.x64() && (dtype.bits === 64 ? dtype.kind !== "complex" : dtype.bits > 64);
  const usual = (t.x64() ? ["int64", "float64", "complex128"] : ["int32", "float32", "complex64"]).includes(dtype.name);
  const type = new Aval([], dtype, aval.weak && (usual || wide));
  const value = settle(number, dtype);
  if (wide && dtype.kind !== "key") return new Tensor(type, [value]);
  return new Literal(type.weak ? number : value, type);
}

/** The value repeated to a shape, its dimensions at `dims` of it. */
export function stretch(t: Tracing, v: Value, shape: readonly number[], dims: readonly number[]): Value {
  return t.one("broadcast_in_dim", [v], { shape: shape.map(BigInt), broadcast_dimensions: dims.map(BigInt) });
}

/** A tangent in the shape of its result; the last dimensions are those that it has. */
export function broadcast(t: Tracing, v: Value, shape: readonly number[]): Value {
  const own = v.aval.shape;
  if (own.length === shape.length && own.every((n, d) => n === shape[d])) return v;
  return stretch(t, v, shape, own.map((_, d) => shape.length - own.length + d));
}

export const filled = (t: Tracing, number: Element, aval: Aval): Value => broadcast(t, scalar(t, number, aval), aval.shape);

export function zeros(t: Tracing, aval: Aval): Value {
  return filled(t, aval.dtype.kind === "boolean" ? false : 0n, aval);
}
