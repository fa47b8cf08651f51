"""The Python form: a module that loads a shared library."""

from __future__ import annotations

import platform
import sys

import traceir
from traceir.dtypes import ADDED
from traceir_numba.aot.entries import AotFunction, Artefact
from traceir_numba.aot.functions import (
    check_apart,
    function_text,
    helpers,
    result_names,
)
from traceir_numba.aot.seals import CHECK, FORMAT, digest_of, sealed

HEAD = '''\
"""{name}: functions of NumPy arrays, made by traceir {version}.

{contents}

Arguments are arrays of exactly these types. `{library}` beside this file has
the machine code; both belong together.
"""

{check}
import ctypes
import platform
import sys

import numpy as np
{imports}
__all__ = [{names}]

FORMAT = {format}
PLATFORM = {platform}
LIBRARY = "{library}"
SHA256 = "{digest}"
INSTRUCTIONS = {instructions}


def _refuse(why):
    raise ImportError(f"{{Path(__file__).name}}: {{why}}; export it again")


def _load():
    """The library, if it is the one that was written with this file and runs here."""
    here = sys.platform, platform.machine(), sys.byteorder, sys.maxsize
    if here != PLATFORM:
        _refuse(f"it was made for {{PLATFORM[:2]}}, and this is {{here[:2]}}")
    path = Path(__file__).with_name(LIBRARY)
    if not path.is_file():
        _refuse(f"{{LIBRARY}} is not beside it")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        _refuse(f"{{LIBRARY}} is not the one that was written with it")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        _refuse(f"the system does not load {{LIBRARY}}: {{error}}")
    library.{missing}.restype = ctypes.c_int64
    lacks = library.{missing}()
    if lacks:
        names = [name for k, name in enumerate(INSTRUCTIONS) if lacks >> k & 1]
        _refuse(f"this processor lacks {{', '.join(names)}}")
    return library


{helpers}


def _run(function, *arrays):
    """Call a function of the library, which gives no results if it cannot."""
    code = function(*[ctypes.c_void_p(array.ctypes.data) for array in arrays])
    if code:
        raise MemoryError(f"{{function.__name__}} got no memory for what it computes")


_library = _load()
'''


def module_of(artefact: Artefact, library: str, code: bytes) -> str:
    """The module's text; `code` is the shared library that it loads from `library`."""
    entries = artefact.entries
    halves = any(a.dtype in ADDED for e in entries for a in (*e.inputs, *e.outputs))
    head = HEAD.format(
        name=artefact.name,
        version=traceir.__version__,
        contents="\n".join(f"* `{e.signature}`" for e in entries),
        imports="import ml_dtypes  # noqa: F401\n" if halves else "",
        names=", ".join(f'"{e.name}"' for e in entries),
        format=FORMAT,
        platform=(sys.platform, platform.machine(), sys.byteorder, sys.maxsize),
        library=library,
        digest=digest_of(code),
        instructions=artefact.instructions,
        check=CHECK,
        missing=artefact.missing,
        helpers="\n\n\n".join(helpers(entries)),
    )
    check_apart(head, entries)
    return sealed("\n\n".join([head, *map(_function, entries)]))


def _function(entry: AotFunction) -> str:
    """The function that calls an entry of the library."""
    arrays = [f"given_{k}" for k in range(len(entry.inputs))]
    lines = [
        f"made_{k} = np.empty({one.shape}, np.dtype({one.dtype!r}))"
        for k, one in enumerate(entry.outputs)
    ]
    arrays += result_names(entry)
    lines.append(f"_run({', '.join([f'_library.{entry.symbol}', *arrays])})")
    # What it writes to an argument is in the memory that it is given.
    return function_text(entry, lines, [f"given_{k}" for k in entry.written])
