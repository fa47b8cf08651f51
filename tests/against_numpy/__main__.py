"""The campaign: so many programs, each by NumPy and under the decorator.

Most run on the reference, every so many also compiled. Findings are made small and
printed with their seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from against_numpy.judge import AGREE, OVERLAP, REFUSED, WRONG, judged
from against_numpy.programs import drawn, minimal
from traceir.conform.reporting.progress import Progress


def main() -> None:
    """Run the campaign and print its figures."""
    parser = argparse.ArgumentParser(prog="make against-numpy", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--length", type=int, default=9, help="most statements")
    parser.add_argument(
        "--compiled", type=int, default=500, help="compile one of these"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    statements, start = 0, time.perf_counter()
    with Progress(options.programs) as bar:
        for seed in range(options.seed, options.seed + options.programs):
            program = drawn(seed, options.length)
            statements += len(program.statements)
            backends = ["reference"]
            if seed % options.compiled == 0:
                backends.append("numba")
            for backend in backends:
                verdict = judged(program, backend)
                if backend == "reference":
                    bar.step("pass" if verdict.kind == AGREE else verdict.kind)
                where = "compiled" if backend == "numba" else "programs"
                kinds[f"{where} {verdict.kind}"] += 1
                if verdict.kind == REFUSED and backend == "reference":
                    rules[verdict.what.partition(":")[0]] += 1
                    shown = f"# seed {seed}, refused: {verdict.what}"
                    bar.say(shown)
                if verdict.kind == OVERLAP:
                    bar.say(f"# seed {seed}, NumPy's overlap: {verdict.what}")
                if verdict.kind == WRONG:
                    small = minimal(
                        program, lambda p, on=backend: judged(p, on).kind == WRONG
                    )
                    bar.say(f"# seed {seed}, {backend}: {judged(small, backend).what}")
                    bar.say(f"{small}\n")
    kinds["statements"] = statements
    figures = {**kinds, "refused by": dict(rules.most_common())}
    print(json.dumps(figures, indent=1))
    agree, total = kinds[f"programs {AGREE}"], options.programs
    seconds = time.perf_counter() - start
    print(
        f"{agree} of {total} agree, {kinds[f'programs {WRONG}']} wrong, {seconds:.0f} s"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
