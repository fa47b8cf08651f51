"""Files of data for tests: one thing a line, and comments behind `#`."""

from __future__ import annotations

from pathlib import Path


def data_lines(path: Path) -> list[str]:
    """The lines of a file but for empty ones and comments."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return [row for row in rows if row.strip() and not row.startswith("#")]
