"""Side exits: a check that fails leaves its loop, and costs no other turn anything.

Serves: index.bounds, staged.raised
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba
from traceir.ir.jaxpr import subjaxprs
from traceir.text.parser import parse
from traceir_numba import backend
from traceir_numba.lowering.side_exits import with_side_exits
from traceir_numba.store.keys import program_key


def counted(places: Any, counts: Any) -> Any:
    """Counts at places that are data."""
    for k in range(places.size):
        counts[places[k] + 1] += 1
    return counts


def transposed(rows: Any, starts: Any, first: Any) -> Any:
    """Rows whose ends are data, in loops whose bounds are; three places a turn."""
    out = np.zeros(rows.size)
    for i in range(starts.size - 1):
        for k in range(starts[i], starts[i + 1]):
            at = first[rows[k]]
            out[at] = i + k
            first[rows[k]] += 1
    return out


def followed(links: Any, start: Any, most: Any) -> Any:
    """A walk that would never end after a link to nowhere; two checks of one turn."""
    seen = np.zeros(links.size, np.int64)
    at, steps = start, 0
    while seen[at] == 0:
        seen[at] = 1
        at = links[at]
        steps += 1
        if steps > most:
            raise AssertionError(f"{steps} steps to {at}")
    # What failed before leaves nothing behind that is outside of an array.
    for k in range(steps):
        seen[links[k]] += k
    return seen, at


def nested(table: Any, limits: Any) -> Any:
    """A check in a choice in a loop, one after that loop, and one that raises."""
    total = 0
    for i in range(limits.size):
        j = 0
        while j < limits[i]:
            if table[j] > 2:
                total += table[table[j] + j]
            j += 1
        if j == 3:
            continue
        total += limits[total % 20]
        if total > 9000:
            raise ValueError(f"{total} in turn {i}")
    return total


def listed(places: Any, table: Any) -> Any:
    """A loop whose turns each append a number."""
    found = []
    for place in places:
        found.append(table[place] * 2)
    return np.array(found)


def left(places: Any, table: Any) -> Any:
    """A loop that is left has found by then what is no place of another array."""
    at = 10**15
    for k in range(places.size):
        found = table[places[k]]
        at = found % 5
    counts = np.zeros(5, np.int64)
    for k in range(places.size):
        counts[at] += k
        at = counts[at] % 5
    return counts


I4 = np.int32
ROWS = np.array([0, 1, 2, 1], I4)
CALLS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (
        counted,
        [
            (np.array(places, dtype), np.zeros(4, np.int64))
            for places in ([0, 1, -1, 2, -5], [0, 3, 9], [1, -6, 5], [2, 100])
            for dtype in (np.int8, np.int64)
        ],
    ),
    (
        transposed,
        [
            (ROWS, np.array(starts, I4), np.array(first))
            for starts in ([0, 2, 2, 4], [0, 3, 9], [-3, 1, 4], [0, 2, -9, 1])
            for first in ([0, 1, 3], [0, -4, 1], [7, 0, 3], [2, 4, 0])
        ],
    ),
    (
        followed,
        [
            (np.array(links), start, most)
            for links in ([1, 2, 0], [2, 0, -1], [1, 5, 0], [1, 2, -4])
            for start, most in ((0, 5), (1, 1), (-2, 9), (3, 9))
        ],
    ),
    (
        nested,
        [
            (np.array(table), np.arange(15) % end)
            for table in ([1, 2, 0, 3], [0, 3, 1, -5], [30, 0, -3, 9], [5, 1, 0, 0])
            for end in (1, 3, 4, 5, 7)
        ],
    ),
    (left, [(np.arange(20) % end, np.arange(7)) for end in (3, 9, 7)]),
    (left, [(np.arange(20) - 1 - k, np.arange(25)) for k in (7, 25, 30)]),
    (listed, [([0, 2, -1], [1, 2, 3]), ([0, 3, 1], [1, 2, 3])]),
]


def outcome(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """The results and the arguments; or an exception, its line, and no argument that
    a compiled function has written to."""
    own = [np.array(a) if isinstance(a, (np.ndarray, list)) else a for a in given]
    try:
        found = function(*own)
    except (IndexError, AssertionError, ValueError) as error:
        if not hasattr(function, "__code__"):
            assert all(np.array_equal(a, b) for a, b in zip(own, given, strict=True))
        last = traceback.extract_tb(error.__traceback__)[-1]
        is_place = isinstance(error, IndexError)
        kind = IndexError if is_place else type(error)
        return kind, "" if is_place else str(error), last.lineno
    return repr((found, own))


@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_the_first_check_that_fails_is_raised(
    function: Callable[..., Any], calls: list[tuple[Any, ...]]
) -> None:
    jitted = traceir_numba.jit(function)
    failed = 0
    for given in calls:
        wanted = outcome(function, given)
        failed += type(wanted) is tuple
        assert outcome(jitted, given) == wanted, given
    assert 0 < failed < len(calls)


def test_an_error_shows_the_place_of_its_own_turn() -> None:
    places = np.array([1, 2, 77, 0, 99])
    for _ in range(2):
        with pytest.raises(IndexError, match="place 78 in dimension 0 of extent 4"):
            traceir_numba.jit(counted)(places, np.zeros(4, np.int64))


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_turns_have_a_branch_for_a_check_and_no_clamp(number: int) -> None:
    function, calls = CALLS[number]
    source = traceir_numba.jit(function).source(*calls[0])
    loops = source[source.index(f"def {function.__name__}_") :]
    assert not re.search("nearest|is_place", loops), loops
    assert re.search(r"^ +break$", loops, re.MULTILINE)


def test_a_long_loop_in_parts_ends_where_a_check_fails() -> None:
    # It looks for signals after some thousand turns of each loop.
    def sums(places: Any, table: Any) -> Any:
        total, k = 0, 0
        while k < places.size:
            for i in range(k, places.size):
                total += table[places[i]]
                if total > 10**6:
                    break
            k += 1
        return total

    places = np.zeros(200_000, np.int64)
    places[150_000] = 1
    with pytest.raises(IndexError, match="place 1 in dimension 0 of extent 1"):
        traceir_numba.jit(sums)(places, np.zeros(1, np.int64))


# A result that is chosen as the number of a failed check is.
CHOSEN = """{ lambda ; a:i32[6]. let
    b:i32[] c:i32[] = scan[
      jaxpr={ lambda ; d:i32[] e:i32[] f:i32[]. let
          g:bool[] = gt f 3
          h:bool[] = eq e 0
          i:bool[] = and g h
          j:i32[] = select_n i e 7
          k:i32[] = add d f
        in (k, j) }
      length=6
      num_carry=2
      num_consts=0
      reverse=False
      unroll=1
    ] 0 0 a
  in (b, c) }"""


def test_only_a_status_ends_a_loop() -> None:
    closed = parse(CHOSEN)
    a = np.array([1, 2, 9, 1, 1, 1], np.int32)
    total, chosen = backend.compile(closed, "chosen").run(a)
    assert (total, chosen) == (15, 7)
    assert backend.compile(closed, "chosen", (), 1).run(a)[1] == 7
    exits = [
        inner
        for eqn in with_side_exits(closed, 1).eqns
        for program in subjaxprs(eqn)
        for inner in program.eqns
        if "exits" in dict(inner.params)
    ]
    assert [dict(eqn.params)["exits"] for eqn in exits] == [(0,)]
    assert program_key(closed, "chosen") != program_key(closed, "chosen", (), 1)
