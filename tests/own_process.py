"""Modules of the tests, and of the checkout, run in processes of their own.

pytest tells its own process alone where the tests' modules lie: a child is told here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def output_of(module: str, *arguments: str) -> str:
    """The output of a module that is run in a process of its own.

    Raises:
        AssertionError: The process failed; with what it printed.
    """
    paths = f"{TESTS.parent}{os.pathsep}{TESTS}"
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=TESTS.parent,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
