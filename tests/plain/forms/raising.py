"""Functions that raise where a value decides. pytest leaves their assertions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]
V = np.arange(1.0, 7.0) / 8


class OwnError(Exception):
    """It takes other arguments than those of its base."""

    def __init__(self, place: int, value: float) -> None:
        self.place = place
        super().__init__(f"{place} has {value:.3f}")


def asserted(n: Any, x: Any) -> Any:
    """An assertion, an exception on a side, a result after them."""
    assert n > 0, "n must be positive"
    if n > 5:
        raise ValueError("too many", n)
    return x + n


def found(x: Any, v: Any) -> Any:
    """An exception of an own class in a loop, in a choice."""
    for i in range(len(x)):
        if x[i] == v:
            raise OwnError(i, x[i])
    return x[0]


def texts(n: Any, x: Any) -> Any:
    """Each way to write numbers into a text."""
    if n > 3:
        raise KeyError(f"{n:>4}|{x[0]:.3e}|{x[1]!r}", (x[2], n), str(x[3]), repr(n))
    assert n < 3, "%5.2f%% and %s, %d" % (x[0], x[1], n)  # noqa: UP031  # the form in question
    return "{}".format(2) and n  # noqa: UP032  # the form in question


def in_order(x: Any, n: Any) -> Any:
    """A place outside, or an assertion: what comes first in time."""
    total = 0.0
    for i in range(n):
        assert x[i] < 0.7, f"{i}: {x[i]}"
        total += x[i]
    return total


def two_lines(x: Any, places: Any) -> Any:
    """Places on two sides of a choice."""
    total = 0.0
    for i in range(places.shape[0]):
        if places[i] > 2:
            total += x[places[i]]
        else:
            total -= x[places[i] - 2]
    return total


def divided(n: Any, x: Any) -> Any:
    """A loop that would not end after its assertion."""
    assert n > 1, f"n is {n!r}"
    count = 0
    while x > 0:
        x = x // n
        count += 1
    return count


def followed(after: Any, x: Any) -> Any:
    """A loop in a loop that would not end after what fails below it."""
    count = 0
    for turn in range(5):
        i = 0
        while i >= 0:
            i = after[i]
            if count > 50:
                raise RuntimeError("a cycle", count)
            count += 1
        assert x[turn] > 0
    return count


def sought(x: Any, v: Any) -> Any:
    """A loop whose test reads places."""
    i = 0
    while x[i] != v:
        i += 1
    return i


def unbound_after_a_loop(x: Any, n: Any) -> Any:
    """A name that no turn may have set."""
    for i in range(n):
        last = x[i]
    return last


def unbound_on_a_side(x: Any, n: Any) -> Any:
    """A name that one side sets."""
    if n > 3:
        scale = 2.0
    x[0] = 9.0
    return x * scale


def always(n: Any) -> Any:
    """A loop whose turns raise."""
    for i in range(n):
        raise StopAsyncIteration(i)
    return n


def forever(n: Any) -> Any:
    """The same with a test."""
    while n > 3:
        raise LookupError
    return n


def too_short(x: Any, n: Any) -> Any:
    """A known place, on a side that may not be taken, in a loop that may not run."""
    if n > 3:
        x[0] = x[6]
    for _ in range(n - 8):
        x[1] += x[9]
    return x[0]


def captured_place(x: Any, k: Any) -> Any:
    """A place from outside of the loop."""
    total = 0.0
    for _ in range(10):
        total += x[k]
    return total


def refused_side(n: Any) -> Any:
    """An assertion that never holds."""
    if n > 3:
        assert False, "never"  # noqa: B011  # the form in question
    return n


def of_helper(v: Any) -> Any:
    """A helper that raises."""
    if v < 0:
        raise OwnError(-1, v)
    return v * 2


def calling(x: Any) -> Any:
    """The exception of a function that is called in a loop."""
    total = 0.0
    for v in x:
        total += of_helper(v)
    return total


def no_break(x: Any, v: Any) -> Any:
    """The `else` of a loop."""
    for i in range(len(x)):
        if x[i] == v:
            break
    else:
        raise LookupError("none is", v)
    return i


def expressions(x: Any, k: Any) -> Any:
    """Places in expressions that choose."""
    return x[k] if k < 7 and x[k] > 0.3 else x[k - 7]


def stepping(x: Any, step: Any) -> Any:
    """A step that may be 0."""
    total = 0.0
    for i in range(0, 5, step):
        total += x[i]
    return total


def handled_on_a_side(x: Any, n: Any) -> Any:
    """An exception that the side takes itself, and one that is known."""
    if n > 3:
        try:
            raise KeyError(n)
        except KeyError:
            x[1] = 5.0
    try:
        x[2] = x[6]
    except IndexError:
        x[2] = 0.0
    return x.sum()


def other_handler(x: Any, k: Any) -> Any:
    """A handler of other exceptions."""
    try:
        return x[k]
    except KeyError:
        return x[0]


def after_writes(x: Any, n: Any) -> Any:
    """Writes before what fails."""
    x[0] = 5.0
    for i in range(n):
        x[i] += 1.0
    if n > 3:
        raise ValueError(x[0])
    return x.sum()


def either(x: Any, k: Any) -> Any:
    """A choice whose sides both raise, inside of another one."""
    if k > 5:
        return x * 2
    elif k > 2:
        raise ValueError("more than 2")
    else:
        raise KeyError("2 at most")


def in_any_case(x: Any, k: Any) -> Any:
    """A function that only raises, by a value."""
    if x[k] > 2:
        raise ValueError("large")
    else:
        raise KeyError("small")


def without_result(x: Any, k: Any) -> None:
    """A function that returns nothing, and may raise."""
    if x[k] > 0.5:
        raise ValueError("large")


# Functions with arguments for which they raise, or do not.
def divided_by_known(x: Any) -> Any:
    """A known zero, where a choice comes to it."""
    found = 1
    if x[0] > 1:
        found = 3 // len(x[:0])
    return found + x[0]


def looked_up(x: Any) -> Any:
    """A key that there is not, and a place of a list."""
    names = {"a": 1.0}
    found = names["b"] if x[0] > 1 else 2.0
    if x[1] > 1:
        found = [1.0, 2.0][3]
    return found


RAISING: list[tuple[Function, tuple[Any, ...]]] = [
    *((asserted, (n, V)) for n in (-1, 2, 7)),
    *((found, (V, v)) for v in (0.5, 9.0)),
    *((texts, (n, V)) for n in (2, 3, 4)),
    *((in_order, (V * scale, n)) for scale, n in ((1, 5), (1, 9), (0.5, 9), (0.5, 3))),
    *((two_lines, (V, np.array(p))) for p in ([0, 3, 9, 7], [3, -5, 9], [3, 1])),
    *((divided, (n, 5)) for n in (0, 1, 2)),
    *((followed, (np.array(p), V)) for p in ([1, 0], [1, -1], [1, 7])),
    (followed, (np.array([1, -1]), -V)),
    *((sought, (V, v)) for v in (0.5, 9.0)),
    *((unbound_after_a_loop, (V, n)) for n in (0, 3)),
    *((unbound_on_a_side, (V, n)) for n in (1, 5)),
    *((function, (n,)) for function in (always, forever) for n in (0, 5)),
    *((too_short, (V, n)) for n in (0, 5, 9)),
    *((captured_place, (V, k)) for k in (2, 6, -7)),
    *((refused_side, (n,)) for n in (2, 5)),
    *((calling, (x,)) for x in (V, V - 0.5)),
    *((no_break, (V, v)) for v in (0.5, 9.0)),
    *((expressions, (V, k)) for k in (0, 3, 6, 7, 13)),
    *((stepping, (V, step)) for step in (2, 0)),
    *((handled_on_a_side, (V, n)) for n in (2, 5)),
    *((other_handler, (V, k)) for k in (2, 6)),
    *((either, (V, np.array(k))) for k in (1, 3, 6)),
    *((in_any_case, (V, np.array(k))) for k in (0, 3)),
    *((without_result, (V, np.array(k))) for k in (5, 5, 5, 0)),
    *((after_writes, (V, n)) for n in (2, 5, 9)),
    *((divided_by_known, (np.array([k, 0.0]),)) for k in (1.0, 2.0)),
    *((looked_up, (np.array(p),)) for p in ([0.0, 0.0], [2.0, 0.0], [0.0, 2.0])),
]
