"""Static archives of one object file, for linkers of ELF systems."""

from __future__ import annotations

from collections.abc import Sequence

_START, _END = b"!<arch>\n", b"`\n"
# Its name in the archive, which is for people.
_MEMBER = "code.o/"


def archive_of(code: bytes, symbols: Sequence[str]) -> bytes:
    """The archive of an object file that defines these symbols.

    >>> archive_of(b"code", ["net"]).count(b"`")
    2
    """
    names = b"".join(name.encode() + b"\0" for name in symbols)
    index_size = 4 + 4 * len(symbols) + len(names)
    # Members begin at even places.
    place = len(_START) + 60 + index_size + index_size % 2
    index = len(symbols).to_bytes(4, "big") + place.to_bytes(4, "big") * len(symbols)
    return _START + _member("/", index + names) + _member(_MEMBER, code)


def _member(name: str, data: bytes) -> bytes:
    """A member: its head has no time and no owner, so that equal ones are equal."""
    fields = f"{name:16}{0:<12}{0:<6}{0:<6}{'644':8}{len(data):<10}".encode()
    return fields + _END + data + b"\n" * (len(data) % 2)
