"""The container of a file: a head, text, and blocks of constants.

Serves: export.file, export.version, export.additions
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.errors import TraceirError

VERSION = 1
_FIRST = re.compile(rb"traceir program (\d{1,9})\n")
_SECOND = re.compile(rb"([0-9a-f]{64}) (\d{1,18})\n")


@dataclass(frozen=True, slots=True)
class FileContents:
    """The contents of a file: `head` is what JSON can say, `blocks` are bytes.

    >>> parts = FileContents({"name": "f"}, "{ lambda ; . let in () }", (b"abcd",))
    >>> unpack(pack(parts)) == parts
    True
    """

    head: Mapping[str, Any]
    text: str
    blocks: tuple[bytes, ...] = ()


def pack(parts: FileContents) -> bytes:
    """The bytes of a file."""
    text = parts.text.encode()
    sizes = {"text": len(text), "blocks": [len(block) for block in parts.blocks]}
    head = json.dumps({**parts.head, "sizes": sizes}, allow_nan=False)
    body = b"".join((head.encode(), b"\n", text, *parts.blocks))
    first = f"traceir program {VERSION}\n{sha256(body).hexdigest()} {len(body)}\n"
    return first.encode() + body


def unpack(data: bytes) -> FileContents:
    """The contents of a file, from its bytes.

    Raises ValueError: export.version for a format that is newer than this one,
    export.file for bytes that are no file, or not all of it, or not as written.
    """
    first = _FIRST.match(data)
    if first is None:
        raise broken("it does not begin with `traceir program 1`")
    if int(first[1]) > VERSION:
        raise rules.error("export.version", got=f"format {int(first[1])}")
    second = _SECOND.match(data, first.end())
    if second is None:
        raise broken("its second line is no digest with a number of bytes")
    body, size = data[second.end() :], int(second[2])
    if len(body) != size:
        raise broken(f"it has {len(body)} bytes after its second line, not {size}")
    if sha256(body).hexdigest().encode() != second[1]:
        raise broken("its digest is not that of its bytes")
    return _parts(body)


def _parts(body: bytes) -> FileContents:
    line, _, rest = body.partition(b"\n")
    try:
        head = json.loads(line)
        sizes = head.pop("sizes")
        text, *blocks = _cut(rest, [sizes["text"], *sizes["blocks"]])
        return FileContents(head, text.decode(), tuple(blocks))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise broken(f"its head cannot be read: {error!r:.80}") from None


def _cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    if min(sizes) < 0 or sum(sizes) != len(data):
        raise ValueError("parts have other sizes than the head says")
    for begin, end in pairwise(accumulate(sizes, initial=0)):
        yield data[begin:end]


def broken(why: str) -> TraceirError:
    """The error of a file that is damaged."""
    return rules.error("export.file", got=why)
