"""Digests of sources: what is read, and what the store knows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceir.rules import default
from traceir.rules.load import PARTS, load
from traceir.store import files, sources
from traceir.store.place import Place


@pytest.fixture
def store(tmp_path: Path) -> Iterator[files.Store]:
    """A store of this test's own."""
    before = files.current()
    files.use(Place(str(tmp_path / "store")))
    found = files.current()
    assert found is not None
    yield found
    files.use(before.place if before else None)


def some(folder: Path) -> sources.Files:
    return [(path.name, str(path)) for path in sorted(folder.glob("*.txt"))]


def written(folder: Path, when: float, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text)
        os.utime(path, (when, when))


def test_files_that_nobody_has_changed_are_not_read(
    store: files.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_LATELY", 0)
    written(tmp_path, 1e9, a="one", b="two")
    time.sleep(0.02)
    found = sources.digest_of(some(tmp_path), "word")
    assert [one.kind for one in store.listed()] == ["sources"]
    with monkeypatch.context() as patch:
        patch.setattr(sources, "_read", None)
        assert sources.digest_of(some(tmp_path), "word") == found
    assert sources.digest_of(some(tmp_path), "other") != found
    # Neither size nor time tells them apart; when they were written does.
    written(tmp_path, 1e9, a="ONE")
    assert sources.digest_of(some(tmp_path), "word") != found
    written(tmp_path, 1e9, a="one")
    assert sources.digest_of(some(tmp_path), "word") == found


def test_what_was_changed_lately_is_read_again(
    store: files.Store, tmp_path: Path
) -> None:
    written(tmp_path, time.time(), a="one")
    sources.digest_of(some(tmp_path))
    assert store.listed() == []


def test_without_a_store_all_is_read(tmp_path: Path) -> None:
    before = files.current()
    files.use(None)
    written(tmp_path, 1e9, a="one")
    found = sources.digest_of(some(tmp_path))
    written(tmp_path, 1e9, a="ONE")
    assert sources.digest_of(some(tmp_path)) != found
    files.use(before.place if before else None)


def test_patterns() -> None:
    def names(*patterns: str) -> list[str]:
        return [name for name, _ in sources.files_of("traceir", patterns)]

    assert names("errors.py") == ["traceir/errors.py"]
    assert "traceir/rules/formulas/names.py" in names("rules/**/*.py")
    assert "traceir/rules/formulas/names.py" not in names("rules/*.py")
    assert "traceir/rules/load.py" in names("rules/*.py") and names("no/*.py") == []
    assert sources.files_of("no_such_package", ["*.py"]) == []
    every = names("**/*.py")
    assert len(every) == len({*every}) > 500
    assert not any("__pycache__" in name or not name.endswith(".py") for name in every)


def test_tables_that_were_checked_give_the_same_parts() -> None:
    whole = load(default().tables)
    late = load(default().tables, checked=True)
    assert "lattice" not in vars(late)
    for name in (*PARTS, "prims"):
        if name not in ("machine", "levels"):  # which are equal to themselves alone
            assert dict_of(getattr(late, name)) == dict_of(getattr(whole, name)), name
    assert late.machine is vars(late)["machine"]
    assert vars(late.levels).keys() == vars(whole.levels).keys()
    unknown = "no_such_field"
    with pytest.raises(AttributeError, match=unknown):
        getattr(late, unknown)


def dict_of(value: object) -> object:
    return {**value} if hasattr(value, "keys") else value
