/** What programs give: elements by `value`, regions by `steps` (spec/judgements.rst, "Values"). */

import { Scope, sizes, truth, type Value } from "./formula.js";
import { related } from "./relations.js";
import { signed, type Row, type Spec } from "./spec.js";
import { box, HostFunction, Literal, Program, settle, sizeOf, Tensor, Var, type Param, type Params } from "./values.js";

/** What is told of each equation that was run. */
export interface Step {
  primitive: string;
  operands: readonly Tensor[];
  results: readonly Tensor[];
  depth: number;
}
export type Watch = (step: Step) => void;

/** Runs a program of parts for the devices of a mesh; entered by the module that can. */
export const PARTS: { run?: (spec: Spec, program: Program, args: readonly Tensor[], ...given: Param[]) => Tensor[] } = {};

/** Turns of a loop after which it is given up. */
const TURNS = 10_000;

/** The results of a program, which is given one argument of the same shape for each of its inputs. */
export function run(spec: Spec, program: Program, args: readonly Tensor[], watch?: Watch): Tensor[] {
  const fits = (v: Var, k: number): boolean => String(args[k]?.aval.shape) === String(v.aval.shape);
  if (args.length !== program.inputs.length || !program.inputs.every(fits)) throw spec.error("eval.arguments", args.map((x) => x.aval).join(" "));
  return runFitting(spec, program, args, watch);
}

/** The results of a program for arguments that fit. */
function runFitting(spec: Spec, program: Program, args: readonly Tensor[], watch?: Watch, depth = 0): Tensor[] {
  const values = new Map<Var, Tensor>();
  [...program.constants, ...program.inputs].forEach((v, k) => {
    const given = k < program.constants.length ? program.values[k] : args[k - program.constants.length];
    if (!given) throw spec.error("eval.constants", "no value of a constant");
    values.set(v, new Tensor(v.aval, given.data));
  });
  const read = (a: Var | Literal): Tensor => (a instanceof Var ? values.get(a)! : a.tensor);
  for (const { primitive, inputs, outputs, params } of program.equations) {
    const operands = inputs.map(read);
    const results = apply(spec, primitive, params, operands, watch, depth);
    outputs.forEach((v, k) => values.set(v, results[k]));
    watch?.({ primitive, operands, results, depth });
  }
  return program.results.map(read);
}

/** The results of one primitive. */
export function apply(spec: Spec, primitive: string, params: Params, operands: readonly Tensor[], watch?: Watch, depth = 0): Tensor[] {
  const row = spec.find(primitive);
  if (row.steps) return steps(spec, row, params, operands, watch, depth + 1);
  const types = spec.infer(primitive, params, operands.map((x) => x.aval));
  const scope = spec.scope(row, operands, params);
  if (row.post.length) return related(row, scope, types, operands);
  if (!row.value) throw spec.error("axis.unbound", primitive);
  return types.map((aval, part) => {
    const element = (i: number[]): Value => row.value!(new Scope({ i: sizes(i), part: BigInt(part) }, row.each, scope));
    return new Tensor(aval, box(aval.shape).map((i) => settle(element(i), aval.dtype)));
  });
}

/** A turn of a loop that is to follow, with other operands. */
class Again {
  constructor(readonly operands: Tensor[]) {}
}

/** A region: its steps run the programs in its params. */
function steps(spec: Spec, row: Row, params: Params, operands: readonly Tensor[], watch: Watch | undefined, depth: number): Tensor[] {
  const types = spec.infer(row.name, signed(params), operands.map((x) => x.aval));
  const inner = (program: Program, args: Tensor[]): Tensor[] => runFitting(spec, program, args, watch, depth);
  const calls = {
    run: inner,
    again: (next: Tensor[]) => new Again(next),
    lanes,
    on_devices: (program: Program, args: Tensor[], ...given: Param[]) => PARTS.run!(spec, program, args, ...given),
    fold: (program: Program, constants: Tensor[], carry: Tensor[], arrays: Tensor[], order: bigint[]) => {
      const rows = program.outs.slice(carry.length).map((aval) => ({ aval: aval.with({ shape: [order.length, ...aval.shape] }), parts: [] as Tensor[] }));
      for (const k of order.map(Number)) {
        const found = inner(program, [...constants, ...carry, ...arrays.map((x) => x.row(k))]);
        rows.forEach((y, n) => (y.parts[k] = found[carry.length + n]));
        carry = found.slice(0, carry.length);
      }
      return [...carry, ...rows.map((y) => new Tensor(y.aval, y.parts.flatMap((part) => part.data)))];
    },
    host: (f: HostFunction, args: Tensor[]) => {
      if (f.call) return f.call(...(args as never[]));
      if (!spec.hosts[f.name]) throw spec.error("text.opaque", f.name);
      const found = spec.hosts[f.name](args);
      const alike = (x: Tensor, k: number): boolean => x.aval.with({ weak: types[k].weak }).same(types[k]);
      if (found.length !== types.length || !found.every(alike)) throw spec.error("callback.result", `(${found.map((x) => x.aval).join(", ")}) of ${f.name}`);
      return found;
    },
    refuse: (rule: string) => {
      throw spec.error(rule, row.name);
    },
  };
  for (let turn = 0; turn < TURNS; turn++) {
    const found = row.steps!(new Scope(calls, row.each, spec.scope(row, operands, params)));
    if (!(found instanceof Again)) return found.map((x: Tensor, k: number) => new Tensor(types[k] ?? x.aval, x.data));
    operands = found.operands;
  }
  throw new RangeError(`${row.name} has not ended after ${TURNS} turns`);
}

/** The arrays in the lanes that `which` names, and the others in the other lanes. */
function lanes(which: Tensor, arrays: Tensor[], others: Tensor[]): Tensor[] {
  return arrays.map((x, k) => {
    const share = sizeOf(x.aval.shape) / Math.max(sizeOf(which.aval.shape), 1);
    return new Tensor(x.aval, x.data.map((v, n) => (truth(which.data[Math.floor(n / share)]) ? v : others[k].data[n])));
  });
}
