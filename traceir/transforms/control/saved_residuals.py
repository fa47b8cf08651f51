"""A program in two by a policy: what is saved, and the rest.

Serves: checkpoint.saved
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import stacked
from traceir.ir.checkpoint_policies import Policy
from traceir.ir.effects import effects_of
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Var, sort_params
from traceir.ir.typecheck import infer
from traceir.tracing.named_primitives import primitive_of
from traceir.transforms.control.cond import branches_of, common
from traceir.transforms.control.regions import Slot, any_of, either, extended, given
from traceir.transforms.control.scan import ScanEqn
from traceir.transforms.control.shard_map import of_arrays, parts_of, residuals_first
from traceir.transforms.rules.dce import live_eqn, live_program
from traceir.transforms.rules.registry import Mask
from traceir.transforms.rules.rewrites import arranged, changed, kept, spread


@dataclass(frozen=True, slots=True)
class SavedResiduals:
    """A program in two: `forward` gives its results and then what is saved; `again`
    takes the inputs for which `taken` is True, and then what is saved, and gives the
    results that are needed again."""

    forward: ClosedJaxpr
    again: ClosedJaxpr
    taken: Mask


@dataclass(frozen=True, slots=True)
class SavedEqn:
    """An equation in two: `forward` gives its results and then those `saved`; `again`
    takes these as its last operands, and gives the results that are needed."""

    forward: Eqn
    again: Eqn
    saved: tuple[Var, ...]


def saved_residuals(
    closed: ClosedJaxpr, policy: Policy, needed: Mask
) -> SavedResiduals:
    """The program in two, where those of its results are needed again.

    >>> from traceir import parse
    >>> from traceir.ir.checkpoint_policies import save_only_these_names
    >>> eqns = "b:f32[] = sin a; c:f32[] = name[name=n] b; d:f32[] = cos c"
    >>> program = parse(f"{{ lambda ; a:f32[]. let {eqns} in (d,) }}")
    >>> found = saved_residuals(program, save_only_these_names("n"), [True])
    >>> found.again, found.taken
    ({ lambda ; a:f32[]. let b:f32[] = cos a in (b,) }, (False,))
    """
    jaxpr = closed.jaxpr
    live: set[Atom] = set(kept(jaxpr.outvars, needed))
    forward: list[Eqn] = []
    again: list[Eqn] = []
    saved: list[Var] = []
    for eqn in reversed(jaxpr.eqns):
        mask = tuple(v in live for v in eqn.outputs)
        parts = None
        if any(mask) or eqn.effects:
            if eqn.primitive in _REGIONS:
                parts = _REGIONS[eqn.primitive](eqn, policy, mask)
            elif _is_saved(eqn, policy):
                saved += kept(eqn.outputs, mask)
            else:
                parts = SavedEqn(eqn, eqn, ())
        forward.append(parts.forward if parts else eqn)
        if parts:
            again.append(parts.again)
            saved += parts.saved
            live.update(a for a in parts.again.inputs if a not in parts.saved)
    first = changed(closed, eqns=(*forward[::-1],), outvars=(*jaxpr.outvars, *saved))
    outvars = kept(jaxpr.outvars, needed)
    invars = (*jaxpr.invars, *saved)
    rest = changed(closed, invars=invars, eqns=(*again[::-1],), outvars=outvars)
    keep = [k >= len(jaxpr.invars) for k in range(len(invars))]
    rest, taken = live_program(rest, [True] * len(outvars), keep)
    return SavedResiduals(first, rest, taken[: len(jaxpr.invars)])


def _is_saved(eqn: Eqn, policy: Policy) -> bool:
    """True if the policy says so."""
    prim = primitive_of(eqn.primitive)
    return bool(policy(prim, *(a.aval for a in eqn.inputs), **given(eqn.params)))


def _eqn(
    eqn: Eqn, inputs: Sequence[Atom], outputs: Sequence[Var], **params: Any
) -> Eqn:
    """The equation with other operands, results and params."""
    made = sort_params({**given(eqn.params), **params})
    effects = effects_of(eqn.primitive, made)
    return replace(
        eqn,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        params=made,
        effects=effects,
    )


def _jit(eqn: Eqn, policy: Policy, needed: Mask) -> SavedEqn:
    """A call that saves, and one that computes the rest."""
    parts = saved_residuals(eqn.param("jaxpr"), policy, needed)
    avals = parts.forward.out_avals[len(eqn.outputs) :]
    saved = tuple(map(Var, avals))
    first = _eqn(eqn, eqn.inputs, (*eqn.outputs, *saved), jaxpr=parts.forward)
    operands = (*kept(eqn.inputs, parts.taken), *saved)
    rest = _eqn(eqn, operands, kept(eqn.outputs, needed), jaxpr=parts.again)
    return SavedEqn(first, rest, saved)


def _scan(eqn: Eqn, policy: Policy, needed: Mask) -> SavedEqn:
    """A loop that saves rows, and one that takes them beside others."""
    scan = ScanEqn.of(eqn.params)
    last, ys = list(needed[: scan.carry]), needed[scan.carry :]
    while True:
        parts = saved_residuals(scan.body, policy, (*last, *ys))
        first, carried, over = scan.split(parts.taken)
        if (larger := either(last, carried)) == last:
            break
        last = larger
    avals = parts.forward.out_avals[len(eqn.outputs) :]
    saved = tuple(map(Var, stacked(avals, scan.length)))
    forward = _eqn(eqn, eqn.inputs, (*eqn.outputs, *saved), jaxpr=parts.forward)
    body = _with_inputs(parts, scan.body, (*first, *last, *over))
    operands = (*kept(eqn.inputs, (*first, *last, *over)), *saved)
    outputs = [
        v if n else Var(v.aval) for v, n in zip(eqn.outputs, needed, strict=True)
    ]
    rest = _eqn(
        eqn,
        operands,
        kept(outputs, (*last, *ys)),
        jaxpr=body,
        num_consts=sum(first),
        num_carry=sum(last),
    )
    return SavedEqn(forward, rest, saved)


def _with_inputs(
    parts: SavedResiduals, closed: ClosedJaxpr, taken: Mask
) -> ClosedJaxpr:
    """The program that computes again, with at least those inputs of the whole."""
    saved = parts.again.jaxpr.invars[sum(parts.taken) :]
    return changed(parts.again, invars=(*kept(closed.jaxpr.invars, taken), *saved))


def _cond(eqn: Eqn, policy: Policy, needed: Mask) -> SavedEqn:
    """A choice that saves in common places, and one of branches that read them."""
    branches = branches_of(eqn.params)
    made = [saved_residuals(b, policy, needed) for b in branches]
    count = len(eqn.outputs)
    avals, places = common([m.forward.out_avals[count:] for m in made])
    taken = any_of([m.taken for m in made])
    first, rest = [], []
    for branch, part, own in zip(branches, made, places, strict=True):
        slots: list[Slot] = [*range(count), *avals]
        for k, place in enumerate(own):
            slots[count + place] = count + k
        first.append(extended(part.forward, slots))
        again = _with_inputs(part, branch, taken)
        operands = kept(branch.in_avals, taken)
        order = [*range(len(operands)), *(len(operands) + p for p in own)]
        rest.append(spread(again, order, [*operands, *avals]))
    saved = tuple(map(Var, avals))
    outputs = (*eqn.outputs, *saved)
    forward = _eqn(eqn, eqn.inputs, outputs, branches=tuple(first))
    values = (eqn.inputs[0], *kept(eqn.inputs[1:], taken), *saved)
    again_eqn = _eqn(eqn, values, kept(eqn.outputs, needed), branches=tuple(rest))
    return SavedEqn(forward, again_eqn, saved)


def _shard_map(eqn: Eqn, policy: Policy, needed: Mask) -> SavedEqn:
    """Parts that save, and parts that take what is saved before their other inputs."""
    parts = parts_of(eqn.params)
    halves = saved_residuals(parts.program, policy, needed)
    avals = halves.forward.out_avals[len(eqn.outputs) :]
    total, count = len(halves.again.in_avals), len(avals)
    order = [*range(total - count, total), *range(total - count)]
    results = range(len(halves.again.out_avals))
    with parts.inside():
        first = residuals_first(halves.forward, [True] * count)
        again = arranged(halves.again, order, results)
        again = of_arrays(again, [not aval.shape for aval in avals])
    specs = tuple(map(parts.spec_of, avals))
    params = {"jaxpr": first, "out_specs": (*specs, *parts.outs)}
    types = infer(
        "shard_map",
        tuple(a.aval for a in eqn.inputs),
        sort_params({**given(eqn.params), **params}),
    )
    saved = tuple(map(Var, types[:count]))
    taken = halves.taken
    rest = _eqn(
        eqn,
        (*saved, *kept(eqn.inputs, taken)),
        kept(eqn.outputs, needed),
        jaxpr=again,
        in_specs=(*specs, *kept(parts.ins, taken)),
        out_specs=kept(parts.outs, needed),
    )
    return SavedEqn(
        _eqn(eqn, eqn.inputs, (*saved, *eqn.outputs), **params), rest, saved
    )


def without_results(closed: ClosedJaxpr, needed: Mask) -> ClosedJaxpr:
    """The program without some of its results, nor what they alone need.

    Its inputs are the same. Within loops and choices, too.
    """
    live: set[Atom] = set(kept(closed.jaxpr.outvars, needed))
    eqns: list[Eqn] = []
    for eqn in reversed(closed.jaxpr.eqns):
        mask = tuple(v in live for v in eqn.outputs)
        if any(mask) or eqn.effects:
            eqn = _LEAN[eqn.primitive](eqn, mask) if eqn.primitive in _LEAN else eqn
            eqns.append(eqn)
            live.update(eqn.inputs)
    outvars = kept(closed.jaxpr.outvars, needed)
    return changed(closed, eqns=(*eqns[::-1],), outvars=outvars)


def _lean_jit(eqn: Eqn, needed: Mask) -> Eqn:
    program = without_results(eqn.param("jaxpr"), needed)
    return _eqn(eqn, eqn.inputs, kept(eqn.outputs, needed), jaxpr=program)


def _lean_scan(eqn: Eqn, needed: Mask) -> Eqn:
    scan = ScanEqn.of(eqn.params)
    mask = (*[True] * scan.carry, *needed[scan.carry :])
    body = without_results(scan.body, mask)
    return _eqn(eqn, eqn.inputs, kept(eqn.outputs, mask), jaxpr=body)


def _lean_cond(eqn: Eqn, needed: Mask) -> Eqn:
    branches = tuple(without_results(b, needed) for b in branches_of(eqn.params))
    return _eqn(eqn, eqn.inputs, kept(eqn.outputs, needed), branches=branches)


# The primitives whose programs the policy is asked about: their rules, and those that
# leave out results.
_REGIONS: dict[str, Callable[[Eqn, Policy, Mask], SavedEqn]] = {
    "jit": _jit,
    "scan": _scan,
    "cond": _cond,
    "shard_map": _shard_map,
}
_LEAN: dict[str, Callable[[Eqn, tuple[bool, ...]], Eqn]] = {
    "jit": _lean_jit,
    "scan": _lean_scan,
    "cond": _lean_cond,
    "shard_map": live_eqn,
}
