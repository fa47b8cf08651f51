"""The README's example runs, and the source that it shows is the one generated."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLE, SOURCE = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_example_runs_and_shows_its_source(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    example = tmp_path / "example.py"  # a loop needs its source
    example.write_text(EXAMPLE, encoding="utf-8")
    names = runpy.run_path(str(example))
    printed = capsys.readouterr().out
    # The user's line stands in a comment, which needs a file to be read from.
    shown = re.sub(r"^ *# \w+\.\w+:\d.*\n", "", SOURCE, flags=re.MULTILINE)
    assert shown in re.sub(r"^ *# \w+\.\w+:\d.*\n", "", printed, flags=re.MULTILINE)
    assert "miss: cache.key.shape: argument x was (1000000,), now (10,)" in printed
    x, y = names["x"], names["y"]
    assert isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
    negative = np.float32(1.67) * np.exp(x) - np.float32(1.67)
    np.testing.assert_allclose(
        y, 1.05 * np.where(x > 0, x, negative), rtol=2e-6, atol=3e-7
    )


def test_the_commands_are_targets() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert f"\n{target}:" in makefile
