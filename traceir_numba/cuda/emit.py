"""Loop nests as `@cuda.jit` source: the data that the CPU's source is written from.

Names, places, nodes and the expressions of primitives are those of the CPU's, so a
reader sees the same lines in both; who runs which points is a `Form`.
Serves: choice.sum-order
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from traceir_numba.cuda import emit_points, emit_scans, emit_tiles
from traceir_numba.cuda.forms import Form
from traceir_numba.cuda.writer import Writer
from traceir_numba.emit_lines import memory_dtype
from traceir_numba.nests import Nest
from traceir_numba.program import Labels

Write = Callable[[Writer], None]

# By the kind of form: what writes the kernel, and the one that ends what parts began.
WRITERS: dict[str, tuple[Write, Write | None]] = {
    "points": (emit_points.write, None),
    "squares": (emit_points.write_squares, None),
    "puts": (emit_points.write_puts, None),
    "atomic": (emit_points.write_atomic, None),
    "tiles": (emit_tiles.write, emit_tiles.write_end),
    "lines": (emit_scans.write, emit_scans.write_end),
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """The source of one kernel, and of a second one that ends what it has begun.

    The arguments are arrays of `pointers`, of `scratch` (an element for each part of
    each point), then the integers `sizes`. `calls` are the functions that it needs.
    """

    name: str
    form: Form
    text: str
    end: str | None
    pointers: tuple[str, ...]
    scratch: tuple[str, ...]
    sizes: tuple[str, ...]
    calls: tuple[str, ...]


def emit(nest: Nest, labels: Labels, form: Form, name: str) -> Kernel:
    """The source of a nest in a form, with the names that its labels give."""
    writer = Writer(nest, labels, form)
    main, last = WRITERS[form.kind]
    text = writer.function(name, main)
    end = None
    if form.parts:
        assert last is not None
        end = writer.function(f"{name}_end", last)
    scratch = [d for a in writer.every() for d in a.dtypes] if end else []
    return Kernel(
        name,
        form,
        text,
        end,
        tuple(map(memory_dtype, nest.buffers)),
        tuple(scratch),
        writer.sizes(),
        tuple(writer.code.calls),
    )
