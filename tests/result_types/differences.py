"""Differences from JAX; those that are known stand in a file.

What is wanted is what JAX gives, or an exception that is caught by whoever catches its.
The rows of `records/result-differences.txt` are those for which another is given:

- where JAX refuses what has a meaning here, or gives what has none (an attention of
  truth values, lengths below zero, a table of counts of integers in eight bits);
- where the Array API standard asks for another type: products of narrow integers;
- where JAX's type depends on whether its formula has a typed constant in it: then a
  result is weak or strong, or an exception is of this class or that, by accident;
- where JAX has a type and no value: matrices in half precision, which LAPACK has not;
- where a caller converts in JAX and need not here: SciPy's functions of integers,
  attention of two types;
- where JAX cannot tell what is known here: partitions of complex numbers, derivatives
  of updates;
- where NumPy's form is given: the path of `einsum_path` is the one that NumPy takes;
- where JAX hands back a Python number that a loop did not change.

`python -m result_types.differences` writes the file anew. A row may go, and should; one
that is new is a fault, or needs a reason above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from result_types.calls import WAYS, Call, Kinds, calls
from result_types.misuse import mistaken
from result_types.recorded import DIFFERENCES, MISUSE, TYPES, Table, read, written
from result_types.running import Library

Ask = Callable[[list[Kinds]], list[str]]
# Exceptions that JAX met somewhere inside: nobody catches them for what was wrong.
ACCIDENTS = {"AssertionError", "AttributeError", "KeyError", "NameError"}
ACCIDENTS |= {"RuntimeError", "RecursionError", "StopIteration", "UnboundLocalError"}


def agrees(wanted: str, got: str) -> bool:
    """True if an outcome is what was recorded, or caught by whoever catches that."""
    if wanted.startswith("!") and got.startswith("!"):
        names = got[1:].split(",")
        accident = wanted[1:] in ACCIDENTS and "TraceirError" in names
        return accident or wanted[1:] in names
    return wanted == got


def asked(ours: Library) -> Iterator[tuple[str, Table, Ask]]:
    """The record of each call, by its name, and the same call here."""
    recorded = read(TYPES)
    for call in calls():
        for way in WAYS:
            if kinds := call.kinds(way):
                name = f"{way} {call.text}"
                _check(name, recorded, kinds)
                yield name, recorded[name], _typed(ours, call, way)
    recorded = read(MISUSE)
    sound = {name.partition(" ")[2]: name for name in recorded}
    for call, mistakes in mistaken():
        if name := sound.get(call.text):
            _check(name, recorded, [(mistake,) for mistake in mistakes])
            yield name, recorded[name], _mistaken(ours, call, mistakes, name)


def _check(name: str, recorded: dict[str, Table], kinds: list[Kinds]) -> None:
    """Raise AssertionError if what was recorded is not what is called now."""
    table = recorded.get(name, {})
    assert table.keys() == set(kinds), f"{name} is not recorded: make record-types"


def _typed(ours: Library, call: Call, way: str) -> Ask:
    return lambda kinds: ours.types(call, kinds, way)


def _mistaken(ours: Library, call: Call, mistakes: dict[str, Call], name: str) -> Ask:
    kinds = (name.partition(" ")[0],) * len(call.varied)
    return lambda some: ours.mistaken(call, [mistakes[n] for (n,) in some], kinds)


def main() -> None:
    """Write the file of differences."""
    found: dict[str, Table] = {}
    for name, table, ask in asked(Library("traceir")):
        got = zip(table.items(), ask(list(table)), strict=True)
        other = {kinds: one for (kinds, want), one in got if not agrees(want, one)}
        if other:
            found[name] = other
    DIFFERENCES.write_text(written(found))


if __name__ == "__main__":
    main()
