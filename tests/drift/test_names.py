"""Names: no retired word, no class name twice, and a place for each word of ours."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from identifiers import Definition, definitions, modules

from traceir.rules import default

ROOT = Path(__file__).parents[2]
RETIRED = tomllib.loads((ROOT / "tests/data/retired-words.toml").read_text())
GLOSSARY = (ROOT / "docs/glossary.rst").read_text()
# Public names of two packages, which users tell apart by the package.
PUBLIC_TWICE = {"MemoryInfo"}


def words(identifier: str) -> list[str]:
    """The words of an identifier, in small letters.

    >>> words("_needsHost"), words("LLVMText_of"), words("float16")
    (['needs', 'host'], ['llvm', 'text', 'of'], ['float', '16'])
    """
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)
    return [word.lower() for word in found]


def retired(identifier: str) -> str | None:
    """The word in place of a retired one in an identifier, or None."""
    text = f"_{'_'.join(words(identifier))}_"
    for word, row in RETIRED.items():
        if f"_{word}_" in text and identifier not in row.get("stays", ()):
            return f"{identifier}: for `{word}` say {row['say']}"
    return None


def test_no_identifier_has_a_retired_word() -> None:
    names = ((module.path, name) for module in modules() for name in module.bound)
    found = {f"{path}: {said}" for path, name in names if (said := retired(name))}
    assert sorted(found) == []


def test_to_stage_is_to_make_a_program() -> None:
    """And stages are those of a compiled function: nothing else has that name."""
    found = {str(module.path) for module in modules() if "stage" in module.bound}
    found = {path for path in found if path.startswith("traceir/")}
    named_by_jax = {"traceir/lax/seldom.py"}  # `lax.stage`
    assert found == {"traceir/tracing/staging.py", *named_by_jax}
    formulas = (str(table) for table in default().tables.values())
    assert [
        f for f in formulas if re.search(r"\bstage [-+<>=]|[-+<>=] stage\b", f)
    ] == []


@pytest.mark.parametrize("word", RETIRED)
def test_a_retired_word_is_found(word: str) -> None:
    name = "".join(part.title() for part in word.split("_"))
    for made in (word, f"_is_{word}_here", f"{name}Thing"):
        if made not in RETIRED[word].get("stays", ()):
            assert retired(made), made
    assert retired(f"x{word}y") is None  # another word


def twice(found: Iterable[Definition]) -> dict[str, list[str]]:
    """The names of classes that stand in several places, and where."""
    places = defaultdict(list)
    for one in found:
        if one.is_class:
            places[one.name.lstrip("_")].append(f"{one.module}.{one.name}")
    return {n: at for n, at in places.items() if len(at) > 1 and n not in PUBLIC_TWICE}


def test_no_class_name_stands_twice() -> None:
    assert twice(definitions()) == {}


def test_a_class_name_that_stands_twice_is_found() -> None:
    again = [
        *definitions(),
        Definition("traceir.made", "_TreeDef", "_TreeDef", "", True),
    ]
    assert [*twice(iter(again))] == ["TreeDef"]


@cache
def entries() -> dict[str, dict[str, str]]:
    """The fields of each term of the glossary, `meaning` among them."""
    found: dict[str, dict[str, str]] = {}
    for block in re.split(r"\n\n(?=   \S)", GLOSSARY):
        head = re.search(r"^   (\S.*)\n      (\S.*)", block, re.MULTILINE)
        fields = dict(re.findall(r"^      :(.+?): (.*)$", block, re.MULTILINE))
        if head is not None:
            found[head[1]] = {"meaning": head[2], **fields}
    return found


def place(dotted: str) -> Any:
    """The value at a dotted name: a module, or an attribute of one."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        try:
            value: Any = import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for name in parts[k:]:
            value = getattr(value, name)
        return value
    raise LookupError(dotted)


@pytest.mark.parametrize("term", entries())
def test_a_term_has_a_meaning_a_standard_term_and_a_place(term: str) -> None:
    found = entries()[term]
    assert found["meaning"].endswith(".")
    assert found["Standard term"]
    dotted = found["Place"]
    assert dotted[:2] == dotted[-2:] == "``"
    assert place(dotted.strip("`")) is not None


def test_the_glossary_is_read_and_sorted() -> None:
    assert len(entries()) == GLOSSARY.count(":Place:") > 50
    sections = GLOSSARY.split(".. glossary::")[2:]
    for section in sections:
        terms = re.findall(r"(?m)^   (\S.*)\n      \S", section)
        assert terms == sorted(terms)


def test_a_place_that_is_gone_is_found() -> None:
    with pytest.raises(AttributeError):
        place("traceir.jit.cache.trace_cache.FunctionCache.look_up")
    with pytest.raises(AttributeError):
        place("traceir.jit.cash")
