"""Writes what JAX gives for every call: `make record-types` runs it with JAX."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from result_types.calls import WAYS, Call, calls
from result_types.misuse import mistaken
from result_types.recorded import MISUSE, TYPES, Table, written
from result_types.running import Library

# JAX keeps a program for each call; those of more calls take too much memory.
KEPT = 400


def types(jax: Library) -> Iterator[tuple[str, Table]]:
    """The types of the results of every call."""
    for k, call in enumerate(calls()):
        if k % KEPT == KEPT - 1:
            print(f"{k} calls", file=sys.stderr)
            jax.root.clear_caches()
        for way in WAYS:
            kinds = call.kinds(way)
            if kinds:
                found = map(_nearest, jax.types(call, kinds, way))
                yield f"{way} {call.text}", dict(zip(kinds, found, strict=True))


def misuse(jax: Library) -> Iterator[tuple[str, Table]]:
    """What comes of calls with something wrong in them."""
    for k, (call, mistakes) in enumerate(mistaken()):
        if k % KEPT == KEPT - 1:
            print(f"{k} wrong calls", file=sys.stderr)
            jax.root.clear_caches()
        kind = _sound(jax, call)
        if kind is not None:
            kinds = (kind,) * len(call.varied)
            found = jax.mistaken(call, list(mistakes.values()), kinds)
            pairs = zip(mistakes, map(_nearest, found), strict=True)
            yield f"{kind} {call.text}", {(name,): text for name, text in pairs}


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


def main(only: str) -> None:
    """Write both files, or one of them."""
    jax = Library("jax")
    for path, rows in ((TYPES, types), (MISUSE, misuse)):
        if only in path.name:
            path.write_text(written(dict(rows(jax))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
