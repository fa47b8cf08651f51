"""Key uses in calls, choices and loops. Serves: random.reuse

A loop is read as its body run again and again, with the keys of one run for the next,
as often as it takes a key to come back to where it was used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.regions import EXPANSIONS
from traceir.sanitize.key_reuse.held import HeldKeys, KeyRoot, KeyUse, ResultKeys
from traceir.sanitize.key_reuse.reading import (
    REGIONS,
    Keys,
    Operands,
    Reading,
    Region,
    Results,
    result,
    uses_of,
)

Params = dict[str, Any]


def _region(*names: str) -> Callable[[Region], Region]:
    def register(rule: Region) -> Region:
        REGIONS.update(dict.fromkeys(names, rule))
        return rule

    return register


@_region("jit")
def _jit(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    return reading.call(params["jaxpr"], operands, line)


@_region("custom_jvp_call", "custom_primitive_call", "custom_vjp_call")
def _custom(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    return reading.call(params["call_jaxpr"], operands, line)


@_region("remat2")
def _remat(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    if params["differentiated"]:  # the same numbers are meant to be drawn once more
        return [None] * len(params["jaxpr"].out_avals)
    return reading.call(params["jaxpr"], operands, line)


@_region("shard_map")
def _parts(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    return reading.call(EXPANSIONS["shard_map"](params), operands, line)


@_region("cond")
def _cond(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    """The uses of a choice: a key is used if any branch uses it."""
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    given, uses = operands[1:], [uses_of(b) for b in branches]
    handed = [_either(outs, given) for outs in zip(*(u.outputs for u in uses))]
    for held, several in zip(given, zip(*(u.inputs for u in uses)), strict=True):
        _use_any(held, [use for use in several if use is not None])
    consts: dict[int, tuple[np.ndarray, list[KeyUse]]] = {}
    for array, use in (pair for one in uses for pair in one.consts):
        consts.setdefault(id(array), (array, []))[1].append(use)
    for array, together in consts.values():
        _use_any(reading.array(array), together)
    for outs, keys in zip(zip(*(u.outputs for u in uses)), handed, strict=True):
        _hand_out(outs, given, keys)
    return handed


def _use_any(held: Keys, uses: list[KeyUse]) -> None:
    """Add the uses of one branch or another."""
    if held is not None and uses:
        mask = np.logical_or.reduce([use.mask for use in uses])
        held.use("cond", uses[0].line, mask)


def _either(outs: tuple[ResultKeys | None, ...], given: Operands) -> Keys:
    """The keys that one branch or another gives; new ones, unless all give the same."""
    found = [out for out in outs if out is not None]
    if len(found) < len(outs):
        return None
    if all(_same(out, found[0]) for out in found):
        return result(found[0], given)
    spent = np.zeros(found[0].spent.shape, bool)
    for out in found:
        spent |= out.spent | result(out, given).spent
    return HeldKeys.all_of(KeyRoot(spent, found[0].line))


def _hand_out(outs: tuple[ResultKeys | None, ...], given: Operands, keys: Keys) -> None:
    """Use up an operand whose keys one branch gives and another does not: they are the
    result's no less than the operand's."""
    for out in outs:
        if out is not None and out.input is not None:
            held = result(out, given)
            if keys is None or held.root is not keys.root:
                held.spend(line=out.line)


def _same(one: ResultKeys, other: ResultKeys) -> bool:
    if one.input is None or one.input != other.input:
        return False
    if one.places is None or other.places is None:
        return one.places is other.places
    return np.array_equal(one.places, other.places)


@_region("while")
def _while(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    first = params["cond_nconsts"]
    last = first + params["body_nconsts"]
    tested, used, carry = operands[:first], operands[first:last], [*operands[last:]]
    for _ in range(_enough(carry)):
        reading.call(params["cond_jaxpr"], [*tested, *carry])
        carry = reading.call(params["body_jaxpr"], [*used, *carry])
    return carry


@_region("scan")
def _scan(reading: Reading, params: Params, operands: Operands, line: str) -> Results:
    """The uses of a loop: a key used in one turn must not be used in the next."""
    body: ClosedJaxpr = params["jaxpr"]
    first = params["num_consts"]
    last, length = first + params["num_carry"], params["length"]
    consts, carry, rows = operands[:first], [*operands[first:last]], operands[last:]
    for held, use in zip(rows, uses_of(body).inputs[last:], strict=True):
        if held is not None and use is not None:
            mask = np.broadcast_to(use.mask, (length, *use.mask.shape))
            held.use("scan", use.line, mask)
    stacks: Results = [
        None if out is None else HeldKeys.all_of(KeyRoot(_stacked(out.spent, length)))
        for out in uses_of(body).outputs[params["num_carry"] :]
    ]
    for _ in range(min(length, _enough(carry))):
        row = [None if r is None else HeldKeys.new(r.shape[1:]) for r in rows]
        carry = reading.call(body, [*consts, *carry, *row])[: len(carry)]
    return carry + stacks


def _stacked(mask: np.ndarray, length: int) -> np.ndarray:
    return np.broadcast_to(mask, (length, *mask.shape)).copy()


def _enough(carry: Operands) -> int:
    """The number of runs after which each carried key has been wherever it goes."""
    return 2 + sum(held is not None for held in carry)
