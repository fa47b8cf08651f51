"""Loop nests as `@cuda.jit` source.

Names, places, nodes and the expressions of primitives are those of the CPU's, so a
reader sees the same lines in both; who runs which points is a `ThreadMapping`.
Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Callable

from traceir.base.fast_dataclass import dataclass
from traceir_numba.codegen.body import memory_dtype
from traceir_numba.cuda.codegen import points, scans, tiles
from traceir_numba.cuda.codegen.thread_mapping import ThreadMapping
from traceir_numba.cuda.codegen.writer import NestWriter
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import Labels

Write = Callable[[NestWriter], None]

# By the kind of form: what writes the kernel, and the one that ends what parts began.
WRITERS: dict[str, tuple[Write, Write | None]] = {
    "points": (points.write, None),
    "squares": (points.write_squares, None),
    "puts": (points.write_scatters, None),
    "atomic": (points.write_atomic, None),
    "tiles": (tiles.write, tiles.write_end),
    "lines": (scans.write, scans.write_end),
}


@dataclass(frozen=True, slots=True)
class CudaKernelSource:
    """The source of one kernel, and of a second one that ends what it has begun.

    The arguments are arrays of `pointers`, of `scratch` (an element for each part of
    each point), then the integers `sizes`. `calls` are the functions that it needs.
    """

    name: str
    form: ThreadMapping
    text: str
    end: str | None
    pointers: tuple[str, ...]
    scratch: tuple[str, ...]
    sizes: tuple[str, ...]
    calls: tuple[str, ...]


def emit(
    nest: LoopNest, labels: Labels, form: ThreadMapping, name: str
) -> CudaKernelSource:
    """The source of a nest in a form, with the names that its labels give."""
    writer = NestWriter(nest, labels, form)
    main, last = WRITERS[form.kind]
    text = writer.function(name, main)
    end = None
    if form.parts:
        assert last is not None
        end = writer.function(f"{name}_end", last)
    scratch = [d for a in writer.every() for d in a.dtypes] if end else []
    return CudaKernelSource(
        name,
        form,
        text,
        end,
        tuple(map(memory_dtype, nest.buffers)),
        tuple(scratch),
        writer.sizes(),
        tuple(writer.code.calls),
    )
