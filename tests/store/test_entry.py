"""Entries as bytes: nothing that was changed is read."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceir.store.entry import MAGIC, Corrupt, StoreEntry, decode, digest, encode

KEY = "0" * 64
FACTS = st.dictionaries(
    st.text(), st.integers() | st.text() | st.lists(st.text()) | st.none()
)
ENTRY = StoreEntry("code", KEY, {"symbols": ["f"]}, (b"one", b"", b"three"))


@given(FACTS, st.lists(st.binary()))
def test_what_is_written_is_read(facts: dict[str, object], blocks: list[bytes]) -> None:
    entry = StoreEntry("program", KEY, facts, tuple(blocks))
    assert decode(encode(entry)) == entry


def test_a_change_of_any_byte_is_seen() -> None:
    data = encode(ENTRY)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(Corrupt):
            decode(bytes(changed))


def test_an_end_at_any_place_is_seen() -> None:
    data = encode(ENTRY)
    for size in range(len(data)):
        with pytest.raises(Corrupt):
            decode(data[:size])
    with pytest.raises(Corrupt):
        decode(data + b"x")


HEADS = {
    "no head": b"\n",
    "not even text": b"\xff\n",
    "no such keys": b"{}\n",
    "a list": b"[]\n",
    "blocks that are too long": json.dumps(
        {"kind": "code", "key": KEY, "facts": {}, "blocks": [5]}
    ).encode()
    + b"\nfour",
    "blocks that go back": json.dumps(
        {"kind": "code", "key": KEY, "facts": {}, "blocks": [-1, 5]}
    ).encode()
    + b"\nfour",
}


@pytest.mark.parametrize("body", HEADS.values(), ids=HEADS)
def test_a_head_that_says_nothing_is_refused_whatever_its_digest(body: bytes) -> None:
    with pytest.raises(Corrupt):
        decode(MAGIC + sha256(body).hexdigest().encode() + b"\n" + body)


@given(st.lists(st.binary()), st.lists(st.binary()))
def test_digests_tell_where_parts_end(one: list[bytes], other: list[bytes]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)
