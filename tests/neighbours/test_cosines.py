"""Cosine transforms against SciPy's: lengths, norms, axes, dtypes, derivatives.

Cites: face.axis, face.axis-repeated, face.axis-type, face.choice, face.fft-axes,
face.fft-length
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir.base.config import enable_x64
from traceir.scipy import fft
from traceir.test_util import check_grads

ONE = ("dct", "idct")
SEVERAL = ("dctn", "idctn")
NORMS = (None, "backward", "ortho")
RNG = np.random.default_rng(11)


def near(got: Any, want: Any, dtype: str) -> None:
    """Equal up to what rounding leaves of the largest element."""
    found, wanted = np.asarray(got), np.asarray(want)
    assert (found.shape, found.dtype) == (wanted.shape, np.dtype(dtype))
    bound = 1e-12 if dtype in ("float64", "complex128") else 1e-5
    assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("name", ONE)
def test_all_lengths(name: str, kind: int, norm: str | None) -> None:
    with enable_x64():
        for n in (*range(1, 18), 64, 97):
            x = RNG.normal(size=(2, n))
            want = getattr(scipy.fft, name)(x, kind, norm=norm)
            near(getattr(fft, name)(x, kind, norm=norm), want, "float64")


def test_the_sum_is_the_one_that_is_documented() -> None:
    x = [1.0, -2.0, 0.5, 4.0, 3.0]
    angles = np.pi * np.outer(range(5), 2 * np.arange(5) + 1) / 10
    near(fft.dct(jnp.array(x)), 2 * np.cos(angles) @ x, "float32")
    near(fft.idct(fft.dct(jnp.array(x))), x, "float32")
    near(fft.dct(jnp.array(x), 3) / 10, fft.idct(jnp.array(x)), "float32")


@pytest.mark.parametrize("name", ONE)
def test_an_axis_is_cut_or_padded(name: str) -> None:
    x = RNG.normal(size=(3, 4, 5)).astype("float32")
    for n, axis in itertools.product((None, 1, 3, 7), (-1, 0, 1, -2)):
        want = getattr(scipy.fft, name)(x, n=n, axis=axis)
        near(getattr(fft, name)(x, n=n, axis=axis), want, "float32")


FORMS: list[dict[str, Any]] = [
    *({}, {"s": (2,)}, {"s": 3}, {"s": [2, 5]}, {"axes": 0}, {"axes": (-1, 0)}),
    *({"s": (4, 3), "axes": (2, 0)}, {"norm": "ortho"}, {"type": 3, "s": (2, 6)}),
]


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    x = RNG.normal(size=(2, 3, 4)).astype("float32")
    for form in FORMS:
        near(getattr(fft, name)(x, **form), getattr(scipy.fft, name)(x, **form), "f4")
    assert getattr(fft, name)(jnp.array([1, 2]), axes=()).dtype == "int32"


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", ONE)
def test_dtypes(name: str, wide: bool) -> None:
    narrow = ("bool", "int8", "int32", "uint32", "float16", "bfloat16", "float32")
    dtypes = dict.fromkeys(narrow, "float32") | {"complex64": "complex64"}
    if wide:
        dtypes |= dict.fromkeys(("int64", "float64"), "float64")
        dtypes["complex128"] = "complex128"
    with enable_x64(wide):
        for dtype, wanted in dtypes.items():
            x = jnp.array([[1, 0, 1, 1, 0]]).astype(dtype)
            x = x * (1 + 2j) if wanted.startswith("c") else x
            exact = np.asarray(x).astype("complex128" if "c" in wanted else "float64")
            for norm in NORMS[1:]:
                want = getattr(scipy.fft, name)(exact, norm=norm)
                near(getattr(fft, name)(x, norm=norm), want, wanted)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_mapped_compiled_and_differentiated(backend: str) -> None:
    x = RNG.normal(size=(3, 5)).astype("float32")
    for name, kind in itertools.product(ONE, (2, 3)):
        whole = getattr(fft, name)

        def run(v: Any, f: Callable[..., Any] = whole, kind: int = kind) -> Any:
            return f(v, kind)

        want = getattr(scipy.fft, name)(x, kind, axis=0)
        mapped = traceir.jit(traceir.vmap(run, 1, 1), backend=backend)
        near(mapped(x), want, "float32")
        jacobian = traceir.jit(traceir.jacrev(run), backend=backend)(x[0])
        matrix = getattr(scipy.fft, name)(np.eye(5), kind, axis=0)
        near(jacobian, matrix, "float32")
    check_grads(fft.dctn, (x,), order=2, rtol=1e-2, atol=1e-2)


LINE, PLANE = jnp.ones(3), jnp.ones((2, 3))
REFUSED: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("face.choice", NotImplementedError, lambda: fft.dct(LINE, 1)),
    ("face.choice", NotImplementedError, lambda: fft.idctn(LINE, 4)),
    ("face.choice", ValueError, lambda: fft.idct(LINE, norm="forward")),
    ("face.axis", ValueError, lambda: fft.dct(LINE, axis=1)),
    ("face.axis", ValueError, lambda: fft.dct(1.0)),
    ("face.axis-type", TypeError, lambda: fft.idct(LINE, axis=None)),  # type: ignore[arg-type]  # bad
    ("face.axis-repeated", ValueError, lambda: fft.dctn(PLANE, axes=(0, 0))),
    ("face.fft-axes", ValueError, lambda: fft.dctn(PLANE, s=(2, 2, 2))),
    ("face.fft-axes", ValueError, lambda: fft.idctn(PLANE, s=(2,), axes=(0, 1))),
    ("face.fft-length", ValueError, lambda: fft.dct(LINE, n=0)),
    ("face.fft-length", ValueError, lambda: fft.idct(jnp.ones((2, 0)))),
    ("face.argument", TypeError, lambda: fft.dct([1.0])),
]


@pytest.mark.parametrize(("rule", "kind", "call"), REFUSED)
def test_what_has_no_transform_is_refused(
    rule: str, kind: type[Exception], call: Callable[[], Any]
) -> None:
    with raises_rule(rule, kind):
        call()
