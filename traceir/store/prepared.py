"""Data that is made of the project's own sources once.

A built package has it beside its modules; a checkout's first process makes it, and puts
it in the store. Serves: table.file
"""

from __future__ import annotations

import os
from collections.abc import Callable

from traceir.base.progress import progress
from traceir.store.entry import Corrupt, StoreEntry, decode
from traceir.store.files import current, file_name

# What belongs to the package is as trusted as its modules are.
FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prepared")


def prepared(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The data of a kind under a key, the digest of what it is made of.

    That of the package or of the store; where neither has it, it is made and kept.

    >>> prepared("tables", "ab" * 32, lambda: b"made")
    b'made'
    """
    found = _of_the_package(kind, key)
    store = None if found else current()
    if store is not None:
        found = store.read(kind, key)
    if found is not None:
        return found.blocks[0]
    with progress(
        f"making the {kind} of a checkout, once", lambda: "from their sources"
    ):
        data = make()
    if store is not None:
        store.write(StoreEntry(kind, key, {}, (data,)))
    return data


def _of_the_package(kind: str, key: str) -> StoreEntry | None:
    try:
        with open(os.path.join(FOLDER, file_name(kind, key)), "rb") as file:
            found = decode(file.read())
    except (OSError, Corrupt):
        return None
    return found if (found.kind, found.key) == (kind, key) else None
