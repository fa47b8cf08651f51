"""Named stretches of a program's time, in a file that trace viewers open."""

from __future__ import annotations

import functools
import gzip
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from types import TracebackType
from typing import Any, TypeVar

__all__ = [
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "start_trace",
    "stop_trace",
    "trace",
]

F = TypeVar("F", bound=Callable[..., Any])


class ProfileEvents:
    """Stretches of time that have ended, and the folder that their file goes to."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.events: list[dict[str, Any]] = []


_recording = ProfileEvents()


def start_trace(log_dir: str | os.PathLike[str], **_: Any) -> None:
    """Note named stretches from now on; RuntimeError where that has begun already."""
    if _recording.folder is not None:
        raise RuntimeError(f"a profile is being taken, for {_recording.folder}")
    _recording.folder = os.fspath(log_dir)
    _recording.events = []


def stop_trace() -> None:
    """Write the file of what has been noted; RuntimeError where nothing has begun.

    It is `plugins/profile/TIME/trace.json.gz` in the folder, in the format of trace
    events, which Perfetto and `chrome://tracing` open.
    """
    folder = _recording.folder
    if folder is None:
        raise RuntimeError("no profile has begun: call start_trace(log_dir)")
    _recording.folder = None
    day = time.strftime("%Y_%m_%d_%H_%M_%S")
    place = os.path.join(folder, "plugins", "profile", day)
    os.makedirs(place, exist_ok=True)
    file = os.path.join(place, "trace.json.gz")
    with gzip.open(file, "wt", encoding="utf-8") as out:
        json.dump({"traceEvents": _recording.events}, out)


@contextmanager
def trace(log_dir: str | os.PathLike[str], **options: Any) -> Iterator[None]:
    """Take a profile inside the `with`: see `stop_trace`."""
    start_trace(log_dir, **options)
    try:
        yield
    finally:
        stop_trace()


class TraceAnnotation(ContextDecorator):
    """A named stretch of time: a context manager, or a decorator.

    >>> with TraceAnnotation("load"):
    ...     1 + 1
    2
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name, self.told = name, kwargs

    def __enter__(self) -> TraceAnnotation:
        self._began = time.perf_counter_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if _recording.folder is None:
            return
        microseconds = self._began / 1000
        lasted = (time.perf_counter_ns() - self._began) / 1000
        event = {"name": self.name, "ph": "X", "ts": microseconds, "dur": lasted}
        place = {"pid": os.getpid(), "tid": threading.get_ident()}
        _recording.events.append({**event, **place, "args": self.told})


class StepTraceAnnotation(TraceAnnotation):
    """A step of a training, which its number tells: `step_num=`."""


def annotate_function(func: F, name: str | None = None, **kwargs: Any) -> F:
    """The function, whose calls are named stretches.

    >>> annotate_function(abs)(-1)
    1
    """
    shown = name or str(getattr(func, "__name__", func))

    @functools.wraps(func)
    def call(*args: Any, **own: Any) -> Any:
        with TraceAnnotation(shown, **kwargs):
            return func(*args, **own)

    return call  # type: ignore[return-value]  # `wraps` forgets the type
