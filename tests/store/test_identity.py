"""The identity that two processes must share to share code: every source of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any

import pytest

from traceir.rules import parsed_tables
from traceir.store.sources import files_of
from traceir_numba.runtime import elf, mcjit, processor
from traceir_numba.store import identity

X86 = elf.is_loaded_here()
ROOT = Path(identity.__file__).parents[2]
# What the backend imports of `traceir` that decides nothing of the code.
OTHERS = {
    "base/caches.py": "what is kept, and how long",
    "base/fast_dataclass.py": "how classes are made, not what is in them",
    "base/fork_safety.py": "locks",
    "base/lazy_exports.py": "when modules are imported",
    "base/python_parser.py": "Python's parser",
    "base/source_info.py": "lines in comments",
    "base/progress.py": "what is told meanwhile",
    "base/tracebacks.py": "what errors show",
    "base/version.py": "the version, which users read",
    "errors.py": "texts of errors",
    "face/python/numbers.py": "what a trace is, which is in the key",
    "jit/cache/known_arguments.py": "which arguments are known, which is in the key",
    "jit/cache/options.py": "what the decorator is asked for",
    "jit/fallback.py": "what runs instead of a program",
    "jit/function.py": "what the decorator makes",
    "jit/stages.py": "traces that are exported",
    "pytrees/treedef.py": "told apart in keys",
    "rules/__init__.py": "the tables: they decide the trace, which is in the key",
    "store/__init__.py": "the store itself",
    "store/entry.py": "the store itself",
    "store/files.py": "the store itself",
    "store/prepared.py": "the store itself",
    "store/sources.py": "the store itself",
    "text/__init__.py": "comments",
    "text/naming.py": "names of variables",
    "text/printer.py": "comments",
    "tracing/trace.py": "what a trace is, which is in the key",
}


def imported() -> set[str]:
    """The files of `traceir` that modules of the backend import.

    Those about devices are left out: what is made for a device is not kept.
    """
    found = set()
    backend = ROOT / "traceir_numba"
    for path in set(backend.rglob("*.py")) - set(backend.glob("cuda/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith(
                "traceir."
            ):
                found.add(_file(str(node.module)))
            elif isinstance(node, ast.ImportFrom) and node.module == "traceir":
                found.update(_file(f"traceir.{alias.name}") for alias in node.names)
    return found


def _file(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return str(file.relative_to(ROOT / "traceir"))


def test_every_import_of_the_backend_is_in_its_identity_or_decides_nothing() -> None:
    covered = {
        file
        for pattern in identity.SOURCES["traceir"]
        for file in glob(pattern, root_dir=ROOT / "traceir", recursive=True)
    }
    assert imported() - covered - OTHERS.keys() == set()


def test_every_pattern_of_sources_has_files() -> None:
    asked = [
        (package, one) for package, some in identity.SOURCES.items() for one in some
    ]
    asked += [("traceir_numba", one) for one in identity.COMPILER]
    asked += [("traceir", one) for one in parsed_tables.READERS]
    assert [one for one in asked if not files_of(one[0], one[1:])] == []


def test_what_is_made_for_a_device_is_not_kept() -> None:
    paths = (ROOT / "traceir_numba" / "cuda").rglob("*.py")
    found = [path.name for path in paths if "numba.store" in path.read_text()]
    assert found == []


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing is known of before, and nothing afterwards."""
    identity.identity.cache_clear()
    identity.compiler.cache_clear()
    yield
    identity.identity.cache_clear()
    identity.compiler.cache_clear()


FEWER: dict[str, Any] = {
    "SOURCES": {"traceir_numba": ("**/*.py",)},
    "COMPILER": ("runtime/mcjit.py",),
    "VERSIONS": {**identity.VERSIONS, "numpy": "exceptions.py"},
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("what", FEWER)
def test_sources_and_versions_decide(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identity.identity()
    monkeypatch.setattr(identity, what, FEWER[what])
    identity.identity.cache_clear()
    identity.compiler.cache_clear()
    assert identity.identity() != before


@pytest.mark.usefixtures("fresh")
def test_the_processor_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.compiler()
    words = processor.instructions()
    monkeypatch.setattr(processor, "instructions", lambda: f"{words} 0")
    identity.compiler.cache_clear()
    assert identity.compiler() != before


@pytest.mark.usefixtures("fresh")
def test_the_processor_decides_where_llvm_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(elf, "is_loaded_here", lambda: False)
    found = processor.instructions.__wrapped__()
    assert found == " ".join((mcjit.triple(), *mcjit.processor()))


@pytest.mark.skipif(not X86, reason="LLVM is asked there")
def test_the_processor_answers_as_the_system_has_it() -> None:
    _, name, *words = processor.instructions().split()
    assert name == "x86_64"
    text = Path("/proc/cpuinfo").read_text()
    facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    vendor = "".join(bytes.fromhex(words[k].zfill(8))[::-1].decode() for k in (1, 3, 2))
    known = {key.strip(): value.strip() for key, value in facts.items()}
    assert vendor == known["vendor_id"]
    assert int(words[4], 16) & 15 == int(known["stepping"])


@pytest.mark.usefixtures("fresh")
def test_it_is_the_same_again() -> None:
    before = identity.identity()
    identity.identity.cache_clear()
    identity.compiler.cache_clear()
    assert identity.identity() == before
