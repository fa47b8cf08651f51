"""Stacks, queues, and lists of any length. Rules: staged.list, staged.effect"""

from __future__ import annotations

import heapq
import itertools
import operator
import warnings
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from list_programs import LISTS
from rule_errors import raises_rule

import traceir
import traceir_numba
from traceir import lax
from traceir.base import cost_model
from traceir.jit.function import JitFunction, Options

Function = Callable[..., Any]
REFERENCE = Options(backend="reference", face="numpy", x64=True, numpy_out=True)
MORE = cost_model.LIST_ROOM + 500


def compare(found: Any, wanted: Any) -> None:
    """Assert that results are equal, lists lists and arrays arrays."""
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted)
        for one, other in zip(found, wanted, strict=True):
            compare(one, other)
    else:
        assert isinstance(found, np.ndarray) is isinstance(wanted, np.ndarray)
        np.testing.assert_allclose(found, wanted, 1e-13)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


def by_reference(function: Function) -> Function:
    """A function that the reference runs."""
    return JitFunction(function, None, None, REFERENCE)


@pytest.mark.parametrize("jit", [traceir_numba.jit, by_reference])
@pytest.mark.parametrize(
    ("function", "args"), LISTS, ids=[function.__name__ for function, _ in LISTS]
)
def test_lists_are_pythons(function: Function, args: Any, jit: Function) -> None:
    compare(jit(function)(*args), function(*args))


# Room --------------------------------------------------------------------------------


def counting(n: Any) -> Any:
    """As many elements as it is asked for."""
    out: list[Any] = []
    i = 0
    while i < n:
        out.append(i * 0.5)
        i += 1
    return sum(out)


def written(x: Any, n: Any) -> Any:
    """Elements, and an argument."""
    out: list[Any] = []
    i = 0
    while i < n:
        x[0] += 1
        out.append(x[0])
        i += 1
    return len(out), out[-1]


def drawn(end: Any) -> Any:
    """Elements that are drawn."""
    out: list[Any] = []
    t = 0.0
    while t < end:
        t += np.random.random()
        out.append(t)
    return np.array(out)


def printed(n: Any) -> Any:
    """Elements, of which the first is printed."""
    out: list[Any] = []
    i = 0
    while i < n:
        if i == 0:
            print("the first")
        out.append(i)
        i += 1
    return len(out)


def inner(n: Any) -> Any:
    """A list of a function that another one calls."""
    return counting(n) + counting(3)


def in_turns(rows: Any) -> Any:
    """A list that every turn of a loop makes anew, in a choice."""
    total = 0
    for n in rows:
        if n > 0:
            found: list[Any] = []
            while n > 1:
                found.append(n)
                n -= 2
            total += len(found)
    return total


def test_more_elements_than_there_was_room_for() -> None:
    f = traceir_numba.jit(anew(counting))
    for n in (5, MORE, 40 * MORE, 5, MORE):
        assert f(np.int64(n)) == counting(n)
    assert f.cache_info().currsize == 1  # the last program has room for all


@pytest.mark.parametrize("jit", [traceir_numba.jit, by_reference])
def test_a_call_that_is_made_again_changes_nothing_twice(jit: Function) -> None:
    x = np.zeros(2)
    assert jit(written)(x, np.int64(MORE)) == (MORE, MORE)
    assert x.tolist() == [MORE, 0]
    assert jit(inner)(np.int64(MORE)) == inner(MORE)
    assert jit(in_turns)(np.array([4, 3 * MORE, 0])) == in_turns([4, 3 * MORE, 0])


def test_what_is_drawn_and_printed_is_so_once(capsys: Any) -> None:
    np.random.seed(0)
    wanted, after = drawn(MORE), np.random.random()
    np.random.seed(0)
    assert np.array_equal(traceir_numba.jit(drawn)(float(MORE)), wanted)
    assert np.random.random() == after
    assert traceir_numba.jit(printed)(np.int64(MORE)) == MORE
    assert capsys.readouterr().out == "the first\n"


def test_room_in_programs_around() -> None:
    f = traceir_numba.jit(counting)
    assert traceir.jit(lambda n: f(n) + 1)(MORE) == counting(MORE) + 1
    slope = traceir.jvp(lambda x: f(x * MORE), (1.0,), (1.0,))
    assert slope[0] == counting(MORE)


def test_a_derivative_that_would_need_each_turn() -> None:
    def multiples(x: Any, n: Any) -> Any:
        out = []
        while len(out) < n:
            out.append(x * len(out))
        return sum(out)

    f = traceir_numba.jit(multiples)
    assert traceir.jvp(lambda x: f(x, np.int64(4)), (2.0,), (1.0,)) == (12, 6)
    with raises_rule("control.reverse-mode", ValueError):
        traceir.grad(f)(2.0, np.int64(4))


@pytest.mark.parametrize(
    "around",
    [
        lambda f: traceir.vmap(f)(np.array([2, MORE])),
        lambda f: traceir.jit(traceir.vmap(f))(np.array([2, MORE])),
        lambda f: lax.map(f, np.array([2, MORE])),
        lambda f: traceir.make_jaxpr(f)(np.int64(2)),
    ],
    ids=["vmap", "jit of vmap", "map", "make_jaxpr"],
)
def test_programs_that_could_not_tell_that_a_list_is_full(around: Function) -> None:
    with raises_rule("staged.effect", TypeError, "a transform that does not know"):
        around(traceir_numba.jit(counting))


def anew(function: Function) -> Function:
    """The same function, whose lists have had no room yet."""
    return FunctionType(function.__code__, function.__globals__)


def endless(x: Any) -> Any:
    """A list without an end."""
    out: list[Any] = []
    while x > 0:
        out.append(x)
    return out


def test_lists_that_no_room_is_enough_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_model, "MOST_LIST_ROOM", 5000)
    with raises_rule("staged.effect", TypeError, "more than 5,000 elements"):
        traceir_numba.jit(endless)(1.0)
    compiled = traceir_numba.jit(anew(counting)).lower(np.int64(3)).compile()
    assert compiled(np.int64(3)) == counting(3)
    with raises_rule("staged.effect", TypeError, "program that is not traced again"):
        compiled(np.int64(MORE))
    np.random.seed(0)
    monkeypatch.setattr(cost_model, "LIST_ROOM_FACTOR", 2)
    with raises_rule("staged.effect", TypeError, "4,096 elements of a function that"):
        traceir_numba.jit(anew(drawn))(1e5)


def test_an_element_of_a_list_that_is_empty() -> None:
    def first(x: Any) -> Any:
        stack: list[Any] = []
        if x > 0:
            stack.append(x)
        return stack.pop()

    f = traceir_numba.jit(first)
    assert f(2.0) == 2.0
    with raises_rule("index.bounds", IndexError):
        f(-2.0)


# Arrays -------------------------------------------------------------------------------


def named(x: Any) -> Any:
    """An array with another name, by which it is written to."""
    found: list[Any] = []
    y = x * 1.0
    for v in x:
        if v > 0:
            found.append(y)
        y[0] += 1
    return found


def in_each_turn(x: Any) -> Any:
    """The same, in each turn."""
    found: list[Any] = []
    y = x * 1.0
    for _ in range(len(x)):
        y[0] += 1
        found.append(y)
    return found


def afterwards(x: Any) -> Any:
    """An array that is written to after the loop."""
    found: list[Any] = []
    for v in x:
        y = x * v
        found.append(y)
    y[0] = 9
    return found


def at_first(x: Any) -> Any:
    """The first element, which has another name."""
    y = x * 1.0
    found = [y]
    for v in x:
        if v > 0:
            found.append(x * v)
    y[0] = 9
    return found


def set_anew(x: Any) -> Any:
    """An element that is set."""
    found = [x * 1.0]
    y = x * 2
    for v in x:
        if v > 0:
            found.append(x * v)
            found[0] = y
    return found


@pytest.mark.parametrize("function", [named, at_first, set_anew])
def test_arrays_with_other_names_are_no_elements(function: Function) -> None:
    with raises_rule("staged.effect", TypeError):
        traceir_numba.jit(function)(np.arange(6.0))


@pytest.mark.parametrize("function", [in_each_turn, afterwards])
def test_a_loop_that_appends_them_is_run_by_python(function: Function) -> None:
    x = np.arange(6.0)
    found = traceir_numba.jit(function)(x)
    np.testing.assert_array_equal(found, function(x))


def test_arrays_of_a_list_that_grows_are_read_alone() -> None:
    def changed(x: Any) -> Any:
        found: list[Any] = []
        for v in x:
            if v > 0:
                found.append(x * v)
        found[0][1] = 5
        return found

    with raises_rule("update.readonly", ValueError):
        traceir_numba.jit(changed)(np.arange(6.0))


# What is among others ----------------------------------------------------------------


def among(x: Any, several: Any) -> Any:
    """Membership of numbers that are traced, in containers that are known, and not."""
    counts = [0, 0, 0, 0, 0, 0]
    for v in x:
        counts[0] += v in (1, 2, 3)
        counts[1] += v in {4, 5}
        counts[2] += v in range(6, 20, 3)
        counts[3] += v not in [7, 8, "no number"]
        counts[4] += v in several
        counts[5] += v in range(20, 2, -4) and 3 in several and "a" in "abc"
    return counts, x[0] in [x[1], x[2]]


def test_what_is_among_others() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        args = np.arange(25), np.array([1, 3, 9])
        compare(traceir_numba.jit(among)(*args), among(*args))


# What changes Python's own state -----------------------------------------------------


def by_an_alias(x: Any) -> Any:
    """A method under another name."""
    out: list[Any] = []
    add = out.append
    for v in x:
        if v > 0:
            add(1)
    return len(out)


def by_a_heap(x: Any) -> Any:
    """A list with two names, and a function in C."""
    out: list[Any] = []
    other = out
    for i in range(len(x)):
        if x[i] > 0:
            heapq.heappush(out, 3)
    return len(other)


def by_an_operator(x: Any) -> Any:
    """An element of a list with two names."""
    out = [0, 0]
    other = out
    for v in x:
        if v > 0:
            operator.setitem(other, 0, 1)
    return out


def by_an_attribute(x: Any) -> Any:
    """An object's attribute."""
    one = SimpleNamespace(n=0)
    for v in x:
        if v > 0:
            setattr(one, "n", one.n + 1)  # noqa: B010  it is asked for
    return one.n


def by_an_iterator(x: Any) -> Any:
    """The next item, on one side."""
    numbers = itertools.count()
    total = 0
    for v in x:
        if v > 0:
            total += next(numbers)
    return total


CHANGES = [by_an_alias, by_a_heap, by_an_operator, by_an_attribute, by_an_iterator]


@pytest.mark.parametrize("function", CHANGES)
def test_what_is_changed_once_is_refused(function: Function) -> None:
    with raises_rule("staged.effect", TypeError):
        traceir_numba.jit(function)(np.array([1.0, -1, 2, 3, -2, 1]))


def all_known(x: Any) -> Any:
    """The same, in turns that Python runs."""
    out: list[Any] = []
    one, numbers, total = SimpleNamespace(n=0), itertools.count(), 0
    for _ in range(len(x)):
        list(map(out.append, [1]))
        heapq.heappush(out, 3)
        setattr(one, "n", one.n + 1)  # noqa: B010  it is asked for
        total += next(numbers)
    return len(out), one.n, total


def test_what_python_runs_changes_what_it_has() -> None:
    x = np.ones(6)
    assert traceir_numba.jit(all_known)(x) == all_known(x)
