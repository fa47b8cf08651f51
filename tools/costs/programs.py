"""The programs that measure the numbers of the cost models, by name.

A program is made in a process in which a number may have another value. Its result is
called: the first call compiles, the others are timed. Programs of devices are a
function and its arguments, `DEVICE`.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax
from traceir_numba.cuda.source import module_of
from traceir_numba.pipeline.build_program import build_program

Call: TypeAlias = Callable[[], object]
PROGRAMS: dict[str, Callable[[], Call]] = {}
DEVICE: dict[str, Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]] = {}
# Those that look at what is kept between processes.
STORED = frozenset({"stored"})


def program(make: Callable[[], Call]) -> Callable[[], Call]:
    """Register a program under its function's name."""
    PROGRAMS[make.__name__] = make
    return make


def compiled(name: str, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """Register a compiled function of drawn arrays of float32."""

    def make() -> Call:
        jitted, args = traceir.jit(function), drawn(*shapes)
        return lambda: jitted(*args)

    PROGRAMS[name] = make


Shapes: TypeAlias = tuple[tuple[int, ...], ...]


def both(name: str, function: Callable[..., Any], below: Shapes, above: Shapes) -> None:
    """Register a compiled function of arrays on either side of a threshold.

    Half of it shows what is lost below, double of it what is lost above.
    """

    def make() -> Call:
        jitted, small, large = traceir.jit(function), drawn(*below), drawn(*above)
        return lambda: (jitted(*small), jitted(*large))

    PROGRAMS[name] = make


def device(name: str, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """Register a function of drawn arrays of float32 that a device runs."""
    DEVICE[name] = lambda: (function, drawn(*shapes))


def drawn(*shapes: tuple[int, ...], dtype: str = "float32") -> tuple[Any, ...]:
    """Arrays of numbers between 0 and 1, the same in each process."""
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.random(shape).astype(dtype)) for shape in shapes)


def chained(x: Any, y: Any) -> Any:
    """A long body of real functions."""
    for _ in range(100):
        x = jnp.sin(x) * y
    return x


def horner(x: Any) -> Any:
    """A long body of products and sums."""
    y = x
    for k in range(180):
        y = y * x + k
    return y


def in_loop(body: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled loop of a thousand rounds."""
    return lambda v, *rest: lax.fori_loop(0, 1000, lambda i, v: body(i, v, *rest), v)


# -- fusion ---------------------------------------------------------------------------

compiled("chain", chained, (20_000,), (20_000,))
compiled("recompute", lambda x: (jnp.exp(x).sum(), jnp.exp(x)[::2] * 2), (300_000,))
compiled("repeated", lambda m, v: m + (v * v * v + v * 3 - 1), (3000, 300), (300,))
compiled("wide", lambda *xs: sum(xs[1:], xs[0]), *[(20_000,)] * 60)
compiled("concat", lambda *xs: jnp.concatenate(xs) * 2, (200_000,), (10,), (3000,))
both(
    "concat_halves",
    lambda *xs: jnp.concatenate(xs) * 2,
    *(((6000,), (6000,)), ((12_000,), (12_000,))),
)
both("softmax", traceir.nn.softmax, ((12, 8000),), ((24, 8000),))
both("tiny_softmax", traceir.nn.softmax, ((5000, 48),), ((5000, 96),))
both(
    "softmax_columns",
    lambda x: traceir.nn.softmax(x, axis=0),
    *(((1500, 256),), ((3000, 256),)),
)
compiled("transposed", lambda x, y: x + y.T, (1000, 1000), (1000, 1000))


@program
def gather() -> Call:
    """Elements at indices that are found, read by two loops."""
    (x,) = drawn((300_000,))
    at = jnp.asarray(np.random.default_rng(0).integers(0, 300_000, 300_000))
    jitted = traceir.jit(lambda x, at: (x[at].sum(), x[at] * 2 + 1))
    return lambda: jitted(x, at)


# -- loops and reductions -------------------------------------------------------------


def rows(x: Any) -> Any:
    """Sums of rows."""
    return (x * 2).sum(1)


both("little", rows, ((250, 6),), ((500, 6),))
both("tiny_rows", rows, ((50_000, 6),), ((25_000, 12),))
both("short_rows", rows, ((3000, 190),), ((1500, 380),))
both("known_rows", rows, ((1500, 380),), ((750, 760),))
both("few_rows", rows, ((400, 30),), ((800, 30),))
compiled("long_rows", rows, (200, 5000))
compiled("columns", lambda x: (x * 2).sum(0), (1000, 1000))
compiled("few_columns", lambda x: (x * 2).sum(0), (200_000, 4))
both("column_blocks", lambda x: (x * 2).sum(0), ((50_000, 100),), ((10_000, 1500),))
compiled("whole", lambda x: (x * 2).sum(), (1_000_000,))
compiled("strided", lambda x: (x[::3] + x[1::3], x[::6] + x[1::6]), (300_000,))
compiled("written_turns", lambda x: jnp.polyval(jnp.arange(8.0), x), (100_000,))
compiled("mixed", lambda x, y: jnp.stack([x, y, x + y], -1), (99_999,), (99_999,))
compiled("neighbours", lambda x: (x[2:] + x[:-2], x[:-24] + x[24:]), (300_000,))
both("searched", lambda x: jnp.argmax(jnp.log1p(x), 1), ((4000, 16),), ((4000, 25),))
both("pooled", lambda x: x * 2 + 1, ((50_000,),), ((100_000,),))


def interleaved(x: Any) -> Any:
    """A body that waits for itself a little, and one that waits longer."""
    return jnp.log1p(x), jnp.sin(x) * jnp.exp(x)


compiled("deep", interleaved, (20_000,))
compiled("deeper", horner, (20_000,))
compiled("scan", lambda x: jnp.cumsum(x), (1_000_000,))
both("threads", lambda x: x * 2 + 1, ((220_000,),), ((440_000,),))
compiled("large", lambda x: jnp.sin(x) * jnp.exp(x), (8_000_000,))
compiled("loop", in_loop(lambda i, v, c: v * 0.5 + jnp.exp(c) * i), (4096,), (4096,))
compiled("loop_of_rows", in_loop(lambda i, v: jnp.exp(v) * i), (300,))


@program
def window() -> Call:
    """The greatest of each 6 neighbours, and of each 12."""
    (x,) = drawn((100_000,))

    def greatest(x: Any, n: int) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (n,), (1,), "VALID")

    jitted = traceir.jit(lambda x: (greatest(x, 6), greatest(x, 12)))
    return lambda: jitted(x)


# -- products -------------------------------------------------------------------------


def times(x: Any, y: Any) -> Any:
    """A product of matrices."""
    return x @ y


def squares(n: int, *stack: int) -> Shapes:
    """The shapes of two square matrices."""
    return ((*stack, n, n), (*stack, n, n))


both("matmul_small", lambda x, y: jnp.tanh(x @ y), squares(28), squares(36))
both("matmul_stack", times, squares(4, 2000), squares(6, 2000))
both(
    "median",
    lambda x, q: jnp.quantile(x, q),
    ((900,), (3,)),
    ((2100,), (3,)),
)
both(
    "small_factors",
    lambda x, y: jnp.linalg.solve(x, y),
    ((20, 60, 60), (20, 60, 2)),
    ((20, 70, 70), (20, 70, 2)),
)
both("matmul_shared", times, squares(145), squares(184))
compiled("matmul", times, *squares(512))
both("matmul_flat", times, ((24, 512), (512, 512)), ((48, 512), (512, 512)))
both("matmul_long", times, *(((4, n), (n, 4)) for n in (12_000, 24_000)))
both(
    "matmul_loop",
    lambda v, m: lax.fori_loop(0, 20, lambda i, v: v @ m, v),
    *(squares(230), squares(290)),
)


def conv(x: Any, w: Any) -> Any:
    """A convolution of images."""
    return lax.conv(x, w, (1, 1), "SAME")


both(
    "convolution",
    conv,
    *(((1, 3, 8, 8), (12, 3, 3, 3)), ((8, 3, 32, 32), (16, 3, 3, 3))),
)
both("few_filters", conv, *(((1, 1, 90, 200), (n, 1, 9, 9)) for n in (3, 5)))
both("filter", jnp.convolve, ((50_000,), (48,)), ((50_000,), (96,)))


@program
def matmul_complex() -> Call:
    """Two products of complex matrices."""
    small = drawn(*squares(28), dtype="complex64")
    large = drawn(*squares(36), dtype="complex64")
    jitted = traceir.jit(times)
    return lambda: (jitted(*small), jitted(*large))


# -- machine code ---------------------------------------------------------------------


def many(x: Any) -> Any:
    """Twenty reductions, each a kernel of its own."""
    return [jnp.sin(x * k).reshape(k, -1).sum(1) for k in range(1, 21) if 720 % k == 0]


compiled("kernels", many, (72_000,))


@program
def constant() -> Call:
    """The source of a program with a constant of 8 KB."""
    known = np.arange(2048, dtype=np.float32)
    lowered = traceir.jit(lambda x: x + known).lower(known)
    return lambda: lowered.compile().as_text()


@program
def exported() -> Call:
    """An object file of a program with a constant and memory of its own."""
    known = np.arange(3000, dtype=np.float32)
    spec = traceir.ShapeDtypeStruct((3000,), "float32")
    folder = tempfile.mkdtemp()

    def function(x: Any) -> Any:
        return (jnp.exp(x + known).sum() + jnp.cumsum(x)) @ (x * 2)

    path = Path(folder, "net.o")
    return lambda: traceir_numba.export(function, spec, path=str(path), form="object")


@program
def stored() -> Call:
    """A program that is looked for in the store, as its function is new each time."""
    known = np.arange(2048, dtype=np.float32)

    def call() -> object:
        return traceir.jit(lambda x: x * 3 - known, backend="numba")(known)

    return call


# -- tracing, and operations outside of traces ----------------------------------------

compiled("calls", lambda x: x + 1, (9,))


@program
def lists() -> Call:
    """A list of a loop without a bound, beyond its first room."""

    def counted(n: Any) -> Any:
        out: list[Any] = []
        i = 0
        while i < n:
            out.append(i)
            i += 1
        return len(out)

    jitted = traceir_numba.jit(counted)
    return lambda: jitted(np.int64(3000))


KNOWN, TWICE = np.arange(190, dtype=np.float32), np.arange(380, dtype=np.float32)


@program
def strict_calls() -> Call:
    """A strict function that reads arrays of 760 and of 1520 bytes."""
    (x,) = drawn((190,))
    jitted = traceir.jit(lambda x: x + KNOWN[:190] + TWICE[:190], strict=True)
    return lambda: jitted(x)


@program
def unrolled() -> Call:
    """A loop of Python's, traced and compiled anew."""

    def call() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return traceir.make_jaxpr(traceir.jit(chained))(KNOWN, KNOWN)

    return call


def eager(name: str, function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """Register a call outside of traces."""

    def make() -> Call:
        args = drawn(*shapes)
        return lambda: function(*args)

    PROGRAMS[name] = make


eager("eager_long", lambda x: jnp.interp(x, x, x), (200,))
eager("eager_sequence", lambda x: jnp.transpose(x, (1, 0, 2)), (3, 4, 5))
eager("eager_constant", lambda x: jnp.vander(x, 4), (9,))
eager("eager_part", lambda x, y: (x[10:80], y[10:80]), (190,), (380,))
eager(
    "membership",
    lambda x, y, z: (jnp.isin(x, y), jnp.isin(x, z)),
    *((20_000,), (24,), (48,)),
)
eager("einsum", lambda *xs: jnp.einsum("ij,jk,kl,l->i", *xs), *[(60, 60)] * 3, (60,))
eager(
    "factorize",
    lambda x, y: (jnp.linalg.qr(x), jnp.linalg.qr(y)),
    *((220, 220), (300, 300)),
)
eager(
    "stacks",
    lambda x, y, u, v: (jnp.linalg.solve(x, y), jnp.linalg.solve(u, v)),
    *((1000, 6, 6), (1000, 6, 2), (1000, 12, 12), (1000, 12, 2)),
)
eager("sort", lambda x, y: (jnp.sort(x), jnp.sort(y)), (760,), (1500,))
eager("top_k", lambda x: lax.top_k(x, 10), (100_000,))
eager("top_k_share", lambda x: lax.top_k(x, 100), (900,))
eager("draws", lambda: traceir.random.bits(traceir.random.key(0), (200_000,)))

# -- devices --------------------------------------------------------------------------

device("gpu_map", lambda x: x * 2 + 1, (1 << 22,))
device("gpu_rows", lambda x: (x * 2).sum(1), (100, 20_000))
device("gpu_columns", lambda x: (x * 2).sum(0), (20_000, 100))
device("gpu_softmax", lambda x: traceir.nn.softmax(x, axis=0), (2000, 300))
device("gpu_transposed", lambda x, y: x + y.T, (2000, 2000), (2000, 2000))
device("gpu_scan", lambda x: jnp.cumsum(x, axis=1), (20, 50_000))
device("gpu_matmul", times, (1000, 1000), (1000, 1000))
device("gpu_loop", in_loop(lambda i, v: (v * 0.5 + i) / v.sum()), (2000,))


def _scattered() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    at = jnp.asarray(np.random.default_rng(0).integers(0, 1000, 50_000))
    (x,) = drawn((50_000,))
    return lambda x, at: jnp.zeros(1000, "float32").at[at].add(x), (x, at)


def _wide() -> tuple[Callable[..., Any], tuple[Any, ...]]:
    with traceir.enable_x64(True):
        return times, drawn((1000, 1000), (1000, 1000), dtype="float64")


DEVICE["gpu_scatter"] = _scattered
DEVICE["gpu_matmul_wide"] = _wide


def source(name: str) -> Call:
    """The source of a program for devices."""
    function, args = DEVICE[name]()
    with traceir.enable_x64(True):
        closed = traceir.make_jaxpr(function)(*args)
    return lambda: module_of(build_program(closed, name, device=True))


device("gpu_copy", lambda x: x + 1, (1000, 1000))
