"""Digests that tell if an artefact's files are as they were written.

A text ends with the digest of what stands before; it has those of the other files.
Serves: artefact.whole, artefact.version
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from traceir import rules

# What files say of their own form.
FORMAT = 1
# What stands before the digest that ends a text.
LAST = "sha256 "
# What a module does first. In the text that it reads, all before the digest is sealed.
CHECK = f'''\
# ruff: noqa: E402  nothing is imported before this file is known to be whole
import hashlib
from pathlib import Path

if not Path(__file__).is_file():
    raise ImportError(f"{{Path(__file__).name}}: it must be a file in a folder")
_text, _, _digest = Path(__file__).read_bytes().rpartition(b"{LAST}")
if hashlib.sha256(_text).hexdigest() + "\\n" != _digest.decode("latin-1"):
    raise ImportError(f"{{Path(__file__).name}}: it is not as it was written")
'''
# A file that belongs to a module, and those that belong to a header.
_FILES = re.compile(
    r'^LIBRARY = "(?P<library>\w+\.so)"\nSHA256 = "(?P<digest>\w{64})"$'
    r"|^ \* sha256 of (?P<file>[\w.]+):\n \*   (?P<sum>\w{64})$",
    re.MULTILINE,
)
_FORMAT = re.compile(r"^(?:#define \w+_FORMAT|FORMAT =) (\d+)$", re.MULTILINE)


def digest_of(data: bytes) -> str:
    """The digest of a file."""
    from hashlib import sha256  # only where an artefact is written or read

    return sha256(data).hexdigest()


def sealed(text: str, begin: str = "# ", end: str = "") -> str:
    """The text with its last line, which is a comment.

    >>> sealed("x = 1 ")[:15]
    'x = 1 # sha256 '
    """
    text += begin
    return f"{text}{LAST}{digest_of(text.encode())}{end}\n"


def verify(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Check that files are those that `export` wrote; nothing of them is run.

    `path` is that of a module, or of a header. Returns the file, and those that belong
    to it. Raises ValueError (artefact.whole, artefact.version).

    >>> import tempfile, numpy as np, traceir_numba
    >>> path = Path(tempfile.mkdtemp(), "twice.o")
    >>> _ = traceir_numba.export(
    ...     lambda x: x + x, np.ones(3), path=path, form="object"
    ... )
    >>> [file.name for file in verify(path.with_suffix(".h"))][:2]
    ['twice.h', 'twice.o']
    """
    path = Path(path)
    data = path.read_bytes()
    text, mark, last = data.rpartition(LAST.encode())
    if last not in _ends(text):
        got = path.name if mark else f"{path.name}, no module or header with a digest"
        raise rules.error("artefact.whole", got=got, where="")
    said = text.decode()
    formats = _FORMAT.findall(said)
    if formats != [str(FORMAT)]:
        got = f"{path.name}, of format {', '.join(formats)}"
        raise rules.error("artefact.version", got=got, where="")
    files = [path]
    for one in _FILES.finditer(said):
        file = path.with_name(one["library"] or one["file"])
        found = digest_of(file.read_bytes()) if file.is_file() else ""
        if found != (one["digest"] or one["sum"]):
            got = f"{file.name}, which belongs to {path.name}"
            raise rules.error("artefact.whole", got=got, where="")
        files.append(file)
    return tuple(files)


def _ends(text: bytes) -> tuple[bytes, ...]:
    """The possible ends of a text: its digest, in a comment of Python or of C."""
    return tuple(f"{digest_of(text)}{end}\n".encode() for end in ("", " */"))
