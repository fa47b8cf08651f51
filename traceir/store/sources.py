"""Texts of modules, for the keys of whatever they decide.

They are read to be digested. What the digest was the store knows: for files of the same
sizes that nobody has changed since, by the times that the system keeps.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from traceir.store.entry import StoreEntry, digest
from traceir.store.files import current

# Names of files, and where they are.
Files = Sequence[tuple[str, str]]
# What was changed so lately, in nanoseconds, may change again at the same time.
_LATELY = 2_000_000_000


def files_of(package: str, patterns: Sequence[str]) -> Files:
    """Some of a package's files, which is not imported for it.

    A pattern is the name of a folder, with `**` after it for those in it, too, and of a
    file, in which one `*` may stand for anything.

    >>> [name for name, _ in files_of("traceir", ["store/e*.py", "**/sources.py"])]
    ['traceir/store/entry.py', 'traceir/store/sources.py']
    """
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        return []
    root, found = folders[0], []
    for pattern in patterns:
        folder, _, name = pattern.rpartition("/")
        inner = folder.removesuffix("**").rstrip("/")
        files = _files(root, inner, folder.endswith("**"))
        begin, star, end = name.partition("*")
        for file in sorted(files):
            own = file.rpartition("/")[2]
            like = own.startswith(begin) and own[len(begin) :].endswith(end)
            if own == name or (star and like):
                found.append((f"{package}/{file}", os.path.join(root, file)))
    return found


def _files(root: str, folder: str, deep: bool) -> Iterator[str]:
    """The files of a folder, and of those in it if it is `deep`."""
    try:
        entries = os.scandir(os.path.join(root, folder))
    except OSError:
        return
    before = f"{folder}/" if folder else ""
    with entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if not entry.is_dir():
                yield f"{before}{entry.name}"
            elif deep:
                yield from _files(root, f"{before}{entry.name}", True)


def digest_of(files: Files, *words: str) -> str:
    """The digest of the names and texts of some files, and of some words.

    >>> files = files_of("traceir", ["store/*.py"])
    >>> digest_of(files) == digest_of(files) != digest_of(files, "more")
    True
    """
    store = current()
    if store is None:
        return _read(files, words)
    seen, last = _seen(files)
    key = digest("sources", *words, *seen)
    entry = store.read("sources", key)
    if entry is not None:
        return str(entry.facts["digest"])
    found = _read(files, words)
    if last + _LATELY < time.time_ns() and _seen(files)[0] == seen:
        store.write(StoreEntry("sources", key, {"digest": found}))
    return found


def _read(files: Files, words: Sequence[str]) -> str:
    parts: list[bytes | str] = [*words]
    for name, path in files:
        with open(path, "rb") as file:
            parts += [name, file.read()]
    return digest(*parts)


def _seen(files: Files) -> tuple[list[str], int]:
    """The words of the system about some files, and when the last was changed."""
    told: list[str] = []
    last = 0
    for name, path in files:
        info = os.stat(path)
        last = max(last, info.st_mtime_ns, info.st_ctime_ns)
        numbers = info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino
        told.append(f"{name} {path} {numbers}")
    return told, last
