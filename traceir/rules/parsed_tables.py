"""Tables that an earlier process has read and checked. Serves: table.file

Tables that were checked once are not checked again, and a row is read when a program
uses it.
"""

from __future__ import annotations

import json
import os
from os import PathLike

from traceir.rules.load import load, read_tables
from traceir.rules.rules import Rules
from traceir.store.prepared import prepared
from traceir.store.sources import digest_of, files_of

# The modules that read tables.
READERS = ("exact/*.py", "rules/**/*.py")


def remembered(path: PathLike[str] | str) -> Rules:
    """The rules of a folder of tables: as `load` gives them, sooner.

    They are kept under the digest of their texts, and of the modules that read them.

    >>> from traceir.base.flags import spec_path
    >>> remembered(spec_path() / "rules").prims["add"].inputs
    ('x', 'y')
    """
    names = sorted(name for name in os.listdir(path) if name.endswith(".toml"))
    files = [(name, os.path.join(path, name)) for name in names]
    key = digest_of([*files, *files_of("traceir", READERS)])
    made: list[Rules] = []

    def make() -> bytes:
        from pathlib import Path  # for the first process alone

        tables = read_tables(Path(path))
        made.append(load(tables))
        return json.dumps(tables).encode()

    found = prepared("tables", key, make)
    return made[0] if made else load(json.loads(found), checked=True)
