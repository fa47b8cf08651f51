"""Sorts of which few places are read, beside whole sorts: the same bits.

Cites sort
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.reference.kernels import KERNELS
from traceir_numba import cost_model
from traceir_numba.pipeline import build_program

LINE = 1200
KINDS = ("normal", "equal", "zeros", "special", "nan")
FUNCTIONS: dict[str, Any] = {
    "median": lambda x: jnp.median(x, axis=0),
    "one quantile": lambda x: jnp.quantile(x, 0.3, axis=0),
    "several": lambda x: jnp.percentile(x, np.array([0.0, 5, 50, 97.5, 100]), axis=0),
    "nearest": lambda x: jnp.quantile(x, 0.21, axis=0, method="nearest"),
    "least": lambda x: jnp.sort(x, axis=0)[:3],
    "from the end": lambda x: jnp.sort(x, axis=0)[-1],
    "every hundredth": lambda x: jnp.sort(x, axis=0)[::100],
    "outside": lambda x: jnp.sort(x, axis=0).at[np.array([3, 5000])].get(mode="fill"),
    "clipped": lambda x: jnp.sort(x, axis=0).at[np.array([3, 5000])].get(mode="clip"),
}


def drawn(dtype: str, kind: str, *shape: int) -> np.ndarray:
    """Numbers that may be equal, of both signs of zero, infinite or NaN."""
    rng = np.random.default_rng(len(kind))
    x = 3 * rng.normal(size=shape)
    at = rng.random(shape)
    if kind == "equal":
        x = np.round(x)
    if kind == "zeros":
        x = np.where(at < 0.4, 0.0, np.where(at < 0.8, -0.0, x))
    if kind in ("special", "nan") and np.dtype(dtype).kind == "f":
        x[at < 0.01], x[at > 0.99] = -np.inf, np.inf
        if kind == "nan":
            x[(at > 0.5) & (at < 0.51)] = np.nan
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "float16"])
@pytest.mark.parametrize("kind", KINDS)
def test_places_have_the_bits_of_a_whole_sort(dtype: str, kind: str) -> None:
    for shape, axis in (((LINE,), 0), ((3, LINE), 1), ((LINE, 2), 0)):
        x = drawn(dtype, kind, *shape)
        (whole,) = KERNELS["sort"](x, dimension=axis)
        for places in ((0,), (LINE // 2,), (0, 7, LINE - 2, LINE - 1)):
            (some,) = KERNELS["sort"](x, dimension=axis, places=places)
            assert (some.shape, some.dtype) == (x.shape, x.dtype)
            found, wanted = some.take(places, axis), whole.take(places, axis)
            assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_compiled_functions_have_the_bits_of_whole_sorts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = FUNCTIONS[name]
    selects = traceir.jit(function, backend="numba")
    sorts = traceir.jit(lambda x: function(x), backend="numba")
    for kind in KINDS:
        for shape in ((LINE,), (LINE, 3)):
            x = jnp.asarray(drawn("float32", kind, *shape))
            found = np.asarray(selects(x))
            with monkeypatch.context() as patched:
                patched.setattr(build_program, "with_selections", lambda p: p)
                wanted = np.asarray(sorts(x))
            assert found.tobytes() == wanted.tobytes()
    assert "places=(" in selects.lower(x).as_text()


def test_other_sorts_are_whole() -> None:
    x = jnp.arange(float(LINE))
    most = cost_model.SELECTED_PLACES

    def text(function: Any, *args: Any) -> str:
        return str(traceir.jit(function, backend="numba").lower(*args).as_text())

    assert "places=(0, 1)" in text(lambda x: jnp.sort(x)[:2], x)
    for function, args in (
        (jnp.sort, (x,)),
        (lambda x: (jnp.sort(x), jnp.sort(x)[:2]), (x,)),
        (lambda x: jnp.sort(x)[: most + 1], (x,)),
        (lambda x: jnp.sort(x).sum(), (x,)),
        (lambda x, k: jnp.sort(x)[k], (x, 3)),
        (lambda x: lax.sort((x, x))[1][:2], (x,)),
        (lambda x: jnp.sort(x)[:2], (x[: cost_model.SELECTED_LINE - 1],)),
        (lambda x: jnp.sort(x)[:2], (x > 3,)),
    ):
        assert "places=(" not in text(function, *args)
