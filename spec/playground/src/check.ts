/** The judgements about types: which programs are well formed, and of which types (spec/judgements.rst). */

import { Scope } from "./formula.js";
import { fits } from "./domains.js";
import type { Spec } from "./spec.js";
import { Aval, mapPrograms, Program, programsIn, Var, type Atom, type Equation, type Param, type Params } from "./values.js";

/** The program with the types that are inferred, or the error of the first clause that fails. */
export function check(spec: Spec, program: Program): Program {
  const at = (place: string, names: Record<string, unknown>): void =>
    spec.demand(spec.program.filter((c) => c.at === place), new Scope(names, {}, spec.names), place);
  const first = [...program.constants, ...program.inputs];
  at("closed", { constants: program.constants.map((v) => v.aval), values: program.values });
  at("program", { inputs: first });
  const bound = new Map<Var, Var>(first.map((v) => [v, v]));
  const equations = program.equations.map((equation) => typed(spec, equation, bound, at));
  const isVar = (a: Atom): a is Var => a instanceof Var;
  at("end", { outputs: program.results.filter(isVar), bound });
  return new Program(program.constants, program.values, program.inputs, equations, program.results.map((a) => (isVar(a) ? bound.get(a)! : a)));
}

/** An equation with inferred types, whose variables are then bound. */
function typed(spec: Spec, equation: Equation, bound: Map<Var, Var>, at: (place: string, names: Record<string, unknown>) => void): Equation {
  const { primitive, inputs, outputs, params } = equation;
  const row = spec.rows.get(primitive);
  at("equation", {
    name: primitive,
    primitives: spec.rows,
    operands: inputs,
    literals: inputs.filter((a) => !(a instanceof Var)).map((a) => a.aval),
    read: inputs.filter((a) => a instanceof Var),
    written: outputs,
    bound,
    given: Object.keys(params).sort(),
    declared: row?.params.map((p) => p.name).sort(),
    arity: BigInt(row ? row.inputs.length - (row.variadic ? 1 : 0) : 0),
    variadic: row?.variadic,
    misfits: row?.params.filter((p) => !fits(p.domain, params[p.name])).map((p) => p.name),
  });
  const operands = inputs.map((a) => (a instanceof Var ? bound.get(a)! : a));
  const inner = Object.fromEntries(Object.entries(params).map(([n, p]) => [n, mapPrograms(p, (q) => check(spec, q)) as Param]));
  const inferred = spec.infer(primitive, inner, operands.map((a) => a.aval));
  const does = effectsOf(spec, primitive, inner);
  const results = outputs.map((v, k) => v.aval ?? inferred[k]);
  at("result", { results, inferred, named: equation.effects, does });
  const made = inferred.map((aval, k) => bind(bound, outputs[k], aval));
  return { ...equation, inputs: operands, outputs: made, params: inner };
}

function bind(bound: Map<Var, Var>, written: Var, aval: Aval): Var {
  const made = written.aval?.same(aval) && written.aval.weak === aval.weak ? written : new Var(aval);
  bound.set(written, made);
  return made;
}

/** The effects of a primitive and of the programs in its params. */
export function effectsOf(spec: Spec, primitive: string, params: Params): string[] {
  const within = Object.values(params).flatMap((p) => programsIn(p).flatMap((q) => q.equations.flatMap((e) => e.effects)));
  return [...new Set([...(spec.rows.get(primitive)?.effects ?? []), ...within])].sort();
}
