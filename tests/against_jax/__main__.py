"""``python -m against_jax``: run drawn programs here and on JAX."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from against_jax.campaign import findings, report, run, run_chunk
from against_jax.programs import draw


def main() -> None:
    """Run a campaign, or show one program of it."""
    parser = argparse.ArgumentParser(prog="against_jax", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first one")
    parser.add_argument("--show", type=int, help="print this program and end")
    parser.add_argument(
        "--tries", type=int, default=12, help="runs to make a finding small"
    )
    parser.add_argument(
        "--again", type=Path, nargs="+", help="files of findings, which alone are run"
    )
    # The numbers of its programs are read from standard input.
    parser.add_argument("--chunk", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("build/against-jax.jsonl"))
    given = parser.parse_args()
    if given.show is not None:
        print(draw(given.seed, given.show).text)
        return
    if given.chunk:
        chunk = [*map(int, sys.stdin.read().split())]
        run_chunk(given.seed, chunk, given.out, given.tries)
        return
    numbers: Sequence[int] = range(given.start, given.start + given.programs)
    if given.again:
        numbers = sorted({row["number"] for row in findings(given.again)})
    rows, seconds = run(given.seed, numbers, given.out, given.tries)
    text = report(given.seed, numbers, rows, seconds)
    given.out.with_suffix(".txt").write_text(text)
    print(text)
    print(f"written to {given.out} and {given.out.with_suffix('.txt')}")


if __name__ == "__main__":
    main()
