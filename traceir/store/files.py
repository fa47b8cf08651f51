"""Entries as files, written whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from traceir.base.fast_dataclass import dataclass
from traceir.base.flags import CHECKS, kept
from traceir.base.fork_safety import kept_over_forks
from traceir.store.entry import Corrupt, StoreEntry, decode, encode
from traceir.store.place import Place, StoreWarning, distrust, exposed, place_of, warn

KINDS = ("program", "code", "tables", "functions", "sources")
# How long a file that was never finished may lie, and how old a note of use may be.
HOUR, DAY = 3600.0, 86400.0
# The directory is looked through when a process has written this part of its bound.
PART = 64

# Opening a pipe would wait for who writes into it.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ |= getattr(os, "O_CLOEXEC", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of the store, without its contents."""

    name: str
    kind: str
    key: str
    size: int
    used: float  # seconds since 1970, to the day


def file_name(kind: str, key: str) -> str:
    """The name of an entry's file."""
    return f"{key}.{kind}"


class Store:
    """The entries of a place. All its methods may be called by many processes at once.

    Nothing that is wrong with a file or directory raises: what cannot be read is not
    there, and what cannot be written is left out. `kept` is the code that this process
    has read or written here, as long as it lives.
    """

    __slots__ = ("place", "kept", "_unseen")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.kept: WeakSet[Any] = WeakSet()
        # Bytes written since the directory was looked through.
        self._unseen = place.bound

    def path(self, kind: str, key: str) -> str:
        """The file of an entry."""
        return os.path.join(self.place.directory, file_name(kind, key))

    # -- reading ------------------------------------------------------------------

    def read(self, kind: str, key: str) -> StoreEntry | None:
        """An entry; None where there is none, or none that can be trusted."""
        path = self.path(kind, key)
        if not self._is_trusted():
            return None
        try:
            data = self._bytes(path)
        except OSError:
            return None
        if data is None:
            return None
        try:
            entry = decode(data)
            if (entry.kind, entry.key) != (kind, key):
                raise Corrupt("it is another entry under this name")
        except Corrupt as error:
            self.refuse(kind, key, str(error))
            return None
        return entry

    def refuse(self, kind: str, key: str, why: str) -> None:
        """Remove an entry that differs from its digest, with a warning."""
        path = self.path(kind, key)
        warn(path, why, "corrupt")
        with suppress(OSError):
            os.unlink(path)

    def _bytes(self, path: str) -> bytes | None:
        """The contents of a file that only this user may have written."""
        number = os.open(path, _READ)
        try:
            info = os.fstat(number)
            why = None if stat.S_ISREG(info.st_mode) else "it is no regular file"
            why = why or distrust(info)
            if why is not None:
                warn(path, why, "file")
                return None
            if time.time() - info.st_mtime > DAY:
                with suppress(OSError):  # the store of another may be read only
                    os.utime(number)
            with open(number, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(number)

    def _is_trusted(self) -> bool:
        """True if the directory is there, and no other user may write to it."""
        try:
            directory = self.place.directory
            why = distrust(os.stat(directory)) or exposed(directory)
        except OSError:
            return False
        if why is not None:
            warn(self.place.directory, why, "directory")
        return why is None

    # -- writing ------------------------------------------------------------------

    def write(self, entry: StoreEntry) -> bool:
        """Keep an entry; says whether it is there now."""
        data = encode(entry)
        if len(data) > self.place.bound:
            return False
        try:
            os.makedirs(self.place.directory, mode=0o700, exist_ok=True)
            if not self._is_trusted():
                return False
            self._replace(self.path(entry.kind, entry.key), data)
        except OSError:
            return False
        self._unseen += len(data)
        if self._unseen * PART > self.place.bound:
            self.prune(self.place.bound)
        return True

    def _replace(self, path: str, data: bytes) -> None:
        """Write a file beside, then put it in its place in one step."""
        part = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.part"
        try:
            number = os.open(part, _MAKE, 0o600)
            with open(number, "wb") as file:
                file.write(data)
            os.replace(part, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise

    # -- all of it ----------------------------------------------------------------

    def listed(self) -> list[Listed]:
        """The entries, those used last first."""
        return sorted(self._files(), key=lambda one: (-one.used, one.name))

    def _files(self) -> Iterator[Listed]:
        now = time.time()
        try:
            found = os.scandir(self.place.directory)
        except OSError:
            return
        with found:
            for file in found:
                key, _, rest = file.name.partition(".")
                kind, _, part = rest.partition(".")
                if len(key) != 64 or kind not in KINDS:
                    continue  # not of the store
                with suppress(OSError):
                    info = file.stat(follow_symlinks=False)
                    if not part:
                        yield Listed(file.name, kind, key, info.st_size, info.st_mtime)
                    elif part.endswith(".part") and now - info.st_mtime > HOUR:
                        os.unlink(file.path)  # of a process that was ended

    def prune(self, bound: int) -> int:
        """Remove the entries used longest ago until the rest fits; gives the count."""
        self._unseen = 0
        entries = self.listed()
        excess = sum(one.size for one in entries) - bound
        removed = 0
        while excess > 0 and entries:
            oldest = entries.pop()
            excess -= oldest.size
            removed += self._remove(oldest)
        return removed

    def clear(self) -> int:
        """Remove all entries; gives their number."""
        return sum(map(self._remove, self.listed()))

    def _remove(self, one: Listed) -> int:
        try:
            os.unlink(os.path.join(self.place.directory, one.name))
        except OSError:
            return 0
        return 1


_current: list[Store | None] = []
# Reentrant: what shows a warning may run a user's code.
_lock = kept_over_forks(threading.RLock())


def current() -> Store | None:
    """The store of this process, as the environment had it at the first call.

    There is none, and a warning, where the environment says what cannot be read.

    >>> store = current()
    >>> store is None or store is current()
    True
    """
    if not _current:
        with _lock:
            if not _current:
                use(_of_environment())
    return _current[0]


def _of_environment() -> Place | None:
    directory: Any = kept("compilation_cache_dir")
    try:
        return place_of(os.environ, directory)
    except ValueError as error:
        text = f"compiled programs are not kept: {error}"
        warnings.warn(text, StoreWarning, stacklevel=3)
        return None


def use(place: Place | None) -> None:
    """Keep entries there from now on, or nowhere.

    >>> before = current()
    >>> use(None)
    >>> current() is None
    True
    >>> use(before.place if before else None)
    """
    _current[:] = [None if place is None else Store(place)]


def _move(directory: object) -> None:
    """Keep entries where the flag `compilation_cache_dir` says; None is as without."""
    if directory is not None and not isinstance(directory, str):
        got = f"None or a str, got {directory!r}"
        raise ValueError(f"the flag compilation_cache_dir is {got}")
    use(place_of(os.environ, directory))


CHECKS["compilation_cache_dir"] = _move
