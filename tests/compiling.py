"""Program texts compiled by the Numba backend, and compared with the evaluator."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir_numba
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.reference.interpreter import eval_jaxpr
from traceir.store import files
from traceir.text import parse
from traceir_numba import backend
from traceir_numba.codegen.kernel_sources import sources_of
from traceir_numba.llvm import optimize
from traceir_numba.pipeline import kernel_cache
from traceir_numba.pipeline.build_program import build_program
from traceir_numba.pipeline.explain import function_text
from traceir_numba.runtime import code_loader, mcjit
from traceir_numba.store import units

# Vectors of our own are of this size.
AVX512 = optimize.vector_bits() == 512

SELU = """{ lambda ; a:f32[SHAPE]. let
    b:bool[SHAPE] = gt a 0.0:f32[]
    c:f32[SHAPE] = exp a
    d:f32[SHAPE] = mul 1.6699999570846558:f32[] c
    e:f32[SHAPE] = sub d 1.6699999570846558:f32[]
    f:f32[SHAPE] = select_n b e a
    g:f32[SHAPE] = mul 1.0499999523162842:f32[] f
  in (g,) }"""

POLYNOMIAL_SUM = """{ lambda ; a:f32[SHAPE]. let
    b:f32[SHAPE] = integer_pow[y=2] a
    c:f32[SHAPE] = integer_pow[y=3] a
    d:f32[SHAPE] = sub b c
    e:f32[SHAPE] = sub d a
    f:f32[] = reduce_sum[axes=AXES out_sharding=None] e
  in (f,) }"""

SOFTMAX = """{ lambda ; a:f32[ROWS,COLS]. let
    b:f32[ROWS] = reduce_max[axes=(1,)] a
    c:f32[ROWS,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(ROWS,1)] b
    d:f32[ROWS,COLS] = sub a c
    e:f32[ROWS,COLS] = exp d
    f:f32[ROWS] = reduce_sum[axes=(1,) out_sharding=None] e
    g:f32[ROWS,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(ROWS,1)] f
    h:f32[ROWS,COLS] = div e g
  in (h,) }"""


# On x86-64 a vector register wider than the widest scalar, or a packed instruction of
# the first vector units; on AArch64 a register with the number and width of its lanes.
PACKED = re.compile(
    r"%[yz]mm\d|^\s+v?p?[a-z0-9]+(ps|pd)\s.*%xmm|\bv\d+\.\d+[bhsd]\b", re.MULTILINE
)
CALL = re.compile(r"^\s+(call|bl\s)", re.MULTILINE)


def selu(*shape: int) -> str:
    """The seeds' function."""
    return SELU.replace("SHAPE", ",".join(map(str, shape)))


def polynomial_sum(*shape: int) -> str:
    """A reduction with a prologue, over all axes."""
    axes = f"({','.join(map(str, range(len(shape))))},)" if shape else "()"
    extents = ",".join(map(str, shape))
    return POLYNOMIAL_SUM.replace("SHAPE", extents).replace("AXES", axes)


def softmax(rows: int, columns: int) -> str:
    """Two reductions of rows and what uses them."""
    return SOFTMAX.replace("ROWS", str(rows)).replace("COLS", str(columns))


def compiled(text: str, name: str = "program") -> backend.CpuExecutable:
    """The executable of a program's text."""
    return executable(parse(text), name)


def reference(text: str, *args: Any) -> list[np.ndarray]:
    """The evaluator's results."""
    closed = parse(text)
    return eval_jaxpr(closed, closed.consts, *args)


def grid(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Numbers k / 8, sums and products of few of which are exact."""
    numbers = np.random.default_rng(seed).integers(-16, 17, shape)
    return np.asarray(numbers / 8, dtype)


def same_bits(got: Any, want: Any) -> bool:
    """True if two lists of arrays are the same in shape, dtype and bits."""
    return len(got) == len(want) and all(
        (g.shape, g.dtype, g.tobytes()) == (w.shape, w.dtype, w.tobytes())
        for g, w in zip(got, want, strict=True)
    )


def traced(fun: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    """The program of a function."""
    closed: ClosedJaxpr = traceir.make_jaxpr(fun)(*args)
    return closed


def executable(closed: ClosedJaxpr, name: str = "program") -> backend.CpuExecutable:
    """The executable of a program."""
    found = backend.compile(closed, name)
    assert isinstance(found, backend.CpuExecutable)
    return found


def assembly(closed: ClosedJaxpr) -> dict[str, str]:
    """The machine code of each kernel of a program, which is not loaded."""
    program = build_program(closed, "program")
    wanted = sources_of(program).requests(program).values()
    found = {}
    for part in map(kernel_cache._part, wanted):
        with code_loader.lock:
            module = optimize.optimised(
                (part.text,), tuple(kernel_cache._made_part([part]))
            )
            text = str(mcjit.target_machine().emit_assembly(module))
        found[part.symbol] = function_text(text, part.symbol)
    return found


def code_of(f: Callable[..., Any], *args: Any) -> str:
    """The generated kernels of a plain function, without what all modules have."""
    source = traceir_numba.jit(f).source(*args)
    parts = re.split(r"\n(?=@)", source)
    return "".join(parts[2:] or parts[1:])


def forgotten(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """No kernel is known, none is stored; vectors of our own have so many bits."""
    monkeypatch.setattr(optimize, "vector_bits", lambda: bits)
    monkeypatch.setattr(files, "current", lambda: None)
    monkeypatch.setattr(kernel_cache, "_kernels", {})
    monkeypatch.setattr(optimize, "linked", made_anew)


def has_bits_of_llvm(
    fun: Callable[[Any], Any], x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """True if vectors of our own and LLVM's give the same bits of a function."""
    found = []
    with traceir.enable_x64(x.dtype == "float64"):
        closed = traced(fun, x)
        for bits in (0, 512):
            with monkeypatch.context() as patched:
                forgotten(patched, bits)
                found.append([np.asarray(v) for v in executable(closed).run(x)])
    return same_bits(*found)


def made_anew(key: str, symbols: Any, uses: Any, make: Callable[[], Any]) -> Any:
    """A unit that no other test has made."""
    return units._load(key, make(), symbols, uses)
