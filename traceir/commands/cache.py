"""`traceir cache`: the store in a few lines, its entries, and their removal."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from traceir.store.files import KINDS, Listed, Store, current
from traceir.store.place import byte_count, place_of

# The entries that a list has unless more are asked for.
ROWS = 20


def command(arguments: Sequence[str], prog: str) -> int:
    """Run a command on the store of this environment; returns the exit status."""
    options = _parser(prog).parse_args(arguments)
    try:
        place_of(os.environ)
    except ValueError as error:
        return _fail(str(error))
    store = current()
    if store is None:
        return _fail("the store is off: TRACEIR_CACHE")
    match options.command:
        case None | "list":
            return _list(store, getattr(options, "rows", ROWS), options.json)
        case "show":
            return _show(store, options.key)
        case "prune":
            return _prune(
                store, store.place.bound if options.size is None else options.size
            )
        case "clear":
            print(f"removed {store.clear():,} entries")
        case "path":
            print(store.place.directory)
    return 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog, description="What was compiled and kept for other processes."
    )
    as_json: Any = {"action": "store_true", "help": "as JSON, with all entries"}
    parser.add_argument("--json", **as_json)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    add = commands.add_parser
    found = add("list", help="a summary and the entries used last; no command means it")
    text = f"the most entries to list ({ROWS})"
    found.add_argument("--rows", type=_count, default=ROWS, metavar="N", help=text)
    text = "list all entries"
    found.add_argument(
        "--all", dest="rows", action="store_const", const=sys.maxsize, help=text
    )
    default = argparse.SUPPRESS  # where it stands before the command
    found.add_argument("--json", default=default, **as_json)
    found = add("show", help="the source of a program, or the names that code defines")
    found.add_argument("key", metavar="KEY", help="its beginning is enough")
    found = add("prune", help="remove what was used longest ago until the rest fits")
    text = "in so many bytes (or 100K, 20M, 1G), or else in the bound of the store"
    found.add_argument("size", nargs="?", type=_size, metavar="SIZE", help=text)
    add("clear", help="remove all entries")
    add("path", help="the directory")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of entries")
    return int(text)


def _size(text: str) -> int:
    try:
        return byte_count(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _fail(text: str) -> int:
    print(text, file=sys.stderr)
    return 1


def human(size: float) -> str:
    """A number of bytes as people read it.

    >>> human(532), human(2381), human(536_870_912)
    ('532 B', '2.3 KB', '512 MB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    digits = 1 if unit != "B" and size < 100 else 0
    return f"{size:,.{digits}f}".removesuffix(".0") + f" {unit}"


def _list(store: Store, most: int, as_json: bool) -> int:
    entries = store.listed()
    if as_json:
        print(json.dumps(_as_json(store, entries), indent=1))
        return 0
    print(_summary(store, entries))
    if entries and most:
        print(f"\n{'key':12}  {'kind':7}  {'size':>8}  {'used':10}  what")
    for one in entries[:most]:
        used, what = _day(one), _what(store, one)
        row = f"{one.key[:12]}  {one.kind:7}  {human(one.size):>8}  {used}  {what}"
        print(row.rstrip())
    if len(entries) > most:
        print(f"and {len(entries) - most:,} more: `list --all` has all")
    return 0


def _summary(store: Store, entries: Sequence[Listed]) -> str:
    size = sum(one.size for one in entries)
    bound = store.place.bound
    share = f" ({size / bound:.0%})" if bound else ""
    lines = [
        store.place.directory,
        f"{len(entries):,} entries, {human(size)} of {human(bound)}{share}",
    ]
    for kind in KINDS:
        own = [one for one in entries if one.kind == kind]
        if own:
            part = human(sum(one.size for one in own))
            lines.append(f"  {kind:8} {len(own):>8,} {part:>10}")
    if entries:
        lines.append(f"used last {_day(entries[0])}, longest ago {_day(entries[-1])}")
    return "\n".join(lines)


def _as_json(store: Store, entries: Sequence[Listed]) -> dict[str, object]:
    return {
        "directory": store.place.directory,
        "bound": store.place.bound,
        "size": sum(one.size for one in entries),
        "entries": [
            {"key": one.key, "kind": one.kind, "size": one.size, "used": _day(one)}
            for one in entries
        ],
    }


def _day(one: Listed) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(one.used))


def _what(store: Store, one: Listed) -> str:
    """A word on an entry: the program's name, or the functions that code defines."""
    entry = store.read(one.kind, one.key)
    if entry is None:
        return "(not to be used)"
    return str(entry.facts.get("name") or " ".join(entry.facts.get("symbols", [])))


def _show(store: Store, key: str) -> int:
    found = [one for one in store.listed() if one.key.startswith(key)]
    if len(found) != 1:
        return _fail(f"{len(found):,} entries begin with {key!r}")
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
    left = human(sum(one.size for one in store.listed()))
    print(f"removed {removed:,} entries, {left} are left")
    return 0
