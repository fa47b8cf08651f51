"""The flags: one for each row `flag` of the table of the cache.

A row of `spec/rules/cache.toml` is all that a flag needs: `Context` has a field for it,
`config` sets it, the environment too, and there is a scope that does. The table
is read here when the package is imported, by the few lines that its rows take.

>>> FLAGS["numpy_rank_promotion"].default
'allow'
"""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from traceir.base.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

Value: TypeAlias = bool | str | None
_WORDS: Mapping[str, Value] = {"False": False, "True": True, "None": None}


@dataclass(frozen=True, slots=True)
class ConfigFlag:
    """A flag: its row, and the name of its field of `Context`."""

    name: str
    values: tuple[Value, ...]
    says: str
    key: str
    field: str

    @property
    def default(self) -> Value:
        """The value of a flag that nobody set."""
        return self.values[0]

    @property
    def is_bool(self) -> bool:
        """True if it is on or off."""
        return isinstance(self.default, bool)

    @property
    def variable(self) -> str:
        """Its variable in the environment."""
        return f"TRACEIR_{self.name.upper()}"

    @property
    def doc(self) -> str:
        """The docstring of its scope: the row, and an example."""
        values = " or ".join(f"``{value!r}``" for value in self.values)
        value = self.values[-1]
        about = f" It is part of the cache key ({self.key})." if self.key else ""
        return (
            f"Within ``with``: the flag `{self.name}` in this thread.\n\n"
            f"{self.says}\n\nIts value is {values}; the first is the default, which "
            f"the variable ``{self.variable}`` changes.{about}\n\n"
            f">>> import traceir\n>>> with traceir.{self.name}({value!r}):\n"
            f"...     print(traceir.config.jax_{self.name})\n{value}\n"
        )


def spec_folder() -> str:
    """The specification's folder: beside the modules, or that of the checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(package, "spec", "tables")
    if os.path.isdir(installed):
        return installed
    return os.path.join(os.path.dirname(package), "spec")


def spec_path() -> Path:
    """The specification's folder: beside the modules, or that of the checkout.

    >>> (spec_path() / "rules").is_dir()
    True
    """
    from pathlib import Path  # not on the way of an import

    return Path(spec_folder())


def read_flags(text: str) -> dict[str, ConfigFlag]:
    """The flags of the table of the cache, by name.

    Of TOML it reads no more than rows `[[flag]]` whose lines are texts and lists of
    texts, which Python writes alike; the loader of the tables reads the whole.

    >>> text = '[[flag]]\\nname = "fast"\\nvalues = ["False", "True"]\\nsays = "Go."'
    >>> read_flags(text)["fast"].values
    (False, True)
    """
    rows: list[dict[str, Any]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("["):
            if inside := line.strip() == "[[flag]]":
                rows.append({})
        elif inside and " = " in line and not line.startswith("#"):
            key, _, value = line.partition(" = ")
            rows[-1][key] = literal_eval(value)
    return {row["name"]: _flag(row) for row in rows}


def _flag(row: Mapping[str, Any]) -> ConfigFlag:
    values = tuple(_WORDS.get(text, text) for text in row["values"])
    return ConfigFlag(
        row["name"],
        values,
        row["says"],
        row.get("key", ""),
        row.get("field", row["name"]),
    )


def _table() -> str:
    path = os.path.join(spec_folder(), "rules", "cache.toml")
    with open(path, encoding="utf-8") as opened:
        return opened.read()


# Names are JAX's, less its prefix.
FLAGS: Mapping[str, ConfigFlag] = read_flags(_table())
