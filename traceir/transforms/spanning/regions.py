"""Loops and choices over parts: their programs become programs of parts.

What is carried lies as it does before and after each step. Serves: sharding.value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from traceir.arrays.propagation.specs import Spec
from traceir.base.fast_dataclass import dataclass
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.transforms.spanning.rules import PartCall

# The program of parts of a program, for inputs and results that lie so.
OnParts = Callable[[ClosedJaxpr, Sequence[Spec], Sequence[Spec]], ClosedJaxpr]


@dataclass(frozen=True, slots=True)
class LaidOutRegion:
    """A loop or a choice: its params, and how its operands and its results lie."""

    params: Mapping[str, Any]
    operands: Sequence[Spec]
    results: Sequence[Spec]


def scan(region: LaidOutRegion, on_parts: OnParts) -> PartCall:
    """A loop over rows: each is whole in a dimension that goes away."""
    params = region.params
    consts, carries = params["num_consts"], params["num_carry"]
    own = region.operands[:consts]
    carry = region.results[:carries]
    rows = [spec[1:] for spec in region.operands[consts + carries :]]
    made = [spec[1:] for spec in region.results[carries:]]
    body = on_parts(params["jaxpr"], [*own, *carry, *rows], [*carry, *made])
    wanted = [*own, *carry, *[((), *spec) for spec in rows]]
    results = [*carry, *[((), *spec) for spec in made]]
    return PartCall(wanted, results, {**params, "jaxpr": body})


def while_(region: LaidOutRegion, on_parts: OnParts) -> PartCall:
    """A loop until a condition, which all processes know."""
    params, carry = region.params, region.results
    asked, done = params["cond_nconsts"], params["body_nconsts"]
    of_cond = region.operands[:asked]
    of_body = region.operands[asked : asked + done]
    changed = {
        "cond_jaxpr": on_parts(params["cond_jaxpr"], [*of_cond, *carry], [()]),
        "body_jaxpr": on_parts(params["body_jaxpr"], [*of_body, *carry], carry),
    }
    return PartCall([*of_cond, *of_body, *carry], carry, {**params, **changed})


def cond(region: LaidOutRegion, on_parts: OnParts) -> PartCall:
    """A choice, which is the same in all processes."""
    params, operands = region.params, region.operands
    branches = tuple(
        on_parts(branch, operands[1:], region.results) for branch in params["branches"]
    )
    return PartCall(operands, region.results, {**params, "branches": branches})


REGIONS: dict[str, Callable[[LaidOutRegion, OnParts], PartCall]] = {
    "scan": scan,
    "while": while_,
    "cond": cond,
}
