"""A process in which one number has one value: it runs a program, and times calls.

`python -m tools.costs.worker PROGRAM MODEL NAME VALUE` prints the seconds of the first
call, and for each number on its input the seconds of a call, the mean of so many.
"""

from __future__ import annotations

import ast
import importlib
import sys
import time


def main() -> None:
    """Set the number before anything else of the project is imported."""
    program, model, name, text = sys.argv[1:]
    setattr(importlib.import_module(model), name, ast.literal_eval(text))
    from tools.costs.plain_programs import PROGRAMS
    from tools.costs.programs import DEVICE

    if program in DEVICE:
        import traceir
        from traceir_numba.cuda import device_put

        function, args = DEVICE[program]()
        jitted, there = traceir.jit(function, backend="cuda"), map(device_put, args)
        given = list(there)

        def call() -> object:
            with traceir.enable_x64(True):
                return traceir.block_until_ready(jitted(*given))
    else:
        call = PROGRAMS[program]()
    start = time.perf_counter()
    call()
    print(time.perf_counter() - start, flush=True)
    for line in sys.stdin:
        count = int(line)
        start = time.perf_counter()
        for _ in range(count):
            call()
        print((time.perf_counter() - start) / count, flush=True)


if __name__ == "__main__":
    main()
