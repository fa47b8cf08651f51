"""A derandomized test draws the same examples in every process.

Serves: every test of random examples
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent
# What Hypothesis would draw from, were it to read the modules that are loaded.
CONSTANTS = "\n".join(f"{n}; {n}.5; 'word {n}'; b'{n}'" for n in range(200, 400))
ONE = st.one_of(st.integers(), st.floats(), st.text(), st.binary())


def show(*loaded: str) -> None:
    """Print what is drawn in the profile of the tests, where modules are loaded."""
    import_module("conftest")
    plans = import_module("random_programs").plans()
    for name in loaded:
        import_module(name)

    @settings(max_examples=100)
    @given(st.lists(ONE, max_size=8), plans)
    def draw(values: object, plan: object) -> None:
        print(ascii((values, plan)))

    draw()


def drawn(folder: Path, seed: int, *loaded: str) -> list[str]:
    """The examples that a process draws, one a line."""
    paths = os.pathsep.join(map(str, (folder, TESTS, TESTS.parent)))
    done = subprocess.run(
        [sys.executable, "-c", f"import test_drawing as t; t.show(*{loaded})"],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(seed)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_is_loaded_does_not_change_what_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "loaded.py").write_text(CONSTANTS)
    first = drawn(tmp_path, 1)
    assert len(set(first)) >= 50
    assert drawn(tmp_path, 2, "loaded", "traceir.numpy") == first
