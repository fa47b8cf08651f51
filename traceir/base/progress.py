"""Progress of long traces and compilations, on a terminal or in a notebook.

Serves: cache.flag.progress
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from traceir.base import config

# Seconds until something is said, and between two looks; columns in a notebook.
AFTER, PAUSE, COLUMNS = 1.0, 0.25, 100
# The work under way that is watched, of one thread.
_watches: list[ProgressLine] = []


class ProgressLine:
    """Work under way: what it does, and a thread that tells once it takes long."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.owner = _thread.get_ident()
        self.doing: list[tuple[str, Callable[[], str], float]] = []
        self.phase = ""
        self._shown = 0
        # Held while there is something to watch; a child of a fork has nobody to wait.
        self._done = _thread.allocate_lock()
        self._done.acquire()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let the thread end, and take the line away."""
        self._done.release()
        self._thread.join()
        self._put("")

    def _tell(self) -> None:
        pause = AFTER
        while not self._done.acquire(timeout=pause):
            pause = PAUSE
            doing = self.doing[-1:]
            if doing:
                (what, tell, start), phase = doing[0], self.phase
                at = f", {phase}" if phase else ""
                self._put(f"{what} ({_since(start)}{at}): {_told(tell)}")

    def keep(self, what: str, tell: Callable[[], str], start: float) -> None:
        """Leave a line about work that took long, below it all others."""
        if time.monotonic() - start >= AFTER:
            self._put(f"{what} took {_since(start)}: {_told(tell)}", "\n")

    def _put(self, text: str, end: str = "") -> None:
        """Write a text over the one before, as much of it as fits in a line."""
        if not text and not self._shown:
            return
        try:
            columns = os.get_terminal_size(self.stream.fileno()).columns
        except (OSError, ValueError):  # no terminal, but a notebook
            columns = 0
        text = text[: (columns or COLUMNS) - 1]
        try:
            self.stream.write(
                "\r" + text.ljust(self._shown) + (end or "\r" * (not text))
            )
            self.stream.flush()
        except (OSError, ValueError):  # a stream that was closed
            return
        self._shown = 0 if end else len(text)


def _since(start: float) -> str:
    return f"{time.monotonic() - start:.1f} s"


def _told(tell: Callable[[], str]) -> str:
    """The text about work under way, which another thread changes meanwhile."""
    try:
        return tell()
    except (RuntimeError, LookupError):
        return "..."


def _stream() -> TextIO | None:
    """The stream that a person looks at, if there is one and the flag is set."""
    stream = sys.stderr
    if not config.local.context.progress or stream is None:
        return None
    notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    if getattr(stream, "closed", False):
        return None
    seen = notebook or (stream.isatty() and os.environ.get("TERM") != "dumb")
    return stream if seen else None


@contextmanager
def progress(what: str, tell: Callable[[], str]) -> Iterator[None]:
    """Work that is told of once it takes longer than a second, and then how long.

    `tell` gives the counts, in another thread, while the work goes on. Nothing is
    written where standard error is no terminal, and of other threads meanwhile.

    >>> with progress("compiling f", lambda: "3 equations"):
    ...     pass
    """
    if _watches and _watches[0].owner == _thread.get_ident():
        watch, outer = _watches[0], True
    else:
        stream = _stream()
        if _watches or stream is None:
            yield
            return
        watch, outer = ProgressLine(stream), False
        _watches.append(watch)
    start, phase, watch.phase = time.monotonic(), watch.phase, ""
    watch.doing.append((what, tell, start))
    try:
        yield
        watch.keep(what, tell, start)
    finally:
        watch.doing.pop()
        watch.phase = phase
        if not outer:
            _watches.remove(watch)
            watch.end()


def at_phase(name: str) -> None:
    """Say which part of the work of this thread is under way."""
    if _watches and _watches[0].owner == _thread.get_ident():
        _watches[0].phase = name
