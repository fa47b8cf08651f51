"""Recorded files: what a program wrote once and tests read, under `tests/records/`.

`tests/records/README.md` says which program writes a file and which tests read it. What
nobody reads is compressed: `xz -dc tests/records/NAME` shows it, and so does `git diff`
after `git config diff.xz.textconv "xz -dc"`.
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "records"


@dataclass(frozen=True)
class Record:
    """A recorded file, by its name; one that ends in `.xz` is compressed."""

    name: str
    folder: Path = FOLDER

    @property
    def path(self) -> Path:
        """The file of the record."""
        return self.folder / self.name

    def read_text(self) -> str:
        """The contents of the record."""
        data = self.path.read_bytes()
        return (lzma.decompress(data) if self.path.suffix == ".xz" else data).decode()

    def write_text(self, text: str) -> None:
        """Write it anew, where it says something else: compressors differ in bytes."""
        if not self.path.exists() or self.read_text() != text:
            data = text.encode()
            compressed = self.path.suffix == ".xz"
            self.path.write_bytes(lzma.compress(data, preset=9) if compressed else data)
