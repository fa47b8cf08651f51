"""Differences that are explained: rows of ``known.toml``, and names that are absent."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traceir.lax.checks.attribute_hints import absent

KNOWN = Path(__file__).parent / "known.toml"


@dataclass(frozen=True)
class Known:
    """A difference that is explained: where it is met, and why it stays."""

    program: re.Pattern[str]
    kind: re.Pattern[str]
    theirs: re.Pattern[str]
    reason: str
    # Whether both sides are within what rounding may do to a result.
    rounding: bool = False

    def explains(self, row: Mapping[str, Any]) -> bool:
        """True if the finding is this one: all three patterns are met."""
        kind = f"{row['kind']}: {row['detail']}"
        return bool(
            self.kind.fullmatch(kind)
            and self.program.search(row["body"])
            and self.theirs.search(row["theirs"])
        )


def known(path: Path = KNOWN) -> tuple[Known, ...]:
    """The explained differences, as the file has them, and the absent names."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("known", [])
    return (*map(_entry, rows), *_absent())


def _entry(row: Mapping[str, Any]) -> Known:
    patterns = (row.get(key, "") for key in ("program", "kind", "theirs"))
    rounding = row.get("rounding", False)
    return Known(*map(re.compile, patterns), reason=row["reason"], rounding=rounding)


def _absent() -> Iterator[Known]:
    """Names that `spec/coverage.toml` says are absent, each with its reason."""
    for module in ("nn", "image", "ops", "random", "lax"):
        prefix = f"jax.{module}"
        for name, reason in absent(module).items():
            program = re.compile(rf"{re.escape(prefix)}\.{name}\b")
            kind = re.compile("missing: AttributeError .*")
            yield Known(program, kind, re.compile(""), reason)


def explanation(row: Mapping[str, Any], table: Iterable[Known]) -> Known | None:
    """The first row that explains a finding, if any does."""
    return next((entry for entry in table if entry.explains(row)), None)
