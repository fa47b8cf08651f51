"""Tables that an earlier process has read and checked. Serves: table.file

Tables that were checked once are not checked again, and a row is read when a program
uses it.
"""

from __future__ import annotations

import json
from pathlib import Path

from traceir.rules.load import load, read_tables
from traceir.rules.rules import Rules
from traceir.store.entry import digest
from traceir.store.prepared import prepared
from traceir.store.sources import texts_of

# The modules that read tables.
READERS = ("exact/*.py", "rules/**/*.py")


def remembered(path: Path) -> Rules:
    """The rules of a folder of tables: as `load` gives them, sooner.

    They are kept under the digest of their texts, and of the modules that read them.

    >>> from traceir.rules.load import spec_path
    >>> remembered(spec_path() / "rules").prims["add"].inputs
    ('x', 'y')
    """
    files = sorted(path.glob("*.toml"))
    texts = [part for file in files for part in (file.name, file.read_bytes())]
    key = digest(*texts, "", *texts_of("traceir", READERS))
    made: list[Rules] = []

    def make() -> bytes:
        tables = read_tables(path)
        made.append(load(tables))
        return json.dumps(tables).encode()

    tables = prepared("tables", key, make)
    return made[0] if made else load(json.loads(tables), checked=True)
