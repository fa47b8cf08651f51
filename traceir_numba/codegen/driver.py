"""The driver of a program: it runs kernels and routines in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import fill, indent

import numpy as np

from traceir.dtypes import as_dtype
from traceir_numba import cost_model
from traceir_numba.buffers.buffer_assignment import needed
from traceir_numba.codegen.body import plain
from traceir_numba.codegen.embedded_reference import argument_text, reference_name
from traceir_numba.codegen.nest import KernelSource
from traceir_numba.loops.program import (
    Buffer,
    BufferProgram,
    CallMatmul,
    CallReference,
    CallRoutine,
    Copy,
    Launch,
    Reshape,
)
from traceir_numba.loops.schedule import range_of, scratch_of
from traceir_numba.lowering.matmul import call_arguments, is_strided
from traceir_numba.runtime.allocator import dtype_name
from traceir_numba.runtime.thread_pool import threads_worth

WIDTH = 88


def call_text(head: str, arguments: list[str]) -> str:
    """A call on one line, or on as many as it takes."""
    text = f"{head}({', '.join(arguments)})"
    if len(text) <= WIDTH:
        return text
    lines = fill(", ".join(arguments), WIDTH - 4)
    return f"{head}(\n{indent(lines, '    ')}\n)"


def driver_lines(
    program: BufferProgram, kernels: dict[int, KernelSource], released: set[str]
) -> Iterator[str]:
    """The function's lines; kernels that run long are added to `released`."""
    buffers = program.buffers
    yield f"def {program.name}({', '.join(buffers[k].name for k in program.inputs)}):"
    body = "\n".join(_body(program, kernels, released))
    views = dict(program.views)
    results = [
        f"{buffers[k].name}.view({dtype_name(views[n])})"
        if n in views
        else buffers[k].name
        for n, k in enumerate(program.outputs)
    ]
    body += f"\nreturn ({', '.join(results)}{',' if len(results) == 1 else ''})"
    yield from indent(body.strip("\n"), "    ").splitlines()


def _body(
    program: BufferProgram, kernels: dict[int, KernelSource], released: set[str]
) -> Iterator[str]:
    """The lines of all steps; memory is made before the step that needs it."""
    buffers = program.buffers
    made = {*program.inputs, *(k for k, _ in program.constants)}
    over = dict(program.reuses)
    for number, step in enumerate(program.steps):
        if not isinstance(step, Reshape):
            for slot in needed(step):
                if slot not in made:
                    made.add(slot)
                    if slot in over:
                        yield f"{buffers[slot].name} = {buffers[over[slot]].name}"
                    else:
                        yield _empty(buffers[slot])
        match step:
            case Launch():
                yield from _launch(program, step, kernels[number], released)
            case CallRoutine(buffers=slots):
                released.add(kernels[number].name)
                names = [buffers[k].name for k in slots]
                yield call_text(kernels[number].name, names)
            case CallMatmul():
                yield _call_matmul(program, step)
            case CallReference(outputs=outputs):
                made.update(outputs)
                yield _call_reference(program, step)
                yield from _shaped(program, step)
            case Copy(source, target):
                result = buffers[target]
                yield f"{result.name}[...] = {_reshaped(buffers[source], result)}"
            case Reshape(source, output, copied):
                made.add(output)
                result = buffers[output]
                text = _reshaped(buffers[source], result)
                yield f"{result.name} = {text}{'.copy()' if copied else ''}"


def _reshaped(source: Buffer, target: Buffer) -> str:
    """An array in the shape of another one, which may be the same memory."""
    if source.dtype != target.dtype:
        seen = f"{source.name}.reshape(-1).view({dtype_name(target.dtype)})"
        return f"{seen}.reshape({target.shape})"
    same = source.shape == target.shape
    return source.name if same else f"{source.name}.reshape({target.shape})"


def _empty(buffer: Buffer) -> str:
    size = int(np.prod(buffer.shape, dtype=np.int64)) * as_dtype(buffer.dtype).itemsize
    return _allocate(
        buffer.name, buffer.shape, buffer.dtype, size >= cost_model.POOLED_BYTES
    )


def _allocate(name: str, shape: tuple[int, ...], dtype: str, large: bool) -> str:
    # An int instead of a tuple of one saves 30 ns of a small call.
    extents = shape[0] if len(shape) == 1 else shape
    maker = "empty_large" if large else "empty"
    return f"{name} = {maker}({extents}, {dtype_name(dtype)})"


def _launch(
    program: BufferProgram, step: Launch, kernel: KernelSource, released: set[str]
) -> Iterable[str]:
    """The lines that launch a kernel: at once, in pieces, or spread over threads."""
    sizes = range_of(step.nest, step.extents, step.params)
    names = [program.buffers[k].name for k in step.buffers]
    scratch = scratch_of(step.nest, step.extents, step.params)
    for number, (length, dtype) in enumerate(scratch):
        names.append(f"blocks_{number}")
        yield _allocate(names[-1], (length,), dtype, large=False)
    values = dict(sizes.values)
    large = sizes.work >= cost_model.THREADED_WORK
    if large:
        released.add(kernel.name)
    pieces = min(sizes.length, sizes.work // cost_model.KERNEL_WORK)
    shared = large and sizes.length > 1 and not step.nest.ordered
    if shared or (pieces > 1 and not sizes.blocks):
        arrays = ", ".join(names) + ("," if len(names) == 1 else "")
        values["last"] = 0
        given = ", ".join(str(values[s]) for s in kernel.sizes)
        head = "parallel" if shared else "in_order"
        # A range that is long is said to be in so many pieces.
        many = (
            f", pieces={pieces}"
            if pieces > cost_model.TOLD_PIECES or not shared
            else ""
        )
        worth = threads_worth(sizes.work, cost_model.THREADED_WORK)
        if shared and worth < cost_model.MANY_THREADS:
            many += f", threads={worth}"
        yield f"{head}({kernel.name}, ({arrays}), {given}{many})"
        if not sizes.blocks:
            return
        values |= {"lo": sizes.length, "last": 1}
    given = ", ".join([*names, *(str(values[s]) for s in kernel.sizes)])
    yield f"{kernel.name}({given})"


def _call_matmul(program: BufferProgram, step: CallMatmul) -> str:
    """A product, its operands given as strides in their memory."""
    names = [program.buffers[k].name for k in (*step.inputs, step.output)]
    strided = is_strided(step.eqn)
    entry = product_name(program.buffers[step.output].dtype, strided)
    head = "strided_product" if strided else "product"
    return call_text(head, [entry, *names, *map(str, call_arguments(step.eqn))])


def _call_reference(program: BufferProgram, step: CallReference) -> str:
    """A library's function: arrays, then the equation's params by name."""
    given = [program.buffers[k].name for k in step.inputs]
    given += [f"{name}={argument_text(value)}" for name, value in step.eqn.params]
    results = ", ".join(program.buffers[k].name for k in step.outputs)
    return call_text(f"{results} = {reference_name(step.eqn.primitive)}", given)


def _shaped(program: BufferProgram, step: CallReference) -> Iterator[str]:
    """Other shapes for results that the program knows reshaped alone."""
    for slot, var in zip(step.outputs, step.eqn.outputs, strict=True):
        buffer = program.buffers[slot]
        if buffer.shape != var.aval.shape:
            yield f"{buffer.name} = {buffer.name}.reshape({buffer.shape})"


def product_name(dtype: str, strided: bool = False) -> str:
    """The name of a dtype's products in a generated module."""
    return f"{'strided' if strided else 'gemm'}_{plain(dtype)}"


def products_of(program: BufferProgram) -> list[tuple[str, bool]]:
    """The products that a program's function calls: dtypes, and whether strided."""
    calls = (step for step in program.steps if isinstance(step, CallMatmul))
    found = ((program.buffers[c.output].dtype, is_strided(c.eqn)) for c in calls)
    return list(dict.fromkeys(found))
