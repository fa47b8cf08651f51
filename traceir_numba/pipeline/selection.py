"""Sorts of which few places are read: only these are put in order.

A median, a quantile or a least number is read from a sorted array at places that are
known when the program is compiled. The sort is told these then, and selects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Literal, Var, sort_params
from traceir.reference.interpreter import evaluate_eqn
from traceir_numba import cost_model
from traceir_numba.emitters.host import entry_of
from traceir_numba.emitters.kinds import Elementwise, View
from traceir_numba.runtime.own_params import OWN_PARAMS

KINDS = "iuf"


def with_selections(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same flat program; sorts have the param `places` where few are read.

    >>> from traceir.text.parser import parse
    >>> text = '''{ lambda ; a:f32[2000]. let
    ...     b:f32[2000] = sort[dimension=0 is_stable=True num_keys=1] a
    ...     c:f32[1] = slice[limit_indices=(8,) start_indices=(7,) strides=None] b
    ...   in (c,) }'''
    >>> with_selections(parse(text)).eqns[0].param("places")
    (7,)
    """
    sorts = [eqn for eqn in closed.jaxpr.eqns if _is_single(eqn)]
    if not sorts:
        return closed
    jaxpr, known = closed.jaxpr, _ConstantValues(closed)
    found = {}
    for eqn in sorts:
        readers = [e for e in jaxpr.eqns if eqn.outputs[0] in e.inputs]
        if eqn.outputs[0] not in jaxpr.outvars:
            parts = [known.places(e, eqn) for e in readers]
            places = {k for part in parts if part is not None for k in part}
            many = len(places) > cost_model.SELECTED_PLACES
            if places and not many and None not in parts:
                params = {**dict(eqn.params), "places": tuple(sorted(places))}
                found[eqn.outputs[0]] = replace(eqn, params=sort_params(params))
    eqns = tuple(found.get(e.outputs[0], e) if e.outputs else e for e in jaxpr.eqns)
    return ClosedJaxpr(replace(jaxpr, eqns=eqns), closed.consts)


def _is_single(eqn: Eqn) -> bool:
    """True for a sort of one array, in lines that are worth it."""
    if eqn.primitive != "sort" or len(eqn.inputs) > 1:
        return False
    aval = eqn.inputs[0].aval
    long = aval.ndim and aval.shape[eqn.param("dimension")]
    return aval.dtype.kind in KINDS and long >= cost_model.SELECTED_LINE


@dataclass(slots=True)
class _ConstantValues:
    """The values of small arrays that hang on constants alone."""

    constants: Mapping[Var, np.ndarray]
    makers: Mapping[Var, Eqn]

    def __init__(self, closed: ClosedJaxpr) -> None:
        jaxpr = closed.jaxpr
        pairs = zip(jaxpr.constvars, closed.consts, strict=True)
        self.constants = {var: np.asarray(value) for var, value in pairs}
        self.makers = {v: e for e in jaxpr.eqns for v in e.outputs}

    def places(self, reader: Eqn, sort: Eqn) -> list[int] | None:
        """The places of a sorted line that an equation reads; None if unknown."""
        (sorted_,), line = sort.outputs, sort.param("dimension")
        length = sorted_.aval.shape[line]
        if reader.primitive == "slice":
            start, stop = (
                reader.param(f"{end}_indices")[line] for end in ("start", "limit")
            )
            step = (reader.param("strides") or (1,) * sorted_.aval.ndim)[line]
            return [*range(start, stop, step)]
        if reader.primitive != "gather" or reader.inputs[0] is not sorted_:
            return None
        _, _, indexed, *_ = reader.param("dimension_numbers")
        single = reader.param("slice_sizes")[line] == 1
        if indexed != (line,) or not single:
            return None
        value = self.value(reader.inputs[1])
        if value is None:
            return None
        # What is outside is filled, or is the nearest place.
        places: list[int] = np.unique(np.clip(value, 0, length - 1)).tolist()
        return places

    def value(self, atom: Atom) -> np.ndarray | None:
        """The value of an operand, where it is known and cannot differ."""
        if isinstance(atom, Literal):
            return atom.array
        if atom in self.constants:
            return self.constants[atom]
        eqn = self.makers.get(atom)
        if eqn is None or prod(atom.aval.shape) > cost_model.SELECTED_PLACES:
            return None
        entry = entry_of(eqn)
        exact = isinstance(entry, View) or (
            isinstance(entry, Elementwise) and entry.exact
        )
        if not exact or any(name in OWN_PARAMS for name, _ in eqn.params):
            return None
        inputs = [self.value(a) for a in eqn.inputs]
        given = [x for x in inputs if x is not None]
        if len(given) < len(inputs):
            return None
        return evaluate_eqn(eqn.primitive, eqn.params, given)[0]
