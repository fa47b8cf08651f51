"""The numbers of the cost models that each program reads while it is compiled and run.

`python -m tools.costs.reads` prints them as JSON: for each entry, the programs. Source
is generated of programs for devices, which need none for that.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from tools.costs.entries import MODELS, entries


class Recorder:
    """Stands between a cost model and whoever reads it; `running` is the program."""

    def __init__(self) -> None:
        self.running = ""
        self.read: dict[str, set[str]] = {name: set() for name in entries()}

    def watch(self, module: ModuleType) -> None:
        """Take a model's numbers out of it, and give them when they are asked for."""
        values: dict[str, Any] = {
            name: vars(module).pop(name)
            for name, entry in entries().items()
            # This one is read by the model's own function.
            if entry.model == module.__name__ and name != "OPERATION_COST"
        }

        def get(name: str) -> Any:
            if name not in values:
                raise AttributeError(name)
            self.read[name].add(self.running)
            return values[name]

        module.__getattr__ = get  # type: ignore[method-assign]  # modules ask for it

    def run(self, name: str, make: Callable[[], Callable[[], object]]) -> None:
        """Make a program and call it: guards and plans are made after some calls."""
        self.running = name
        call = make()
        for _ in range(3 if name.startswith(("calls", "eager")) else 1):
            call()


def main() -> None:
    """Run all programs of this process' kind."""
    recorder = Recorder()
    for model in MODELS:
        recorder.watch(importlib.import_module(model))
    from tools.costs import plain_programs, programs

    for name, make in plain_programs.PROGRAMS.items():
        recorder.run(name, make)
    for name in programs.DEVICE:
        recorder.run(name, partial(programs.source, name))
    print(json.dumps({name: sorted(found) for name, found in recorder.read.items()}))


if __name__ == "__main__":
    main()
