"""Sentences that behaviour contradicts do not stand in chapters and tables.

Each stood there once. Serves: accuracy.ulp, cache.key, level.grad
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

import traceir
import traceir.numpy as jnp
from traceir.rules import default, spec_path


def _an_element_is_taken() -> bool:
    """By `item`, of an argument of a function that is differentiated."""
    return float(traceir.grad(lambda x: x * x.item())(3.0)) == 3.0


def _a_wider_dtype_is_met() -> bool:
    """In a function that turns 64 bits on, while they are off outside."""

    def wide(x: traceir.Array) -> traceir.Array:
        with traceir.enable_x64(True):
            return x.astype("float64")

    return traceir.jit(wide)(jnp.ones(2)).dtype == "float64"


def _equal_parts_find_no_trace() -> bool:
    """After the cache has been cleared."""
    runs = []
    f = traceir.jit(lambda x: runs.append(x) or x + 1)
    f(1.0)
    f.clear_cache()
    f(1.0)
    return len(runs) == 2


def _a_bound_is_chosen() -> bool:
    """That of a special function is no measured error rounded up."""
    prims = default().prims
    return prims["lgamma"].ulp["float64"] > prims["sin"].ulp["float64"]


# A sentence as it stood, what tells it in other words too, and what contradicts it.
Contradiction = tuple[str, str, Callable[[], bool]]
CONTRADICTED: dict[str, Contradiction] = {
    "derivatives": (
        "It may not take their elements away, since what is computed from",
        r"(may|can)( ?not|n't) take (their|its|the) elements",
        _an_element_is_taken,
    ),
    "widths": (
        "value that enters is narrowed, so that no wider dtype is ever met.",
        r"no wider dtype|wider dtypes? (is|are) never",
        _a_wider_dtype_is_met,
    ),
    "keys": (
        "find the same trace exactly when all parts are equal.",
        r"same trace (exactly|if and only)|exactly when all parts",
        _equal_parts_find_no_trace,
    ),
    "tolerances": (
        "equation at a time, so no tolerance is ever chosen by hand:",
        r"(tolerance|bound)s? (is|are) (ever |never )?(chosen|set) by hand",
        _a_bound_is_chosen,
    ),
}


def sentences() -> Iterator[str]:
    """The texts of the chapters and what rows say, each in one line."""
    for path in sorted(spec_path().glob("*.rst")):
        yield " ".join(path.read_text(encoding="utf-8").split())
    for table in default().tables.values():
        yield " ".join(str(table).split())


@pytest.mark.parametrize("name", CONTRADICTED)
def test_a_sentence_that_is_contradicted_does_not_stand(name: str) -> None:
    stood, pattern, contradicts = CONTRADICTED[name]
    assert contradicts()
    assert re.search(pattern, stood)
    assert [text for text in sentences() if re.search(pattern, text)] == []
