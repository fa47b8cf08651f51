"""One entry as bytes: a digest, facts, and raw blocks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from traceir.base.fast_dataclass import dataclass

MAGIC = b"traceir store 1\n"
_HEAD = len(MAGIC) + 65  # the digest, and the end of its line


class Corrupt(ValueError):
    """Bytes that are no entry, or not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """A program, the code of some functions, or tables, by a digest of their sources.

    `facts` are numbers, strings, lists and dicts of them; `blocks` are bytes.

    >>> entry = StoreEntry("code", "ab" * 32, {"symbols": ["f"]}, (b"object file",))
    >>> decode(encode(entry)) == entry
    True
    """

    kind: str
    key: str
    facts: dict[str, Any]
    blocks: tuple[bytes, ...] = ()


def digest(*parts: bytes | str) -> str:
    """A digest that no other sequence of parts has.

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    whole = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(b"%d:" % len(data))
        whole.update(data)
    return whole.hexdigest()


def encode(entry: StoreEntry) -> bytes:
    """The bytes of an entry's file."""
    head = {
        "kind": entry.kind,
        "key": entry.key,
        "blocks": [len(block) for block in entry.blocks],
        "facts": entry.facts,
    }
    body = b"".join((json.dumps(head).encode(), b"\n", *entry.blocks))
    return b"".join((MAGIC, sha256(body).hexdigest().encode(), b"\n", body))


def decode(data: bytes) -> StoreEntry:
    """The entry that bytes stand for; raises Corrupt where one of them was changed."""
    if not data.startswith(MAGIC):
        raise Corrupt("it does not begin as an entry does")
    body = data[_HEAD:]
    if data[len(MAGIC) : _HEAD] != sha256(body).hexdigest().encode() + b"\n":
        raise Corrupt("its digest is not that of its bytes")
    try:
        line, _, rest = body.partition(b"\n")
        head = json.loads(line)
        blocks = _cut(rest, head["blocks"])
        return StoreEntry(head["kind"], head["key"], head["facts"], blocks)
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"its head cannot be read: {error}") from error


def _cut(data: bytes, lengths: Sequence[int]) -> tuple[bytes, ...]:
    if sum(lengths) != len(data) or min(lengths, default=0) < 0:
        raise Corrupt("its blocks have other lengths than its head says")
    blocks = []
    for length in lengths:
        blocks.append(data[:length])
        data = data[length:]
    return tuple(blocks)
