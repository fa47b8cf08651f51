"""The place of the store, by the environment, and whom it trusts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from traceir.store import files
from traceir.store.place import (
    BOUND,
    Place,
    StoreWarning,
    byte_count,
    distrust,
    place_of,
)

HOME = {"HOME": "/users/me"}


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        (HOME, "/users/me/.cache/traceir"),
        (HOME | {"XDG_CACHE_HOME": "/xdg"}, "/xdg/traceir"),
        (HOME | {"XDG_CACHE_HOME": "relative"}, "/users/me/.cache/traceir"),
        (HOME | {"XDG_CACHE_HOME": "/xdg", "TRACEIR_CACHE_DIR": "/own"}, "/own"),
        (HOME | {"TRACEIR_CACHE_DIR": "/own/../other/"}, "/other"),
        (HOME | {"JAX_COMPILATION_CACHE_DIR": "/jaxs"}, "/jaxs"),
        (
            {"TRACEIR_CACHE_DIR": "/own", "JAX_COMPILATION_CACHE_DIR": "/jaxs"},
            "/own",
        ),
        (HOME | {"TRACEIR_CACHE": "1"}, "/users/me/.cache/traceir"),
    ],
)
def test_the_directory(environment: dict[str, str], directory: str) -> None:
    assert place_of(environment) == Place(directory, BOUND)


@pytest.mark.parametrize("word", ["0", "false", "No", " off "])
def test_it_can_be_turned_off(word: str) -> None:
    assert place_of(HOME | {"TRACEIR_CACHE": word}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRACEIR_CACHE", "maybe"),
        ("TRACEIR_CACHE_SIZE", "much"),
        ("TRACEIR_CACHE_SIZE", "-1"),
        ("TRACEIR_CACHE_SIZE", "1.5G"),
    ],
)
def test_values_that_say_nothing_are_errors(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}.*{value!r}"):
        place_of(HOME | {name: value})


@pytest.mark.parametrize("name", ["TRACEIR_CACHE", "TRACEIR_CACHE_SIZE"])
def test_what_cannot_be_read_is_told_and_nothing_kept(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_current", [])
    monkeypatch.setenv(name, "much")
    with pytest.warns(StoreWarning, match=f"not kept: {name}"):
        assert files.current() is None
    assert files.current() is None  # told once


@pytest.mark.parametrize(
    ("text", "count"), [("0", 0), ("100", 100), ("2k", 2048), (" 3MB ", 3 << 20)]
)
def test_byte_counts(text: str, count: int) -> None:
    assert byte_count(text) == count


def test_a_file_of_this_user_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    file.chmod(0o644)
    assert distrust(file.stat()) is None


def test_a_file_that_every_user_may_write_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    file.chmod(0o602)
    assert file.stat().st_mode & stat.S_IWOTH
    assert distrust(file.stat()) == "every user may write it"


def test_a_file_of_another_user_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert "it belongs to user" in str(distrust(tmp_path.stat()))
