"""`python -m traceir cache`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceir.__main__ import main
from traceir.commands.cache import ROWS, human
from traceir.store import files
from traceir.store.entry import StoreEntry, digest
from traceir.store.files import Store
from traceir.store.place import Place

PROGRAM = StoreEntry(
    "program", digest("p"), {"name": "selu", "source": "def selu(x): ..."}
)
CODE = StoreEntry(
    "code", digest("c"), {"symbols": ["f", "g"], "needs": ["exp"], "uses": []}, (b"",)
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with a program and code, which the command works on."""
    before = files.current()
    files.use(Place(str(tmp_path)))
    found = files.current()
    assert found is not None
    for entry in (PROGRAM, CODE):
        assert found.write(entry)
    yield found
    files.use(None if before is None else before.place)


def run(*arguments: str) -> int:
    return main(["cache", *arguments])


@pytest.mark.parametrize("arguments", [(), ("list",), ("list", "--all")])
def test_list(
    store: Store, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 0
    summary, listed = capsys.readouterr().out.split("\n\n")
    lines = summary.splitlines()
    assert lines[0] == store.place.directory
    sizes = {one.kind: human(one.size) for one in store.listed()}
    whole = human(sum(one.size for one in store.listed()))
    assert lines[1] == f"2 entries, {whole} of 512 MB (0%)"
    assert lines[2].split() == ["program", "1", *sizes["program"].split()]
    words = {line.split()[0]: line.split()[1:] for line in listed.splitlines()[1:]}
    assert words.keys() == {PROGRAM.key[:12], CODE.key[:12]}
    assert words[PROGRAM.key[:12]][0] == "program"
    assert words[PROGRAM.key[:12]][-1] == "selu"
    assert words[CODE.key[:12]][-2:] == ["f", "g"]


def test_rows_are_capped(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(ROWS):
        store.write(StoreEntry("program", digest(str(k)), PROGRAM.facts))
    assert run() == 0
    *lines, last = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert len(lines) == 1 + ROWS and last.startswith("and 2 more:")
    assert run("list", "--rows", "3") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("and 19 more:")


@pytest.mark.parametrize("arguments", [("--json",), ("list", "--json")])
def test_json(
    store: Store, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["key"] for one in found["entries"]} == {PROGRAM.key, CODE.key}
    assert found["size"] == sum(one["size"] for one in found["entries"])
    assert found["directory"] == store.place.directory


def test_list_says_what_is_not_used(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(store.path("code", CODE.key)).write_bytes(b"nonsense")
    with pytest.warns(UserWarning, match="made anew"):
        assert run() == 0
    assert "(not to be used)" in capsys.readouterr().out


def test_show(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", PROGRAM.key[:5]) == 0
    assert capsys.readouterr().out == "def selu(x): ...\n"
    assert run("show", CODE.key) == 0
    assert capsys.readouterr().out == "symbols: f, g\nneeds: exp\nuses: \n"


@pytest.mark.parametrize(("key", "count"), [("zz", 0), ("", 2)])
def test_show_wants_one(
    store: Store, key: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", key) == 1
    assert capsys.readouterr().err == f"{count} entries begin with {key!r}\n"


def test_prune(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prune") == 0
    assert len(store.listed()) == 2
    assert run("prune", "0") == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "removed 2 entries, 0 B are left"
    )


def test_clear(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("clear") == 0
    assert capsys.readouterr().out == "removed 2 entries\n"
    assert store.listed() == []


def test_path(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path") == 0
    assert capsys.readouterr().out == f"{store.place.directory}\n"


@pytest.mark.parametrize(
    "arguments", [("burn",), ("show",), ("clear", "all"), ("prune", "much")]
)
def test_usage(
    store: Store, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run(*arguments)
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith("usage: python -m traceir cache")
    assert len(store.listed()) == 2


def test_a_store_that_is_off(capsys: pytest.CaptureFixture[str]) -> None:
    before = files.current()
    files.use(None)
    try:
        assert run() == 1
    finally:
        files.use(None if before is None else before.place)
    assert "TRACEIR_CACHE" in capsys.readouterr().err


def test_an_environment_that_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "_current", [])
    monkeypatch.setenv("TRACEIR_CACHE_SIZE", "much")
    assert run() == 1
    text = capsys.readouterr().err
    assert "TRACEIR_CACHE_SIZE" in text and "'much'" in text


def test_who_reads_no_further_sees_no_traceback(store: Store) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-m", "traceir", "cache", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=os.environ | {"TRACEIR_CACHE_DIR": store.place.directory},
        check=False,
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (1, b"")
