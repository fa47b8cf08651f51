"""Every primitive can be called by a public name, or a reason stands in the data."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from traceir import lax
from traceir.rules import default

FILE = Path(__file__).parents[1] / "data" / "primitives-elsewhere.toml"
ELSEWHERE = tomllib.loads(FILE.read_text(encoding="utf-8"))
CALLED, INTERNAL = ELSEWHERE["called"], ELSEWHERE["internal"]


def nameless(primitives: set[str]) -> set[str]:
    """Those without a function of `traceir.lax` and without a line in the data."""
    return {p for p in primitives if p not in lax.__all__} - {*CALLED, *INTERNAL}


def found(path: str) -> Any:
    """The value of a dotted name."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def test_every_primitive_has_a_public_name_or_a_reason() -> None:
    assert nameless(set(default().prims)) == set()
    assert nameless({"sin", "of_no_name"}) == {"of_no_name"}


def test_the_names_elsewhere_are_there() -> None:
    assert [path for path in CALLED.values() if not callable(found(path))] == []


def test_nothing_is_excused_in_vain() -> None:
    excused = {*CALLED, *INTERNAL}
    assert excused - default().prims.keys() == set()
    assert excused & set(lax.__all__) == set()
    assert all(len(reason.split()) > 4 for reason in INTERNAL.values())
