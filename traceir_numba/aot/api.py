"""`export`: traced functions as files that run without traceir. Serves: artefact.*

`entries` are traced functions with names of C and with their arguments; `calls` makes
of each program's steps one function in LLVM text, which calls kernels and products as
the driver does, over memory that it places itself: that of products, too, which the
thread finds where the function has put it. `objects` puts it together with the texts
that the kernels were compiled from, looks up what these call until nothing is missing,
and makes one object whose only names are the entries'; large constants are data that
LLVM does not read (`parts`). `symbols` reads from the object itself what it has and
what it needs of others. `instructions` has what code for some processors may use, and
code that asks the processor for it: an entry begins with that question, in instructions
that all have.

`header` is for C, `archives` are static libraries, `modules` for Python with a library
that `linker` makes, `sources` for Numba: it renders the same parts as the module of one
program. `seals` are the digests by which files know that they are whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import warn
from traceir.jit.function import JitFunction
from traceir.jit.stages import Traced
from traceir_numba.api import jit

if TYPE_CHECKING:
    from traceir_numba.aot.entries import Artefact

Path_ = str | os.PathLike[str]


def export(
    fun: Callable[..., Any] | Traced | Mapping[str, Traced | Sequence[Any]],
    *specs: Any,
    path: Path_,
    form: str = "python",
    cpu: str = "native",
) -> tuple[Path, ...]:
    """Write a function, traced and compiled for these arguments, as files.

    `specs` are arguments, or `ShapeDtypeStruct`s that stand for them; static arguments
    are values. A function that is not jitted is traced as `traceir_numba.jit` does.
    `f.trace(...)` of a jitted function stands for the function and its specs, and takes
    arguments by name. Several functions, or one for several specs, are given by name: a
    mapping of names to what was traced, or to sequences of a function and its specs.
    A function that is given alone is called as the file; where that is a module, and
    the function has another name, a UserWarning says so. The suffix of `path` may be
    left out. Returns the files that were written.

    `form="source"`: a module at `path` of kernels that Numba compiles when it is
    imported, and of the functions that call them; a reader can follow it.
    `form="python"`: a module at `path` and a shared library beside it, that need NumPy
    alone.
    `form="object"`: a relocatable object at `path`, a C header and a static library
    beside it, and a shared library where something links one.

    `cpu` are the processors that machine code is for: those that have what this one
    has, or on x86-64 those of a level, such as `x86-64-v2`. Results are the same.

    Raises ValueError (artefact.form, artefact.name, artefact.cpu), TypeError
    (artefact.contents, artefact.tree), RuntimeError (artefact.linker), and
    FileNotFoundError where there is no folder to write to.

    >>> import tempfile, traceir, traceir.numpy as jnp
    >>> folder = tempfile.mkdtemp()
    >>> spec = traceir.ShapeDtypeStruct((1000,), "float32")
    >>> found = export(jnp.tanh, spec, path=f"{folder}/squash.o", form="object")
    >>> [path.name for path in found][:2]
    ['squash.o', 'squash.h']
    """
    where = _where(path, form)
    if specs and isinstance(fun, Mapping | Traced):
        raise rules.error("jit.signature", got="specs beside what has its own")
    one: Any = fun if isinstance(fun, Traced) else (fun, *specs)
    functions = fun if isinstance(fun, Mapping) else {where.stem: one}
    if not functions:
        raise rules.error("artefact.name", got="no function")
    from traceir_numba.aot.entries import Artefact, check_names, entry_of
    from traceir_numba.aot.instructions import instructions_of

    name = where.stem
    check_names([name, *functions])
    entries = []
    for own, given in functions.items():
        # A module's own functions are there for Python.
        symbol = f"{own}_program" if form == "source" else f"{name}_{own}"
        if form == "object" and own == name:
            symbol = own
        if callable(given):  # without arguments
            given = (given,)
        traced = given if isinstance(given, Traced) else _traced(*given)
        entries.append(entry_of(own, symbol, traced))
    found = FORMS[form].write(
        where, Artefact(name, tuple(entries), instructions_of(cpu))
    )
    if not isinstance(fun, Mapping) and where.suffix == ".py":
        _tell_of_name(fun, where)
    return found


def _where(path: Path_, form: str) -> Path:
    """The file of a form at a path, whose suffix may be left out."""
    if form not in FORMS:
        got = f"{form!r}; there are {', '.join(sorted(FORMS))}"
        raise rules.error("artefact.form", got=got)
    where, suffix = Path(path), FORMS[form].suffix
    if not where.suffix and where.name:
        where = where.with_suffix(suffix)
    if where.suffix != suffix:
        got = f"{where.name!r} for a path of the form {form!r}, which ends in {suffix}"
        raise rules.error("artefact.name", got=got)
    if not where.parent.is_dir():
        raise FileNotFoundError(ENOENT, "No such folder", str(where.parent))
    return where


def _tell_of_name(fun: Callable[..., Any] | Traced, where: Path) -> None:
    """Warn (UserWarning) where a function's own name is not that in its module."""
    from traceir_numba.aot.entries import is_name

    if isinstance(fun, Traced):
        own = fun.jaxpr.jaxpr.debug_name
    else:
        own = getattr(fun, "__name__", "")
    if own != where.stem and is_name(own):
        warn(
            f"the function {own} is called {where.stem} in {where.name}, as the file"
            f" is; export({{{own!r}: ...}}, path=...) keeps its name",
            UserWarning,
        )


def _traced(function: Callable[..., Any], *specs: Any) -> Traced:
    jitted = function if isinstance(function, JitFunction) else jit(function)
    return jitted.trace(*specs)


def _object(where: Path, artefact: Artefact) -> tuple[Path, ...]:
    """Write an object file, its header, and archives of it where tools are present."""
    from traceir_numba.aot import linker
    from traceir_numba.aot.archives import archive_of
    from traceir_numba.aot.header import header_of
    from traceir_numba.aot.objects import SYSTEM, object_of
    from traceir_numba.aot.symbols import check_symbols, symbols_of

    name = artefact.name
    check_symbols([entry.symbol for entry in artefact.entries])
    code = object_of(artefact)
    defined, needs = map(sorted, symbols_of(code))
    files = {where.name: code}
    if defined:
        files[f"lib{name}.a"] = archive_of(code, defined)
    if next(linker.commands(), None) is not None:
        files[f"lib{name}.so"] = linker.shared_library(code)
    called = [symbol for symbol in needs if symbol != SYSTEM]
    header = header_of(artefact, called, files).encode()
    files = {where.name: code, f"{name}.h": header, **files}
    return _written({where.with_name(file): data for file, data in files.items()})


def _python(where: Path, artefact: Artefact) -> tuple[Path, ...]:
    from traceir_numba.aot import linker
    from traceir_numba.aot.modules import module_of
    from traceir_numba.aot.objects import object_of

    code = linker.shared_library(object_of(artefact))
    # Not NAME.so, which Python would take for the module.
    library = where.with_name(f"{artefact.name}_code.so")
    text = module_of(artefact, library.name, code)
    return _written({library: code, where: text.encode()})


def _source(where: Path, artefact: Artefact) -> tuple[Path, ...]:
    from traceir_numba.aot.sources import source_of

    return _written({where: source_of(artefact).encode()})


@dataclass(frozen=True, slots=True)
class ArtefactFormat:
    """A form of files: the suffix of its path, and the function that writes it."""

    suffix: str
    write: Callable[[Path, Artefact], tuple[Path, ...]]


FORMS = {
    "object": ArtefactFormat(".o", _object),
    "python": ArtefactFormat(".py", _python),
    "source": ArtefactFormat(".py", _source),
}


def _written(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files, each at once: another process sees the old one or the new one."""
    for path, data in files.items():
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_bytes(data)
        os.replace(part, path)
    return tuple(files)
