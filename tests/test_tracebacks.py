"""Tracebacks show the user's frames alone. Rules: cache.flag.traceback_filtering

`rule_errors.raises_rule` looks at every error that a test expects.
"""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import check_users_alone

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir.base.tracebacks import NOTE, behind, entry_point

X = jnp.arange(3.0)
HIDE = "__tracebackhide__"


def helper(v: Any) -> Any:
    """Branches on a value."""
    return v if v.max() > 3 else -v


def function(v: Any) -> Any:
    """Calls what branches."""
    return helper(v)


def raised(call: Callable[[], Any]) -> Exception:
    """The exception of a call."""
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError(call)


def names(error: BaseException) -> list[str]:
    """The functions in a traceback, less those of this test."""
    return [entry.name for entry in traceback.extract_tb(error.__traceback__)[2:]]


def told(error: BaseException) -> bool:
    return NOTE in getattr(error, "__notes__", ())


CALLS: dict[str, tuple[list[str], Callable[[], Any]]] = {
    "jit": (["function", "helper"], lambda: traceir.jit(function)(X)),
    "staged": (
        ["function", "helper"],
        lambda: traceir.jit(traceir.jit(function))(X),
    ),
    "lower": (["function", "helper"], lambda: traceir.jit(function).lower(X)),
    "make_jaxpr": (["function", "helper"], lambda: traceir.make_jaxpr(function)(X)),
    "grad": ([], lambda: traceir.grad(function)(X)),
    "vmap": (["function", "helper"], lambda: traceir.vmap(function)(jnp.ones((2, 2)))),
    "scan": (
        ["<lambda>", "helper"],
        lambda: lax.scan(lambda c, v: (helper(c), v), X, X),
    ),
    "vjp": ([], lambda: traceir.vjp(jnp.sin, X)[1](1.0)),
    "decorator": ([], lambda: traceir.jit(static_argnames="z")(function)),
    "operator": ([], lambda: X + jnp.ones(4)),
    "reflected": ([], lambda: np.ones(4) + X),
    "index": ([], lambda: X[1, 2]),
    "update": ([], lambda: X.at[0, 1].set(1)),
    "assignment": ([], lambda: X.__setitem__(0, 1)),
    "truth": ([], lambda: bool(X)),
    "key": ([], lambda: hash(X)),
    "function": ([], lambda: jnp.zeros("three")),
    "lax": ([], lambda: lax.add(X, "one")),
    "linalg": ([], lambda: jnp.linalg.inv(jnp.ones((2, 3)))),
    "fft": ([], lambda: jnp.fft.fft(X, n=0)),
    "scipy": ([], lambda: traceir.scipy.linalg.det(X)),
    "stats": ([], lambda: traceir.scipy.stats.norm.pdf("x")),
    "random": ([], lambda: traceir.random.normal(3.0)),
    "name": ([], lambda: jnp.sine),
    "flag": ([], lambda: traceir.config.update("no_such_flag", 1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_frames_are_the_users(name: str) -> None:
    wanted, call = CALLS[name]
    error = raised(call)
    assert names(error) == wanted
    check_users_alone(error)
    assert told(error)


def test_all_frames_are_shown_where_that_is_asked_for() -> None:
    with traceir.traceback_filtering("off"):
        error = raised(lambda: traceir.jit(function)(X))
    assert len(names(error)) > 5 and not told(error)
    assert not any(HIDE in step.f_locals for step, _ in _walk(error))


def test_frames_can_be_marked_in_place_of_being_left_out() -> None:
    with traceir.traceback_filtering("tracebackhide"):
        error = raised(lambda: traceir.jit(function)(X))
    seen = [s.f_code.co_name for s, _ in _walk(error) if HIDE not in s.f_locals]
    assert seen == ["raised", "<lambda>", "function", "helper"]
    assert len(names(error)) > 5 and not told(error)


def _walk(error: BaseException) -> list[tuple[Any, int]]:
    return list(traceback.walk_tb(error.__traceback__))


class Own(Exception):
    """An exception of the user's."""


def failing(x: Any) -> Any:
    """Raises while it is traced."""
    raise Own("mine", x.shape)


def refusing(x: Any) -> Any:
    """Raises when its program runs."""
    if x[0] > 0:
        raise Own("mine")
    return x


@pytest.mark.parametrize("run", [traceir.jit, traceir.vmap, traceir_numba.jit])
def test_an_exception_of_the_users_stays_as_it_is(run: Any) -> None:
    error = raised(lambda: run(failing)(np.ones((2, 2))))
    assert type(error) is Own and error.args[0] == "mine"
    assert names(error) == ["failing"]
    assert not hasattr(error, "__notes__")


def test_a_program_raises_at_the_users_line() -> None:
    jitted = traceir_numba.jit(refusing)
    for _ in range(3):
        error = raised(lambda: jitted(np.ones(2)))
        assert type(error) is Own and names(error) == ["refusing"]
        assert not hasattr(error, "__notes__")


def test_what_the_user_handles_is_shown() -> None:
    def call() -> None:
        try:
            {}["missing"]
        except KeyError:
            jnp.zeros("three")

    error = raised(call)
    context = error.__context__
    assert isinstance(context, KeyError) and context.__context__ is None
    assert "During handling" in "".join(traceback.format_exception(error))
    inside = raised(lambda: X @ jnp.ones(4))
    assert inside.__context__ is None


def test_an_entry_point_is_the_function() -> None:
    assert traceir.grad.__name__ == "grad"
    assert behind(traceir.grad) is not traceir.grad
    assert behind(entry_point(len)) is len
    assert lax.reduce(X, 0.0, lax.add, (0,)) == 3
    assert entry_point(lambda: helper)() is helper  # a function of the user's


PROGRAM = """
import traceir as jax, traceir.numpy as jnp

def helper(v):
    if v.max() > 3:
        return v
    return -v

def loss(v):
    return jnp.sum(helper(v))

jax.jit(loss)(jnp.arange(5.0))
"""


def test_a_program_that_ends_prints_three_frames() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert len(frames) == 3 and all('"<string>"' in line for line in frames)
    assert done.stderr.rstrip().endswith(NOTE)
    assert "During handling" not in done.stderr
