"""The work and the shared memory that a step asks of one block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from traceir_numba.buffers.lower_control_flow import is_inline
from traceir_numba.cuda import cost_model
from traceir_numba.cuda.codegen.nest import CudaKernelSource, emit
from traceir_numba.cuda.codegen.thread_mapping import Key, items_of, key_of
from traceir_numba.loops.program import Buffer, CallMatmul, Copy, Labels, Launch, Step
from traceir_numba.loops.schedule import cost
from traceir_numba.loops.step_effects import walk
from traceir_numba.lowering.matmul import call_arguments

# More rounds than any block may have: one block cannot do it.
NEVER = 1 << 62

SHARED_ARRAY = re.compile(r"cuda\.shared\.array\((.*), np\.(\w+)\)")


@lru_cache(256)
def _kernel(key: Key, labels: Labels) -> CudaKernelSource:
    nest, form = key
    return emit(nest, labels, form, "kernel")


def ends_later(step: Launch) -> bool:
    """True if a launch needs a second kernel."""
    return _kernel(key_of(step), step.labels).end is not None


def shared_by(step: Launch) -> int:
    """The bytes that the threads of a block share for a launch."""
    text = _kernel(key_of(step), step.labels).text
    return sum(
        prod(map(int, re.findall(r"\d+", shape))) * np.dtype(dtype).itemsize
        for shape, dtype in SHARED_ARRAY.findall(text)
    )


def rounds(step: Step, buffers: Sequence[Buffer]) -> int:
    """The rounds in which a block's threads take something up; too many where they
    cannot.
    """
    match step:
        case Launch(nest=nest, extents=extents) if not is_inline(step):
            _, form = key_of(step)
            if ends_later(step):
                return NEVER
            items, blocks = items_of(nest, extents, form)
            each = -(-prod(extents) // max(1, min(items, cost_model.ROUTINE_THREADS)))
            each = max(each, each * cost(nest) // cost_model.ROUND_ADDITIONS)
            return each + (0 if form.by_thread else cost_model.JOIN_COST * blocks)
        case CallMatmul(eqn):
            outer, batch, rows, along, columns, *_ = call_arguments(eqn)
            return (
                -(-outer * batch * rows * columns // cost_model.ROUTINE_THREADS) * along
            )
        case Copy(_, target):
            return -(-prod(buffers[target].shape) // cost_model.ROUTINE_THREADS)
    return 0


def threads(steps: Iterable[Step], buffers: Sequence[Buffer]) -> int:
    """The number of threads that could have work in steps that one block runs."""
    most = 1
    for step in walk(steps):
        match step:
            case Launch(nest=nest, extents=extents) if not is_inline(step):
                most = max(most, items_of(nest, extents, key_of(step)[1])[0])
            case CallMatmul(_, _, target) | Copy(_, target):
                most = max(most, prod(buffers[target].shape))
    return most
