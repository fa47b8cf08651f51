"""Tables that an earlier process has read and checked. Serves: table.file

Tables that were checked once are taken from the store, and a row is read when a program
uses it.
"""

from __future__ import annotations

import json
from pathlib import Path

from traceir.rules.load import load, read_tables
from traceir.rules.rules import Rules
from traceir.store.entry import StoreEntry, digest
from traceir.store.files import current
from traceir.store.sources import texts_of

# The modules that read tables.
READERS = ("exact/*.py", "rules/**/*.py")


def remembered(path: Path) -> Rules:
    """The rules of a folder of tables: as `load` gives them, sooner.

    The store has tables under the digest of their texts, and of the modules that read
    them; they are put there when they have been loaded.

    >>> from traceir.rules.load import spec_path
    >>> remembered(spec_path() / "rules").prims["add"].inputs
    ('x', 'y')
    """
    store = current()
    if store is None:
        return load(path)
    files = sorted(path.glob("*.toml"))
    texts = [part for file in files for part in (file.name, file.read_bytes())]
    key = digest(*texts, "", *texts_of("traceir", READERS))
    entry = store.read("tables", key)
    if entry is not None:
        return load(json.loads(entry.blocks[0]), checked=True)
    tables = read_tables(path)
    rules = load(tables)
    store.write(StoreEntry("tables", key, {}, (json.dumps(tables).encode(),)))
    return rules
