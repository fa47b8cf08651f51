"""The modules beside `traceir.numpy`: jax's names are there, or absent for a reason.

Cites face.missing
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from _ext.coverage_jax import present
from face import NEIGHBOURS
from rule_errors import raises_rule

from traceir.lax.checks.attribute_hints import absent

MODULES = ["nn", "image", "ops", "flatten_util"]
MODULES += [f"scipy.{n}" for n in ("fft", "linalg", "ndimage", "signal")]
MODULES += ["scipy.special", "scipy.stats"]
TESTS = Path(__file__).parents[1]


@cache
def words() -> frozenset[str]:
    """The names in the tests of these modules."""
    found: set[str] = set()
    for file in (*TESTS.glob("neighbours/*.py"), TESTS / "array/test_scipy_linalg.py"):
        found |= set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    recorded = NEIGHBOURS.read_text()
    return frozenset(found | set(re.findall(r"\w+", recorded)))


@pytest.mark.parametrize("module", MODULES)
def test_a_name_that_is_there_is_public_and_tested(module: str) -> None:
    own = import_module(f"traceir.{module}")
    there = set(present(module))
    assert there <= set(dir(own))
    assert there - words() == set()


@pytest.mark.parametrize("module", MODULES)
def test_an_error_tells_the_reason(module: str) -> None:
    own = import_module(f"traceir.{module}")
    for name, reason in absent(module).items():
        with raises_rule("face.missing", AttributeError, re.escape(reason)):
            getattr(own, name)
