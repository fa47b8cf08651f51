"""Memory of results: recycled, bounded, given back, and shared with nobody."""

from __future__ import annotations

import ctypes
import gc
import mmap
import resource
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from compiling import compiled, forgotten, grid

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.errors import TraceirError
from traceir_numba.llvm import optimize
from traceir_numba.runtime import allocator

F32 = np.dtype(np.float32)
SIZE = 1 << 20


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    traceir_numba.clear_memory()
    yield
    traceir_numba.clear_memory()


def faults(work: Callable[[], Any]) -> int:
    """The number of pages that a call touches for the first time."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_repeated_calls_touch_no_fresh_pages() -> None:
    f = traceir.jit(lambda x: jnp.dot(jnp.tanh(x), x) + 1, backend="numba")
    x = jnp.ones((1024, 1024))

    def twenty() -> None:
        for _ in range(20):
            f(x)

    twenty()
    pages = x.nbytes // resource.getpagesize()
    assert faults(twenty) < pages
    fresh = mmap.mmap(-1, x.nbytes)  # what a count would show
    assert faults(lambda: fresh.write(bytes(x.nbytes))) >= pages


def test_a_chain_of_results_uses_two_blocks() -> None:
    f = traceir.jit(lambda x: x * 0.5 + 1, backend="numba")
    x = jnp.ones(SIZE)
    for _ in range(10):
        x = f(x)
    info = traceir_numba.memory_info()
    assert info.used + info.free <= 2 * (x.nbytes + allocator.ALIGNMENT)


def _ctypes(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


HOLDERS: dict[str, Callable[[np.ndarray], Any]] = {
    "view": lambda a: a[7:],
    "view of a view": lambda a: a.reshape(2, -1)[1].view(np.int32),
    "dlpack": np.from_dlpack,
    "capsule": lambda a: a.__dlpack__(max_version=(1, 0)),
    "memoryview": memoryview,
    "slice of a memoryview": lambda a: memoryview(a)[5:],
    "frombuffer": lambda a: np.frombuffer(a, np.uint8),
    "frombuffer of a memoryview": lambda a: np.frombuffer(memoryview(a), np.int32),
    "ctypes": _ctypes,
    "interface": lambda a: np.lib.stride_tricks.as_strided(a, (4,), (4,)),
    "asarray": np.asarray,
    "iterator": lambda a: a.flat,
}


@pytest.mark.parametrize("name", HOLDERS)
def test_memory_that_something_holds_is_not_given_again(name: str) -> None:
    array = allocator.empty_large(SIZE, F32)
    first, last = array.ctypes.data, array.ctypes.data + array.nbytes
    held = HOLDERS[name](array)
    del array
    others = [allocator.empty_large(SIZE, F32) for _ in range(3)]
    assert all(not first <= o.ctypes.data < last for o in others)
    del held
    again = allocator.empty_large(SIZE, F32)
    assert again.ctypes.data == first


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "MOST_BYTES", 3 * 4 * SIZE + 1000)
    living = allocator.empty_large(SIZE, F32)
    for k in range(20):
        allocator.empty_large(SIZE + 1000 * k, F32)
        info = traceir_numba.memory_info()
        assert info.used + info.free <= allocator.MOST_BYTES
    # What lives was not forgotten for what lay about.
    address = living.ctypes.data
    del living
    assert allocator.empty_large(SIZE, F32).ctypes.data == address
    assert traceir_numba.clear_memory() > 0
    assert traceir_numba.memory_info()[:2] == (0, 0)


def test_the_number_of_blocks_is_bounded() -> None:
    living = [
        allocator.empty_large(1 << 16, F32) for _ in range(allocator.MOST_BLOCKS + 9)
    ]
    assert len(allocator._blocks) == allocator.MOST_BLOCKS
    assert len({a.ctypes.data for a in living}) == len(living)


def test_without_memory_left_what_is_kept_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = allocator._block

    def block(size: int) -> allocator.HostAllocation:
        if allocator._blocks:
            raise MemoryError
        return real(size)

    allocator.empty_large(SIZE, F32)
    monkeypatch.setattr(allocator, "_block", block)
    assert allocator.empty_large(2 * SIZE, F32).shape == (2 * SIZE,)
    assert len(allocator._blocks) == 1


def test_too_much_memory_is_an_error() -> None:
    with pytest.raises(MemoryError):
        allocator.empty_large(1 << 60, F32)


# -- inside one call ------------------------------------------------------------------


def chain(n: int) -> str:
    """Two products, whose results are only read by what comes next."""
    m = f"f32[{n},{n}]"
    return f"""{{ lambda ; a:{m} b:f32[{n}]. let
        c:{m} = dot_general[
          dimension_numbers=(([1], [0]), ([], []))
          preferred_element_type=float32
        ] a a
        d:{m} = broadcast_in_dim[broadcast_dimensions=(1,) shape=({n}, {n})] b
        e:{m} = add c d
        f:{m} = tanh e
        g:{m} = dot_general[
          dimension_numbers=(([1], [0]), ([], []))
          preferred_element_type=float32
        ] f a
        h:{m} = mul g 2.0:f32[]
        i:{m} = add h a
      in (i,) }}"""


def test_what_follows_a_large_product_writes_in_its_memory() -> None:
    n = 300
    found = compiled(chain(n))
    assert found.source.count("= empty_large(") == 2  # one for each product
    launches = found.program.launches()
    assert [len(step.buffers) for step in launches] == [2, 2]
    small = compiled(chain(40))  # where another kernel would cost more than it saves
    assert [len(step.buffers) for step in small.program.launches()] == [3, 3]
    for exe, size in ((found, n), (small, 40)):
        x, b = grid(size, size), grid(size, seed=2)
        want = np.tanh(x @ x + b) @ x * np.float32(2) + x
        np.testing.assert_allclose(exe.run(x, b)[0], want, rtol=1e-3, atol=1e-3)


def test_a_dead_value_leaves_its_memory() -> None:
    program = compiled(chain(40)).program
    assert program.reuses
    for new, old in program.reuses:
        assert program.buffers[old].role == "temporary"
        assert program.buffers[new].shape == program.buffers[old].shape


def test_results_share_no_memory() -> None:
    """Values that are returned, under whatever shape, are dead never."""
    n = 1 << 18
    text = f"""{{ lambda ; a:f32[{n}]. let
        b:f32[] = reduce_max[axes=(0,) out_sharding=None] a
        c:f32[{n}] = sub a b
        d:f32[2,{n // 2}] = reshape[
          dimensions=None new_sizes=(2, {n // 2}) sharding=None
        ] c
        e:f32[] = reduce_sum[axes=(0,) out_sharding=None] c
        f:f32[{n}] = mul c e
        g:f32[] = reduce_sum[axes=(0,) out_sharding=None] f
        h:f32[{n}] = mul f g
      in (d, h, c) }}"""
    x = grid(n)
    results = compiled(text).run(x)
    for k, one in enumerate(results):
        assert not any(np.may_share_memory(one, o) for o in (x, *results[k + 1 :]))
    np.testing.assert_array_equal(results[0].ravel(), x - x.max())
    np.testing.assert_array_equal(results[2], x - x.max())


def test_what_llvm_made_is_freed_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage is freed in any order, but a module is to go before its context."""
    forgotten(monkeypatch, 512)
    real = optimize._simplified

    def broken(text: str, target: Any, context: Any) -> Any:
        real(text, target, context)
        return real(text + "nothing that LLVM knows", target, context)

    monkeypatch.setattr(optimize, "_simplified", broken)
    monkeypatch.setattr(optimize, "widened", lambda texts, *_: ("\n".join(texts), ()))
    gc.collect()
    before = len(kept_by_llvm())
    with pytest.raises(TraceirError, match="LLVM IR parsing error"):
        compiled("{ lambda ; a:f32[3]. let b:f32[3] = neg a in (b,) }")
    assert len(kept_by_llvm()) == before


def kept_by_llvm() -> list[Any]:
    """LLVM's modules and contexts, garbage among them."""
    kinds = llvm.ModuleRef, llvm.context.ContextRef
    return [x for x in gc.get_objects() if isinstance(x, kinds)]
