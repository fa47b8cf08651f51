"""`python -m traceir cache`: lists the store and removes entries."""

from __future__ import annotations

import os
import sys
import time

from traceir.store.files import Listed, Store, current
from traceir.store.place import byte_count, place_of

USAGE = """\
usage: python -m traceir cache [command]

  list          the entries, those used last first; this is what no command means
  show KEY      the source of a program, or what an entry of code defines; the
                beginning of a key is enough
  prune [SIZE]  remove what was used longest ago until the rest fits in SIZE bytes
                (or 100K, 20M, 1G), or else in the bound of the store
  clear         remove all entries
  path          the directory"""


def command(arguments: list[str]) -> int:
    """Run a command on the store of this environment; returns the exit status."""
    try:
        place_of(os.environ)
    except ValueError as error:
        return _fail(str(error))
    store = current()
    if store is None:
        return _fail("the store is off: TRACEIR_CACHE")
    match arguments:
        case [] | ["list"]:
            return _list(store)
        case ["show", key]:
            return _show(store, key)
        case ["prune"]:
            return _prune(store, store.place.bound)
        case ["prune", size]:
            try:
                return _prune(store, byte_count(size))
            except ValueError as error:
                return _fail(str(error))
        case ["clear"]:
            print(f"removed {store.clear()} entries")
            return 0
        case ["path"]:
            print(store.place.directory)
            return 0
    print(USAGE, file=sys.stderr)
    return 2


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1


def _list(store: Store) -> int:
    entries = store.listed()
    for one in entries:
        used = time.strftime("%Y-%m-%d", time.localtime(one.used))
        what = _what(store, one)
        print(f"{one.key[:12]}  {one.kind:7}  {one.size:>9,}  {used}  {what}".rstrip())
    size = sum(one.size for one in entries)
    print(f"{len(entries)} entries, {size:,} of {store.place.bound:,} bytes")
    return 0


def _what(store: Store, one: Listed) -> str:
    """A word on an entry: the program's name, or the functions that code defines."""
    entry = store.read(one.kind, one.key)
    if entry is None:
        return "(not to be used)"
    return str(entry.facts.get("name") or " ".join(entry.facts.get("symbols", [])))


def _show(store: Store, key: str) -> int:
    found = [one for one in store.listed() if one.key.startswith(key)]
    if len(found) != 1:
        return _fail(f"{len(found)} entries begin with {key!r}")
    entry = store.read(found[0].kind, found[0].key)
    if entry is None:
        return _fail(f"{found[0].name} is not to be used")
    if "source" in entry.facts:
        print(entry.facts["source"])
    else:
        for fact, value in entry.facts.items():
            print(f"{fact}: {', '.join(map(str, value))}")
    return 0


def _prune(store: Store, bound: int) -> int:
    removed = store.prune(bound)
    left = sum(one.size for one in store.listed())
    print(f"removed {removed} entries, {left:,} bytes are left")
    return 0
