"""Typical mistakes, as their authors type them: `tests/mistakes`.

A file is a program, what it prints, the program with the hint applied, and what that
gives. `python tests/typed_mistakes.py` writes what is printed and given anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).parent / "mistakes"
SAYS, APPLIED, GIVES = (
    f"\n======== {part}\n" for part in ("it says", "with the hint applied", "it gives")
)
# Lines under the source that mark columns: each version of Python has others.
_MARKS = re.compile(r"^[ ~^]+\n", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass
class Mistake:
    """A file of the folder, in its parts."""

    name: str
    program: str
    says: str
    applied: str
    gives: str

    @classmethod
    def read(cls, path: Path) -> Mistake:
        """The parts of a file."""
        program, rest = path.read_text(encoding="utf-8").split(SAYS)
        says, rest = rest.split(APPLIED)
        return cls(path.stem, program, says, *rest.split(GIVES))

    def write(self) -> None:
        """Write the file."""
        text = self.program + SAYS + self.says + APPLIED + self.applied
        path = FOLDER / f"{self.name}.txt"
        path.write_text(text + GIVES + self.gives, encoding="utf-8")

    def told(self, folder: Path) -> tuple[str, Exception | None]:
        """Run the program: its output, with its exception."""
        return run(self.program, folder / f"{self.name}.py")

    def given(self, folder: Path) -> tuple[str, Exception | None]:
        """The same of the program with the hint applied."""
        return run(self.applied, folder / f"{self.name}_applied.py")


def mistakes() -> list[Mistake]:
    """All files of the folder."""
    return [Mistake.read(path) for path in sorted(FOLDER.glob("*.txt"))]


def run(program: str, path: Path) -> tuple[str, Exception | None]:
    """Run a program: its output, to its end or to the exception that ends it."""
    path.write_text(program, encoding="utf-8")
    printed, error = io.StringIO(), None
    scope: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(program, str(path), "exec"), scope)
    except Exception as raised:
        error = raised.with_traceback(raised.__traceback__ and next_of(raised))
        printed.write("".join(traceback.format_exception(raised)))
    text = _MARKS.sub("", printed.getvalue()).replace(f"{path.parent}/", "")
    return _ADDRESS.sub("0x...", text), error


def next_of(error: Exception) -> Any:
    """The traceback of an exception from the program on."""
    trace = error.__traceback__
    return None if trace is None else trace.tb_next


def main() -> None:
    """Write the files anew."""
    with TemporaryDirectory() as folder:
        for one in mistakes():
            one.says, _ = one.told(Path(folder))
            one.gives, _ = one.given(Path(folder))
            one.write()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
