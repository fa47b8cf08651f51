"""The results as a page of the docs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.functions.contenders import NAMES, OWN, PATIENCE, THEMES
from benchmarks.rows import geometric_mean

NUMBA = "numba.njit"

PAGE = Path(__file__).parents[2] / "docs" / "plain.rst"
RESULTS = Path(__file__).parents[1] / "functions.json"
LOOPS = Path(__file__).parents[1] / "loops.json"
Row = dict[str, Any]
INTRODUCTION = """\
Written by ``make plain``, in one run. :file:`tests/plain` has {count} functions that
are written as one writes NumPy: with loops, masks, and updates in place. None of them
knows who will run it. Each is compiled by ``traceir_numba.jit``, by ``numba.njit``
and by ``jax.jit``; for JAX the name ``np`` is ``jax.numpy`` and x64 is on, and
nothing else is changed. NumPy arrays go in, float64 as a rule, with as many
processors as there are."""
MEANING = """\
A figure is *how many times NumPy's speed* the compiled function has: the median of
the ratios of one round, the implementations taking turns. Above 1 it is faster than
NumPy. For a function that does not run there is the class of the error, ``timeout``
({patience:.0f} s for the first call), or what differs from NumPy's result: ``other
dtype``, ``other values``, ``other shape``, ``argument kept`` for one that writes to
its argument and leaves it as it was. ``first`` is our first call, with tracing and
compiling, in seconds."""
ABOUT_LOOPS = """\
:file:`tests/plain/loops` has {count} functions whose work is in loops over elements,
as people write them for Numba; {works} of them run. Each has a process of its own, with
one thread, and is measured by itself: rows may be of several days. Seconds are the best
call's; above 1 the ratio says that ``traceir`` is faster. The last column is our first
call's time as a part of Numba's."""
ABOUT_THREADS = """\
Those of them that have a ``prange``, with two threads, beside
``numba.njit(parallel=True)``:"""

SLOWER = """\
Slower than NumPy here. NumPy gives views, and sorts, searches and multiplies matrices
in libraries that are ours, too: at best nothing is lost. Of a few numbers the call is
what costs time; and a view that is written to in another order of its dimensions is
copied twice:"""


def line(row: Row) -> str:
    """A row for the terminal."""
    return f"{row['name']:40} {_time(row['numpy']):>9}  " + "  ".join(
        f"{contender} {_cell(row[contender])} ({row[contender]['first']:.2f} s)"
        for contender in NAMES
    )


def write() -> None:
    """Write the page from the records."""
    document = json.loads(RESULTS.read_text())
    loops = json.loads(LOOPS.read_text()) if LOOPS.exists() else {"rows": []}
    lines = (*_page(document), *_loops(loops["rows"]), *_threads(loops))
    PAGE.write_text("\n".join(lines) + "\n")


def _page(document: Mapping[str, Any]) -> Iterable[str]:
    rows = document["rows"]
    yield from ("Plain NumPy functions", "=====================", "")
    yield INTRODUCTION.format(count=len(rows)) + "\n"
    yield MEANING.format(patience=PATIENCE) + "\n"
    yield ", ".join(f"{name} {what}" for name, what in document["machine"].items())
    yield ""
    yield from _summary(rows)
    yield from _slowest(rows)
    for theme in THEMES:
        chosen = [row for row in rows if row["name"].startswith(f"{theme}.")]
        yield from (theme.capitalize(), "-" * len(theme), "")
        yield from _table(chosen)


def _loops(rows: list[Row]) -> Iterable[str]:
    """The table of loops, if they were measured."""
    if not rows:
        return
    works = sum(row.get(OWN, {}).get("status") == "works" for row in rows)
    yield from ("Loops over elements", "-------------------", "")
    yield ABOUT_LOOPS.format(count=len(rows), works=works) + "\n"
    yield from _beside_numba(rows)


def _threads(loops: Mapping[str, Any]) -> Iterable[str]:
    """The table of loops whose turns threads share, if they were measured."""
    if rows := loops.get("parallel"):
        yield from ("Two threads", "-----------", "")
        yield ABOUT_THREADS + "\n"
        yield from _beside_numba(rows)


def _beside_numba(rows: list[Row]) -> Iterable[str]:
    both = [row for row in rows if row.get("same")]
    mean = geometric_mean([r[NUMBA]["best"] / r[OWN]["best"] for r in both])
    yield f"On the {len(both)} that both run, ``{OWN}`` has {mean:.2f} times the speed"
    yield f"of ``{NUMBA}`` in the geometric mean."
    yield "\n.. list-table::\n   :header-rows: 1\n"
    yield from _row(("function", OWN, NUMBA, "ratio", "first call"))
    for row in rows:
        found = [row.get(who, {}) for who in (OWN, NUMBA)]
        cells = [_time(f["best"]) if "best" in f else "does not run" for f in found]
        ratios = ["", ""]
        if row.get("same"):
            own, other = found
            ratios[0] = f"{other['best'] / own['best']:.2f}"
            ratios[1] = f"{own['first'] / other['first']:.2f}"
        yield from _row((f"``{row['name']}``", *cells, *ratios))
    yield ""


def _summary(rows: list[Row]) -> Iterable[str]:
    yield from ("Summary", "-------", "", ".. list-table::\n   :header-rows: 1\n")
    titles = ("", "runs as NumPy", "with another dtype", "does not run")
    yield from _row((*titles, "geometric mean", "first call, median"))
    for contender in NAMES:
        found = Counter(row[contender]["status"] for row in rows)
        works, other = found.pop("works", 0), found.pop("other dtype", 0)
        failures = ", ".join(f"{what} {n}" for what, n in found.most_common())
        ratios = [row[contender]["ratio"] for row in rows if "ratio" in row[contender]]
        firsts = sorted(r[contender]["first"] for r in rows if "ratio" in r[contender])
        yield from _row(
            (
                contender,
                str(works),
                str(other),
                failures or "0",
                f"{geometric_mean(ratios):.2f} of {len(ratios)}" if ratios else "",
                f"{firsts[len(firsts) // 2]:.2f} s",
            )
        )
    yield ""
    for name in NAMES[1:]:
        both = [r for r in rows if "ratio" in r[OWN] and "ratio" in r[name]]
        mean = geometric_mean([r[OWN]["ratio"] / r[name]["ratio"] for r in both])
        yield (
            f"On the {len(both)} functions that both run, ``traceir`` has {mean:.2f} "
            f"times the speed of ``{name}``\nin the geometric mean."
        )
    yield ""


def _slowest(rows: list[Row]) -> Iterable[str]:
    slow = [row for row in rows if row[OWN].get("ratio", 0) < 1]
    if not slow:
        return
    yield SLOWER + "\n"
    for row in sorted(slow, key=lambda row: float(row[OWN].get("ratio", 0))):
        yield f"* ``{row['name']}``: {_cell(row[OWN])}"
    yield ""


def _table(rows: list[Row]) -> Iterable[str]:
    yield ".. list-table::\n   :header-rows: 1\n"
    yield from _row(("function", "arguments", "NumPy", *NAMES, "first"))
    for row in rows:
        name = f"``{row['name'].partition('.')[2]}``"
        given = ", ".join(row["arguments"])
        cells = [_cell(row[contender]) for contender in NAMES]
        first = f"{row[OWN]['first']:.2g}"
        yield from _row((name, given, _time(row["numpy"]), *cells, first))
    yield ""


def _cell(found: Mapping[str, Any]) -> str:
    ratio = f"{found['ratio']:.2f}" if "ratio" in found else ""
    if found["status"] == "works":
        return ratio
    return ", ".join(filter(None, (ratio, found["status"])))


def _time(seconds: float) -> str:
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} us"


def _row(cells: Iterable[str]) -> Iterable[str]:
    for k, cell in enumerate(cells):
        yield f"   {'* -' if k == 0 else '  -'} {cell}".rstrip()
