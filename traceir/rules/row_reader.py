"""A reader of one row, key by key. Serves: table.key, table.says, table.name"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from traceir.errors import CLASSES
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.hints import LineHint

Tables = Mapping[str, Mapping[str, Any]]
# A row with its name, after those of its classes, the most general first.
Chain = list[tuple[str, Mapping[str, Any]]]


class RowReader:
    """A row being read: its place, its keys, and those that have been read.

    Raises RuleTableError naming file, row and key. A key that is never asked for is
    unknown: call `done` at the end.
    """

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise problem("table.file", where, f"{data!r} in place of a row")
        self.data = data
        self.where = where
        self._asked: set[str] = set()

    def has(self, key: str) -> bool:
        """True if the row has that key."""
        self._asked.add(key)
        return key in self.data

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """The value of a key; table.key if it is missing or of another kind."""
        if not self.has(key):
            if default is ...:
                raise problem("table.key", self.where, f"no key {key!r}")
            return default
        value = self.data[key]
        if not isinstance(value, kind):
            raise problem("table.key", f"{self.where}: {key}", repr(value))
        return value

    def text(self, key: str, default: Any = ...) -> str:
        """The text of a key."""
        found: str = self.get(key, str, default)
        return found

    def one_of(self, key: str, allowed: Iterable[str], default: Any = ...) -> Any:
        """The text of a key, one of a closed list."""
        found, options = self.text(key, default), tuple(allowed)
        if found not in options:
            where = f"{self.where}: {key}"
            raise problem("table.key", where, found, f"one of {', '.join(options)}")
        return found

    def texts(self, key: str, default: Any = ()) -> tuple[str, ...]:
        """The list of texts of a key."""
        found = self.get(key, list, default if default is ... else list(default))
        if not all(isinstance(item, str) for item in found):
            raise problem("table.key", f"{self.where}: {key}", repr(found))
        return tuple(found)

    def says(self) -> str:
        """The sentence of a clause."""
        found = self.text("says", "")
        if not found.strip():
            raise problem("table.says", self.where, "none")
        return found

    def class_(self, default: str) -> str:
        """The exception's name."""
        name = self.text("class", default)
        if name not in CLASSES:
            raise problem("table.class", f"{self.where}: class", name)
        return name

    def formula(self, key: str, allowed: FormulaNames) -> Formula:
        """The formula of a key, over the names allowed."""
        return allowed.formula(self.text(key), f"{self.where}: {key}")

    def maybe(self, key: str, allowed: FormulaNames) -> Formula | None:
        """The formula of a key, or None if the row has none."""
        return self.formula(key, allowed) if self.has(key) else None

    def rows(self, key: str) -> Iterator[RowReader]:
        """The rows of a list of tables, each read before the next one is asked for.

        Raises table.key for a row with a key that was not asked for by then.
        """
        for n, item in enumerate(self.get(key, list, [])):
            label = item.get("id", n) if isinstance(item, Mapping) else n
            row = RowReader(item, f"{self.where}: {key} {label}")
            yield row
            row.done()

    def hints(self) -> tuple[LineHint, ...]:
        """The hints of a clause that know where they are."""
        keys = ("face", "line", "code")
        return tuple(
            LineHint(part.text("hint"), *(part.text(key, "") for key in keys))
            for part in self.rows("hints")
        )

    def tables(self, key: str) -> Iterator[tuple[str, RowReader]]:
        """The rows of a table of tables, with their names."""
        for name, item in self.get(key, Mapping, {}).items():
            yield name, RowReader(item, f"{self.where}: {key}.{name}")

    def done(self) -> None:
        """Raise table.key if the row has a key that was not asked for."""
        if unknown := sorted(set(self.data) - self._asked):
            raise problem("table.key", self.where, f"unknown {', '.join(unknown)}")
