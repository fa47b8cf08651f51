"""Cotangents of the inputs of linear programs, by those of their results.

What a program knows is computed again wherever it is read: there are no residuals.
Serves: derive.transpose, derive.broadcast, shard_map.vma
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var
from traceir.oracle.transforms.builder import (
    Beyond,
    DerivedProgram,
    Mask,
    Moving,
    regions_of,
)
from traceir.oracle.transforms.regions import of_whole_arrays
from traceir.oracle.transforms.templates import by_template, named, operand_names
from traceir.rules import Rules


def transposed(closed: ClosedJaxpr, linear: Mask, rules: Rules) -> ClosedJaxpr:
    """The program of the cotangents of inputs, by the others and those of the results.

    It takes the inputs in which the program is not linear, then a cotangent for each
    result (derive.transpose). Raises Beyond where it is linear in none of its inputs.
    """
    builder = DerivedProgram(rules)
    closed = _of_whole_arrays(closed, rules)
    inputs = [Var(a) for a in closed.in_avals]
    env = builder.environment(closed, inputs)
    unknown = {v for v, m in zip(closed.jaxpr.invars, linear, strict=True) if m}
    tape: list[tuple[Eqn, list[Atom | None]]] = []
    for eqn in closed.eqns:
        if unknown.isdisjoint(a for a in eqn.inputs if isinstance(a, Var)):
            values = [env[a] if isinstance(a, Var) else a for a in eqn.inputs]
            outs = builder.apply(eqn.primitive, values, dict(eqn.params))
            env.update(zip(eqn.outputs, outs, strict=True))
        else:
            unknown.update(eqn.outputs)
            tape.append((eqn, [_known(env, unknown, a) for a in eqn.inputs]))
    given = [Var(a) for a in closed.out_avals]
    cotangents: dict[Atom, Moving] = {}
    for out, arriving in zip(closed.jaxpr.outvars, given, strict=True):
        if isinstance(out, Var) and out in unknown:
            cotangents[out] = builder.added(cotangents.get(out), arriving)
    for eqn, values_ in reversed(tape):
        arrived = [cotangents.get(v) for v in eqn.outputs]
        if any(ct is not None for ct in arrived):
            for a, ct in zip(eqn.inputs, _pulled(builder, eqn, values_, arrived)):
                if isinstance(a, Var) and a in unknown:
                    ct = _over_devices(builder, eqn, a, ct)
                    cotangents[a] = builder.added(cotangents.get(a), ct)
    kept = [v for v, m in zip(inputs, linear) if not m]
    asked = [v for v, m in zip(closed.jaxpr.invars, linear) if m]
    results = [builder.zero_for(cotangents.get(v), v.aval) for v in asked]
    return builder.closed([*kept, *given], results)


def _of_whole_arrays(closed: ClosedJaxpr, rules: Rules) -> ClosedJaxpr:
    """The program with the equations of functions of parts in place of these."""
    if all(eqn.primitive != "shard_map" for eqn in closed.eqns):
        return closed
    builder = DerivedProgram(rules)
    inputs = [Var(a) for a in closed.in_avals]
    env = builder.environment(closed, inputs)
    for eqn in closed.eqns:
        values = [env[a] if isinstance(a, Var) else a for a in eqn.inputs]
        if eqn.primitive == "shard_map":
            outs = builder.inlined(of_whole_arrays(builder, eqn), values)
        else:
            outs = builder.apply(eqn.primitive, values, dict(eqn.params))
        env.update(zip(eqn.outputs, outs, strict=True))
    results = [env[a] if isinstance(a, Var) else a for a in closed.jaxpr.outvars]
    return builder.closed(inputs, results)


def _over_devices(
    builder: DerivedProgram, eqn: Eqn, operand: Var, ct: Moving
) -> Moving:
    """The sum of a cotangent over the axes of a mesh along which its operand is the
    same on all devices (shard_map.vma)."""
    if ct is None:
        return None
    names = {*ct.aval.vma}
    if builder.rules.prims[eqn.primitive].varies is None and not regions_of(eqn.params):
        names.update(name for out in eqn.outputs for name in out.aval.vma)
    missing = tuple(sorted(names.difference(operand.aval.vma), key=str))
    return builder.apply("psum", [ct], {"axes": missing})[0] if missing else ct


def _known(env: Mapping[Var, Atom], unknown: set[Var], atom: Atom) -> Atom | None:
    if isinstance(atom, Literal):
        return atom
    return None if atom in unknown else env[atom]


def _pulled(
    builder: DerivedProgram,
    eqn: Eqn,
    values: Sequence[Atom | None],
    arrived: Sequence[Moving],
) -> list[Moving]:
    """The cotangents of the operands of an equation, None of those that are known."""
    row = builder.rules.prims[eqn.primitive]
    cts = [builder.zero_for(c, v.aval) for c, v in zip(arrived, eqn.outputs)]
    if eqn.primitive in ("cond", "jit", "custom_jvp_call"):
        return _pulled_region(builder, eqn, values, cts)
    if eqn.primitive == "select_n":
        return _pulled_choice(builder, eqn, values, cts[0])
    if eqn.primitive == "while":
        raise builder.rules.error("control.reverse-mode")
    if eqn.primitive == "custom_lin":
        return _pulled_by_rule(builder, eqn, values, cts)
    columns = row.derivative.transpose if row.derivative else {}
    names = {**named(row, values), "ct": cts[0] if row.single else cts}
    found: list[Moving] = [None] * len(values)
    for k, name in enumerate(operand_names(row, len(values))):
        if values[k] is not None or found[k] is not None:
            continue
        if name not in columns:
            raise Beyond(f"the transpose of {eqn.primitive}")
        got = by_template(builder, eqn, columns[name], names, cts[0])
        if got is not None and len(got) > 1:  # of all values of a variadic operand
            found[row.arity :] = got
        elif got is not None:
            found[k] = _summed(builder, got[0], eqn.inputs[k].aval.shape)
    return found


def _summed(builder: DerivedProgram, ct: Atom, shape: tuple[int, ...]) -> Atom:
    """A cotangent in the shape of its operand (derive.broadcast)."""
    own = ct.aval.shape
    if own == shape:
        return ct
    axes = tuple(d for d, n in enumerate(own) if not shape or n != shape[d])
    found = builder.apply("reduce_sum", [ct], {"axes": axes, "out_sharding": None})[0]
    if not shape:
        return found
    params = {"new_sizes": shape, "dimensions": None, "sharding": None}
    return builder.apply("reshape", [found], params)[0]


def _pulled_choice(
    builder: DerivedProgram, eqn: Eqn, values: Sequence[Atom | None], ct: Atom
) -> list[Moving]:
    """To each case its cotangent where it is chosen, and zero elsewhere."""
    which, zero = values[0], builder.filled(0, ct.aval)
    if which is None:
        raise Beyond("a choice that moves")
    count = len(values) - 1
    return [
        None,
        *(
            builder.apply(
                "select_n", [which, *(ct if j == k else zero for j in range(count))]
            )[0]
            if values[k + 1] is None
            else None
            for k in range(count)
        ),
    ]


def _pulled_by_rule(
    builder: DerivedProgram, eqn: Eqn, values: Sequence[Atom | None], cts: list[Atom]
) -> list[Moving]:
    """The cotangents that a backward rule gives."""
    params: dict[str, Any] = dict(eqn.params)
    residuals = [v for v in values[: params["num_res"]] if v is not None]
    found = builder.inlined(params["bwd"](), [*residuals, *cts])
    return [*(None for _ in residuals), *found]


def _pulled_region(
    builder: DerivedProgram, eqn: Eqn, values: Sequence[Atom | None], cts: list[Atom]
) -> list[Moving]:
    """The cotangents of a call, or of the branch that is chosen."""
    params: dict[str, Any] = dict(eqn.params)
    first = int(eqn.primitive == "cond")
    mask = [v is None for v in values[first:]]
    known = [v for v in values if v is not None]
    if first and values[0] is None:
        raise Beyond("a choice that moves")
    if first:
        branches = params["branches"]
        params["branches"] = tuple(transposed(b, mask, builder.rules) for b in branches)
    else:  # the rule of a function says no more of it than that it is linear
        program = params["jaxpr" if eqn.primitive == "jit" else "call_jaxpr"]
        program = transposed(program, mask, builder.rules)
        params = {"name": params["name"], "jaxpr": program}
    primitive = "cond" if first else "jit"
    found = iter(builder.apply(primitive, [*known, *cts], params))
    return [next(found) if v is None else None for v in values]
