"""The Array API standard's own tests, beside what `spec/coverage.toml` says of them.

`python tests/array_api/suite.py SUITE` runs a script that runs them on a module:
`SUITE MODULE PYTHON EXAMPLES` writes the file `$AAT_OUT`, of lines such as
`failed<TAB>array_api_tests/test_fft.py::test_fft`, and pytest's output to `$AAT_LOG`.
Exit status: 0 when all is as recorded, or the script is not there; 1 when not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from traceir.lax.checks.attribute_hints import coverage

ROOT = Path(__file__).parents[2]
EXAMPLES = "3"  # of random ones, for each test


def wrong(lines: Iterable[str], record: Mapping[str, Any]) -> Iterator[str]:
    """The outcomes of tests that are not as recorded.

    >>> record = {"least": 1, "failed": {"test_fft.py": "a reason"}}
    >>> list(wrong(["failed\\tarray_api_tests/test_fft.py::test_fft"], record))
    ['0 tests passed, less than 1']
    """
    outcomes = [line.rstrip("\n").split("\t") for line in lines]
    passed = Counter(outcome for outcome, _ in outcomes)["passed"]
    if passed < record["least"]:
        yield f"{passed} tests passed, less than {record['least']}"
    for outcome, test in outcomes:
        name = test.partition("/")[2]
        if outcome == "failed" and not name.startswith(tuple(record["failed"])):
            yield f"{name} failed, and no row of spec/coverage.toml names it"


def run(suite: Path) -> int:
    """Run the suite on `traceir.numpy`, and say what is not as recorded."""
    with tempfile.TemporaryDirectory() as folder:
        found, log = Path(folder) / "outcomes", Path(folder) / "log"
        settings = {"AAT_OUT": str(found), "AAT_LOG": str(log)}
        # Which examples are drawn does not depend on this project's source.
        settings |= {"PYTHONPATH": str(ROOT / "tests"), "PYTEST_ADDOPTS": "-p drawing"}
        command = [str(suite), "traceir.numpy", sys.executable, EXAMPLES]
        environment = {**os.environ, "TRACEIR_ENABLE_X64": "1", **settings}
        environment["TRACEIR_ARRAY_API"] = "1"
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode or not found.exists():
            print("The suite could not run.")
            return 1
        with found.open(encoding="utf-8") as lines:
            told = list(wrong(lines, coverage()["array_api"]))
        if told:
            print(log.read_text(encoding="utf-8")[-20000:])
        print(*told or ["No failure but those of spec/coverage.toml."], sep="\n")
    return 1 if told else 0


def main(suite: str) -> int:
    """Run the suite if it is there; the exit status."""
    if Path(suite).exists():
        return run(Path(suite).resolve())
    print(
        f"Skipped: there is no {suite}; with a script that runs data-apis/array-api-"
        "tests, as docs/coverage.rst says, it is make array-api ARRAY_API_SUITE=script."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
