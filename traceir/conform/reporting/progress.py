"""A progress bar of one line, on a terminal only. Serves: every table"""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType
from typing import TextIO

_WIDTH = 30
# Seconds between two drawings.
_PAUSE = 0.1


class Progress:
    """The count of judged cases, drawn over itself; wiped at the end.

    >>> import io
    >>> stream = io.StringIO()
    >>> with Progress(2, stream) as progress:
    ...     progress.step("pass")
    >>> stream.getvalue()  # no terminal
    ''
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.counts: Counter[str] = Counter()
        self.began = time.monotonic()
        self.drawn = float("-inf")
        self.shown = 0
        self.active = self.stream.isatty()

    def __enter__(self) -> Progress:
        self._draw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._put("")

    def step(self, kind: str) -> None:
        """One more case is judged."""
        self.counts[kind] += 1
        if time.monotonic() - self.drawn >= _PAUSE:
            self._draw()

    def say(self, text: str) -> None:
        """Print a line on standard output, above the bar."""
        self._put("")
        print(text, flush=True)
        self._draw()

    def _draw(self) -> None:
        self.drawn = time.monotonic()
        done = self.counts.total()
        full = _WIDTH * done // max(self.total, 1)
        bad = [f"{n} {kind}" for kind, n in self.counts.items() if kind != "pass"]
        bar = "#" * full + "-" * (_WIDTH - full)
        self._put(
            ", ".join([f"[{bar}] {done}/{self.total}", *sorted(bad), *self._left()])
        )

    def _left(self) -> list[str]:
        """The minutes that are left at the speed so far, where there are some."""
        done = self.counts.total()
        spent = time.monotonic() - self.began
        minutes = spent / done * (self.total - done) / 60 if done else 0
        return [f"{minutes:.0f} min left"] if minutes >= 1 else []

    def _put(self, text: str) -> None:
        if not self.active:
            return
        self.stream.write("\r" + text.ljust(self.shown) + "\r" * (not text))
        self.stream.flush()
        self.shown = len(text)
