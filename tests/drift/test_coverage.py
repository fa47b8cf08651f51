"""The shared names: there or absent for a reason, tested, and with NumPy's signatures.

Cites face.missing
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _ext.coverage import absent, calls, present
from array_lines import lines
from rule_errors import raises_rule
from standard import functions

import traceir.nn
import traceir.numpy as jnp
from traceir.lax.checks.attribute_hints import coverage

SHARED = coverage()["shared"]
# Aliases of NumPy's own classes and functions, and what is no function.
FUNCTIONS = [
    name
    for name in present()
    if inspect.isfunction(getattr(jnp, name)) and callable(getattr(np, name, None))
]


def test_a_shared_name_is_there_or_has_a_reason() -> None:
    assert sorted(set(SHARED) - set(present())) == sorted(absent())
    assert sorted(SHARED) == SHARED


def test_most_shared_names_are_there() -> None:
    assert len(present()) >= 0.95 * len(SHARED)


def test_what_is_there_is_public() -> None:
    assert set(present()) <= set(jnp.__all__)


def test_each_name_is_called_by_a_test() -> None:
    assert [name for name in present() if not calls()[name]] == []


NAMED = re.compile(r"\b(?:jnp|xp)\.([\w.]+)")


def beside_numpy() -> set[str]:
    """The names that a line compares with NumPy, or a module of tests."""
    named = {name for line in lines() for name in line.names}
    named |= {f.name for f in functions() if f.chapter == "elementwise"}
    for folder in ("array", "array_api", "complex"):
        for path in (Path(__file__).parents[1] / folder).glob("*.py"):
            named |= set(NAMED.findall(path.read_text(encoding="utf-8")))
    return {name.partition(".")[0] for name in named}


def test_each_name_stands_beside_numpy() -> None:
    assert sorted(set(present()) - beside_numpy()) == []


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function that may be passed by name or have a default."""
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:  # some of NumPy's own, which are written in C, do not tell
        return {}


def differences(name: str) -> list[str]:
    """In what the signature of a function differs from NumPy's."""
    ours, theirs = parameters(getattr(jnp, name)), parameters(getattr(np, name))
    left_out = coverage()["parameters"]
    found = []
    if not theirs or not ours:
        return []
    for key, parameter in theirs.items():
        own = ours.get(key)
        unnamed = parameter.kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        )
        if own is None and not unnamed and key not in left_out:
            found.append(f"no {key}")
        elif own is not None and not unnamed and not alike(own, parameter):
            found.append(f"{key}={own.default!r}, not {parameter.default!r}")
    if not isinstance(getattr(np, name), np.ufunc):
        both = [key for key in theirs if key in ours]
        if both != [key for key in ours if key in theirs]:
            found.append("another order")
    return found


def alike(own: inspect.Parameter, theirs: inspect.Parameter) -> bool:
    """True if defaults are one; where NumPy says nothing, any is right."""
    if repr(theirs.default) == "<no value>":
        return own.default is not inspect.Parameter.empty
    return repr(own.default) == repr(theirs.default)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_is_that_of_numpy(name: str) -> None:
    excused = name in coverage()["signatures"]
    assert bool(differences(name)) == excused, differences(name)


def test_only_functions_that_are_there_are_excused() -> None:
    assert set(coverage()["signatures"]) <= set(FUNCTIONS)


def test_a_missing_name_has_a_reason_or_names_that_are_near() -> None:
    with raises_rule("face.missing", AttributeError, "blocks of 4 or 8 bits"):
        _ = traceir.nn.scaled_matmul
    with raises_rule("face.missing", AttributeError, "did you mean sin"):
        _ = jnp.sine
    assert not hasattr(jnp, "__wrapped__")
