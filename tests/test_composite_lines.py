"""A composite is traced once for all callers, and stands at the line of each of them.

Each test calls one composite in `first`, which has it traced, and then in `second`:
whatever tells a line tells that of `second`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traceir as jax
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir.base import cost_model
from traceir.base.source_info import Source
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, subjaxprs
from traceir.ir.located import located

X = np.ones(3, np.float32)
BACKENDS = ["reference", "numba"]
FOLDER = Path(jax.__file__).parent
# Composites of a library's are in files of the package.
LIBRARY = """
from traceir import debug, pure_callback, random
from traceir.base import cost_model
from traceir.jit.composite import composite

@composite
def drawn(key):
    return random.bits(key), random.bits(key)

@composite
def shown(x):
    debug.print("{}", x)
    return x

@composite
def failed(x):
    return pure_callback(lambda x: x + 1 // 0, x, x)

@composite
def long(x):
    for _ in range(cost_model.REPORTED_EQUATIONS):
        x = -x
    return x

@composite
def plus(x, y):
    return x + y
"""


@pytest.fixture
def library() -> dict[str, Any]:
    """Composites that no caller has had traced."""
    names: dict[str, Any] = {"__name__": "library"}
    exec(compile(LIBRARY, str(FOLDER / "library.py"), "exec"), names)
    return names


@pytest.fixture(autouse=True)
def of_second() -> Iterator[None]:
    """`first` comes first."""
    jax.clear_caches()
    jax.make_jaxpr(first)(X, X)
    yield


def first(x: Any, y: Any) -> Any:
    return jnp.remainder(x, y)


def second(x: Any, y: Any) -> Any:
    return jnp.remainder(x, y)


def place(function: Callable[..., Any]) -> str:
    """The only line of a function's body, as it is told."""
    return f":{function.__code__.co_firstlineno + 1} in {function.__qualname__}: "


def equations(jaxpr: Jaxpr) -> Iterator[Eqn]:
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in subjaxprs(eqn):
            yield from equations(inner.jaxpr)


def lines(program: ClosedJaxpr) -> set[str]:
    """The functions in which the equations of a program stand, each at a line."""
    sources = {eqn.source for eqn in equations(program.jaxpr)}
    return {source.function if source else "?" for source in sources}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scope", [jax.debug_nans, jax.sanitize])
def test_a_fault(backend: str, scope: Callable[[], Any]) -> None:
    with scope():
        jax.jit(first, backend=backend)(X, X)
        with pytest.raises(FloatingPointError, match=re.escape(place(second))):
            jax.jit(second, backend=backend)(X, 0 * X)


@pytest.mark.parametrize("transform", [jax.grad, jax.jacrev])
def test_a_fault_of_a_derivative(transform: Callable[..., Any]) -> None:
    def total(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: jnp.sum(function(x, y))

    transform(total(first), 1)(X, X)
    fault = pytest.raises(FloatingPointError, match=re.escape(place(second)))
    with jax.debug_infs(), fault:
        jax.jit(transform(total(second), 1), backend="reference")(X, 0 * X)


def test_comments_of_generated_source() -> None:
    jax.jit(first, backend="numba")(X, X)
    text = jax.jit(second, backend="numba").source(X, X)
    told = re.findall(r"# test_composite_lines\.py:(\d+):", text)
    assert set(told) == {str(second.__code__.co_firstlineno + 1)}


@pytest.mark.parametrize(
    "function", [second, jax.vmap(second), lambda x, y: jax.jvp(second, (x, y), (x, y))]
)
def test_the_report_of_long_programs(function: Callable[..., Any]) -> None:
    jax.make_jaxpr(jax.vmap(first))(X, X)
    jax.make_jaxpr(lambda x, y: jax.jvp(first, (x, y), (x, y)))(X, X)
    report = jax.source_report(jax.make_jaxpr(function)(X, X))
    assert report.equations > 8
    assert [
        (line.function, sum(n for _, n in line.primitives)) for line in report.lines
    ] == [("second", report.equations)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_composite_is_told_at_the_line_that_has_it_traced(
    library: dict[str, Any], backend: str
) -> None:
    def calls(x: Any) -> Any:
        return library["long"](x)

    long = pytest.raises(RuntimeError, match=re.escape(place(calls)))
    with jax.unrolled_loops("raise"), long:
        jax.jit(calls, backend=backend)(X)


def test_a_function_of_numpys_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def steps(x):\n    for _ in range(9): x = np.negative(x)\n    return x"
    names: dict[str, Any] = {"np": np}
    exec(compile(text, str(Path(np.__file__).parent / "steps.py"), "exec"), names)

    def calls(x: Any) -> Any:
        return traceir_numba.jit(names["steps"])(x)

    monkeypatch.setattr(cost_model, "UNROLLED_EQUATIONS", 5)
    with pytest.raises(RuntimeError, match=re.escape(place(calls))):
        calls(X)


def test_a_key_that_is_used_twice(library: dict[str, Any]) -> None:
    def once(key: Any) -> Any:
        return library["drawn"](key)

    def again(key: Any) -> Any:
        return library["drawn"](key)

    key = jax.random.key(0)
    jax.jit(once)(key)
    fault = pytest.raises(jax.errors.KeyReuseError, match=re.escape(place(again)))
    with jax.debug_key_reuse(), fault:
        jax.jit(again)(key)


def test_what_cannot_be_exported(library: dict[str, Any]) -> None:
    def once(x: Any) -> Any:
        return library["shown"](x)

    def again(x: Any) -> Any:
        return library["shown"](x)

    jax.make_jaxpr(once)(X)
    with pytest.raises(TypeError, match=re.escape(place(again))):
        jax.export.export(jax.jit(again))(X)


def test_a_program_that_is_wrong() -> None:
    def spoilt(jaxpr: Jaxpr) -> Jaxpr:
        """The program whose remainders are of three operands."""
        eqns = []
        for eqn in jaxpr.eqns:
            if eqn.primitive == "rem":
                eqn = replace(eqn, inputs=(*eqn.inputs, eqn.inputs[0]))
            elif eqn.primitive == "jit":
                inner = eqn.param("jaxpr")
                inner = ClosedJaxpr(spoilt(inner.jaxpr), inner.consts)
                eqn = replace(eqn, params=(("jaxpr", inner), ("name", "remainder")))
            eqns.append(eqn)
        return replace(jaxpr, eqns=tuple(eqns))

    program = spoilt(jax.make_jaxpr(second)(X, X).jaxpr)
    with pytest.raises(TypeError, match=re.escape(place(second))):
        jax.check(program)


def test_a_function_of_the_users_in_a_composite_has_its_own_line() -> None:
    def scaled(a: Any, b: Any) -> Any:
        return a * b + 1

    ufunc = jnp.frompyfunc(scaled, 2, 1)
    program = jax.make_jaxpr(lambda x: ufunc(x, x))(X)
    inside = next(subjaxprs(program.eqns[0]))
    own = test_a_function_of_the_users_in_a_composite_has_its_own_line.__name__
    assert lines(inside) == {f"{own}.<locals>.scaled"}


def test_a_body_of_the_librarys_stands_at_the_loop() -> None:
    def loop(x: Any) -> Any:
        return lax.map(jnp.sin, x)

    program = jax.make_jaxpr(loop)(X)
    assert lines(program) > {"?"}
    [name] = lines(located(program))
    assert name.endswith(".loop")


def test_what_a_callback_raises(library: dict[str, Any]) -> None:
    def once(x: Any) -> Any:
        return library["failed"](x)

    def again(x: Any) -> Any:
        return library["failed"](x)

    jax.make_jaxpr(once)(X)
    with pytest.raises(ZeroDivisionError) as caught:
        jax.jit(again, backend="reference")(X)
    assert place(again) in "".join(caught.value.__notes__)


def test_a_program_that_has_all_its_lines_is_itself(library: dict[str, Any]) -> None:
    program = jax.make_jaxpr(lambda x: lax.cond(True, lambda: x + 1, lambda: x))(X)
    assert located(program) is program
    shared = jax.make_jaxpr(lambda x: library["plus"](x, x))(X)
    assert located(shared) == shared
    assert located(shared) is not shared
    assert str(located(shared)) == str(shared)
    assert located(located(shared)) is not shared


def test_no_frame_of_a_trace_is_kept() -> None:
    jax.make_jaxpr(second)(X, X)
    assert jax.config.local.staging_frame is None
    with pytest.raises(ZeroDivisionError):
        jax.make_jaxpr(lambda x: x + math.sqrt(1) / 0)(X)
    assert jax.config.local.staging_frame is None
    assert Source._fields == ("code", "lasti")
