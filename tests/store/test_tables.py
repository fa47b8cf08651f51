"""Tables that an earlier process has checked are the same rules, read on demand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceir.errors import RuleTableError
from traceir.rules.load import load, spec_path
from traceir.rules.parsed_tables import remembered
from traceir.rules.primitives import OnDemand
from traceir.store import files
from traceir.store.files import Store
from traceir.store.place import Place


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, which is this process's."""
    before = files.current()
    files.use(Place(str(tmp_path / "store")))
    found = files.current()
    assert found is not None
    yield found
    files.use(None if before is None else before.place)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of the specification's tables."""
    return Path(shutil.copytree(spec_path() / "rules", tmp_path / "rules"))


@pytest.mark.usefixtures("store")
def test_remembered_rules_are_those_that_were_loaded() -> None:
    path = spec_path() / "rules"
    first, second, loaded = remembered(path), remembered(path), load(path)
    assert list(second.clauses) == list(loaded.clauses)
    assert not isinstance(first.prims, OnDemand)
    assert isinstance(second.prims, OnDemand)
    assert list(second.prims) == list(loaded.prims)
    assert dict(second.prims) == dict(loaded.prims)
    assert len(second.prims) == len(loaded.prims)
    assert dict(second.clauses) == dict(loaded.clauses)
    assert len(second.clauses) == len(loaded.clauses)
    assert second.tables == loaded.tables
    for field in ("lattice", "program", "keys", "flags", "errors", "text", "choices"):
        assert getattr(second, field) == getattr(loaded, field)


@pytest.mark.usefixtures("store")
def test_what_is_not_there_is_not_found() -> None:
    path = spec_path() / "rules"
    remembered(path)
    rules = remembered(path)
    assert "no-such" not in rules.prims and rules.prims.get("no-such") is None
    for rule in ("no-such", "no-such.clause", "add.no-such"):
        assert rules.clauses.get(rule) is None


def test_changed_tables_are_checked(store: Store, tables: Path) -> None:
    remembered(tables)
    assert [one.kind for one in store.listed()] == ["tables"]
    file = tables / "primitives.toml"
    file.write_text(file.read_text().replace('domain = "axes"', 'domain = "no"', 1))
    with pytest.raises(RuleTableError, match=r"table\.domain"):
        remembered(tables)
    assert len(store.listed()) == 1


def test_without_a_store_tables_are_loaded(tables: Path) -> None:
    before = files.current()
    files.use(None)
    try:
        assert not isinstance(remembered(tables).prims, OnDemand)
        assert not isinstance(remembered(tables).prims, OnDemand)
    finally:
        files.use(None if before is None else before.place)


def test_damaged_tables_are_loaded_again(store: Store, tables: Path) -> None:
    remembered(tables)
    (one,) = store.listed()
    Path(store.path(one.kind, one.key)).write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="made anew"):
        assert not isinstance(remembered(tables).prims, OnDemand)
    assert isinstance(remembered(tables).prims, OnDemand)
