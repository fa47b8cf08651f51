"""A test draws the same in every process, whichever ran before; `fuzz` draws anew.

Serves: every test of random examples
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
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


GENERATOR = np.random.default_rng(1)


@pytest.mark.parametrize("run", [1, 2])
def test_every_test_finds_generators_as_they_were(run: int) -> None:
    found = GENERATOR.integers(1000), np.random.randint(1000), random.randrange(1000)
    assert found == (473, 684, 864)


def test_sets_of_names_have_one_order() -> None:
    if settings().derandomize and "PYTEST_XDIST_WORKER" in os.environ:
        assert os.environ["PYTHONHASHSEED"] == "0" and not sys.flags.hash_randomization


# Who says how many examples there are, or how they are drawn, for all profiles at once.
FIXED = {
    "conftest.py": "the profiles themselves",
    "test_drawing.py": "draws as the profile of the tests does",
    "fuzz/test_oracle.py": "searches for one example, as `find` does",
    "conform/test_strategies.py": "searches for one example, as `find` does",
}
# Who draws from what nobody seeded, on purpose.
UNSEEDED = {"test_plain_external.py", "test_plain_state.py"}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """All calls in the tests: the file, the last name of what is called, the call."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                yield path.relative_to(TESTS).as_posix(), name, node


def test_how_many_examples_are_drawn_is_the_profile_s_to_say() -> None:
    """So that `make fuzz` draws more of each, and anew."""
    found = {
        file
        for file, name, call in calls()
        for word in call.keywords
        if name.startswith("settings")
        and (
            word.arg in ("derandomize", "database", "phases", "deadline")
            or (word.arg == "max_examples" and isinstance(word.value, ast.Constant))
        )
    }
    assert found == FIXED.keys() - {"conftest.py"}


def test_what_must_come_is_waited_for_a_minute() -> None:
    """A busy machine is slow; waits below a second are for what must not come."""
    waits = ("wait", "join", "get", "result", "communicate", "run")
    found = {
        f"{file}:{call.lineno}"
        for file, name, call in calls()
        for limit in (*call.args[:1], *(w.value for w in call.keywords))
        if name in waits
        and isinstance(limit, ast.Constant)
        and type(limit.value) in (int, float)
        and isinstance(call.func, ast.Attribute)
        and (name in waits[:2] or "timeout" in {w.arg for w in call.keywords})
        and 1 <= limit.value < 60
    }
    assert found == set()


def test_generators_have_seeds() -> None:
    makers = ("default_rng", "RandomState", "Random", "SystemRandom")
    found = {f for f, name, c in calls() if name in makers and not c.args}
    assert found == UNSEEDED
