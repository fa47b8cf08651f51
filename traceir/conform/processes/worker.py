"""The main program of a child process. Serves: every table

Names of cases come in by one pipe and verdicts go out by another, one line each, so
that whatever the implementation prints is apart from them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from traceir.conform.casefiles.cases import load_cases
from traceir.conform.judging.adapters import NotLoaded, load

# How a process ends that could not load its implementation.
NOT_LOADED = 3


def main(spec: str, names: int, verdicts: int) -> None:
    """Judge the cases whose names come in at one descriptor, until it is closed."""
    for descriptor in (names, verdicts):
        os.set_inheritable(descriptor, False)
    try:
        adapter = load(spec)
    except NotLoaded as error:
        _send(verdicts, {"problem": str(error)})
        os._exit(NOT_LOADED)
    cases = {case.name: case for case in load_cases()}
    about = {"name": adapter.name, "version": adapter.version}
    _send(verdicts, {**about, "choices": dict(adapter.choices)})
    with open(names, encoding="utf-8") as lines:
        for line in lines:
            name = line.rstrip("\n")
            found = adapter.verdict(cases[name])
            _send(verdicts, {"case": name, "kind": found.kind, "why": found.why})
    if hasattr(adapter.implementation, "close"):
        adapter.implementation.close()
    # Not by way of the interpreter's end: threads of the implementation may hang.
    os._exit(0)


def _send(descriptor: int, message: Mapping[str, object]) -> None:
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(descriptor, line) :]
