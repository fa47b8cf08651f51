"""Loop nests as source: one short function for each kernel.

Integers of up to 32 bits are divided as floating numbers, in which their quotients are
exact once they are truncated.
"""

from __future__ import annotations

import re

from traceir.base.fast_dataclass import dataclass
from traceir_numba.codegen import column_reductions, prefix_scans, row_reductions
from traceir_numba.codegen.body import memory_dtype, pointer_name
from traceir_numba.codegen.nest_emitter import NestEmitter
from traceir_numba.loops.nest import LoopNest
from traceir_numba.loops.program import Labels
from traceir_numba.loops.schedule import sizes_of

# What a routine's text names, and what it gives a value.
_NAMES = re.compile(r"\b[A-Za-z_]\w*")
_OWN = re.compile(r"(?m)^ *(?:for )?(\w+(?:, \w+)*) (?:=|in) ")


@dataclass(frozen=True, slots=True)
class KernelSource:
    """The source of one kernel and the functions that it calls.

    `pointers` are the dtypes of its pointers, scratch memory last; `sizes` the names of
    the 64-bit integers that follow; `slow` the calls that keep it from vectorising;
    `kernels` those that a routine calls, by the names that they have in its text: the
    `short` ones, whose rows are, may become part of it, and threads share the ranges of
    `shared` ones from a length on; `interleave` how many vectors a loop takes at once.
    A `scalar` kernel reads elements that it has just written: two of them are not read
    as one vector. `rounds` are the costs of one round of each loop that needs a
    safepoint, in the order of the text.
    A function of a part of a loop's turns has the bytes of its `private` pointers, the
    last ones: each thread has its own.
    """

    name: str
    text: str
    pointers: tuple[str, ...]
    scratch: tuple[str, ...]
    sizes: tuple[str, ...]
    calls: tuple[str, ...]
    slow: tuple[str, ...]
    kernels: tuple[tuple[str, LoopNest | str], ...] = ()
    interleave: int = 1
    scalar: bool = False
    rounds: tuple[int, ...] = ()
    private: tuple[int, ...] | None = None
    short: tuple[str, ...] = ()
    shared: tuple[tuple[str, int], ...] = ()

    @property
    def key(self) -> str:
        """The text of a routine without comments, its names by the order in which they
        come, and all that they stand for: it makes two of them the same code."""
        text = re.sub(r"(?m)^ *#.*\n", "", self.text + "\n")
        called = {name: f"@{k}" for k, (name, _) in enumerate(self.kernels)}
        first, _, _ = text.partition("\n")
        own = _NAMES.findall(first)[1:]
        own += [name for found in _OWN.findall(text) for name in found.split(", ")]
        names = {name: f"${k}" for k, name in enumerate(dict.fromkeys(own))} | called
        names[self.name] = "@"
        text = _NAMES.sub(lambda found: names.get(found[0], found[0]), text)
        return f"{self.pointers} {self.private} {[k for _, k in self.kernels]} {text}"

    @property
    def own_sizes(self) -> tuple[str, ...]:
        """The names of the integers that a call gives: for turns, their number, that
        of a part, and how many parts there are."""
        return self.sizes if self.private is None else ("count", "size", "parts")


def emit(nest: LoopNest, labels: Labels, name: str) -> KernelSource:
    """The source of a nest, with the names that its labels give."""
    emitter = NestEmitter(nest, labels)
    code, split = emitter.code, emitter.loops.split
    emitter.constants()
    scratch, memory = emitter.scratch()
    if nest.scan_direction:
        prefix_scans.write(emitter)
    elif split == "none":
        emitter.body()
    elif nest.form == "columns" and not nest.short:
        column_reductions.write(emitter)
    elif nest.form != "map":
        row_reductions.write(emitter)
    else:
        with code.block(*emitter.outer_loops()):
            emitter.body()
    sizes = sizes_of(nest)
    args = [*map(pointer_name, labels.pointers), *memory, *sizes]
    head = f"def {name}({', '.join(args)}):"
    if nest.interleave > 1:
        head += f"  # {nest.interleave} vectors interleaved"
    return KernelSource(
        name,
        "\n".join([head, *code.lines]),
        (*map(memory_dtype, nest.buffers), *scratch),
        tuple(scratch),
        sizes,
        tuple(code.calls),
        tuple(code.slow),
        interleave=nest.interleave,
    )
