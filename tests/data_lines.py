"""Files of data for tests: one thing a line, and comments behind `#`."""

from __future__ import annotations

from pathlib import Path

from recorded import Record


def data_lines(path: Path | Record) -> list[str]:
    """The lines of a file but for empty ones and comments."""
    rows = path.read_text().splitlines()
    return [row for row in rows if row.strip() and not row.startswith("#")]
