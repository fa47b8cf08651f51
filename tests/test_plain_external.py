"""Plain functions that change or ask what is outside of them: refused by name and line.

Rules: update.external, face.external, face.random, cache.strict.capture
"""

from __future__ import annotations

import datetime
import itertools
import os
import random
import threading
import time
from collections.abc import Callable
from inspect import isbuiltin
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule
from scipy import stats

import traceir_numba
from traceir.face.external import RandomModule, of_external

V = np.array([1.0, 2.0, -3.0])
N, LOG, COUNTS, TABLE, LAST = 0, [0], {"n": 0}, np.zeros(3), None
PLACES, NUMBERS, SQUARES = (
    iter(range(100)),
    itertools.count(),
    (k * k for k in range(9)),
)
BOX = {"rng": np.random.default_rng(1)}


class Counter:
    """An object that counts; with a generator, it is seen as a copy."""

    def __init__(self, **held: Any) -> None:
        self.n = 0
        self.__dict__.update(held)

    def step(self, x: Any) -> Any:
        """It counts its calls."""
        self.n += 1
        return x + self.n


def a_global(x: Any) -> Any:
    """It counts."""
    global N
    N += 1
    return x + N


def a_global_that_it_only_sets(x: Any) -> Any:
    """It keeps what it was given."""
    global LAST
    LAST = x
    return x + 1


def a_list(x: Any) -> Any:
    """It logs."""
    y = x + 1
    LOG.append(1)
    return y + len(LOG)


def a_helper(x: Any) -> Any:
    """It calls one that logs."""
    return a_list(x) * 2


def a_dict(x: Any) -> Any:
    """It counts."""
    COUNTS["n"] += 1
    return x + COUNTS["n"]


def an_array(x: Any) -> Any:
    """It counts."""
    TABLE[0] += 1
    return x + TABLE


def a_default(x: Any, seen: Any = []) -> Any:  # noqa: B006  # that is what is tested
    """It counts."""
    seen.append(1)
    return x + len(seen)


def an_attribute_of_itself(x: Any) -> Any:
    """It counts in an attribute of the function."""
    an_attribute_of_itself.n = getattr(an_attribute_of_itself, "n", 0) + 1  # type: ignore[attr-defined]
    return x + an_attribute_of_itself.n  # type: ignore[attr-defined]


class Shared:
    """A class that has a number."""

    n = 0


def an_attribute_of_a_class(x: Any) -> Any:
    """It counts in a class."""
    Shared.n += 1
    return x + Shared.n


def a_variable() -> Callable[[Any], Any]:
    """It counts in a variable of the function around."""
    n = 0

    def counting(x: Any) -> Any:
        nonlocal n
        n += 1
        return x + n

    return counting


class Keeper:
    """An object that keeps what it makes."""

    def __init__(self) -> None:
        self.pos = np.zeros(3)

    def move(self, x: Any) -> Any:
        """A result that is kept."""
        self.pos = self.pos + x
        return self.pos


class Deep:
    """Methods of its own that count and draw."""

    def __init__(self) -> None:
        self.noise = np.random.default_rng(8)

    def count(self) -> None:
        """It logs."""
        LOG.append(1)

    @property
    def scale(self) -> int:
        """It reads a global."""
        return N + 2

    def logged(self, x: Any) -> Any:
        """It calls one that logs."""
        self.count()
        return x + len(LOG)

    def scaled(self, x: Any) -> Any:
        """It reads a property."""
        return x * self.scale


CHANGES: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("the global N was", r"N \+= 1", a_global),
    ("the global LAST", "LAST = x", a_global_that_it_only_sets),
    (r"the global LOG was \[0, 1\]", "LOG.append", a_list),
    ("which a_list reads was", "LOG.append", a_helper),
    ("the global COUNTS", "COUNTS\\[", a_dict),
    ("the global TABLE", "TABLE\\[0\\]", an_array),
    ("a default", "seen.append", a_default),
    ("the variable n", "n \\+= 1", a_variable()),
    (r"Counter\(n=1\), then", "self.n \\+= 1", Counter().step),
    ("pos=array", "self.pos", Keeper().move),
    ("the global an_attribute", "an_attribute_of_itself, ", an_attribute_of_itself),
    ("the global LOG", r"LOG\.append", Deep().logged),
    ("the global Shared", r"Shared\.n \+= 1", an_attribute_of_a_class),
    ("n=1", "self.n \\+= 1", Counter(rng=np.random.default_rng()).step),
    ("PLACES", "lambda", lambda x: x + next(PLACES)),
    ("NUMBERS", "lambda", lambda x: x + next(NUMBERS)),
    ("SQUARES", "k \\* k", lambda x: x + next(SQUARES)),
    ("BOX", "lambda", lambda x: x + BOX["rng"].random(3)),
    ("generator of numpy.random", "rvs", lambda x: x + stats.norm.rvs(size=3)),
]


def test_a_change_outside_is_refused_and_undone() -> None:
    for got, line, function in CHANGES:
        with raises_rule("update.external", TypeError, rf"(?s){got}.*\n.*{line}"):
            traceir_numba.jit(function)(V)
    assert Shared.n == 0 and not vars(an_attribute_of_itself)
    assert (N, LAST, LOG, COUNTS["n"], TABLE.sum()) == (0, None, [0], 0, 0)
    assert a_default.__defaults__ == ([],)
    assert Counter().step(0) == 1


MEMO: dict[int, Any] = {}


def test_what_is_set_up_once_is_no_change() -> None:
    def kept(x: Any) -> Any:
        if len(x) not in MEMO:
            MEMO[len(x)] = len(x) ** 2
        return x * MEMO[len(x)]

    assert traceir_numba.jit(kept)(V).tolist() == (V * 9).tolist()
    assert MEMO == {3: 9}


def opened() -> str:
    """The contents of a file."""
    with open(os.devnull) as file:
        return file.read()


ASKING: list[tuple[str, Callable[[Any], Any]]] = [
    ("time", lambda x: x + time.time()),
    ("perf_counter_ns", lambda x: x + time.perf_counter_ns()),
    ("clock_gettime", lambda x: x + time.clock_gettime(time.CLOCK_REALTIME)),
    ("strftime", lambda x: x + float(time.strftime("%S"))),
    ("times", lambda x: x + os.times().elapsed),
    ("stat", lambda x: x + os.stat(os.devnull).st_mtime),
    ("listdir", lambda x: x + len(os.listdir())),
    ("datetime.now", lambda x: x + datetime.datetime.now().year),
    ("urandom", lambda x: x + len(os.urandom(3))),
    ("open", lambda x: x + len(opened())),
    ("input", lambda x: x + float(input())),
    ("loadtxt", lambda x: x + np.loadtxt(os.devnull)),
]


def test_what_another_call_would_hear_otherwise_is_not_asked() -> None:
    for name, function in ASKING:
        with raises_rule("face.external", TypeError, rf"{name}\(\)"):
            traceir_numba.jit(function)(V)
    for function in (lambda x: x + np.random.bytes(2), lambda x: random.shuffle([x])):
        with raises_rule("face.random", TypeError, "bytes|list"):
            traceir_numba.jit(function)(V)


def test_every_function_of_time_is_asked_for_or_tells_none() -> None:
    quiet = {"sleep", "strptime", "tzset", "mktime", "get_clock_info", "clock_getres"}
    quiet |= {"clock_settime", "clock_settime_ns", "pthread_getcpuclockid"}
    told = {n for n, f in vars(time).items() if isbuiltin(f) and of_external(f) is f}
    assert told <= quiet
    assert np.sum(traceir_numba.jit(lambda x: [time.sleep(0), x][1])(V)) == 0


def test_outside_of_a_trace_what_is_refused_is_itself() -> None:
    module = RandomModule("numpy.random")
    assert module.get_bit_generator() is np.random.get_bit_generator()


def test_strict_sees_the_attributes_of_a_class() -> None:
    jitted = traceir_numba.jit(lambda x: x + Shared.n, strict=True)
    assert jitted(V).tolist() == V.tolist()
    Shared.n = 4
    try:
        with raises_rule("cache.strict.capture", RuntimeError, "global Shared"):
            jitted(V)
    finally:
        Shared.n = 0


def test_an_array_outside_is_not_written_to() -> None:
    def outer(x: Any) -> Any:
        TABLE[0] = x[0]
        return x

    with raises_rule("update.external", TypeError, r"TABLE\[0\]"):
        traceir_numba.jit(outer)(V)


@pytest.mark.parametrize("static", [False, True])
def test_strict_sees_what_methods_read(static: bool, monkeypatch: Any) -> None:
    method = Deep.scaled if static else Deep().scaled
    own = (Deep(),) if static else ()
    options: Any = {"static_argnums": 0} if static else {}
    jitted = traceir_numba.jit(method, strict=True, **options)
    assert jitted(*own, V).tolist() == (V * 2).tolist()
    monkeypatch.setitem(globals(), "N", 5)
    with raises_rule("cache.strict.capture", RuntimeError, "N, which scale reads"):
        jitted(*own, V)


def patient(x: Any) -> Any:
    """It lets other threads run while it is traced."""
    time.sleep(0.02)
    return x * 2


def test_what_other_threads_draw_is_not_the_functions() -> None:
    ends = threading.Event()

    def draw() -> None:
        while not ends.wait(0.001):
            random.random()
            np.random.random_sample()

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        assert traceir_numba.jit(patient)(V).tolist() == (V * 2).tolist()
    finally:
        ends.set()
        thread.join()
