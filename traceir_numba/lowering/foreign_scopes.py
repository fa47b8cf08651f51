"""The scopes of foreign functions: what is open while code calls them.

A generator's lock is held while numbers are drawn from it. The objects that functions
are called on are arguments of the program, by their addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from traceir.ir.jaxpr import Atom, Eqn, Jaxpr
from traceir_numba.emitters.host import foreign_function
from traceir_numba.emitters.kinds import EMITTERS, Region
from traceir_numba.emitters.regions import LoopOp

Scope = Callable[[Sequence[int]], AbstractContextManager[Any]]
Run = Callable[..., tuple[np.ndarray, ...]]


def scoped(jaxpr: Jaxpr, run: Run) -> Run:
    """The run of a program within the scopes of the functions that it calls."""
    places: dict[Atom, int] = {v: k for k, v in enumerate(jaxpr.invars)}
    found = [(places[a], scope) for a, scope in _objects(jaxpr) if a in places]
    numbers = list(dict.fromkeys(place for place, _ in found))
    scopes = list(dict.fromkeys(scope for _, scope in found))

    def call(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        addresses = [int(arrays[k]) for k in numbers]
        with ExitStack() as stack:
            for scope in scopes:
                stack.enter_context(scope(addresses))
            return run(*arrays)

    return call


def _objects(jaxpr: Jaxpr) -> Iterator[tuple[Atom, Scope]]:
    """The operands that functions are called on, and the functions' scopes."""
    for eqn in jaxpr.eqns:
        function = foreign_function(eqn)
        if function is not None and function.scope is not None:
            yield eqn.inputs[1], function.scope
        for inner, operands in _programs(eqn):
            given: dict[Atom, Atom] = dict(zip(inner.invars, operands, strict=True))
            for atom, scope in _objects(inner):
                if atom in given:
                    yield given[atom], scope


def _programs(eqn: Eqn) -> Iterator[tuple[Jaxpr, tuple[Atom, ...]]]:
    """The programs of an equation, and the operands that are their inputs at first."""
    entry = EMITTERS.get(eqn.primitive)
    if isinstance(entry, Region):
        flow = entry.read(eqn)
        if isinstance(flow, LoopOp):
            yield flow.body.jaxpr, (*flow.consts, *flow.carry, *flow.xs)
            if flow.test is not None:
                yield flow.test.jaxpr, (*flow.test_consts, *flow.carry)
        else:
            yield from ((branch.jaxpr, flow.xs) for branch in flow.branches)
    elif eqn.primitive == "jit":
        yield eqn.param("jaxpr").jaxpr, eqn.inputs
