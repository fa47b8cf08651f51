"""Every primitive can be called by a public name, or a reason stands in the data; `dir`
tells names that are imported on first use, as those that are there."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import traceir
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


@pytest.mark.parametrize("package", ["traceir", "traceir_numba"])
def test_names_that_are_imported_on_first_use_are_told(package: str) -> None:
    folder = Path(traceir.__file__).parents[1] / package
    lazy = [
        path.relative_to(folder.parent).with_suffix("")
        for path in folder.rglob("*.py")
        if "\n_LATER" in path.read_text(encoding="utf-8")
    ]
    assert lazy
    for path in lazy:
        module = import_module(".".join(path.parts).removesuffix(".__init__"))
        assert set(vars(module)["_LATER"]) <= set(dir(module)), module.__name__
