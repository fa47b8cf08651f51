/** Sessions: calls of functions under `jit`, by the machine of the cache and its key (spec/cache.rst, spec/cases.rst). */

import { Complex, hex, readReal, Real } from "./exact.js";
import { compile, Scope, type Formula } from "./formula.js";
import { HELPERS } from "./helpers.js";
import { asValue, concrete, hostFunction, isValue, knowledge, paramOf, type Callee, type Surroundings, type Thing } from "./host.js";
import { readArray, readProgram, writeArray, writeParam, writeProgram, type Json } from "./json.js";
import { Machine, type Transition, type Variables } from "./machine.js";
import type { Spec } from "./spec.js";
import { SpecError } from "./errors.js";
import { Tracer, Tracing, type Trace, type Value } from "./tracing.js";
import { TRANSFORMS, type Fun } from "./transforms.js";
import { Aval, Dtype, Program, settle, Tensor, unsupported } from "./values.js";

/** A trace that is kept: its program, what it used of traces around it, and the structure of its results. */
interface Entry {
  program: Program;
  captured: Tracer[];
  rebuild: (values: Value[]) => Thing;
}

/** A function of a session: how it is called, and its own options. */
interface Defined {
  name: string;
  call: Callee;
  /** What the key knows it by: functions that are equal have one. */
  identity: string;
  parameters: string[];
  statics: Set<string>;
  options: Record<string, Thing>;
}

/** What a call of a session did; `row` is the transition that it took. */
export interface Outcome {
  event: string;
  rule?: string;
  text?: string;
  values?: Json[];
  program?: Json;
  answer?: Json;
  row?: Transition;
}

export class Session implements Surroundings {
  readonly tracing: Tracing;
  readonly globals = new Map<string, Thing>();
  readonly jitted = new Map<string, Callee>();
  readonly plain = new Map<string, Callee>();
  readonly leaked: Thing[] = [];
  readonly notes: Thing[] = [];
  /** Told of each row that is taken, and of the state that it was found in. */
  watch: ((row: Transition, found: string) => void) | null = null;
  private readonly defined = new Map<string, Defined>();
  private readonly machine: Machine;
  private readonly flags: Record<string, string>;
  private readonly parts: { per: string; part: Formula }[];
  private readonly kept = new Map<string, Entry>();
  private readonly lifted = new Map<Trace | null, Map<string, Entry>>();
  private readonly makers = new Map<string, bigint[]>();
  private readonly owners = new Map<string, string>();
  private readonly made = new Map<string, number>();
  private face = "jax";
  private last?: Transition;

  constructor(
    readonly spec: Spec,
    private readonly session: Json,
  ) {
    this.tracing = new Tracing(spec, this.x64);
    this.machine = new Machine(spec);
    this.flags = Object.fromEntries(Object.values<any>(spec.document.rules.flags).map((f) => [f.name, f.values[0]]));
    this.parts = spec.document.rules.keys.map((k: any) => ({ per: k.per, part: compile(k.part, { ...HELPERS, typed }) }));
    for (const [name, o] of Object.entries<Json>(session.objects)) this.globals.set(name, this.thing(o));
    for (const [name, f] of Object.entries<Json>(session.functions)) this.define(name, f);
  }

  /** The flag by which functions under `jit` are run as they are (level.disable_jit). */
  private disabled = (): boolean => this.flags.disable_jit === "True";
  x64 = (): boolean => this.flags.enable_x64 === "True";

  /** What each call and each question gave, in order. */
  run(): Outcome[] {
    return this.session.steps.flatMap((step: Json) => this.step(step) ?? []);
  }

  step(step: Json): Outcome | null {
    if (step.is === "setting") {
      this.set(step.name, step.args.map((a: Json) => this.thing(a)));
      return null;
    }
    try {
      if (step.is === "probe") return { event: "answers", answer: this.probe(step) };
      return this.call(step);
    } catch (error) {
      if (error instanceof SpecError && error.rule) return { event: "raises", rule: error.rule, text: error.message, row: this.last };
      throw error;
    }
  }

  // Definitions

  private define(name: string, f: Json): void {
    const inner = f.same_as ? this.defined.get(f.same_as)! : null;
    if (f.kind && f.kind !== "partial" && f.kind !== "method") throw unsupported(`a function that is ${f.kind}`);
    let call: Callee;
    let parameters = inner?.parameters ?? [];
    const own = inner && !f.transforms.length && !f.kind;
    if (f.closed) {
      const program = readProgram(this.spec, f.closed);
      const tree = (values: Value[]): Thing => (values.length === 1 ? values[0] : values);
      call = (args) => tree(this.tracing.apply(program, args.map((x) => asValue(this.tracing, x, this.x64()))));
      parameters = program.inputs.map((_, k) => `a${k}`);
    } else if (f.program) {
      call = hostFunction(this, f.program, () => {});
      parameters = f.program.inputs.map((b: Json) => b.name);
    } else if (f.transforms.length) {
      call = f.transforms.reduceRight((g: Callee, tr: Json) => this.transformed(tr, g), inner!.call);
      parameters = [];
    } else call = inner!.call;
    const options = Object.fromEntries(Object.entries<Json>(f.options).map(([n, o]) => [n, this.thing(o)]));
    const marked = f.program ? f.program.inputs.filter((b: Json) => b.static).map((b: Json) => b.name) : [...(inner?.statics ?? [])];
    if (options.backend) throw unsupported("backends");
    const statics = new Set<string>([marked, options.static_argnames ?? [], [options.static_argnums ?? []].flat().map((k: bigint) => parameters.at(Number(k)))].flat(2));
    const made: Defined = { name, call, identity: own ? inner.identity : name, parameters, statics, options };
    this.defined.set(name, made);
    this.plain.set(name, call);
    this.jitted.set(name, (args, kwargs = {}) => (this.disabled() ? call(bound(made, args, kwargs)) : this.traced(made, "jit", args, kwargs)[1]));
  }

  private transformed(tr: Json, inner: Callee): Callee {
    const options = Object.fromEntries(tr.params.map((p: Json) => [p.name, paramOf(this, new Map(), p.value, "any")]));
    if (tr.name === "jit") {
      const made: Defined = { name: "jit", call: inner, identity: `jit ${this.defined.size}`, parameters: [], statics: new Set(), options };
      return (args) => this.traced(made, "jit", args, {})[1];
    }
    const make = TRANSFORMS[tr.name];
    if (!make) throw unsupported(`the transform ${tr.name}`);
    const flat: Fun = (...values) => {
      const found = inner(values);
      flat.single = isValue(found) || !Array.isArray(found);
      return [found].flat(9).map((x: Thing) => asValue(this.tracing, x, this.x64()));
    };
    const { tracing } = this;
    return (args) => {
      if (!args.every((x) => isValue(x) || typeof x !== "object" || x instanceof Real || x instanceof Complex)) throw unsupported("trees of arguments");
      const found = make(tracing, flat, options)(...args.map((x) => asValue(tracing, x, this.x64())));
      return found.length === 1 ? found[0] : found;
    };
  }

  // Settings and questions

  private set(name: string, args: Thing[]): void {
    const [target, value] = args;
    if (name === "config") this.flag(target, value);
    else if (name in this.flags) this.flag(name, target);
    else if (name === "face") this.face = target;
    else if (name === "clear_cache") this.clear(target);
    else if (name === "set") this.globals.set(target, value);
    else throw unsupported(`the setting ${name}`);
  }

  private flag(name: string, value: Thing): void {
    const text = value === true ? "True" : value === false ? "False" : value === null ? "None" : String(value);
    const row = Object.values<any>(this.spec.document.rules.flags).find((f) => f.name === name);
    if (!row?.values.includes(text) || ["sanitize", "debug_nans", "debug_infs", "debug_key_reuse", "check_tracer_leaks", "unrolled_loops"].includes(name)) throw unsupported(`the flag ${name}`);
    this.flags[name] = text;
  }

  private probe(step: Json): Json {
    if (step.name === "notes") return { list: this.notes.map((x) => writeParam(x)) };
    if (step.name !== "cache_size") throw unsupported(`the question ${step.name}`);
    const { identity } = this.defined.get(step.args[0])!;
    return [...this.kept.keys()].filter((key) => this.owners.get(key) === identity).length;
  }

  clear = (name: string): void => {
    const f = this.defined.get(name)!;
    for (const [key, owner] of this.owners) if (owner === f.identity) this.event("clear", key, {});
    this.made.set(`${name} ${this.face}`, 0);
  };

  // Calls

  private call(step: Json): Outcome {
    const f = this.defined.get(step.function);
    if (!f) throw this.spec.error("jit.callable", step.function);
    const args = step.args.map((a: Json) => this.thing(a));
    const kwargs = Object.fromEntries(Object.entries<Json>(step.kwargs).map(([n, a]) => [n, this.thing(a)]));
    if (this.face !== "jax") throw unsupported("plain NumPy functions");
    if (step.via === "eager" || (step.via === "jit" && this.disabled())) return { event: "traces", values: this.results(f.call(bound(f, args, kwargs))) };
    if (!["jit", "make_jaxpr", "eval_shape", "trace", "lower"].includes(step.via)) throw unsupported(`a call through ${step.via}`);
    const way = step.via === "make_jaxpr" || step.via === "eval_shape" ? step.via : "jit";
    const [event, found, entry] = this.traced(f, way, args, kwargs, step.via === "jit");
    const staged = step.staged ? { program: writeProgram(entry.program) } : {};
    return { event, row: this.last, ...(step.via === "jit" ? { values: this.results(found) } : {}), ...staged };
  }

  private results(found: Thing): Json[] {
    return [found].flat(9).map((x: Thing) => {
      const v = asValue(this.tracing, x, this.x64());
      if (v instanceof Tracer && knowledge(this.tracing, v) < 1) throw this.spec.error("level.lift", String(v.aval));
      return writeArray(new Tensor(v.aval, concrete(v).data));
    });
  }

  private checkOptions({ parameters, options }: Defined): void {
    const places = [options.static_argnums ?? []].flat().map(Number);
    if (places.some((k) => k >= parameters.length || k < -parameters.length)) throw this.spec.error("jit.static_argnums", String(places));
    if ([options.static_argnames ?? []].flat().some((n: string) => !parameters.includes(n))) throw this.spec.error("jit.static_argnames", "a name");
    if (![undefined, null, "staged", "python"].includes(options.control_flow)) throw this.spec.error("jit.control-flow", options.control_flow);
    if (options.compiler_options) throw this.spec.error("jit.compiler-options", options.compiler_options);
    if (options.device && ["backend", "in_shardings", "out_shardings"].some((name) => name in options)) throw this.spec.error("jit.device", options.device);
  }

  /** A call of a function under `jit`: its event, its results, and the trace that it used. */
  private traced(f: Defined, way: string, args: Thing[], kwargs: Record<string, Thing>, runs = true): [string, Thing, Entry] {
    this.checkOptions(f);
    const given = bound(f, args, kwargs);
    if (f.parameters.length && (given.length !== f.parameters.length || given.includes(undefined))) throw this.spec.error("jit.signature", f.name);
    const isStatic = (k: number): boolean => f.statics.has(f.parameters[k]);
    const leaves = given.flatMap((x, k) => (isStatic(k) ? [] : flatten(x))).map((x) => this.narrowed(asValue(this.tracing, x, this.x64())));
    const key = this.key(f, given, isStatic, leaves, way);
    const made = `${f.name} ${this.face}`;
    const row = this.move("call", key, {});
    const limit = f.options.max_traces ?? null;
    const known = { strict: Boolean(f.options.strict), no_tracing: this.flags.no_tracing === "True", limit: way === "make_jaxpr" ? null : limit, made: BigInt(this.made.get(made) ?? 0), objects: 0n, objects_then: 0n, reads: 0n, reads_then: 0n };
    if (known.strict) throw unsupported("strict traces");
    if (row.raises) throw this.spec.error(row.raises, f.name);
    const refused = this.machine.refused(row.outcome, known);
    if (refused) {
      if (row.outcome === "traces") this.makers.set(key, []);
      throw this.spec.error(refused, f.name);
    }
    this.owners.set(key, f.identity);
    if (row.outcome === "traces") this.made.set(made, (this.made.get(made) ?? 0) + 1);
    const entry = row.outcome === "traces" ? this.trace(f, way, key, given, isStatic, leaves) : (this.here().get(key) ?? this.kept.get(key)!);
    if (!runs) return [row.outcome, null, entry];
    const found = this.tracing.bind("jit", [...entry.captured, ...leaves], { name: f.name, jaxpr: entry.program });
    return [row.outcome, entry.rebuild(found), entry];
  }

  private trace(f: Defined, way: string, key: string, given: Thing[], isStatic: (k: number) => boolean, leaves: Value[]): Entry {
    let rebuild: Entry["rebuild"] = (v) => v;
    try {
      const { program, captured, trace } = this.tracing.stage(way, leaves.map((v) => v.aval), (inputs) => {
        const left = [...inputs];
        const found = f.call(given.map((x, k) => (isStatic(k) ? x : filled(x, left))));
        rebuild = (values) => filled(found, [...values]);
        return flatten(found).map((x) => {
          if (!isValue(x) && !["boolean", "bigint"].includes(typeof x) && !(x instanceof Real || x instanceof Complex)) throw this.spec.error("jit.output", String(x));
          return asValue(this.tracing, x, this.x64());
        });
      });
      const entry = { program, captured, rebuild };
      this.event("return", key, { captures: captured }, entry);
      for (const [inner] of this.lifted.get(trace) ?? []) this.event("leave", inner, { here: true });
      this.lifted.delete(trace);
      return entry;
    } catch (error) {
      this.event("raise", key, {});
      throw error;
    }
  }

  /** A 64-bit array while 64-bit types are off. */
  private narrowed(v: Value): Value {
    const to = this.spec.document.rules.lattice.canonical[v.aval.dtype.name];
    if (this.x64() || !to || !(v instanceof Tensor)) return v;
    const dtype = this.spec.dtype(to);
    return new Tensor(v.aval.with({ dtype }), v.data.map((x) => settle(x, dtype)));
  }

  // The key and the machine

  private key(f: Defined, given: Thing[], isStatic: (k: number) => boolean, leaves: Value[], way: string): string {
    const axes = [...(this.tracing.current?.axes ?? [])].map(([n, size]) => [n, BigInt(size)]);
    const tree = given.map((x, k) => (isStatic(k) ? "static" : shapeOf(x)));
    const call = { ...this.flags, function: f.identity, face: way === "make_jaxpr" ? "jax" : this.face, strict: Boolean(f.options.strict), tree, axes };
    const part = ({ per, part: formula }: { per: string; part: Formula }): Thing => {
      const of = (v: Thing): Thing => formula(new Scope({ call, v }));
      if (per === "call") return of(null);
      if (per === "leaf") return leaves.map((v) => of(v.aval));
      return per === "static" ? given.flatMap((x, k) => (isStatic(k) ? [[f.parameters[k], of(this.hashable(x))]] : [])) : [];
    };
    return this.parts.map((p) => typed(part(p))).join(" | ");
  }

  private hashable(x: Thing): Thing {
    if (isValue(x) || x?.kind === "dict" || (Array.isArray(x) && (x as any).list)) throw this.spec.error("cache.static.hashable", "a static argument");
    return x;
  }

  private here(): Map<string, Entry> {
    const { current } = this.tracing;
    if (!this.lifted.has(current)) this.lifted.set(current, new Map());
    return this.lifted.get(current)!;
  }

  private variables(key: string): Variables {
    const known = { makers: this.makers.get(key) ?? [], kept: this.kept.has(key), here: this.here().has(key) };
    return { ...this.machine.start(), ...known, caller: 0n, depth: BigInt(this.tracing.open().length), captures: [] };
  }

  private event(event: string, key: string, names: Variables, made?: Entry): void {
    this.move(event, key, names, made);
  }

  private move(event: string, key: string, names: Variables, made?: Entry): Transition {
    const known = { ...this.variables(key), ...names };
    const row = this.machine.step(event, known);
    if (!row) throw new Error(`${event} cannot happen`);
    this.last = row;
    this.watch?.(row, this.machine.state(known).name);
    const after = this.machine.after(row, known);
    this.makers.set(key, after.makers);
    for (const [store, stays] of [[this.kept, after.kept], [this.here(), after.here]] as const) {
      if (!stays) store.delete(key);
      else if (made && !store.has(key)) store.set(key, made);
    }
    return row;
  }

  /** A value of the session: an argument, or a part of one. */
  private thing(x: Json): Thing {
    if (x === null || typeof x === "boolean" || typeof x === "string" || typeof x === "bigint") return x;
    if (typeof x === "number") return BigInt(x);
    const [kind, value] = Object.entries<Json>(x).find(([n]) => n !== "is")!;
    switch (kind) {
      case "int":
        return BigInt(value);
      case "float":
        return readReal(value.replace("-nan", "nan"))!;
      case "tuple":
        return value.map((v: Json) => this.thing(v));
      case "list":
        return Object.assign(value.map((v: Json) => this.thing(v)), { list: true });
      case "array":
        return readArray(this.spec, value);
      case "dtype":
        return this.spec.dtype(value);
      case "ref":
        return this.globals.get(value);
      case "program":
        throw unsupported("programs as arguments");
    }
    throw unsupported(`a value that is ${x.is ?? kind}`);
  }
}

/** A call's arguments in the order of the parameters. */
function bound(f: Defined, args: Thing[], kwargs: Record<string, Thing>): Thing[] {
  const found = [...args];
  for (const [name, x] of Object.entries(kwargs)) found[f.parameters.includes(name) ? f.parameters.indexOf(name) : 99] = x;
  return found;
}

const isTree = (x: Thing): boolean => Array.isArray(x);
const flatten = (x: Thing): Thing[] => (x === null ? [] : isTree(x) ? x.flatMap(flatten) : [x]);
const shapeOf = (x: Thing): Thing => (x === null ? "None" : isTree(x) ? [x.list ? "list" : "tuple", ...x.map(shapeOf)] : "*");

/** A tree with its leaves replaced, in order. */
const filled = (x: Thing, left: Value[]): Thing => (x === null ? null : isTree(x) ? x.map((y: Thing) => filled(y, left)) : left.shift());

/** The key of deep typed equality. */
export function typed(x: Thing): string {
  if (Array.isArray(x)) return `(${x.map(typed).join(",")})`;
  if (x instanceof Real) return `float ${hex(x)}`;
  if (x instanceof Complex) return `complex ${hex(x.re)} ${hex(x.im)}`;
  if (x instanceof Dtype) return `dtype ${x.name}`;
  if (x instanceof Aval) return `type ${x} ${x.weak}`;
  return `${typeof x} ${x}`;
}
