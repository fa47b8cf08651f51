"""Writes what JAX gives for every call: `make record-types` runs it with JAX."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from result_types.calls import WAYS, Call, calls
from result_types.misuse import mistaken
from result_types.recorded import MISUSE, TYPES, Table, read, written
from result_types.running import Library

# JAX keeps a program for each call; those of more calls take too much memory.
KEPT = 400


def types(jax: Library, pattern: str) -> Iterator[tuple[str, Table]]:
    """The types of the results of calls."""
    for call in _some(calls(), pattern, jax):
        for way in WAYS:
            kinds = call.kinds(way)
            if kinds:
                found = map(_nearest, jax.types(call, kinds, way))
                yield f"{way} {call.text}", dict(zip(kinds, found, strict=True))


def misuse(jax: Library, pattern: str) -> Iterator[tuple[str, Table]]:
    """The outcomes of calls with something wrong in them."""
    wrong = dict(mistaken())
    for call in _some(wrong, pattern, jax):
        kind, mistakes = _sound(jax, call), wrong[call]
        if kind is not None:
            kinds = (kind,) * len(call.varied)
            found = jax.mistaken(call, list(mistakes.values()), kinds)
            pairs = zip(mistakes, map(_nearest, found), strict=True)
            yield f"{kind} {call.text}", {(name,): text for name, text in pairs}


def _some(all_calls: Iterable[Call], pattern: str, jax: Library) -> Iterator[Call]:
    """The calls that a pattern is found in."""
    chosen = [call for call in all_calls if re.search(pattern, call.text)]
    for k, call in enumerate(chosen):
        yield call
        if k % KEPT == KEPT - 1:
            print(f"{k} of {len(chosen)} calls", file=sys.stderr)
            jax.root.clear_caches()


def _nearest(outcome: str) -> str:
    """An outcome with the nearest class of an exception alone."""
    return outcome.partition(",")[0] if outcome.startswith("!") else outcome


def _sound(jax: Library, call: Call) -> str | None:
    """A kind of operands with which there is nothing wrong with the call."""
    for kind in ("f32", "i32", "bool", "c64"):
        (found,) = jax.types(call, [(kind,) * len(call.varied)], "x32")
        if not found.startswith("!"):
            return kind
    return None


def main(pattern: str = "") -> None:
    """Write both files anew, or what they have of the calls that a pattern is in."""
    jax = Library("jax")
    named = {call.text for call in calls()}
    for record, tables in ((TYPES, types), (MISUSE, misuse)):
        old = read(record).items() if pattern else ()
        kept = {n: t for n, t in old if n.partition(" ")[2] in named}
        record.write_text(written(kept | dict(tables(jax, pattern))))


if __name__ == "__main__":
    main(*sys.argv[1:])
