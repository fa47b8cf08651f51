"""A pool of judging children, watched from outside. Serves: every table

One loop over pipes: it hands out names of cases, reads verdicts, and ends a child that
takes too long. A child that is gone makes its case `crashed` and is started again.
"""

from __future__ import annotations

import json
import selectors
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from traceir.conform.judging.adapters import NotLoaded
from traceir.conform.judging.run import Verdict
from traceir.conform.processes.child import Child


@dataclass(frozen=True)
class Limits:
    """Seconds that a case and the loading of an implementation may take; processes."""

    case: float = 30.0
    load: float = 120.0
    jobs: int = 1


@dataclass(frozen=True)
class About:
    """The description that an implementation gives of itself."""

    name: str
    version: str
    choices: Mapping[str, str] = field(default_factory=dict)


class WorkerPool:
    """Some children with one implementation each; `about` is known after the first.

    >>> pool = WorkerPool("reference")
    >>> [(name, verdict.kind) for name, verdict in pool.verdicts(["cache/shape"])]
    [('cache/shape', 'pass')]
    >>> pool.about.name
    'reference'
    """

    def __init__(self, spec: str, limits: Limits | None = None) -> None:
        self.spec = spec
        self.limits = limits or Limits()
        self.about: About | None = None
        self.waiting: deque[str] = deque()
        self.problem = ""
        self.children: list[Child] = []
        self.selector = selectors.DefaultSelector()

    def verdicts(
        self, names: Iterable[str]
    ) -> Generator[tuple[str, Verdict], None, None]:
        """The verdict of each case as it comes; NotLoaded when none can be judged.

        Children end when the iterator is closed, finished or not.
        """
        self.waiting = deque(names)
        try:
            for _ in range(max(1, min(self.limits.jobs, len(self.waiting)))):
                self._start()
            while self.children:
                yield from self._step()
            if self.about is None:
                raise NotLoaded(self.problem)
            for name in self.waiting:
                why = f"cannot be loaded again: {self.problem}"
                yield name, Verdict("crashed", why)
        finally:
            self._close()

    def _start(self) -> None:
        child = Child(self.spec, time.monotonic() + self.limits.load)
        self.children.append(child)
        self.selector.register(child.verdicts, selectors.EVENT_READ, (child, True))
        self.selector.register(child.output, selectors.EVENT_READ, (child, False))

    def _step(self) -> Iterator[tuple[str, Verdict]]:
        """Wait for an event, and handle it."""
        deadline = min(child.deadline for child in self.children)
        pause = max(0.0, deadline - time.monotonic())
        for key, _ in self.selector.select(pause):
            child, speaks = key.data
            if child not in self.children:
                continue
            if not speaks:
                if not child.listen():
                    self.selector.unregister(child.output)
                continue
            lines = child.read()
            if lines is None:
                yield from self._ended(child, child.end())
                continue
            for line in lines:
                yield from self._said(child, line)
        now = time.monotonic()
        for child in [c for c in self.children if c.deadline <= now]:
            limit = self.limits.case if child.ready else self.limits.load
            yield from self._ended(child, f"no answer within {limit:g} s")

    def _said(self, child: Child, line: bytes) -> Iterator[tuple[str, Verdict]]:
        if child not in self.children:
            return
        try:
            message: Any = json.loads(line)
            if child.ready:
                found = _verdict(message, child.case)
            else:
                self._loaded(child, message)
                return
        except (ValueError, KeyError, TypeError):
            yield from self._ended(child, "wrote to the pipe of the runner")
            return
        yield str(child.case), found
        self._next(child)

    def _loaded(self, child: Child, message: Mapping[str, Any]) -> None:
        if "problem" in message:
            child.problem = str(message["problem"])
            return
        child.ready = True
        self.about = About(message["name"], message["version"], message["choices"])
        self._next(child)

    def _next(self, child: Child) -> None:
        if not self.waiting:
            self._drop(child)
            return
        child.give(self.waiting.popleft(), time.monotonic() + self.limits.case)

    def _ended(self, child: Child, why: str) -> Iterator[tuple[str, Verdict]]:
        self._drop(child, patient=False)
        if not child.ready:
            self.problem = child.problem or f"while loading: {why}"
            return
        if child.case is not None:
            yield child.case, Verdict("crashed", why)
        if self.waiting:
            self._start()

    def _drop(self, child: Child, patient: bool = True) -> None:
        self.children.remove(child)
        for pipe in (child.verdicts, child.output):
            if pipe in self.selector.get_map():
                self.selector.unregister(pipe)
        child.stop(patient)

    def _close(self) -> None:
        for child in list(self.children):
            self._drop(child, patient=False)
        self.selector.close()


def _verdict(message: Mapping[str, Any], case: str | None) -> Verdict:
    if message["case"] != case:
        raise ValueError(case)
    return Verdict(str(message["kind"]), str(message["why"]))
