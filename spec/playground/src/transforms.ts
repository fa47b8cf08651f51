/** Transforms of functions of values, as cases spell them (spec/cases.rst, "Transforms"). */

import { BatchTrace, placeAt, type Axis, type Dim } from "./batching.js";
import { Dual, isInexact, linearize, live, one, pullBack, push, pushForward, TangentTrace, Unknown, type Tangent } from "./derivatives.js";
import { SpecError } from "./errors.js";
import { Tracing, zeros, type Value } from "./tracing.js";
import type { Aval, Param } from "./values.js";

/** A function of arrays: several results, of which one alone is `single`. */
export interface Fun {
  (...args: Value[]): Value[];
  single?: boolean;
}
type Options = Record<string, any>;

const int = (x: Param | undefined, usual: number): number => (x === undefined ? usual : Number(x));

function fits(t: Tracing, rule: string, value: Value, like: Aval): void {
  if (!value.aval.same(like)) throw t.spec.error(rule, `${value.aval} for ${like}`);
}

/** Tangents of the types of primals. */
function tangentsOf(t: Tracing, primals: Value[], tangents: Value[]): Tangent[] {
  if (primals.length !== tangents.length) throw t.spec.error("jvp.tree", `${tangents.length} tangents`);
  return primals.map((p, k) => {
    if (!isInexact(p.aval)) throw new SpecError("", "tangents of float0", true);
    if (p.aval.dtype !== tangents[k].aval.dtype) throw t.spec.error("jvp.dtype", tangents[k].aval.dtype.name);
    fits(t, "jvp.shape", tangents[k], p.aval);
    return tangents[k];
  });
}

const results = (t: Tracing, values: Value[], tangents: Tangent[]): Value[] => tangents.map((x, k) => x ?? zeros(t, values[k].aval));

function cotangentsOf(t: Tracing, rule: string, outs: Value[], given: Value[]): Tangent[] {
  if (outs.length !== given.length) throw t.spec.error("vjp.tree", `${given.length} cotangents for ${outs.length} results`);
  return outs.map((o, k) => {
    if (rule.startsWith("vjp") && !isInexact(o.aval)) return null;
    fits(t, rule, given[k], o.aval);
    return given[k];
  });
}

function jvp(t: Tracing, f: Fun): Fun {
  return (...args) => {
    const half = args.length / 2;
    const [outs, moved] = pushForward(t, "jvp", (v) => f(...v), args.slice(0, half), tangentsOf(t, args.slice(0, half), args.slice(half)));
    return [...outs, ...results(t, outs, moved)];
  };
}

function linearized(t: Tracing, f: Fun): Fun {
  return (...args) => {
    const half = args.length / 2;
    const primals = args.slice(0, half);
    const [outs, linear] = linearize(t, "linearize", (v) => f(...v), primals, primals.map((p) => isInexact(p.aval)));
    return [...outs, ...results(t, outs, push(t, linear, args.slice(half)))];
  };
}

function vjp(t: Tracing, f: Fun, options: Options): Fun {
  return (...args) => {
    const primals = args.slice(0, args.length - int(options.results, 1));
    const [outs, linear] = linearize(t, "vjp", (v) => f(...v), primals, primals.map((p) => isInexact(p.aval)));
    const found = pullBack(t, linear, cotangentsOf(t, "vjp.cotangent", outs, args.slice(primals.length)));
    if (primals.some((p) => !isInexact(p.aval))) throw new SpecError("", "cotangents of float0", true);
    return [...outs, ...results(t, primals, found)];
  };
}

function linearTranspose(t: Tracing, f: Fun, options: Options): Fun {
  return (...args) => {
    const avals = args.slice(0, args.length - int(options.results, 1)).map((v) => v.aval);
    const trace = new TangentTrace(t, "linear_transpose");
    const inputs = avals.map((a) => new Unknown(trace, a));
    const outputs = t.within(trace, () => f(...inputs));
    if (new Set([...avals, ...outputs.map((o) => o.aval)].map(isInexact)).size > 1) throw t.spec.error("linear_transpose.dtype", avals.join(" "));
    const given = args.slice(avals.length);
    if (outputs.length !== given.length) throw t.spec.error("linear_transpose.tree", `${given.length} cotangents`);
    const found = pullBack(t, { tape: trace.tape, inputs, outputs }, cotangentsOf(t, "linear_transpose.cotangent", outputs, given));
    return found.map((ct, k) => ct ?? zeros(t, avals[k]));
  };
}

/** The positions that are differentiated (grad.argnums, grad.argnums-type, grad.argnums-range). */
function positions(t: Tracing, argnums: Param | undefined, count: number): number[] {
  const listed = argnums === undefined ? [0n] : Array.isArray(argnums) ? argnums : [argnums];
  if (listed.some((a) => typeof a !== "bigint")) throw t.spec.error("grad.argnums-type", String(argnums));
  const found = (listed as bigint[]).map((a) => (a < 0n ? Number(a) + count : Number(a)));
  if (!found.length || new Set(found).size < found.length || found.some((k) => k < 0)) throw t.spec.error("grad.argnums-range", String(argnums));
  if (found.some((k) => k >= count)) throw t.spec.error("grad.argnums", String(argnums));
  return found;
}

function checkInputs(t: Tracing, avals: Aval[], holomorphic: boolean, forward = false): void {
  for (const a of avals) {
    const complex = a.dtype.kind === "complex";
    if (holomorphic !== complex && (holomorphic || forward)) throw t.spec.error("grad.holomorphic", a.dtype.name);
    if (!isInexact(a)) throw t.spec.error("grad.input-dtype", a.dtype.name);
  }
}

function checkOutput(t: Tracing, a: Aval, holomorphic: boolean): void {
  if (a.dtype.kind !== (holomorphic ? "complex" : "floating")) throw t.spec.error("grad.output-dtype", a.dtype.name);
}

function valueAndGrad(t: Tracing, f: Fun, options: Options, way: string): Fun {
  return (...args) => {
    if (options.allow_int) throw new SpecError("", "allow_int", true);
    const places = positions(t, options.argnums, args.length);
    const primals = places.map((k) => args[k]);
    checkInputs(t, primals.map((p) => p.aval), Boolean(options.holomorphic));
    let aux: Value[] = [];
    const call = (values: Value[]): Value[] => {
      const found = f(...args.map((v, k) => (places.includes(k) ? values[places.indexOf(k)] : v)));
      if (!options.has_aux) return found;
      if (f.single || found.length !== 2) throw t.spec.error("derive.aux", `${found.length} results`);
      aux = found.slice(1).map((v) => (v instanceof Dual ? v.primal : v));
      return found.slice(0, 1);
    };
    const [outs, linear] = linearize(t, way, call, primals, primals.map(() => true));
    if (outs.length !== 1 || outs[0].aval.shape.length) throw t.spec.error("grad.scalar", outs.map((o) => o.aval).join(" "));
    checkOutput(t, outs[0].aval, Boolean(options.holomorphic));
    const found = pullBack(t, live(linear), [one(t, outs[0].aval)]);
    return [...outs, ...aux, ...results(t, primals, found)];
  };
}

/** The unit vectors of a space, one per row, each in parts of these types. */
function basis(t: Tracing, avals: Aval[]): Value[] {
  const size = BigInt(avals.reduce((n, a) => n + a.shape.reduce((p, q) => p * q, 1), 0));
  const int32 = t.spec.dtype("int32");
  const [rows, columns] = [0n, 1n].map((dimension) => t.one("iota", [], { dimension, dtype: int32, shape: [size, size] }));
  const same = t.one("eq", [rows, columns]);
  const ones = t.one("convert_element_type", [same], { new_dtype: avals[0].dtype });
  return parts(t, ones, avals, 1).map((x, k) => t.one("convert_element_type", [x], { new_dtype: avals[k].dtype, weak_type: avals[k].weak }));
}

/** An array cut along an axis into parts, which have these shapes in its place. */
function parts(t: Tracing, x: Value, avals: Aval[], axis: number): Value[] {
  const sizes = avals.map((a) => BigInt(a.shape.reduce((p, q) => p * q, 1)));
  return t.bind("split", [x], { axis: BigInt(axis), sizes }).map((part, k) => {
    const shape = part.aval.shape.toSpliced(axis, 1, ...avals[k].shape);
    return shape.length === part.aval.shape.length && shape.every((n, d) => n === part.aval.shape[d]) ? part : t.one("reshape", [part], { new_sizes: shape.map(BigInt) });
  });
}

function jacfwd(t: Tracing, f: Fun, options: Options): Fun {
  return (...args) => {
    const [place] = positions(t, options.argnums, args.length);
    if (Array.isArray(options.argnums) || options.has_aux) throw new SpecError("", "options of a Jacobian", true);
    const x = args[place];
    checkInputs(t, [x.aval], Boolean(options.holomorphic), true);
    const call = ([v]: Value[]): Value[] => f(...args.map((a, k) => (k === place ? v : a)));
    let outs: Value[] = [];
    const columns = mapped(t, { name: null, size: x.aval.shape.reduce((p, q) => p * q, 1) }, basis(t, [x.aval]), [0], (tangents) => {
      const [primals, moved] = pushForward(t, "jacfwd", call, [x], tangents);
      outs = primals;
      return results(t, primals, moved);
    }, () => -1);
    return columns.flatMap((c, k) => parts(t, c, [x.aval], outs[k].aval.shape.length));
  };
}

function jacrev(t: Tracing, f: Fun, options: Options): Fun {
  return (...args) => {
    const [place] = positions(t, options.argnums, args.length);
    if (Array.isArray(options.argnums) || options.has_aux) throw new SpecError("", "options of a Jacobian", true);
    const x = args[place];
    checkInputs(t, [x.aval], Boolean(options.holomorphic));
    const [outs, linear] = linearize(t, "jacrev", ([v]) => f(...args.map((a, k) => (k === place ? v : a))), [x], [true]);
    const rows = outs.map((o) => o.aval);
    for (const a of rows) checkOutput(t, a, Boolean(options.holomorphic));
    const size = rows.reduce((n, a) => n + a.shape.reduce((p, q) => p * q, 1), 0);
    const back = (cts: Value[]): Value[] => results(t, [x], pullBack(t, live(linear), cts));
    const [found] = mapped(t, { name: null, size }, basis(t, rows), rows.map(() => 0), back, () => 0);
    return parts(t, found, rows, 0);
  };
}

/** Apply a function to all examples of a batch. */
function mapped(t: Tracing, axis: Axis, args: Value[], dims: Dim[], f: (values: Value[]) => Value[], target: (k: number) => Dim): Value[] {
  const trace = new BatchTrace(t, axis);
  const found = t.within(trace, () => f(args.map((v, k) => trace.give(v, dims[k]))).map((v) => trace.take(v)));
  return found.map(([v, dim], k) => {
    const to = target(k);
    if (to === null) {
      if (dim !== null) throw t.spec.error("vmap.batched-output", String(v.aval));
      return v;
    }
    const rank = v.aval.shape.length + (dim === null ? 1 : 0);
    if (to < -rank || to >= rank) throw t.spec.error("vmap.out-rank", `axis ${to} of ${v.aval}`);
    return placeAt(t, v, dim, axis.size, (to + rank) % rank);
  });
}

function vmap(t: Tracing, f: Fun, options: Options): Fun {
  const { in_axes: given = 0n, out_axes: out = 0n, axis_name: name = null, axis_size: size = null } = options;
  const isAxis = (a: Param): boolean => a === null || typeof a === "bigint" || (Array.isArray(a) && a.every(isAxis));
  if (!isAxis(given) || !isAxis(out) || !(size === null || typeof size === "bigint")) throw t.spec.error("vmap.axes-type", String(given));
  return (...args) => {
    if (Array.isArray(given) && given.length !== args.length) throw t.spec.error("vmap.in-axes", `${given.length} for ${args.length}`);
    const dims = args.map((v, k): Dim => {
      const a = Array.isArray(given) ? given[k] : given;
      if (a === null) return null;
      if (Array.isArray(a)) throw t.spec.error("vmap.in-axes", "a tree for an array");
      const rank = v.aval.shape.length;
      if (a < -rank || a >= rank) throw t.spec.error("vmap.rank", `axis ${a} of ${v.aval}`);
      return a < 0 ? Number(a) + rank : Number(a);
    });
    const sizes = [...new Set([...args.flatMap((v, k) => (dims[k] === null ? [] : [v.aval.shape[dims[k]]])), ...(size === null ? [] : [Number(size)])])];
    if (sizes.length > 1) throw t.spec.error("vmap.sizes", sizes.join(" and "));
    if (!sizes.length) throw t.spec.error("vmap.none", "no axis");
    let count = 0;
    const body = (values: Value[]): Value[] => {
      const found = f(...values);
      count = found.length;
      return found;
    };
    return mapped(t, { name: name as string | null, size: sizes[0] }, args, dims, body, (k) => {
      if (!Array.isArray(out)) return out === null ? null : Number(out);
      if (out.length !== count || f.single) throw t.spec.error("vmap.out-axes", `${out.length} for ${count} results`);
      return out[k] === null ? null : Number(out[k]);
    });
  };
}

/** A program that is run again when cotangents arrive: it changes no value and no derivative (derive.checkpoint). */
function checkpoint(t: Tracing, f: Fun, options: Options): Fun {
  if ((options.policy ?? null) !== null) throw t.spec.error("checkpoint.policy", String(options.policy));
  return (...args) => {
    const { program, captured } = t.stage("checkpoint", args.map((v) => v.aval), (values) => f(...values));
    return t.bind("remat2", [...captured, ...args], { jaxpr: program, differentiated: false, prevent_cse: true });
  };
}

/** The transforms by name; each gets a function and options. */
export const TRANSFORMS: Record<string, (t: Tracing, f: Fun, options: Options) => Fun> = {
  jvp,
  linearize: linearized,
  vjp,
  linear_transpose: linearTranspose,
  grad: (t, f, o) => {
    const both = valueAndGrad(t, f, o, "grad");
    return (...args) => {
      const [, ...rest] = both(...args);
      return o.has_aux ? [...rest.slice(1), rest[0]] : rest;
    };
  },
  value_and_grad: (t, f, o) => valueAndGrad(t, f, o, "value_and_grad"),
  jacfwd,
  jacrev,
  jacobian: jacrev,
  hessian: (t, f, o) => jacfwd(t, jacrev(t, f, o), o),
  vmap,
  checkpoint,
};