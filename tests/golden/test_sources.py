"""Generated source is as kept; `python tests/golden/generate.py --update` keeps it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def _generator() -> Any:
    path = Path(__file__).with_name("generate.py")
    spec = importlib.util.spec_from_file_location("golden_generate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


golden = _generator()


@pytest.mark.parametrize("target", golden.TARGETS)
@pytest.mark.parametrize("name", golden.names())
def test_generated_source_is_as_kept(name: str, target: str) -> None:
    assert (
        golden.generated(name, target) + "\n" == golden.kept(name, target).read_text()
    )


def test_every_kept_source_has_a_program() -> None:
    kept = {path.name.partition(".")[0] for path in golden.SOURCES.iterdir()}
    assert kept == set(golden.names())
