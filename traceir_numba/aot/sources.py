"""The source form: one module of kernels and functions for Numba."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from dataclasses import replace

import traceir
from traceir_numba import cost_model
from traceir_numba.aot.entries import AotFunction, Artefact
from traceir_numba.aot.functions import (
    check_apart,
    function_text,
    helpers,
    result_names,
)
from traceir_numba.aot.seals import CHECK, FORMAT, sealed
from traceir_numba.codegen.driver import (
    call_text,
    driver_lines,
    product_name,
    products_of,
)
from traceir_numba.codegen.module import (
    HELPERS,
    LARGE,
    constant_text,
    header,
    joined,
    parts_of,
)
from traceir_numba.loops.program import BufferProgram

# How a program multiplies matrices: long sums are cut, as in compiled programs.
PRODUCT = '''\
def product(gemm, x, y, z, outer, batch, rows, inner, columns, *strides):
    """Put products of matrices, which lie in x and y at strides, in z."""
    if inner < {terms} or rows * columns > {results} or outer * batch != 1:
        gemm(x, y, z, outer, batch, rows, inner, columns, *strides)
        return
    # Sums of many terms: parts of them, then their sum in order.
    _, _, x_row, x_along, _, _, y_along, y_column = strides
    count, rest = divmod(inner, {part})
    parts = empty((count + (rest > 0), rows, columns), z.dtype)
    left = 0, {part} * x_along, x_row, x_along
    right = 0, {part} * y_along, y_along, y_column
    gemm(x, y, parts, 1, count, rows, {part}, columns, *left, *right)
    if rest:
        last_x = x.ravel()[count * {part} * x_along :]
        last_y = y.ravel()[count * {part} * y_along :]
        gemm(last_x, last_y, parts[count], 1, 1, rows, rest, columns, *left, *right)
    total = z.reshape(rows, columns)
    total[...] = parts[0]
    for part in parts[1:]:
        total += part'''
STRIDED = '''\
def strided_product(gemm, x, y, ways, z, *sizes):
    """Put products of matrices, whose rows and terms `ways` tell, in z."""
    gemm(x, y, ways, z, *sizes)'''


def products() -> dict[str, str]:
    """The helpers that multiply, by name."""
    cut = PRODUCT.format(
        terms=cost_model.SPLIT_SUM_TERMS,
        results=cost_model.SPLIT_SUM_RESULTS,
        part=cost_model.SPLIT_SUM_PART,
    )
    return {"product": cut, "strided_product": STRIDED}


HEAD = '''\
"""{name}: functions of NumPy arrays, made by traceir {version} for Numba and NumPy.

{contents}

Arguments are arrays of exactly these types. Kernels are compiled when this file is
imported; each one is a function of pointers and sizes. Arrays are shared with nobody.
"""

{check}'''

# What it needs, checked before anything is compiled. NumPy reads constants as they lie.
NEEDS = """\
FORMAT = {format}

if sys.byteorder != "{order}":
    raise ImportError(f"{{Path(__file__).name}}: its numbers are {order}-endian")
if tuple(map(int, numba.__version__.split(".")[:2])) < {oldest}:
    why = f"it needs Numba {shown} or later, and this is {{numba.__version__}}"
    raise ImportError(f"{{Path(__file__).name}}: {{why}}")"""
MATH = "import math\n"
# Older ones compile some reads wrongly.
OLDEST = 0, 67


def source_of(artefact: Artefact) -> str:
    """The module's text."""
    entries = artefact.entries
    programs = [(_own(e.build.program), e.build.sources) for e in entries]
    called = dict.fromkeys(c for program, _ in programs for c in products_of(program))
    drivers = [
        "\n".join(driver_lines(program, sources.steps, set()))
        for program, sources in programs
    ]
    constants = "\n".join(
        constant_text(program.buffers[k], value)
        for program, _ in programs
        for k, value in program.constants
    )
    parts = [*helpers(entries), *parts_of(programs, called), *drivers]
    about = HEAD.format(
        name=artefact.name,
        version=traceir.__version__,
        contents="\n".join(f"* `{e.signature}`" for e in entries),
        check=CHECK.rstrip(),
    )
    # The bytes of constants are many, and have no names in them.
    named = re.sub('"[^"]*"', '""', constants)
    head = _head(joined([*parts, named]), called)
    listed = ", ".join(f'"{e.name}"' for e in entries)
    parts = [about, head[0], f"__all__ = [{listed}]\n{_needs()}", *head[1:], *parts]
    check_apart(joined([*parts, named]), entries)
    parts += [constants] if constants else []
    return sealed(joined([*parts, *map(_function, entries)]))


def _head(body: str, called: Collection[tuple[str, bool]]) -> list[str]:
    """Imports and helpers that the body uses."""
    multiplied = {product_name(*one) for one in called}
    large = {key: text for key, text in LARGE.items() if key not in multiplied}
    imports, *rest = header(body, {**HELPERS, **products()}, large)
    imports = imports.replace("import numpy as np", "import numba\nimport numpy as np")
    math = MATH if imports.startswith(MATH) else ""
    return [f"{math}import sys\n{imports.removeprefix(MATH)}", *rest]


def _needs() -> str:
    """The checks of a module once it is known to be whole."""
    oldest = ".".join(map(str, OLDEST))
    return NEEDS.format(format=FORMAT, order=sys.byteorder, oldest=OLDEST, shown=oldest)


def _own(program: BufferProgram) -> BufferProgram:
    """The program with names of its own for constants: there are other programs."""
    constants = {k for k, _ in program.constants}
    buffers = (
        replace(b, name=f"{program.name}_{b.name}") if k in constants else b
        for k, b in enumerate(program.buffers)
    )
    return replace(program, buffers=tuple(buffers))


def _function(entry: AotFunction) -> str:
    """The function that calls an entry's program."""
    given = [f"given_{k}" for k in range(len(entry.inputs))]
    news = [f"new_{k}" for k in entry.written]
    made = [*result_names(entry), *news]
    head = f"{', '.join(made)}{',' if len(made) == 1 else ''} = {entry.symbol}"
    lines = call_text(head if made else entry.symbol, given).splitlines()
    return function_text(entry, lines, news)
