"""Names of variables, and of programs that are used often.

Serves: text.names, text.inner-names, text.unused, text.shared
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import count
from string import ascii_lowercase

from traceir.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, Params, Var, programs_in
from traceir.rules import Prim, Rules
from traceir.text.lexer import NUMBER_WORDS
from traceir.text.shown import shown, written


def letters(number: int, digits: str = ascii_lowercase) -> str:
    """The name of the variable with that number, in those letters as digits.

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'ba')
    """
    found = ""
    while not found or number:
        number, digit = divmod(number, len(digits))
        found = digits[digit] + found
    return found


class VariableNames:
    """The variables' names, given out in the order in which they are first written.

    Each program has its own, so that an inner one may use its caller's again.
    """

    def __init__(self, taken: Collection[str], rules: Rules) -> None:
        digits = rules.form("text.names").letters
        self._unused = rules.form("text.unused").mark
        self._fresh: Iterator[str] = (
            name
            for name in (letters(number, digits) for number in count())
            if name not in taken and name not in NUMBER_WORDS
        )
        self._scopes: dict[int, dict[Var, str]] = {}

    def scope(self, jaxpr: Jaxpr) -> dict[Var, str]:
        """The names given so far in one program."""
        return self._scopes.setdefault(id(jaxpr), {})

    def of(self, jaxpr: Jaxpr, var: Var) -> str:
        """The variable's name, a fresh one when it has none yet."""
        names = self.scope(jaxpr)
        if var not in names:
            names[var] = next(self._fresh)
        return names[var]

    def given(self) -> dict[Var, str]:
        """All names given so far; the mark of what is unused is none."""
        scopes = self._scopes.values()
        pairs = (pair for scope in scopes for pair in scope.items())
        return {var: name for var, name in pairs if name != self._unused}

    def drop_unused(self, jaxpr: Jaxpr) -> None:
        """Mark the results that nothing in the outermost program uses."""
        mark = self._unused
        used = {a for a in jaxpr.outvars if isinstance(a, Var)}
        for eqn in jaxpr.eqns:
            used.update(a for a in eqn.inputs if isinstance(a, Var))
        blanks = {v: mark for e in jaxpr.eqns for v in e.outputs if v not in used}
        self.scope(jaxpr).update(blanks)

    def suggest(
        self, inner: Jaxpr, atoms: Sequence[Atom], outer: Jaxpr, like: Sequence[Atom]
    ) -> None:
        """Name `atoms` of `inner` as their counterparts in `outer`, where possible."""
        if len(atoms) != len(like):
            return
        names, used, dropped = self.scope(inner), set[Var](), []
        for atom, other in zip(atoms, like):
            if not (isinstance(atom, Var) and isinstance(other, Var)):
                continue
            if atom in names or atom in dropped or other in used:
                continue
            used.add(other)
            name = self.of(outer, other)
            if name == self._unused:
                dropped.append(atom)
            else:
                names[atom] = name
        if dropped and _blanks_are_clear(inner, dropped):
            names.update(dict.fromkeys(dropped, self._unused))


def _blanks_are_clear(jaxpr: Jaxpr, dropped: Sequence[Var]) -> bool:
    """True if a reader would take each `_` for the variable that is meant.

    Among the operands it must be the only one so far, among the results the next one.
    """
    blanks = set(dropped)
    defined: list[Var] = []
    for eqn in jaxpr.eqns:
        used = [a for a in eqn.inputs if isinstance(a, Var) and a in blanks]
        if any(defined != [v] for v in used):
            return False
        defined.extend(v for v in eqn.outputs if v in blanks)
    return [a for a in jaxpr.outvars if a in blanks] == defined


class SharedPrograms:
    """The programs that are written before the others, by name."""

    def __init__(self, full: bool, words: Collection[str]) -> None:
        self.full = full
        # What a bare word among params means already.
        self._words = words
        self.programs: list[tuple[str, ClosedJaxpr]] = []
        self._names: dict[Hashable, str] = {}

    def key(self, closed: ClosedJaxpr) -> Hashable:
        """The key of a program: equal for two uses of one; full text tells constants
        apart.
        """
        return id(closed.jaxpr), closed.const_keys() if self.full else None

    def name(self, closed: ClosedJaxpr) -> str | None:
        """The name of a shared program, or None."""
        return self._names.get(self.key(closed))

    def names(self) -> Collection[str]:
        """All names in use."""
        return self._names.values()

    def add(self, closed: ClosedJaxpr, name: str) -> None:
        """Give a program its name, made unique by a number."""
        unique = next(
            n
            for n in (f"{name}{k or ''}" for k in count())
            if n not in self._names.values() and n not in self._words
        )
        self._names[self.key(closed)] = unique
        self.programs.append((unique, closed))


def shared_programs(main: ClosedJaxpr, full: bool, rules: Rules) -> SharedPrograms:
    """The programs that occur twice or are long, in breadth-first order."""
    shared = SharedPrograms(full, {*NUMBER_WORDS, "None", *rules.dtypes})
    form = rules.form("text.shared")
    visits: dict[Hashable, int] = {}
    found: dict[Hashable, tuple[ClosedJaxpr, str]] = {}
    queue = deque([(main, "jaxpr")])
    while queue:
        closed, name = queue.popleft()
        key = shared.key(closed)
        found.setdefault(key, (closed, name))
        visits[key] = visits.get(key, 0) + 1
        if visits[key] > 2:
            continue  # a program used twice has all of its own counted twice by now
        for eqn in closed.eqns:
            row, pairs = written(eqn, full, rules)
            name = _program_name(row, pairs)
            queue.extend((inner, name) for inner in programs_in(pairs))
            queue.extend((inner, "jaxpr") for inner in shown(eqn, row).values())
    for key, (closed, name) in found.items():
        size, outermost = len(closed.eqns), closed is main
        if form.applies(uses=visits[key], equations=size, main=outermost):
            shared.add(closed, name)
    return shared


def _program_name(row: Prim | None, params: Params) -> str:
    """The name in the params, where the program itself bears it."""
    name = dict(params).get("name")
    if row is None or not row.names or not isinstance(name, str):
        return "jaxpr"
    return re.sub(r"\W", "_", name.strip("<>")) or "jaxpr"
