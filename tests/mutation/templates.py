"""Mutants of one template of a derivative: each computes something slightly different.

>>> list(mutants("c = cos x; mul t c", Siblings(), ("cos", "sin"), ("x", "t")))
['c = sin x; mul t c', 'c = cos t; mul t c', 'c = cos x; mul x c', 'c = cos x; mul t t']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mutation import operators
from mutation.operators import Siblings, after

_PART = re.compile(r"\{[^{}]*\}|[^\s{}]+")
_HOLE = re.compile(r"\{([^{}]*)\}")
# What swapping two operands leaves as it is.
COMMUTES = frozenset({"mul", "add", "add_any", "max", "min", "eq", "ne", "and", "or"})


def mutants(
    text: str, siblings: Siblings, unary: Sequence[str], names: Sequence[str]
) -> Iterator[str]:
    """The template with one thing changed, for each thing; each mutant once.

    `unary` are the primitives that may stand for one another, `names` the values that
    the template knows before its first statement.
    """
    statements = [part.strip() for part in text.split(";")]
    seen, known = {text}, list(names)
    for n, statement in enumerate(statements):
        for other in _changed(statement, known, unary):
            mutant = "; ".join([*statements[:n], other, *statements[n + 1 :]])
            if mutant not in seen:
                seen.add(mutant)
                yield mutant
        known += statement.partition(" = ")[0].split() if " = " in statement else []
    for hole in _HOLE.finditer(text):
        for other in operators.mutants(hole[1], siblings):
            mutant = f"{text[: hole.start(1)]}{other}{text[hole.end(1) :]}"
            # A hole ends at the first brace, so a formula in it can have none.
            if not {"{", "}"} & {*other} and mutant not in seen:
                seen.add(mutant)
                yield mutant


def _changed(
    statement: str, known: Sequence[str], unary: Sequence[str]
) -> Iterator[str]:
    """A statement with another primitive or operand, or with two that are swapped."""
    head, equals, applied = statement.rpartition(" = ")
    before, operands = _split(applied)
    prim = before.partition("[")[0]
    if prim in unary and prim == before and (other := after(prim, tuple(unary))):
        yield " ".join([f"{head}{equals}{other}", *operands])
    for n, operand in enumerate(operands):
        for other in _others(operand, known):
            put = [*operands[:n], other, *operands[n + 1 :]]
            yield f"{head}{equals}{' '.join([before, *put]).strip()}"
    for n in range(0 if prim in COMMUTES else len(operands) - 1):
        put = [*operands[:n], operands[n + 1], operands[n], *operands[n + 2 :]]
        yield f"{head}{equals}{' '.join([before, *put]).strip()}"


def _split(applied: str) -> tuple[str, list[str]]:
    """The primitive with its params, and its operands; a bare value has none before."""
    end = applied.find("]") if "[" in _HOLE.sub("", applied) else -1
    if end >= 0:
        bare = _HOLE.sub(lambda hole: "." * len(hole[0]), applied)
        end = bare.index("]") + 1
        return applied[:end], _PART.findall(applied[end:])
    parts = _PART.findall(applied)
    return ("", parts) if len(parts) < 2 else (parts[0], parts[1:])


def _others(operand: str, known: Sequence[str]) -> Iterator[str]:
    """The replacements of an operand: another value, another number."""
    if operand in known:
        other = after(operand, tuple(known))
        yield from [other] if other else []
    elif re.fullmatch(r"-?\d+", operand):
        yield str(int(operand) + 1)
    elif re.fullmatch(r"-?\d+\.\d+", operand):
        yield str(float(operand) + 1)
