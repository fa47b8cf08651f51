"""Every package has a map, and the map is that of its folder."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from _ext.packages import (
    ROOT,
    TOPS,
    Package,
    docstring,
    first_sentence,
    packages,
)

LONGEST = 30
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)
PACKAGES = list(packages())


def problems(package: Package) -> list[str]:
    """The faults of a package's map, in words."""
    text, listed, present = package.text, package.listed(), package.present()
    found = []
    if not text:
        return ["there is no docstring"]
    if (length := len(text.splitlines())) > LONGEST:
        found.append(f"it has {length} lines, and may have {LONGEST}")
    found += [f"`{n}` is not in it" for n in present if n not in listed]
    found += [f"`{n}` does not exist" for n in listed if n not in present]
    twice = {n for n in listed if listed.count(n) > 1}
    found += [f"`{n}` is in it twice" for n in sorted(twice)]
    if not package.starts():
        found.append("it names no function to start reading at")
    found += [
        f"`{n}` does not exist" for n in package.starts() if not is_there(n, package)
    ]
    for name in re.findall(r"`([A-Z]\w*[a-z]\w*)`", text):
        if name not in classes():
            found.append(f"no class is called `{name}`")
    for name, line in package.lines().items():
        if name in present and line.casefold() != (said := sentence(package, name)):
            found.append(f"`{name}` says of itself: {said}")
    return found


@cache
def classes() -> frozenset[str]:
    """The names of all classes of the libraries."""
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return frozenset(name for text in texts for name in CLASS.findall(text))


def sentence(package: Package, name: str) -> str:
    """The first sentence of a module or subpackage, in small letters."""
    path = package.folder / name
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return first_sentence(docstring(path)).casefold()


def is_there(name: str, package: Package) -> bool:
    """True if a dotted name, seen from a package, is a function or a class."""
    path, parts = package.folder, name.split(".")
    while parts and ((path / parts[0]).is_dir() or (path / f"{parts[0]}.py").exists()):
        path = path / parts.pop(0)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for part in parts:
        kinds = ast.FunctionDef | ast.ClassDef
        here = [n for n in body if isinstance(n, kinds) and n.name == part]
        if not here:
            return False
        body = here[0].body
    return bool(parts)


@pytest.mark.parametrize("top", ["traceir", "traceir_numba"])
def test_every_package_has_a_map_of_its_folder(top: str) -> None:
    own = [p for p in PACKAGES if p.name.split(".")[0] == top]
    assert len(own) > 15
    assert {p.name: found for p in own if (found := problems(p))} == {}


def package(folder: Path, text: str) -> Package:
    """A package of the modules `one` and `two`, with a map."""
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f'"""The {name}."""\n\ndef go(): ...\n')
    return Package("made", folder, text)


WHOLE = """Numbers.

Takes none, gives one. Start reading at `one.go`.

- `one`: the one
- `two`: the two
"""


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("- `one`", "- `one`", None),
        ("- `two`: the two\n", "", "`two` is not in it"),
        ("- `two`", "- `three`", "`three` does not exist"),
        ("- `two`", "- `one`", "`one` is in it twice"),
        ("the two", "the other", "`two` says of itself: the two"),
        ("one.go", "one.come", "`one.come` does not exist"),
        ("one.go", "one", "`one` does not exist"),
        ("Takes none", "Takes a `JitFunction`", None),
        ("Takes none", "Takes a `Nothing`", "no class is called `Nothing`"),
        (" Start reading at `one.go`.", "", "it names no function to start reading at"),
        ("Numbers.", "Numbers." + "\n" * 30, "it has 36 lines, and may have 30"),
        (WHOLE, "", "there is no docstring"),
    ],
)
def test_a_map_that_is_wrong_is_told(
    tmp_path: Path, old: str, new: str, said: str | None
) -> None:
    found = problems(package(tmp_path, WHOLE.replace(old, new, 1)))
    assert (said in found) if said else (found == [])
