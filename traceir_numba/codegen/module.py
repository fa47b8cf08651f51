"""A compiled program as one Python module that needs Numba alone."""

from __future__ import annotations

import base64
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir.dtypes import ADDED
from traceir_numba import cost_model, vecmath
from traceir_numba.codegen.body import plain
from traceir_numba.codegen.driver import WIDTH, call_text, driver_lines, product_name
from traceir_numba.codegen.embedded_reference import reference_source
from traceir_numba.codegen.kernel_sources import KernelSources
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.device_functions import (
    NUMBERS,
    DeviceFunction,
    closure,
    function,
    short,
)
from traceir_numba.emitters.draws import EXPORTED, KEEP, KEPT, reader_text
from traceir_numba.emitters.pairs.values import PAIRS
from traceir_numba.loops.program import Buffer, BufferProgram, CallReference
from traceir_numba.runtime.allocator import NARROW_DTYPES, dtype_name

# What a module may need: a name, and the statement that gives it.
IMPORTS = {
    "math": "import math",
    "b64decode": "from base64 import b64decode",
    "CFUNCTYPE": "from ctypes import CFUNCTYPE, c_int64",
    "CDLL": "from ctypes import CDLL, c_double",
    "inf": "from math import inf",
    "nan": "from math import nan",
}
FROM_NUMPY = ("empty", "matmul")
LARGE = {
    "empty_large": "empty_large = empty  # traceir recycles the memory of large ones",
    **{
        name: f"{name} = matmul  # traceir has its own, with sums in another order"
        for dtype in NUMBERS
        for name in (product_name(dtype), product_name(dtype, strided=True))
    },
}
FUNCTION_TEXT = 'function = njit(error_model="numpy", forceinline=True)'
KERNEL_TEXT = '''\
def kernel(*arguments):
    """Compile a function of pointers and sizes; the result takes arrays and sizes."""

    def decorate(function):
        compiled = cfunc(void(*arguments), error_model="numpy")(function)
        entry = CFUNCTYPE(None, *[c_int64] * len(arguments))(compiled.address)

        def call(*args):
            entry(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in args])

        call.compiled = compiled
        return call

    return decorate'''
PARALLEL_TEXT = '''\
def parallel(entry, arrays, lo, hi, *sizes, pieces=1, threads=1):
    """Run a kernel over a range; traceir splits it over threads, with the same bits."""
    entry(*arrays, lo, hi, *sizes)'''
IN_ORDER_TEXT = '''\
def in_order(entry, arrays, lo, hi, *sizes, pieces=1):
    """Run a kernel over a range; traceir looks for Ctrl-C after each of the pieces."""
    entry(*arrays, lo, hi, *sizes)'''

ROW_TEXT = '''\
@intrinsic
def row_of(types, pointer, offset):
    """The pointer to what begins so many elements further."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, i64), generate'''
PRODUCT_TEXT = '''\
def product(gemm, x, y, z, outer, batch, rows, inner, columns, *strides):
    """Products of matrices that lie in x and y at strides; traceir splits them."""

    def matrices(array, m, n, *steps):
        sizes = [array.itemsize * step for step in steps]
        return as_strided(array, (outer, batch, m, n), sizes)

    left = matrices(x, rows, inner, *strides[:4])
    right = matrices(y, inner, columns, *strides[4:])
    z[...] = gemm(left, right).reshape(z.shape)'''
STRIDED_TEXT = '''\
def strided_product(
    gemm, x, y, ways, z, outer, batch, rows, inner, columns, *strides
):
    """Products of matrices whose rows and terms `ways` tell; traceir splits them."""
    numbers = iter(ways.tolist())
    row, along, down, column = (
        [(next(numbers), next(numbers)) for _ in range(count)][::-1]
        for count in numbers
    )

    def matrices(array, m, n, stacks, *levels):
        levels = [*zip((outer, batch), stacks), *(l for way in levels for l in way)]
        extents, steps = zip(*levels)
        found = as_strided(array, extents, [array.itemsize * step for step in steps])
        return found.reshape(outer, batch, m, n)

    left = matrices(x, rows, inner, strides[:2], row, along)
    right = matrices(y, inner, columns, strides[2:], down, column)
    z[...] = gemm(left, right).reshape(z.shape)'''
REFERENCE_CALL_TEXT = '''\
def evaluated(kernel):
    """A function of arrays that gives arrays of their own, and never warns."""

    def call(*arrays, **params):
        with np.errstate(all="ignore"):
            found = kernel(*arrays, **params)
        found = found if isinstance(found, (tuple, list)) else [found]
        found = [np.array(x, order="C") for x in found]
        return found[0] if len(found) == 1 else found

    return call'''
TURNS_TEXT = '''\
{text}


@function
def shared_{name}({names}count, size, parts):
    """Run parts of a loop's turns; traceir shares them among threads: same bits."""
    for part in range(parts):
        first = part * size
        last = first + size if first + size < count else count
        {name}({names}part, first, last)
    return 0'''
HELPERS = {
    "evaluated": REFERENCE_CALL_TEXT,
    "kernel": KERNEL_TEXT,
    "parallel": PARALLEL_TEXT,
    "in_order": IN_ORDER_TEXT,
    "product": PRODUCT_TEXT,
    "row_of": ROW_TEXT,
    "strided_product": STRIDED_TEXT,
    "kept_number": KEPT,
    "keep_number": KEEP,
    **{name: reader_text(name) for name in EXPORTED},
}


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """The text of a module, and where in it the program's function stands."""

    text: str
    name: str
    driver: str
    line: int  # of the driver's first line, from 1
    released: frozenset[str]  # kernels that run long enough to let others run


def module_of(program: BufferProgram, sources: KernelSources) -> ModuleSource:
    """The module of a program."""
    released: set[str] = set()
    driver = "\n".join(driver_lines(program, sources.steps, released))
    parts = parts_of([(program, sources)])
    steps = (s.eqn.primitive for s in program.steps if isinstance(s, CallReference))
    parts += reference_source(dict.fromkeys(steps))
    constants = [_constant(program.buffers[k], value) for k, value in program.constants]
    if constants:
        parts.append("\n".join(constants))
    head = header("\n".join([*parts, driver]), HELPERS, LARGE)
    before = joined([docstring(program), *head, *parts]) + "\n\n"
    line = before.count("\n") + 1
    text = f"{before}{driver}\n"
    return ModuleSource(text, program.name, driver, line, frozenset(released))


def parts_of(
    programs: Sequence[tuple[BufferProgram, KernelSources]],
    products: Iterable[tuple[str, bool]] = (),
) -> list[str]:
    """The texts of programs' callees: functions, kernels, and some products.

    Of these there are dtypes, and whether they are strided.
    """
    inner = [one for _, sources in programs for one in sources.inner.values()]
    kernels = [one for _, sources in programs for one in sources.steps.values()]
    unique = {kernel.name: kernel for kernel in kernels}
    calls = [name for one in (*inner, *unique.values()) for name in one.calls]
    kinds = {True: "strided", False: "product"}
    multiply = [function(f"{kinds[k]}_{plain(dtype)}") for dtype, k in products]
    calls += [name for f in multiply for name in f.reads if name not in vecmath.VALUES]
    functions = closure(calls, read=True)
    real = [f.name for f in functions if f.name in vecmath.FUNCTIONS]
    own = [f for f in functions if f.name not in vecmath.FUNCTIONS]
    reads = dict.fromkeys(name for f in (*own, *multiply) for name in f.reads)
    real += [name for name in reads if name in vecmath.VALUES]
    parts = [_real_functions(tuple(real))] if real else []
    parts += [f"@function\n{f.text}" for f in own]
    parts += [_inner_text(kernel) for kernel in inner]
    parts += [_kernel_text(kernel) for kernel in unique.values()]
    return [*parts, *map(_product_text, multiply)]


def _product_text(f: DeviceFunction) -> str:
    """A kernel of products, under the name by which programs call it."""
    pointers = [arg.removesuffix("*") for arg in f.args if arg.endswith("*")]
    types = [*map(pointer_type, pointers), *["i64"] * (len(f.args) - len(pointers))]
    name = product_name(pointers[0], f.name.startswith("strided"))
    text = f.text.replace(f"def {f.name}(", f"def {name}(")
    return f"{call_text('@kernel', types)}\n{text}"


def joined(parts: Iterable[str]) -> str:
    """The parts of a module as text, two lines between them."""
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


@cache
def _real_functions(names: tuple[str, ...]) -> str:
    return vecmath.source(names)


def docstring(program: BufferProgram, use: str = "") -> str:
    """The docstring of a module: what it is made from, and perhaps for what."""
    text = program.text.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{program.name}, generated by traceir_numba{use} from\n\n{text}\n"""'


def header(body: str, known: Mapping[str, str], large: Mapping[str, str]) -> list[str]:
    """Imports and helpers that the body uses."""
    words = set(re.findall(r"[A-Za-z_]\w*", body))
    helpers = [text for name, text in known.items() if name in words]
    lines = [
        f"{dtype_name(d)} = np.dtype({PAIRS.get(d, _in_quotes(d))})"
        for d in (*NUMBERS, *NARROW_DTYPES, *PAIRS)
        if dtype_name(d) in words
    ]
    lines += [
        f"{pointer_type(d)} = CPointer({short(d)})"
        for d in NUMBERS
        if pointer_type(d) in words
    ]
    lines += [FUNCTION_TEXT] if "function" in words else []
    lines += [text for name, text in large.items() if name in words]
    words.update(re.findall(r"[A-Za-z_]\w*", "\n".join(helpers + lines)))
    return ["\n".join([*_imports(words), "", *lines]).strip(), *helpers]


def _in_quotes(dtype: str) -> str:
    """A dtype by its name, as a generated module asks NumPy for it."""
    return f'"{dtype}"'


def _imports(words: set[str]) -> Iterable[str]:
    """The import lines for the words that a module's text contains."""
    yield from (text for name, text in IMPORTS.items() if name in words)
    yield ""
    if not words.isdisjoint(map(dtype_name, ADDED)):
        yield "import ml_dtypes  # noqa: F401  NumPy knows its dtypes once it is there"
    yield "import numpy as np"
    numba = [name for name in ("cfunc", "njit") if name in words] + casts(words)
    if numba:
        yield import_text("numba", numba)
    if "ir" in words:
        yield "from llvmlite import ir"
    if "intrinsic" in words:
        yield "from numba.extending import intrinsic"
    if "CPointer" in words:
        yield "from numba.types import CPointer, void"
    arrays = [name for name in FROM_NUMPY if name in words]
    if arrays:
        yield import_text("numpy", arrays)
    if "as_strided" in words:
        yield "from numpy.lib.stride_tricks import as_strided"


def casts(words: Container[str]) -> list[str]:
    """The imports from Numba for the dtypes among words."""
    found = (d for d in NUMBERS if short(d) in words)
    return [f"{'boolean' if d == 'bool' else d} as {short(d)}" for d in found]


def import_text(module: str, names: Sequence[str]) -> str:
    """An import of names, on several lines where one would be too long."""
    text = f"from {module} import {', '.join(names)}"
    if len(text) <= WIDTH:
        return text
    return f"from {module} import (\n" + "".join(f"    {n},\n" for n in names) + ")"


def pointer_type(dtype: str) -> str:
    """The name of a pointer's type in a generated module."""
    return f"{short(dtype)}p"


def _kernel_text(kernel: KernelSource) -> str:
    types = [pointer_type(d) for d in kernel.pointers] + ["i64"] * len(kernel.sizes)
    return f"{_slow(kernel)}{call_text('@kernel', types)}\n{kernel.text}"


def _inner_text(kernel: KernelSource) -> str:
    """A kernel that routines call."""
    text = f"{_slow(kernel)}@function\n{kernel.text}"
    if kernel.private is None:
        return text
    given, _, _ = kernel.text.partition("\n")[0].rpartition("share, lo, hi")
    names = given.partition("(")[2]
    return TURNS_TEXT.format(name=kernel.name, names=names, text=text)


def _slow(kernel: KernelSource) -> str:
    return "".join(
        f"# `{name}` is a scalar call: this loop does not vectorise.\n"
        for name in kernel.slow
    )


def _constant(buffer: Buffer, value: np.ndarray) -> str:
    if value.nbytes <= cost_model.SOURCE_CONSTANT_BYTES:
        return constant_text(buffer, value)
    return (
        f"# {buffer.name}: {value.nbytes} bytes, not written out; define\n"
        f"# `constant(name)` to run this file.\n"
        f'{buffer.name} = constant("{buffer.name}")'
    )


def constant_text(buffer: Buffer, value: np.ndarray) -> str:
    """A constant, written out."""
    text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    loaded = f'np.frombuffer(b64decode("{text}"), {dtype_name(buffer.dtype)})'
    shown = "" if value.size > 8 else f"  # {value.tolist()}"
    return f"{buffer.name} = {loaded}.reshape({buffer.shape}){shown}"
