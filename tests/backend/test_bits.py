"""The bits of results: the same for any threads, cuts, kernels and machines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from compiling import compiled, same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import examples

from traceir_numba import cost_model
from traceir_numba.loops import specialize
from traceir_numba.runtime import thread_pool

ELEMENTWISE = {
    "cheap": "b:T[S] = mul a a; c:T[S] = sub b a",
    "roots": "b:T[S] = abs a; d:T[S] = sqrt b; c:T[S] = div a d",
    "choice": "b:bool[S] = gt a 0.5:T[]; c:T[S] = select_n b a 2.0:T[]",
    "real": "b:T[S] = exp a; d:T[S] = sin b; e:T[S] = log1p b; c:T[S] = add d e",
    "power": "b:T[S] = abs a; d:T[S] = tanh a; c:T[S] = pow b d",
}
SUM = "reduce_sum[axes=(AXES,) out_sharding=None]"


@pytest.fixture(autouse=True)
def as_many_threads_as_before() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = thread_pool.threads()
    yield
    thread_pool.set_threads(before)


def elementwise(name: str, dtype: str, shape: tuple[int, ...]) -> str:
    """A program of elementwise equations."""
    extents = ",".join(map(str, shape))
    body = ELEMENTWISE[name].replace("T", dtype).replace("S", extents)
    return f"{{ lambda ; a:{dtype}[{extents}]. let {body} in (c,) }}"


def summed(shape: tuple[int, ...], axes: tuple[int, ...], prologue: str = "a") -> str:
    """A sum over some axes, of an array or of its exponentials."""
    extents = ",".join(map(str, shape))
    left = ",".join(str(n) for d, n in enumerate(shape) if d not in axes)
    total = SUM.replace("AXES", ",".join(map(str, axes)))
    first = f"e:f32[{extents}] = exp a; " if prologue == "e" else ""
    body = f"{first}b:f32[{left}] = {total} {prologue}"
    return f"{{ lambda ; a:f32[{extents}]. let {body} in (b,) }}"


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Numbers whose sums round."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=shape), "float64" if dtype == "f64" else "f4")


@settings(max_examples=examples(20))
@given(
    st.sampled_from(sorted(ELEMENTWISE)),
    st.sampled_from(["f32", "f64"]),
    st.integers(1, 3000),
    st.integers(1, 20),
    st.data(),
)
def test_a_cut_of_the_result_is_the_result_of_the_cut(
    name: str, dtype: str, rows: int, columns: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, rows - 1))
    stop = data.draw(st.integers(start + 1, rows))
    x = numbers((rows, columns), dtype, rows)
    (whole,) = compiled(elementwise(name, dtype, (rows, columns))).run(x)
    part = np.ascontiguousarray(x[start:stop])
    (cut,) = compiled(elementwise(name, dtype, part.shape)).run(part)
    assert same_bits([cut], [np.ascontiguousarray(whole[start:stop])])


@settings(max_examples=examples(20))
@given(st.integers(1, 400), st.integers(1, 300), st.sampled_from("ae"), st.data())
def test_sums_of_rows_do_not_know_of_other_rows(
    rows: int, columns: int, prologue: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, rows - 1))
    stop = data.draw(st.integers(start + 1, rows))
    x = numbers((rows, columns), "f32", columns)
    (whole,) = compiled(summed((rows, columns), (1,), prologue)).run(x)
    part = np.ascontiguousarray(x[start:stop])
    (cut,) = compiled(summed(part.shape, (1,), prologue)).run(part)
    assert same_bits([cut], [whole[start:stop].copy()])


LARGE = [
    ((3_000_000,), (0,)),
    ((3000, 1000), (0,)),
    ((3000, 1000), (1,)),
    ((600_000, 4), (0,)),
    ((600_000, 4), (1,)),
    ((300, 100, 100), (2,)),
    ((300, 100, 100), (1,)),
    ((300, 100, 100), (0, 2)),
    ((3, 1_000_000), (0,)),
    ((3, 1_000_000), (1,)),
]


@pytest.mark.parametrize(("shape", "axes"), LARGE)
def test_sums_have_the_same_bits_for_any_number_of_threads(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    program = compiled(summed(shape, axes))
    x = numbers(shape, "f32", 1)
    found = []
    for count in (1, 2, 4):
        thread_pool.set_threads(count)
        found.append(program.run(x))
    assert same_bits(found[0], found[1]) and same_bits(found[0], found[2])


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_elements_have_the_same_bits_for_any_number_of_threads(name: str) -> None:
    program = compiled(elementwise(name, "f32", (700_001,)))
    x = numbers((700_001,), "f32", 2)
    found = []
    for count in (1, 2, 4):
        thread_pool.set_threads(count)
        found.append(program.run(x))
    assert same_bits(found[0], found[1]) and same_bits(found[0], found[2])


COLUMNS = [2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 100, 256, 257, 512, 513, 639, 640]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("prologue", ["a", "e"])
def test_kernels_for_some_lengths_give_the_bits_of_the_common_one(
    columns: int, prologue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = (4000, columns)
    x = numbers(shape, "f32", 3)
    text = summed(shape, (1,), prologue)
    kernels = {"own": compiled(text, "own")}
    sources = {"own": kernels["own"].source}
    for name, (bound, masks) in {
        "common": ("SPECIALIZED_POINTS", True),
        "masked": ("FIXED_ROW_ELEMENTS", True),
        "unmasked": ("FIXED_ROW_ELEMENTS", False),
        "long": ("FIXED_ROW", True),
        "long_unmasked": ("FIXED_ROW", False),
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(cost_model, bound, 0 if bound == "FIXED_ROW" else 1 << 40)
            if not masks:
                patch.setattr(specialize, "has_masks", lambda: False)
            kernels[name] = compiled(text, name)
            sources[name] = kernels[name].source  # is written when it is asked for
    assert "lanes_for(" in sources["common"]
    assert "lanes_for(" not in sources["own"]
    first, *others = (kernel.run(x) for kernel in kernels.values())
    assert all(same_bits(first, other) for other in others)


@pytest.mark.parametrize("length", [16_384, 20_001, 3 * 16_384 + 100, 3 * 16_384 + 300])
def test_sums_of_everything_in_full_vectors_give_the_bits_of_the_common_kernel(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, x = summed((length,), (0,)), numbers((length,), "f32", 4)
    long = compiled(text, "long")
    assert "for lane in range(128):" in long.source
    monkeypatch.setattr(cost_model, "FIXED_ROW_ELEMENTS", 1 << 40)
    common = compiled(text, "common")
    assert "for lane in range(128):" not in common.source
    assert same_bits(long.run(x), common.run(x))


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_short_strides_are_constants_of_the_source(step: int) -> None:
    n = 5000
    sliced = f"slice[limit_indices=({step * n},) start_indices=(0,) strides=({step},)]"
    found = compiled(f"""{{ lambda ; a:f32[{step * n}]. let
        b:f32[{n}] = {sliced} a
        c:f32[{n}] = neg b
      in (c,) }}""")
    assert (f"p0 = {step}" in found.source) == (step <= cost_model.CONSTANT_STRIDE)
    x = numbers((step * n,), "f32", 6)
    assert same_bits(found.run(x), (-x[::step],))


def test_that_a_line_is_read_backwards_is_known_in_the_source() -> None:
    found = compiled("""{ lambda ; a:f32[5003]. let
        b:f32[5003] = rev[dimensions=(0,)] a
        c:f32[5003] = neg b
      in (c,) }""")
    assert "p0 = -1" in found.source
    x = numbers((5003,), "f32", 6)
    assert same_bits(found.run(x), (-x[::-1],))


def squares_of_differences(extents: str, columns: str, first: str) -> str:
    """The sum of squares of what is left of an array without its columns' sums."""
    total = SUM.replace("AXES", "0")
    wide = (
        f"broadcast_in_dim[broadcast_dimensions=(1,) shape=({extents}) sharding=None]"
    )
    return f"""{{ lambda ; a:f32[{extents}]{first}
        c:f32[{extents}] = {wide} b
        d:f32[{extents}] = sub a c
        e:f32[{extents}] = mul d d
        f:f32[{columns}] = {total} e
      in (f,) }}"""


@pytest.mark.parametrize(
    ("shape", "way"),
    [
        ((2048, 32), "for start in range(0, n0, step):"),  # blocks in turn
        ((2000, 4), "for row in range("),  # rows side by side
        ((200, 5000), "for tile in range("),
    ],
)
def test_sums_of_columns_in_passes_are_as_sums_of_their_own(
    shape: tuple[int, int], way: str
) -> None:
    extents, columns = f"{shape[0]},{shape[1]}", str(shape[1])
    total = SUM.replace("AXES", "0")
    together = squares_of_differences(
        extents, columns, f". let b:f32[{columns}] = {total} a"
    )
    alone = squares_of_differences(extents, columns, f" b:f32[{columns}]. let")
    x = numbers(shape, "f32", 5)
    (sums,) = compiled(summed(shape, (0,))).run(x)
    source = compiled(together).source
    assert source.count("@kernel(") == 1 and way in source
    assert same_bits(compiled(together).run(x), compiled(alone).run(x, sums))
