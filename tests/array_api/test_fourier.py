"""The Array API standard on its fft extension."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import standard
from execution_modes import WAYS, runner
from rule_errors import raises_rule

import traceir.numpy as jnp
from traceir.base.config import enable_x64

RNG = np.random.default_rng(7)
CUBE = RNG.normal(size=(2, 4, 6)) + 1j * RNG.normal(size=(2, 4, 6))
# The kinds of the operand and of the result.
KINDS = {
    "fft": ("complex", "complex"),
    "ifft": ("complex", "complex"),
    "fftn": ("complex", "complex"),
    "ifftn": ("complex", "complex"),
    "rfft": ("real", "complex"),
    "rfftn": ("real", "complex"),
    "ihfft": ("real", "complex"),
    "irfft": ("complex", "real"),
    "irfftn": ("complex", "real"),
    "hfft": ("complex", "real"),
}
ONE: list[dict[str, Any]] = [{}, {"n": 4}, {"n": 7}, {"axis": 0}, {"n": 5, "axis": 1}]
SEVERAL: list[dict[str, Any]] = [
    {},
    {"axes": (0, 2)},
    {"s": (3, 8), "axes": (1, 2)},
    {"axes": (-2,)},
]
NORMS = ("backward", "ortho", "forward")


def options(name: str, way: str) -> list[dict[str, Any]]:
    """The options of a transform's calls; of compiled code, a few."""
    found = SEVERAL if name.endswith("n") else ONE
    every = [*found, *({"norm": norm} for norm in NORMS)]
    return every[::3] if way == "numba" else every


def precisions(way: str) -> tuple[str, ...]:
    """The complex dtypes that are tried."""
    return ("complex64",) if way == "numba" else standard.KINDS["complex"]


def dtype_of(kind: str, complex_dtype: str) -> str:
    """The dtype of a kind, by the complex one of its precision."""
    return complex_dtype if kind == "complex" else standard.part_of(complex_dtype)


def operand(name: str, dtype: str) -> np.ndarray:
    """The operand of a transform."""
    kind = KINDS[name][0]
    return (CUBE if kind == "complex" else CUBE.real).astype(dtype_of(kind, dtype))


@cache
def transformed(way: str) -> dict[str, dict[str, list[Any]]]:
    """All transforms with all options, in one program."""

    def f(xs: dict[str, dict[str, Any]]) -> dict[str, dict[str, list[Any]]]:
        return {
            name: {
                d: [getattr(jnp.fft, name)(x, **given) for given in options(name, way)]
                for d, x in by_dtype.items()
            }
            for name, by_dtype in xs.items()
        }

    with enable_x64():
        chosen = precisions(way)
        return runner(way)(
            f, {n: {d: jnp.asarray(operand(n, d)) for d in chosen} for n in KINDS}
        )


def test_every_transform_is_tried() -> None:
    named = {f.name for f in standard.functions() if f.chapter == "fft"}
    others = {"fft.fftfreq", "fft.rfftfreq", "fft.fftshift", "fft.ifftshift"}
    assert named == {f"fft.{name}" for name in KINDS} | others


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KINDS)
def test_transforms(name: str, way: str) -> None:
    for dtype, found in transformed(way)[name].items():
        x = operand(name, dtype)
        digits = 1e-5 if dtype == "complex64" else 1e-12
        for got, given in zip(found, options(name, way), strict=True):
            want = getattr(np.fft, name)(x, **given)
            kept = dtype_of(KINDS[name][1], dtype)
            assert (got.dtype, got.shape) == (kept, want.shape), given
            np.testing.assert_allclose(got, want, digits, digits)


INVERSES = {"fft": "ifft", "fftn": "ifftn", "rfft": "irfft", "rfftn": "irfftn"}


@pytest.mark.parametrize("dtype", standard.KINDS["complex"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", INVERSES)
def test_a_transform_and_its_inverse(name: str, norm: str, dtype: str) -> None:
    x = operand(name, dtype)
    digits = 1e-5 if dtype == "complex64" else 1e-12
    with enable_x64():
        there = getattr(jnp.fft, name)(jnp.asarray(x), norm=norm)
        back = getattr(jnp.fft, INVERSES[name])(there, norm=norm)
    assert back.dtype == x.dtype
    np.testing.assert_allclose(back, x, digits, digits)


@pytest.mark.parametrize("name", ["rfft", "rfftn", "ihfft"])
def test_a_transform_of_real_numbers_has_no_complex_ones(name: str) -> None:
    with raises_rule("fft.real", ValueError, "complex64"):
        getattr(jnp.fft, name)(CUBE.astype("complex64"))
