"""A program's kernels as one module that runs without traceir."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traceir_numba.codegen.module import casts, docstring, import_text, joined
from traceir_numba.cuda.codegen import device_functions, matmul
from traceir_numba.cuda.codegen.nest import CudaKernelSource, emit
from traceir_numba.cuda.codegen.thread_mapping import Key, key_of
from traceir_numba.cuda.routines.emit_pieces import PieceKernel
from traceir_numba.cuda.routines.pieces import launched, plan_of
from traceir_numba.loops.nest import kind_of
from traceir_numba.loops.program import (
    BufferProgram,
    CallMatmul,
    CallRoutine,
    Launch,
    Step,
)
from traceir_numba.lowering.matmul import call_arguments


def kernels_of(program: BufferProgram) -> dict[Key, CudaKernelSource]:
    """The kernels of a program, each once, by nest and form."""
    found: dict[Key, CudaKernelSource] = {}
    name = program.name.rstrip("_")
    for step in every_step(program):
        if isinstance(step, Launch):
            key = key_of(step)
            if key not in found:
                own = f"{name}_{len(found)}_{kind_of(step.nest)}"
                found[key] = emit(step.nest, step.labels, key[1], own)
    return found


def every_step(program: BufferProgram) -> Iterator[Step]:
    """The steps that the host launches, those of routines included."""
    for step in program.steps:
        if isinstance(step, CallRoutine):
            yield from launched(plan_of(step.routine).steps)
        else:
            yield step


def pieces_of(program: BufferProgram) -> list[PieceKernel]:
    """The kernels for the parts of loops and choices that one block runs."""
    runs = (step for step in program.steps if isinstance(step, CallRoutine))
    plans = (plan_of(step.routine) for step in runs)
    return [kernel for plan in plans for kernel in plan.kernels.values()]


def module_of(program: BufferProgram) -> str:
    """The module's text: functions, then kernels in the order of their launches.

    The host's part, which launches them and loops around them, is not in it.
    """
    kernels = kernels_of(program).values()
    pieces = pieces_of(program)
    calls = [*(k.calls for k in kernels), *(k.calls for k in pieces)]
    functions = device_functions.source(
        dict.fromkeys(name for names in calls for name in names)
    )
    parts = [functions] if functions else []
    for kernel in kernels:
        parts += [f"@cuda.jit\n{text}" for text in (kernel.text, kernel.end) if text]
    for piece in pieces:
        parts += [f"@function\n{text}" for text in piece.functions]
        parts.append(f"@cuda.jit\n{piece.text}")
    products_ = [s for s in every_step(program) if isinstance(s, CallMatmul)]
    tiles = dict.fromkeys(map(tile_of, products_))
    parts += [f"@cuda.jit\n{matmul.source(tile)}" for tile in tiles]
    about = docstring(program, " for CUDA")
    return joined([about, header("\n".join(parts)), *dict.fromkeys(parts)])


def arguments_of(program: BufferProgram) -> dict[str, tuple[str, ...]]:
    """The dtypes of the arguments of each kernel, `float32*` for an array of them."""
    found: dict[str, tuple[str, ...]] = {}
    for kernel in kernels_of(program).values():
        arrays = [f"{dtype}*" for dtype in (*kernel.pointers, *kernel.scratch)]
        found[kernel.name] = (*arrays, *("int64" for _ in kernel.sizes))
        if kernel.end is not None:
            found[f"{kernel.name}_end"] = found[kernel.name]
    for piece in pieces_of(program):
        found[piece.name] = tuple(f"{dtype}*" for dtype in piece.pointers)
    for step in every_step(program):
        if isinstance(step, CallMatmul):
            tile = tile_of(step)
            sizes = ["int64"] * len(matmul.SIZES)
            found[tile.name] = (*[f"{tile.dtype}*"] * 3, *sizes)
    return found


def tile_of(step: CallMatmul) -> matmul.BlockTile:
    """The tile with which a device computes a product."""
    dtype = step.eqn.outputs[0].aval.dtype.name
    return matmul.tile_of(dtype, call_arguments(step.eqn))


def header(body: str) -> str:
    """Imports that the body uses."""
    words = set(re.findall(r"[A-Za-z_]\w*", body))
    lines = ["import math"] if "math" in words else []
    found = [name for name in ("inf", "nan") if name in words]
    lines += [f"from math import {', '.join(found)}"] if found else []
    lines += ["", "import numpy as np"] if "np" in words else [""]
    lines += [import_text("numba", ["cuda", *casts(words)])]
    lines += ["", "function = cuda.jit(device=True)"] if "function" in words else []
    return "\n".join(lines).strip()
