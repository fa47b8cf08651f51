"""Entries as files: whole or not there, believed or made anew, within the bound."""

from __future__ import annotations

import builtins
import errno
import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from traceir.store.entry import StoreEntry, decode, digest, encode
from traceir.store.files import DAY, HOUR, Store
from traceir.store.place import Place, StoreWarning


def entry(name: str, size: int = 10) -> StoreEntry:
    """An entry with a block of some size."""
    return StoreEntry("code", digest(name), {"symbols": [name]}, (b"x" * size,))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store in a directory that is not there yet."""
    return Store(Place(str(tmp_path / "deep" / "store")))


def read(store: Store, one: StoreEntry) -> StoreEntry | None:
    """The entry under another's key."""
    return store.read(one.kind, one.key)


def file_of(store: Store, one: StoreEntry) -> Path:
    """The file of an entry."""
    return Path(store.path(one.kind, one.key))


def test_what_is_written_is_read(store: Store) -> None:
    one = entry("one")
    assert read(store, one) is None
    assert store.write(one)
    assert read(store, one) == one
    assert read(store, entry("two")) is None


def test_only_this_user_can_read_it(store: Store) -> None:
    store.write(entry("one"))
    assert Path(store.place.directory).stat().st_mode & 0o777 == 0o700
    assert file_of(store, entry("one")).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("at", [0, 20, 90, 200, -1])
def test_a_corrupt_entry_is_removed_with_one_warning(store: Store, at: int) -> None:
    for name in ("one", "two"):
        store.write(entry(name))
        data = bytearray(file_of(store, entry(name)).read_bytes())
        data[at] ^= 0xFF
        file_of(store, entry(name)).write_bytes(data)
    with pytest.warns(StoreWarning, match="made anew"):
        assert read(store, entry("one")) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(store, entry("two")) is None
    assert store.listed() == []
    assert store.write(entry("one"))
    assert read(store, entry("one")) == entry("one")


def test_an_empty_file_is_corrupt(store: Store) -> None:
    store.write(entry("one"))
    file_of(store, entry("one")).write_bytes(b"")
    with pytest.warns(StoreWarning):
        assert read(store, entry("one")) is None


def test_an_entry_under_the_name_of_another_is_not_it(store: Store) -> None:
    store.write(entry("one"))
    file_of(store, entry("one")).rename(file_of(store, entry("two")))
    with pytest.warns(StoreWarning, match="another entry"):
        assert read(store, entry("two")) is None


@pytest.mark.parametrize(("mode", "who"), [(0o666, "every user"), (0o664, "its group")])
def test_a_file_that_others_may_write_is_not_read(
    store: Store, mode: int, who: str
) -> None:
    store.write(entry("one"))
    file_of(store, entry("one")).chmod(mode)
    with pytest.warns(StoreWarning, match=f"{who} may write it"):
        assert read(store, entry("one")) is None
    assert store.write(entry("one"))
    assert read(store, entry("one")) == entry("one")


def test_a_directory_that_others_may_write_is_not_used(store: Store) -> None:
    store.write(entry("one"))
    Path(store.place.directory).chmod(0o777)
    with pytest.warns(StoreWarning, match="every user may write it"):
        assert read(store, entry("one")) is None
    assert not store.write(entry("two"))


@pytest.mark.parametrize("above", [1, 2])
def test_a_directory_that_others_could_put_theirs_in_the_place_of_is_not_used(
    tmp_path: Path, above: int
) -> None:
    inner = tmp_path / "all" / "own" / "store"
    store = Store(Place(str(inner)))
    assert store.write(entry("one"))
    parent = inner.parents[above - 1]
    parent.chmod(0o777)
    with pytest.warns(StoreWarning, match=f"every user may write {parent}, which"):
        assert read(store, entry("one")) is None
    assert not store.write(entry("two"))
    parent.chmod(0o1777)  # sticky: only who made something may move it
    assert read(store, entry("one")) == entry("one")


def test_files_of_others_are_not_used(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(entry("one"))
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.warns(StoreWarning, match="it belongs to user"):
        assert read(store, entry("one")) is None
    assert not store.write(entry("two"))


def test_a_link_is_not_followed(store: Store, tmp_path: Path) -> None:
    store.write(entry("one"))
    elsewhere = tmp_path / "elsewhere"
    file_of(store, entry("one")).rename(elsewhere)
    file_of(store, entry("one")).symlink_to(elsewhere)
    assert read(store, entry("one")) is None


def test_what_is_no_file_is_not_read(store: Store) -> None:
    file_of(store, entry("one")).mkdir(parents=True)
    Path(store.place.directory).chmod(0o700)
    with pytest.warns(StoreWarning, match="no regular file"):
        assert read(store, entry("one")) is None
    assert not store.write(entry("one"))


def test_a_pipe_is_not_waited_for(store: Store) -> None:
    store.write(entry("one"))
    file_of(store, entry("one")).unlink()
    os.mkfifo(file_of(store, entry("one")))
    with pytest.warns(StoreWarning, match="no regular file"):
        assert read(store, entry("one")) is None


# -- where nothing can be written -----------------------------------------------------


def test_no_directory_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(Place(str(tmp_path / "file" / "store")))
    assert not store.write(entry("one"))
    assert read(store, entry("one")) is None
    assert store.listed() == []
    assert store.prune(0) == store.clear() == 0


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_directory_that_is_only_read(
    store: Store, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(entry("one"))
    aged(store, entry("one"), 2 * DAY)
    real = os.open

    def only_read(path: Any, flags: int, *mode: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return real(path, flags, *mode)

    def no_note(*_: Any) -> None:
        raise OSError(errno.EROFS, "read only")

    monkeypatch.setattr(os, "open", only_read)
    monkeypatch.setattr(os, "utime", no_note)
    assert not store.write(entry("two"))
    assert read(store, entry("one")) == entry("one")


def test_files_that_are_not_of_the_store_stay(store: Store) -> None:
    store.write(entry("one"))
    key, directory = "k" * 64, Path(store.place.directory)
    others = {f"{key}.video", f"{key}.video.1.part", "a.code", "a.code.1.part"}
    for name in others:
        (directory / name).write_text("mine")
        os.utime(directory / name, (0, time.time() - HOUR - 1))
    assert store.clear() == 1
    assert {path.name for path in directory.iterdir()} == others


# -- a process that is ended ----------------------------------------------------------


@pytest.mark.parametrize("call", ["write", "replace"])
def test_a_process_ended_while_it_writes_leaves_no_entry(
    store: Store, call: str
) -> None:
    store.write(entry("before"))
    child = os.fork()
    if child == 0:
        try:
            _end_at(call)
            store.write(entry("one", 100_000))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert read(store, entry("one")) is None
    assert [one.key for one in store.listed()] == [entry("before").key]
    (left,) = Path(store.place.directory).glob("*.part")
    assert store.write(entry("one", 100_000))
    assert read(store, entry("one")) == entry("one", 100_000)
    store.prune(store.place.bound)
    assert left.exists()  # it could be another process's, still at work
    os.utime(left, (0, time.time() - HOUR - 1))
    store.prune(store.place.bound)
    assert not left.exists()


def _end_at(call: str) -> None:
    """End this process at once when it would put an entry in its place, or before."""

    def end(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def half(file: Any, mode: str = "r", **options: Any) -> Any:
        found = opened(file, mode, **options)
        if "w" in mode:
            found.write(b"half of an entry")
            found.flush()
            end()
        return found

    opened = builtins.open
    patch = pytest.MonkeyPatch()  # never undone: this child does nothing else
    if call == "replace":
        patch.setattr(os, "replace", end)
    else:
        patch.setattr(builtins, "open", half)


# -- the bound ------------------------------------------------------------------------


def aged(store: Store, one: StoreEntry, seconds: float) -> None:
    """Make an entry one that was used so long ago."""
    then = time.time() - seconds
    os.utime(file_of(store, one), (then, then))


def total(store: Store) -> int:
    """The bytes of all files of the directory."""
    return sum(f.stat().st_size for f in Path(store.place.directory).iterdir())


def test_what_was_used_longest_ago_goes_first(store: Store) -> None:
    for days, name in enumerate(["new", "middle", "old"]):
        store.write(entry(name))
        aged(store, entry(name), days * DAY)
    size = len(encode(entry("new")))
    assert store.prune(2 * size + 10) == 1
    assert [one.key for one in store.listed()] == [
        digest("new"),
        digest("middle"),
    ]
    assert store.prune(0) == 2


def test_to_read_is_to_use(store: Store) -> None:
    for name in ("one", "two"):
        store.write(entry(name))
    aged(store, entry("one"), 3 * DAY)
    aged(store, entry("two"), 2 * DAY)
    read(store, entry("one"))
    assert [one.key for one in store.listed()] == [digest("one"), digest("two")]


def test_the_bound_is_kept(tmp_path: Path) -> None:
    bound = 20_000
    store = Store(Place(str(tmp_path / "store"), bound))
    for number in range(100):
        assert store.write(entry(f"entry {number}", 700 + 13 * number % 500))
        assert total(store) <= bound
    assert len(store.listed()) > 5
    assert not store.write(entry("large", bound))


def test_other_processes_share_the_bound(tmp_path: Path) -> None:
    """Each looks through the directory when it first writes there."""
    bound = 20_000
    for number in range(50):
        store = Store(Place(str(tmp_path / "store"), bound))
        store.write(entry(f"entry {number}", 1000))
        assert total(store) <= bound


def test_files_of_others_are_left_alone(store: Store) -> None:
    store.write(entry("one"))
    other = Path(store.place.directory) / "notes.txt"
    other.write_text("mine")
    assert store.clear() == 1
    assert other.exists()
    assert decode(encode(entry("one"))) == entry("one")
