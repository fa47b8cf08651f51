"""The public names of JAX and their parameters, beside what is here."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import traceir
from _ext.pieces import box, code, line, sentence, separated, text
from tests.answers.names import Parameters, methods, parameters
from tests.recorded import Record
from traceir.as_jax.finder import located
from traceir.jit import stages
from traceir.lax.checks.attribute_hints import absent

METHODS: dict[str, type] = {
    "Array": traceir.Array,
    "Array.at": type(traceir.numpy.arange(3).at[0]),
    "stages.Compiled": stages.Compiled,
    "stages.Lowered": stages.Lowered,
    "stages.Traced": stages.Traced,
}
ABSENT = object()


@cache
def theirs() -> Mapping[str, Mapping[str, Parameters | None]]:
    """The names of each of JAX's modules, with the parameters of each."""
    found = json.loads(Record("names.json.xz").read_text())
    assert isinstance(found, dict)
    return found


def here(module: str) -> object | None:
    """This library's module or class for one of JAX's; None if it has none."""
    if module in METHODS:
        return METHODS[module]
    name = located(f"jax.{module}")
    if module == "jax":
        return traceir
    return None if name is None else importlib.import_module(name)


def value(module: str, name: str) -> object:
    """The value here by one of JAX's names; `ABSENT` if it has nothing."""
    owner = here(module)
    if module == "jax" and (own := here(name)) is not None:
        return own
    return ABSENT if owner is None else getattr(owner, name, ABSENT)


@cache
def present(module: str) -> Sequence[str]:
    """The names of one of JAX's modules that are here."""
    return [name for name in theirs()[module] if value(module, name) is not ABSENT]


def gap(own: Parameters, asked: Parameters) -> str:
    """The names of parameters, or their order, at which a call of JAX's may fail."""
    known = set(chain(*own[:2]))
    missing = [n for n in asked[0] if n not in known and not own[2]]
    missing += [n for n in asked[1] if n not in known]
    if own[3]:
        missing = []
    named = [name for name in asked[0] if name in own[1]]
    places = [name for name in asked[0] if name in own[0]]
    same = places == [name for name in own[0] if name in asked[0]]
    parts = [f"no {name}" for name in missing] + [f"{name} by name" for name in named]
    return ", ".join(parts if same else [*parts, "another order"])


def gaps(module: str) -> Iterator[tuple[str, str]]:
    """The functions of a module that differ from JAX's, and in what."""
    if module in METHODS:
        found = dict(methods(METHODS[module]))
    else:
        found = {name: _told(value(module, name)) for name in present(module)}
    for name, asked in theirs()[module].items():
        own = found.get(name)
        if own and asked and (told := gap(own, asked)):
            yield name, told


def _told(found: Any) -> Parameters | None:
    if isinstance(found, ModuleType) or not callable(found):
        return None
    return parameters(found)


def modules() -> Iterator[str]:
    """Modules whose names are JAX's: those that have any, from A to Z."""
    yield from sorted(name for name, found in theirs().items() if found)


class CoverageOfJax(SphinxDirective):
    """`.. coverage-of-jax::` shows each module: what is there, and what is not."""

    def run(self) -> list[nodes.Node]:
        """A section for each module."""
        return [self._section(module) for module in modules()]

    def _section(self, module: str) -> nodes.section:
        title = module if module in METHODS or module == "jax" else f"jax.{module}"
        found = nodes.section("", ids=[nodes.make_id(f"names-{title}")])
        found += nodes.title("", "", code(title))
        names, there = theirs()[module], present(module)
        found += line("counts", text(f"{len(there)} of {len(names)} names."))
        if there:
            found += line("ids", *separated(map(code, there)))
        if missing := absent(module):
            found += line("lead", text("Not there:"))
            found += _rows(missing)
        if differing := dict(gaps(module)):
            why = absent(module, "parameters")
            found += line("lead", text("Other parameters:"))
            found += _rows({f"{n} ({differing[n]})": why[n] for n in differing})
        return found


def _rows(found: Mapping[str, str]) -> nodes.Node:
    names: dict[str, list[str]] = {}
    for name in sorted(found):
        names.setdefault(found[name], []).append(name)
    rows = [
        line("reason", *separated(map(code, alike)), text(": "), *sentence(why))
        for why, alike in names.items()
    ]
    return box("reasons", *rows)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("coverage-of-jax", CoverageOfJax)
