"""Implementations whose cache is wrong in one respect, each caught by a named case.

Cites: cache.key.*, cache.strict.*
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from traceir.conform import Verdict, judge, load_cases
from traceir.conform.systems.implementations import Reference
from traceir.jit import function, staging
from traceir.jit.cache import captured_state, fingerprints
from traceir.jit.cache.cache_key import KeyTable
from traceir.rules import default

CASES = {case.name: case for case in load_cases()}
Patch = pytest.MonkeyPatch


def verdict(name: str) -> Verdict:
    """The verdict of a case on the reference as it is now."""
    return judge(Reference(default()), CASES[name], default())


# --- a row of the key is not looked at ------------------------------------------------

ROWS = {
    "cache.key.x64": "cache/x64",
    "cache.key.face": "cache/face",
    "cache.key.dtype_promotion": "config/dtype-promotion-splits-traces",
    "cache.key.rank_promotion": "config/rank-promotion-splits-traces",
    "cache.key.matmul_precision": "config/matmul-precision-splits-traces",
    "cache.key.disable_jit": "config/without-jit-inner-functions-are-in-place",
    "cache.key.control_flow": "config/control-flow-splits-traces",
    "cache.key.boundscheck": "config/checks-of-bounds-split-traces",
    "cache.key.sanitize": "sanitize/a-place-outside",
    "cache.key.threefry_partitionable": "config/layouts-of-bits-split-traces",
    "cache.key.default_prng_impl": "config/generators-split-traces",
    "cache.key.enable_custom_prng": "config/typed-keys-of-seeds-split-traces",
    "cache.key.array_api": "config/the-standards-results-split-traces",
    "cache.key.axes": "cache/axes-split-traces",
    "cache.key.strict": "strict/without-it-what-was-read-stays",
    "cache.key.tree": "cache/tree",
    "cache.key.static": "cache/static-by-value",
    "cache.key.known": "cache/known-by-demand",
    "cache.key.shape": "cache/shape",
    "cache.key.dtype": "cache/dtype",
    "cache.key.weak_type": "cache/weakness",
    "cache.key.vma": "shard_map/one-jit-for-what-varies-and-what-does-not",
}


def test_every_row_but_the_functions_is_left_out_once() -> None:
    assert {row.id for row in default().keys} == {*ROWS, "cache.key.function"}


@pytest.mark.parametrize("row", ROWS)
def test_a_key_without_a_row(row: str, monkeypatch: Patch) -> None:
    assert verdict(ROWS[row])
    less = KeyTable(default(), frozenset({row, "cache.key.function"}))
    monkeypatch.setattr(staging, "key_table", lambda: less)
    assert verdict(ROWS[row]).kind in ("fail", "crashed")


# --- strict traces that miss something ------------------------------------------------


def without(module: Any, name: str, value: Any) -> Callable[[Patch], None]:
    """A function of a module that gives always the same."""
    return lambda patch: patch.setattr(module, name, lambda *args: value)


WRONG: dict[str, tuple[Callable[[Patch], None], str]] = {
    "strict looks at nothing": (
        without(staging, "verify", None),
        "strict/a-static-object-that-has-changed",
    ),
    "strict is looked at on slow calls alone": (
        without(function, "check_seal", None),
        "strict/a-global-that-was-bound-anew",
    ),
    "strict is looked at in fast calls alone": (
        without(staging, "check_seal", None),
        "strict/a-call-inside-a-trace",
    ),
    "strict sees no globals": (
        without(captured_state, "reads", ()),
        "strict/a-global-that-was-bound-anew",
    ),
    "strict sees no elements": (
        without(fingerprints, "contents", b""),
        "strict/an-array-written-in-place",
    ),
    "strict compares by ==": (
        lambda patch: patch.setattr(fingerprints, "typed", lambda v: v),
        "strict/a-type-is-a-change",
    ),
    "strict looks into no object": (
        without(fingerprints, "is_open", False),
        "strict/an-object-that-was-read",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_strict_trace_that_misses_something(what: str, monkeypatch: Patch) -> None:
    wrong, name = WRONG[what]
    assert verdict(name)
    wrong(monkeypatch)
    assert verdict(name).kind in ("fail", "crashed")
