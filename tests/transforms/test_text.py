"""The programs of derivatives are those that JAX makes. Rules: derive.*"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from tests.transforms.texts import DATA, names, programs, text_of
from traceir.text import parse

TEXTS: list[dict[str, str]] = tomllib.loads(DATA.read_text())["text"]
KNOWN = names(traceir, jnp, traceir.lax)
# The values of constants are not in the text; and what `jit` runs has no float16.
OPEN = re.compile(r"lambda \w|f16")
RUNS = [case for case in TEXTS if not OPEN.search(case["text"])][::5]


def label(case: dict[str, str]) -> str:
    """A case as a test's id."""
    return f"{case['mode']} of {case['of']}"


@pytest.mark.parametrize("case", TEXTS, ids=label)
def test_the_program_is_that_of_jax(case: dict[str, str]) -> None:
    made = text_of(traceir, KNOWN, (case["mode"], case["of"], case["at"]))
    assert made == case["text"]


@pytest.mark.parametrize("case", RUNS, ids=label)
def test_what_is_read_of_the_text_gives_what_the_function_gives(
    case: dict[str, str],
) -> None:
    closed = parse(case["text"])
    made: list[Any] = []
    argument = KNOWN[case["at"]]

    class Runs:
        """`traceir`, but that a function is called where its program is asked for."""

        def __getattr__(self, name: str) -> Any:
            return getattr(traceir, name)

        @staticmethod
        def make_jaxpr(fun: Any) -> Any:
            def run(*args: Any) -> None:
                made.extend([args, traceir.tree.leaves(fun(*args))])

            return run

    text_of(Runs(), KNOWN, (case["mode"], case["of"], case["at"]))
    args, wanted = made
    found = traceir.eval_jaxpr(closed.jaxpr, [], *traceir.tree.leaves(args))
    for a, b in zip(found, wanted, strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True), argument


def test_texts_of_every_kind_are_kept() -> None:
    kept = {(case["mode"], case["of"]) for case in TEXTS}
    asked = {(mode, source) for mode, source, _ in programs()}
    assert kept <= asked
    assert len(kept) > 0.9 * len(asked) > 200
