"""Exceptions that values decide on: those of Python, at its lines, when it has run.

Rules: staged.raised, staged.handler, index.bounds, cache.flag.boundscheck
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain.forms.raising import RAISING, Function, OwnError, V, asserted, divided, found
from rule_errors import raises_rule

import traceir
import traceir.numpy
import traceir_numba
from traceir.errors import TraceirError
from traceir.jit.function import JitFunction, Options


def outcome(function: Function, arguments: tuple[Any, ...]) -> str:
    """The result and the arguments afterwards; or an exception, its line, and the
    arguments as they were, which a compiled function leaves."""
    own = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        result = np.asarray(function(*own))
    except Exception as error:
        if not isinstance(function, JitFunction):
            own = list(arguments)
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = last.name, last.lineno, last.filename
        kind, shown = type(error), (error.args, vars(error))
        if isinstance(error, TraceirError):
            assert f":{last.lineno} in " in str(error)
            assert len(str(error).splitlines()) < 10
        if isinstance(error, IndexError):  # in NumPy's words, or in ours
            kind, shown = IndexError, ((), {})
        return repr((kind, shown, line, own))
    return repr((result, own))


@pytest.mark.parametrize("backend", ["numba", "reference"])
def test_what_python_would_raise_is_raised_afterwards(backend: str) -> None:
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    wrong = []
    for function in dict.fromkeys(function for function, _ in RAISING):
        jitted = JitFunction(function, None, None, options)
        for arguments in (given for one, given in RAISING if one is function):
            wanted = outcome(function, arguments)
            for _ in range(2):
                got = outcome(jitted, arguments)
                if got != wanted:
                    wrong.append((function.__name__, wanted, got))
    assert wrong == []


@traceir_numba.jit
def least_step(x: Any) -> Any:
    """The place of the least difference where there is one of zero."""
    steps, found = np.diff(x[:1]), 0
    if np.any(steps == x[1]):
        found = np.argmin(steps) + 2
    return found + x[0] if x[0] < 3 else np.max(x[:0])


def test_an_extreme_of_no_elements_counts_where_it_is_come_to() -> None:
    assert least_step(np.array([1.0, 2.0])) == 1
    with raises_rule("face.reduce-empty"):
        least_step(np.array([3.0, 2.0]))


def test_assertions_count_where_nobody_looks_at_places() -> None:
    def taken(x: Any, k: Any) -> Any:
        assert k < 9, k
        return x[k]

    jitted = traceir_numba.jit(taken)
    unchecked = traceir_numba.jit(taken, boundscheck=False)
    assert unchecked(V, 7) == V[5]
    with pytest.raises(AssertionError, match="11"):
        unchecked(V, 11)
    with traceir.boundscheck(False):
        assert jitted(V, 7) == V[5]
    with raises_rule("index.bounds", IndexError, "place 7"):
        jitted(V, 7)


def test_an_inner_function_raises_its_own_exception() -> None:
    inner = traceir_numba.jit(asserted)

    @traceir_numba.jit
    def outer(n: Any, x: Any) -> Any:
        x[0] = 3.0
        for _ in range(n):
            x = inner(n - 1, x)
        assert n != 4, "not four"
        return x

    x = V.copy()
    assert outer(3, x)[0] == 9.0
    for n, kind, pattern in (
        (1, AssertionError, "n must be positive"),
        (4, AssertionError, "not four"),
        (8, ValueError, "too many.*7"),
    ):
        with pytest.raises(kind, match=pattern):
            outer(n, V.copy())


def test_an_inner_loop_does_not_run_on_after_a_failure() -> None:
    inner = traceir_numba.jit(divided)

    @traceir_numba.jit
    def outer(n: Any, x: Any) -> Any:
        count = 0
        while x > 0:
            x = x // n
            count += 1
        return count

    @traceir_numba.jit
    def calling(n: Any, x: Any) -> Any:
        assert n != 1, "by one"
        return outer(n, x) + inner(n + 1, x)

    assert calling(2, 9) == 4 + 3
    with pytest.raises(AssertionError, match="by one"):
        calling(1, 9)


def test_what_jax_would_record_raises_if_that_is_asked_for() -> None:
    @traceir.jit(control_flow="staged")
    def doubled(x: Any, n: Any) -> Any:
        if n > 3:
            raise KeyError("n", n, f"{n:>3}")
        return x * 2

    x = traceir.numpy.ones(2)
    assert doubled(x, 1).tolist() == [2, 2]
    calls: list[Callable[[], Any]] = [
        lambda: doubled(x, 4),
        lambda: traceir.jit(lambda x, n: doubled(x, n + 1))(x, 3),
        lambda: traceir.grad(lambda x: doubled(x, 4).sum())(x),
    ]
    for call in calls:
        with pytest.raises(KeyError) as caught:
            call()
        assert caught.value.args == ("n", 4, "  4")


def test_nothing_is_printed_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    @traceir_numba.jit
    def told(x: Any, n: Any) -> Any:
        for i in range(n):
            print("before", i)
            assert x[i] < 0.5
            print("after", i)
        print("done")
        return n

    printed = []
    for function in (told.__wrapped__, told):
        for n in (2, 9):
            try:
                function(V, n)
            except AssertionError:
                print("failed")
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].count("before") == 2 + 4


def test_an_exception_is_another_object_each_time() -> None:
    jitted = traceir_numba.jit(found)
    errors = []
    for value in (V[2], V[3], V[2]):
        with pytest.raises(OwnError) as caught:
            jitted(V, value)
        errors.append(caught.value)
    assert [e.place for e in errors] == [2, 3, 2]
    assert errors[0] is not errors[2]


def in_try(x: Any, k: Any) -> Any:
    """A place that may be outside, and a handler that would take what it raises."""
    try:
        return x[k]
    except Exception:
        return 0.0


def side_in_try(x: Any, k: Any) -> Any:
    """The same of an exception on a side, with a handler of everything."""
    try:
        if k > 3:
            raise OwnError(k, x[0])
    except:  # noqa: E722
        x[0] = 0.0
    return x


def called_in_try(x: Any, k: Any) -> Any:
    """The same of a division in a function that is called."""
    try:
        return x[0] + called(k)
    except (KeyError, ArithmeticError):
        return 0.0


def called(k: Any) -> Any:
    """A division that may be one by zero."""
    return 1 / k


@pytest.mark.parametrize(
    ("function", "pattern"),
    [
        (in_try, r"(?s)IndexError.*return x\[k\]"),
        (side_in_try, "(?s)OwnError.*raise OwnError"),
        (called_in_try, "(?s)ZeroDivisionError.*return 1 / k"),
    ],
)
def test_no_handler_inside_takes_what_is_raised_later(
    function: Function, pattern: str
) -> None:
    x = V.copy()
    with raises_rule("staged.handler", TypeError, pattern):
        traceir_numba.jit(function)(x, 1)
    assert x.tolist() == V.tolist()
    assert traceir_numba.jit(lambda x, k: in_try(x, k % 6))(V, 13) == V[1]


def test_a_long_loop_costs_what_it_did_and_its_first_failure_counts() -> None:
    def gathered(x: Any, places: Any) -> Any:
        total = 0.0
        for i in range(places.shape[0]):
            total += x[places[i]]
        return total

    jitted = traceir_numba.jit(gathered)
    places = np.arange(100_000) % 6
    assert jitted(V, places) == pytest.approx(V[places].sum())
    places[[40_000, 70_000]] = 77, 66
    with raises_rule("index.bounds", IndexError, "place 77"):
        jitted(V, places)
