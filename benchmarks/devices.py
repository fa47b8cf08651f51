"""Programs for the devices of a host: as many as there are processors, beside JAX's.

`python -m benchmarks devices --threads 1 2` measures them on one device and on two.
Each row is one text, run with `traceir` and with JAX on arrays that lie alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import traceir
from benchmarks.measure import Call
from benchmarks.worlds import OWN, waited

# A function of the library: it gives a call of no arguments.
Program = Callable[[Any], Call]
PROGRAMS: dict[str, Program] = {}


def program(name: str) -> Callable[[Program], Program]:
    """Enter a program under its name."""

    def enter(made: Program) -> Program:
        PROGRAMS[name] = made
        return made

    return enter


def normal(*shape: int) -> np.ndarray:
    """Random float32, the same for both libraries."""
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def mesh(lib: Any) -> Any:
    """All devices in a row."""
    automatic = (lib.sharding.AxisType.Auto,)
    return lib.make_mesh((lib.device_count(),), ("i",), axis_types=automatic)


def laid(lib: Any, value: np.ndarray, *spec: Any) -> Any:
    """An array that is divided over the devices."""
    sharding = lib.sharding.NamedSharding(mesh(lib), lib.sharding.PartitionSpec(*spec))
    return lib.device_put(value, sharding)


def parts(lib: Any, function: Any, ins: Any, outs: Any, **options: Any) -> Any:
    """A jitted function of parts."""
    specs = {"in_specs": ins, "out_specs": outs, **options}
    return lib.jit(lib.shard_map(function, mesh=mesh(lib), **specs))


def ring(lib: Any) -> list[tuple[int, int]]:
    """From each device to the next."""
    count = lib.device_count()
    return [(k, (k + 1) % count) for k in range(count)]


# -- arrays that are divided -----------------------------------------------------------


@program("selu of rows, 10^6")
def _elementwise(lib: Any) -> Call:
    f, x = lib.jit(lib.nn.selu), laid(lib, normal(1000, 1000), "i", None)
    return lambda: f(x)


@program("sum of divided rows, 10^6")
def _sum(lib: Any) -> Call:
    f, x = lib.jit(lib.numpy.sum), laid(lib, normal(1000, 1000), "i", None)
    return lambda: f(x)


@program("rows by a matrix, 1024")
def _rows(lib: Any) -> Call:
    f = lib.jit(lambda a, b: a @ b)
    a, b = laid(lib, normal(1024, 1024), "i", None), laid(lib, normal(1024, 1024))
    return lambda: f(a, b)


@program("rows become columns, 1024")
def _turned(lib: Any) -> Call:
    x, P = laid(lib, normal(1024, 1024), "i", None), lib.sharding.PartitionSpec
    there = lib.sharding.NamedSharding(mesh(lib), P(None, "i"))
    return lambda: lib.device_put(x, there)


# -- functions of parts ----------------------------------------------------------------


def _collective(size: int, function: Any, whole: bool, **options: Any) -> Program:
    def made(lib: Any) -> Call:
        P = lib.sharding.PartitionSpec
        out = P() if whole else P("i")
        f = parts(lib, lambda a: function(lib, a), P("i"), out, **options)
        x = laid(lib, normal(lib.device_count() * size), "i")
        return lambda: f(x)

    return made


def _psum(lib: Any, a: Any) -> Any:
    return lib.lax.psum(a, "i")


def _gather(lib: Any, a: Any) -> Any:
    return lib.lax.all_gather(a, "i", tiled=True)


def _passed(lib: Any, a: Any) -> Any:
    return lib.lax.ppermute(a, "i", ring(lib))


def _exchanged(lib: Any, a: Any) -> Any:
    return lib.lax.all_to_all(a, "i", 0, 0, tiled=True)


def _scattered(lib: Any, a: Any) -> Any:
    return lib.lax.psum_scatter(a, "i", tiled=True)


PROGRAMS.update(
    {
        "psum of 8 numbers": _collective(8, _psum, True),
        "psum, 10^6": _collective(1_000_000, _psum, True),
        "all_gather, 10^6": _collective(1_000_000, _gather, True, check_vma=False),
        "ppermute, 10^6": _collective(1_000_000, _passed, False),
        "all_to_all, 10^6": _collective(1_000_000, _exchanged, False),
        "psum_scatter, 10^6": _collective(1_000_000, _scattered, False),
    }
)


@program("product of divided terms, 1024")
def _terms(lib: Any) -> Call:
    P = lib.sharding.PartitionSpec
    product = parts(
        lib, lambda a, b: lib.lax.psum(a @ b, "i"), (P(None, "i"), P("i")), P()
    )
    a, b = laid(lib, normal(1024, 1024), None, "i"), laid(lib, normal(1024, 1024), "i")
    return lambda: product(a, b)


@program("product round a ring, 1024")
def _round(lib: Any) -> Call:
    P, lax, count = lib.sharding.PartitionSpec, lib.lax, lib.device_count()

    def product(a: Any, b: Any) -> Any:
        place, rows = lax.axis_index("i"), b.shape[0]

        def term(k: Any, block: Any) -> Any:
            at = (place - k) % count * rows
            return lax.dynamic_slice_in_dim(a, at, rows, 1) @ block

        def step(k: Any, carry: Any) -> Any:
            total, block = carry
            block = lax.ppermute(block, "i", ring(lib))
            return total + term(k, block), block

        return lax.fori_loop(1, count, step, (term(0, b), b))[0]

    f = parts(lib, product, (P("i"), P("i")), P("i"))
    a, b = laid(lib, normal(1024, 1024), "i"), laid(lib, normal(1024, 1024), "i")
    return lambda: f(a, b)


@program("a parallel map of 8 numbers")
def _mapped(lib: Any) -> Call:
    f = lib.pmap(lambda x: x / lib.lax.psum(x, "i"), axis_name="i")
    x = normal(lib.device_count(), 8)
    return lambda: f(x)


# -- training --------------------------------------------------------------------------


def _layers() -> list[np.ndarray]:
    return [normal(*shape) / 8 for shape in ((64, 256), (256, 256), (256, 1))]


def _loss(lib: Any, layers: Any, x: Any, y: Any) -> Any:
    for w in layers:
        x = lib.numpy.tanh(x @ w)
    return lib.numpy.mean((x - y) ** 2)


def _trained(lib: Any, loss: Any) -> Call:
    @lib.jit
    def step(layers: Any, x: Any, y: Any) -> Any:
        value, slopes = lib.value_and_grad(loss)(layers, x, y)
        return value, [w - 0.1 * s for w, s in zip(layers, slopes, strict=True)]

    layers = [laid(lib, w) for w in _layers()]
    x, y = laid(lib, normal(4096, 64), "i", None), laid(lib, normal(4096, 1), "i", None)
    return lambda: step(layers, x, y)


@program("training step, by shardings")
def _by_shardings(lib: Any) -> Call:
    return _trained(lib, lambda *given: _loss(lib, *given))


@program("training step, by parts")
def _by_parts(lib: Any) -> Call:
    P = lib.sharding.PartitionSpec

    def loss(layers: Any, x: Any, y: Any) -> Any:
        return lib.lax.pmean(_loss(lib, layers, x, y), "i")

    return _trained(lib, parts(lib, loss, (P(), P("i"), P("i")), P()))


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """The programs, on as many devices as this process may have processors."""
    count = len(os.sched_getaffinity(0))
    jax.config.update("jax_num_cpu_devices", count)
    traceir.config.update("num_cpu_devices", count)
    for name, made in PROGRAMS.items():
        calls: dict[str, Call] = {OWN: made(traceir)}
        calls["JAX"] = waited(made(jax))
        pairs = zip(
            traceir.tree.leaves(calls[OWN]()),
            jax.tree.leaves(calls["JAX"]()),
            strict=True,
        )
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3, err_msg=name)
        yield name, calls
