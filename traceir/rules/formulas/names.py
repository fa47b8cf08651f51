"""Names that a formula may have free, and those that it may call. Serves: table.name"""

from __future__ import annotations

from collections.abc import Iterable

from traceir.errors import RuleTableError
from traceir.rules.formulas.language import VOCABULARY, Formula, parse
from traceir.rules.formulas.table_errors import problem


class FormulaNames:
    """The names that a formula may have free, and those that it may call."""

    def __init__(self, free: Iterable[str], calls: Iterable[str] = ()) -> None:
        self.free = frozenset(free)
        self.calls = frozenset(VOCABULARY) | frozenset(calls)

    def plus(self, *names: str, calls: Iterable[str] = ()) -> FormulaNames:
        """These names and some more."""
        return FormulaNames(self.free.union(names), self.calls.union(calls))

    def formula(self, text: str, where: str) -> Formula:
        """A formula over these names: RuleTableError if it is none."""
        try:
            formula = parse(text)
        except RuleTableError as error:
            raise problem(error.rule, f"{where}: {text}", error.got) from None
        if unknown := sorted(formula.calls - self.calls):
            hint = f"helpers are {', '.join(sorted(self.calls))}"
            raise problem("table.helper", f"{where}: {text}", unknown[0], hint)
        if unknown := sorted(formula.names - self.free):
            raise problem("table.name", f"{where}: {text}", unknown[0])
        return formula


# Free names and calls of the formulas of each table that is not about primitives.
KEYS = {
    "call": FormulaNames(["call"]),
    "leaf": FormulaNames(["v"]),
    "static": FormulaNames(["v"], ["typed"]),
    "known": FormulaNames(["v"], ["typed"]),
}
FORMS = {
    "text.shared": FormulaNames(["uses", "equations", "main"]),
    "text.params": FormulaNames(["full", "how", "usual"]),
}
DECISIONS = FormulaNames(
    (
        *("known", "traced", "steps", "count", "exits", "closed", "a", "b"),
        *("unrolled_steps", "unrolled_nest", "known_steps", "copies"),
        *("lengths", "unrolled_lengths"),
    )
)
NESTING = FormulaNames(
    (
        *("depth", "whole", "own", "named", "open", "home", "known", "needed"),
        *("outer", "inner", "array", "way", "disabled"),
    )
)
