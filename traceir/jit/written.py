"""What a plain function has written to its arguments. Serves: update.*

A trace of such a function has these arrays among its results; a call copies them to the
arguments when the program has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traceir import rules
from traceir.jit.key import Call
from traceir.records import dataclass
from traceir.registering import register_pytree_node


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """Results, and the new elements of the arguments of these numbers."""

    results: Any
    values: tuple[Any, ...]
    numbers: tuple[int, ...]


register_pytree_node(
    Written,
    lambda node: ((node.results, node.values), node.numbers),
    lambda numbers, parts: Written(parts[0], parts[1], numbers),
)


def check_targets(numbers: Sequence[int], leaves: Sequence[Any], call: Call) -> None:
    """Raise unless these arguments can be written to.

    ValueError (update.readonly, update.overlap), TypeError (array.immutable).
    """
    for k in numbers:
        target, path = leaves[k], call.paths[k]
        if not isinstance(target, np.ndarray):
            got = f"argument {path}, of type {type(target).__name__}"
            raise rules.error("update.argument", got=got)
        if not target.flags.writeable:
            raise rules.error("update.readonly", got=f"argument {path}")
        for other, value in enumerate(leaves):
            if other != k and isinstance(value, np.ndarray) and overlap(target, value):
                got = f"argument {path}, which overlaps argument {call.paths[other]}"
                raise rules.error("update.overlap", got=got)


def overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays share an element, or may do so.

    >>> x = np.arange(4)
    >>> overlap(x[:2], x[2:]), overlap(x[:2], x[1:])
    (False, True)
    """
    if not np.may_share_memory(one, other):
        return False
    work: Any = 10_000  # to decide it for all strides may take very long
    try:
        return np.shares_memory(one, other, max_work=work)
    except np.exceptions.TooHardError:
        return True


def write_back(written: Written, leaves: Sequence[Any]) -> Any:
    """Copy what was written to the arguments; returns the results."""
    for k, value in zip(written.numbers, written.values, strict=True):
        np.copyto(leaves[k], value)
    return written.results


def write_traced(written: Written, leaves: Sequence[Any], call: Call) -> Any:
    """As `write_back`, inside the trace of another plain function: to its arrays.

    Raises TypeError (update.argument) for an array that cannot be written to.
    """
    for k, value in zip(written.numbers, written.values, strict=True):
        store = getattr(type(leaves[k]), "store", None)
        if store is None:
            got = f"argument {call.paths[k]}, of type {type(leaves[k]).__name__}"
            raise rules.error("update.argument", got=got)
        store(leaves[k], value)
    return written.results


def refused(numbers: Sequence[int], call: Call, name: str) -> Exception:
    """The error of a function that may not write to its arguments and does."""
    paths = ", ".join(call.paths[k] for k in numbers)
    return rules.error("update.refused", got=f"{name} writes to {paths}")
