"""A report on a program's kernels, memory, vectors and threads.

It is told from the program's data and from the assembly, in the words of
`f.explain(*args, what="speed")`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from traceir.base.source_info import Source
from traceir.dtypes import as_dtype
from traceir.ir.avals import short_dtype
from traceir_numba import cost_model
from traceir_numba.buffers.share_loops import shared_launches
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.emitters.folds.searches import EXTREMES
from traceir_numba.loops.nest import Apply, LoopNest, kind_of
from traceir_numba.loops.program import (
    Buffer,
    BufferProgram,
    CallMatmul,
    CallReference,
    CallRoutine,
    Copy,
    Launch,
    Loop,
    ParallelLoop,
    Reshape,
    Step,
    While,
)
from traceir_numba.loops.schedule import range_of
from traceir_numba.loops.step_effects import reads, walk, writes
from traceir_numba.runtime.thread_pool import threads, threads_worth

# An instruction of x86-64 that computes with several numbers in one register: of
# floats by its ending, of integers by its beginning.
_PACKED = re.compile(
    r"^\s+(?:v|(?!v))(?!mov|perm|shuf|unpck|broadcast|insert|extract|xor|gather|blend)"
    r"(?:[a-z0-9]+p[sd]|p(?!ush|op|erm|shuf|unpck|broadcast|xor|insr|extr|blend)"
    r"[a-z0-9]+[bwdq])\s.*%(?P<kind>[xyz])mm",
    re.MULTILINE,
)
# Kernels that are named in a report on a compilation.
LONGEST = 3
_BITS = {"x": 128, "y": 256, "z": 512}


def vector_bits(assembly: str, symbol: str) -> int | None:
    """The width of the widest vectors that a function computes with; 0 for none.

    None where the assembly is not that of x86-64.

    >>> vector_bits("f:\\n\\tvaddps\\t%ymm0, %ymm1, %ymm2\\n\\tretq\\n", "f")
    256
    >>> vector_bits("f:\\n\\tvaddss\\t%xmm0, %xmm1, %xmm2\\n\\tretq\\n", "f")
    0
    """
    if "%rsp" not in assembly and "retq" not in assembly:
        return None
    text = function_text(assembly, symbol)
    widths = [_BITS[found["kind"]] for found in _PACKED.finditer(text)]
    return max(widths, default=0)


def function_text(assembly: str, symbol: str) -> str:
    """The assembly of one function of a module.

    >>> function_text("f:\\n\\tret\\n.Lfunc_end0:\\ng:\\n\\tnop\\n.Lfunc_end1:\\n", "g")
    '\\ng:\\n\\tnop\\n'
    """
    begin = max(assembly.find(f"\n{symbol}:\n"), 0)
    end = re.compile(r"^\.Lfunc_end", re.MULTILINE).search(assembly, begin)
    return assembly[begin : end.start() if end else None]


def report(
    program: BufferProgram,
    kernels: Mapping[int, KernelSource],
    bits: Mapping[str, int | None],
    seconds: Mapping[str, float],
) -> str:
    """A report on a program for the processor: with vectors and threads.

    `kernels` are by the number of their step, `bits` by the kernel's name.
    """
    names = {k: kernel.name for k, kernel in kernels.items()}

    def how(k: int, step: Launch) -> str:
        found = bits.get(names[k])
        return _vectors(step.nest, kernels[k], found) + _threads(step)

    return told(program, names, how, _turns, seconds)


def _turns(run: CallRoutine) -> str:
    """The loops of a routine whose turns threads share, or else its kernels whose
    ranges they do, and the loops whose turns come in order though their user says that
    they need not."""
    lines = []
    many = _plural(threads(), "thread")
    for step in walk(run.routine.steps):
        match step:
            case ParallelLoop(loop=loop):
                lines.append(f"turns {_at(loop.line)} shared by {many}")
            case Loop() | While() if step.turns and step.turns.ordered:
                lines.append(f"turns {_at(step.line)} in order, {step.turns.ordered}")
    if not any(isinstance(s, ParallelLoop) for s in walk(run.routine.steps)):
        large = len(shared_launches(run.routine.steps))
        some = f"{_plural(large, 'kernel')} shared by {many}"
        lines.insert(0, some if large and threads() > 1 else "one thread")
    return "; ".join(["control flow, " + lines[0], *lines[1:]])


def _at(line: Source | None) -> str:
    """The user's line of a loop."""
    return "of a loop" if line is None else f"of the loop in line {line.line}"


def told(
    program: BufferProgram,
    names: Mapping[int, str],
    how: Callable[[int, Launch], str],
    loop: Callable[[CallRoutine], str],
    seconds: Mapping[str, float],
) -> str:
    """The steps of a program, what lies in memory between them, and how long each
    stage of making it took.

    `names` are those of kernels, by the number of their step; `how` and `loop` say how
    a step is run.
    """
    lines = [_head(program)]
    numbers = _numbers(program)
    for k, step in enumerate(program.steps):
        if k not in numbers:
            continue
        match step:
            case Launch() if k in names:
                own = _launch(program, step, names[k], how(k, step))
            case CallRoutine(routine):
                own = f"{routine.name}: {loop(step)}"
            case _:
                own = _step(program, step)
        lines.append(f"{numbers[k]}. {own}")
    between = list(_between(program, numbers))
    if between:
        lines += ["in memory between steps:", *between]
    times = ", ".join(f"{what} {time * 1e3:.1f} ms" for what, time in seconds.items())
    return "\n".join([*lines, f"made in: {times}"])


def compilation(seconds: Mapping[str, float], texts: Mapping[str, int]) -> str:
    """The time that each stage of making a program took, and its kernels by the length
    of their text for LLVM, whose time it goes with.

    >>> print(compilation({"emit": 0.001, "compile": 0.003}, {"f_0_map": 2000}))
    made in 4.0 ms
    longest kernel of 1 for LLVM: f_0_map 2.0 KB
    emit 1.0 ms (25 %), compile 3.0 ms (75 %)
    """
    whole = sum(seconds.values())
    lines = [f"made in {whole * 1e3:.1f} ms"]
    longest = sorted(texts, key=lambda name: -texts[name])[:LONGEST]
    if longest:
        shown = ", ".join(f"{name} {_size(texts[name])}" for name in longest)
        kernels = "kernel" if len(longest) == 1 else "kernels"
        lines.append(f"longest {kernels} of {len(texts)} for LLVM: {shown}")
    stages = (
        f"{what} {time * 1e3:.1f} ms ({time / max(whole, 1e-9):.0%})"
        for what, time in seconds.items()
    )
    return "\n".join([*lines, ", ".join(stages).replace("%", " %")])


def _numbers(program: BufferProgram) -> dict[int, int]:
    """The steps that do work, counted from 1."""
    working = [k for k, s in enumerate(program.steps) if not _free(s)]
    return {k: n for n, k in enumerate(working, 1)}


def _free(step: Step) -> bool:
    return isinstance(step, Reshape) and not step.copied


def _head(program: BufferProgram) -> str:
    """The first line: counts of kernels and calls, bytes of arguments and results."""
    counts = [
        _plural(sum(isinstance(s, kind) for s in program.steps), word)
        for kind, word in (
            (Launch, "kernel"),
            (CallMatmul, "product"),
            (CallReference, "library function"),
            (CallRoutine, "loop"),
        )
    ]
    moved = sum(_bytes(program, k) for k in (*program.inputs, *program.outputs))
    said = ", ".join(c for c in counts if c)
    own = f"{_size(moved)} of arguments and results"
    return f"{program.name}: {said or 'nothing to compute'}; {own}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}" if count else ""


def _step(program: BufferProgram, step: Step) -> str:
    """The line of a step that is no kernel."""
    match step:
        case CallMatmul(eqn, inputs, output):
            shapes = [_shape(program.buffers[k]) for k in (*inputs, output)]
            return f"{eqn.primitive}: {' by '.join(shapes[:-1])} gives {shapes[-1]}"
        case CallReference(eqn, inputs, outputs):
            given, made = (
                ", ".join(_shape(program.buffers[k]) for k in slots)
                for slots in (inputs, outputs)
            )
            return f"{eqn.primitive}: a library's function, {given} gives {made}"
        case Copy(source, target):
            name, moved = program.buffers[source].name, _size(_bytes(program, target))
            return f"copy of {name}, {moved}: it is read elsewhere, or is an argument"
        case Reshape(source, output):
            return f"copy of {program.buffers[source].name}: it is returned twice"
    return type(step).__name__


def _launch(program: BufferProgram, step: Launch, name: str, how: str) -> str:
    """The line of a kernel: its work, the buffers it reads and writes, its form."""
    nest, buffers = step.nest, program.buffers
    names = [buffers[b].name for b in step.buffers]
    reads = [names[k] for k in sorted(nest.loaded)]
    writes = [names[k] for k in sorted(nest.written)]
    moved = sum(
        _bytes(program, step.buffers[k]) * ((k in nest.loaded) + (k in nest.written))
        for k in range(len(names))
    )
    return (
        f"{name}: {_does(nest)} over {_times(step.extents)}; reads "
        f"{', '.join(reads) or 'nothing'}, writes {', '.join(writes)}, {_size(moved)}; "
        f"{how}"
    )


def _threads(step: Launch) -> str:
    nest = step.nest
    work = range_of(nest, step.extents, step.params)
    split = (
        work.work >= cost_model.THREADED_WORK and work.length > 1 and not nest.ordered
    )
    order = ", as a place may occur twice" if nest.ordered else ""
    worth = threads_worth(work.work, cost_model.THREADED_WORK)
    return f"{_plural(min(threads(), worth) if split else 1, 'thread')}{order}"


def _does(nest: LoopNest) -> str:
    names = _computed(nest)
    counted = [
        f"{name} x {names.count(name)}" if names.count(name) > 1 else name
        for name in dict.fromkeys(names)
    ]
    passes = f" in {len(nest.passes)} passes" if len(nest.passes) > 1 else ""
    return f"{' '.join(counted) or 'copy'}{passes}"


def _computed(nest: LoopNest) -> list[str]:
    names = [n.primitive for n in nest.nodes if isinstance(n, Apply)]
    return names + [r.primitive for one in nest.passes for r in one.reductions]


def _vectors(nest: LoopNest, kernel: KernelSource, bits: int | None) -> str:
    if not _computed(nest):
        return ""
    if kernel.slow and not bits:
        return f"not in vectors: {', '.join(kernel.slow)} is computed one by one; "
    if bits is None:
        return "vectors of unknown width; "
    return f"vectors of {bits} bits; " if bits else "not in vectors; "


# -- memory ---------------------------------------------------------------------------


def _between(program: BufferProgram, numbers: Mapping[int, int]) -> Iterator[str]:
    """A line for each array that a step leaves to a later one, and why it has to."""
    over = dict(program.reuses)
    for slot, buffer in enumerate(program.buffers):
        if buffer.role != "temporary":
            continue
        makers = [k for k, s in enumerate(program.steps) if slot in _written(s)]
        readers = [k for k, s in enumerate(program.steps) if slot in _read(s)]
        if not makers or not readers:
            continue
        size = _size(_bytes(program, slot))
        why = _why(program, makers[0], readers[0], slot, numbers)
        place = over.get(slot)
        shared = "" if place is None else f", where {program.buffers[place].name} was"
        yield f"   {buffer.name} {_shape(buffer)}, {size}{shared}: {why}"


def _why(
    program: BufferProgram,
    maker: int,
    reader: int,
    slot: int,
    numbers: Mapping[int, int],
) -> str:
    """The reason why a value is in memory between two steps."""
    made, read = program.steps[maker], program.steps[reader]
    by = numbers.get(reader, numbers.get(reader + 1, 0))
    match made, read:
        case _, CallMatmul():
            return f"the product of step {by} reads all of it"
        case _, CallReference():
            return f"the library's function of step {by} reads all of it"
        case _, CallRoutine():
            return f"the loop of step {by} reads it"
        case CallMatmul(), _:
            return f"a product, which step {by} reads"
        case CallReference(), _:
            return f"a library's result, which step {by} reads"
        case CallRoutine(), _:
            return f"a loop's result, which step {by} reads"
        case Launch(), _ if slot in _finished(made):
            return f"a reduction, which step {by} needs whole"
        case _, Launch() if kind_of(read.nest) in EXTREMES:
            return f"step {by} searches short rows of it"
        case _:
            return f"step {by} reads it, and would compute it again and again"


def _written(step: Step) -> set[int]:
    """The buffers that a step writes."""
    if isinstance(step, CallRoutine):
        return _given(step, "result", "memory")
    return writes(step)


def _read(step: Step) -> set[int]:
    """The buffers that a step reads."""
    return _given(step, "operand") if isinstance(step, CallRoutine) else reads(step)


def _given(step: CallRoutine, *roles: str) -> set[int]:
    """The buffers that a routine is given in some roles."""
    own = (step.routine.buffers[k].role for k in step.routine.args)
    return {b for b, role in zip(step.buffers, own, strict=True) if role in roles}


def _finished(step: Launch) -> set[int]:
    """The buffers that hold a launch's reductions, or values computed from them."""
    stores = (s for one in step.nest.passes for s in one.epilogue_stores)
    return {step.buffers[s.access.buffer] for s in stores}


# -- words ----------------------------------------------------------------------------


def _bytes(program: BufferProgram, slot: int) -> int:
    buffer = program.buffers[slot]
    return prod(buffer.shape) * as_dtype(buffer.dtype).itemsize


def _shape(buffer: Buffer) -> str:
    extents = ",".join(map(str, buffer.shape))
    return f"{short_dtype(as_dtype(buffer.dtype))}[{extents}]"


def _times(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents)) or "one element"


def _size(count: int) -> str:
    for unit, scale in (("MB", 1e6), ("KB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"
