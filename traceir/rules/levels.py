"""Knowledge of values, and whose operations these are; compiled from rows.

Whatever a trace or a value asks on a hot path is a look-up here, in a table that is
made of the formulas of `levels.toml` when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from itertools import product
from typing import Literal

from traceir.base.caches import cached_property
from traceir.base.fast_dataclass import dataclass
from traceir.rules.formulas.language import Formula, compile_formula
from traceir.rules.formulas.table_errors import problem

# The way of running outside of all traces.
EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Transform:
    """A way of running a function: what it lets be known of the arguments.

    One that makes a trace `handles` all operations or only those on its `own` values;
    one that `keeps` what it has traced spares later calls from running the function.
    """

    id: str
    name: str
    knows: str
    says: str
    handles: Literal["all", "own"] | None = None
    keeps: bool = False

    @property
    def traces(self) -> bool:
        """True if it makes a trace."""
        return self.handles is not None


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of Python's to a value, and the knowledge that an answer needs.

    `code` is how `x` is asked.
    """

    id: str
    action: str
    code: str
    needs: str
    says: str


@dataclass(frozen=True, slots=True)
class Nesting:
    """A rule of the levels: whose an operation is (`level`), what `holds` of a value,
    how much of one is known (`knows`), what is answered (`answers`), what becomes a
    `literal`, how a function `runs`."""

    id: str
    says: str
    level: Formula | None = None
    holds: Formula | None = None
    knows: Formula | None = None
    answers: Formula | None = None
    literal: Formula | None = None
    runs: Formula | None = None


@dataclass(frozen=True, eq=False)
class Levels:
    """The knowledge of values, and the levels of traces."""

    knowledge: tuple[str, ...] = ()
    transforms: Mapping[str, Transform] = field(default_factory=dict)
    asks: Mapping[str, Ask] = field(default_factory=dict)
    nesting: Mapping[str, Nesting] = field(default_factory=dict)

    def permits(self, known: str, ask: str) -> bool:
        """True if the row `ask` has an answer where so much is `known`."""
        row = self.nesting.get("level.answer")
        if row is None or row.answers is None:
            return True
        needed = self.rank(self.asks[ask].needs)
        return bool(row.answers({"known": self.rank(known), "needed": needed}))

    def rank(self, knowledge: str) -> int:
        """The place of a step of knowledge; "never" is beyond all of them."""
        order = (*self.knowledge, "never")
        return order.index(knowledge)

    def within(self, outer: str, inner: str) -> str:
        """The knowledge of an argument that is passed on, from what was known of it and
        what the way in which the inner function runs lets be known.
        """
        row = self.nesting.get("level.strictest")
        if row is None or row.knows is None:
            return inner
        names = {"outer": self.rank(outer), "inner": self.rank(inner)}
        known: int = row.knows(names)
        return self.knowledge[known]

    def way(self, name: str) -> Transform:
        """The row of a way of running a function; RuleTableError (table.row)."""
        found = self.transforms.get(name)
        if found is None:
            raise problem("table.row", "levels.toml: transform", name)
        return found

    # Look-ups -----------------------------------------------------------------------

    @cached_property
    def answered(self) -> Mapping[str, frozenset[str]]:
        """The asks that have an answer, by what is known of the value."""
        return {
            step: frozenset(ask for ask in self.asks if self.permits(step, ask))
            for step in self.knowledge
        }

    @cached_property
    def composed(self) -> Mapping[tuple[str, str], str]:
        """Knowledge of an argument, by what was and what the way lets be known."""
        pairs = product(self.knowledge, self.knowledge)
        return {pair: self.within(*pair) for pair in pairs}

    @cached_property
    def known_outside(self) -> str:
        """Knowledge of a value of no trace."""
        return self.way(EAGER).knows

    @cached_property
    def run(self) -> Callable[[str, bool], Transform]:
        """The way in which a function runs, by that which is asked for and a flag: True
        if `jit` is disabled."""
        row = self.nesting.get("level.disable_jit")
        formula = row.runs if row else None

        def way(asked: str, disabled: bool) -> Transform:
            names = {"way": asked, "disabled": disabled}
            return self.way(formula(names) if formula else asked)

        return cache(way)

    @cached_property
    def literals(self) -> tuple[bool, bool]:
        """True if a value of no trace is a literal where it is recorded: of a number,
        and of an array with dimensions or of this package."""
        row = self.nesting.get("level.capture")
        formula = row.literal if row else None
        number, array = (not formula or bool(formula({"array": a})) for a in (0, 1))
        return number, array

    @cached_property
    def level(self) -> Callable[[int], int]:
        """The level of a trace, by that of the innermost one when it begins."""
        row = self.nesting.get("level.depth")
        formula = row.level if row else None
        return cache(lambda depth: int(formula({"depth": depth})) if formula else 0)

    @cached_property
    def is_open(self) -> Callable[[object, tuple[object, ...]], bool]:
        """True if a value of one trace may be used in the innermost of some others."""
        row = self.nesting.get("level.lift")
        if row is None or row.holds is None:
            return lambda home, traces: True
        return compile_formula(row.holds, ("home", "open"))

    @cached_property
    def handler(self) -> Callable[..., int]:
        """The number of the trace that handles an operation, by that of the innermost,
        and of the one that is `whole`, has an operand, or binds an axis; 0 for none."""
        return cache(self._by("level.bind"))

    @cached_property
    def decided(self) -> Callable[[int, int], int | None]:
        """The number of the trace that handles an operation whatever its operands are,
        by those of the innermost and of the one that is `whole`; None for no such.

        The rule compares numbers with one another, so their order decides: one number
        from each part of the range is enough, however deep the traces are.
        """

        def number(depth: int, whole: int) -> int | None:
            near = {end + k for end in (0, whole, depth) for k in (-1, 0, 1)}
            others = product(sorted(near & set(range(depth + 1))), repeat=2)
            found = {self.handler(depth, whole, *numbers) for numbers in others}
            return found.pop() if len(found) == 1 else None

        return cache(number)

    @cached_property
    def evaluating(self) -> Callable[..., int]:
        """As `handler`, within `ensure_compile_time_eval`."""
        return cache(self._by("level.compile-time"))

    def _by(self, rule: str) -> Callable[[int, int, int, int], int]:
        rows = (self.nesting.get(name) for name in (rule, "level.bind"))
        formula = next((row.level for row in rows if row and row.level), None)

        def number(depth: int, whole: int, own: int, named: int) -> int:
            if formula is None:  # without the row, it belongs to its operands alone
                return own
            scope = {"depth": depth, "whole": whole, "own": own, "named": named}
            return int(formula(scope))

        return number


def check_levels(levels: Levels) -> None:
    """Raise RuleTableError (table.keeps) for a way that would keep what it cannot: of
    arguments whose values are known, a later call has others.

    No key of a call has the values that a function has branched on.
    """
    for row in levels.transforms.values():
        if row.keeps and levels.rank(row.knows) > levels.rank("shape"):
            raise problem("table.keeps", f"levels.toml: {row.id}", row.knows)
