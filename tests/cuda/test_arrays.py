"""Arrays that stay on a device, and what is said where there is none.

Cites: backend.device, update.refused, jit.backend
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir_numba.cuda import DeviceArray, device_put, devices
from traceir_numba.cuda.runtime import device


@traceir_numba.jit(target="cuda")
def both(x: Any, scale: Any = 2.0) -> Any:
    """Two results, in a tree."""
    return {"scaled": x * scale, "sum": x.sum()}


def test_results_are_on_the_device_and_are_taken_from_there() -> None:
    first = both(np.arange(6.0).reshape(2, 3))
    assert isinstance(first["scaled"], DeviceArray)
    second = both(first["scaled"], first["sum"])
    np.testing.assert_array_equal(second["scaled"], np.arange(6.0).reshape(2, 3) * 30)
    assert float(np.asarray(second["sum"])) == 30


def test_a_call_with_what_is_on_the_device_copies_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = device_put(np.arange(4.0))
    both(x, x)

    def refuse(*_: object) -> None:
        raise AssertionError("a copy")

    monkeypatch.setattr(device, "upload", refuse)
    monkeypatch.setattr(device, "download", refuse)
    assert both(x, x)["scaled"].shape == (4,)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
def test_what_is_put_comes_back(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    there = device_put({"a": array})["a"]
    back = np.asarray(there)
    assert (back.dtype, there.shape, there.ndim) == (array.dtype, (2, 3), 2)
    assert (there.size, there.nbytes, len(there)) == (6, array.nbytes, 2)
    assert back.tobytes() == array.tobytes()
    assert there.block_until_ready() is there
    assert repr(there).startswith("DeviceArray([[")


def test_devices_have_names() -> None:
    first, *_ = devices()
    assert (first.platform, str(first)) == ("cuda", "cuda:0")


def test_an_array_without_dimensions_has_no_length() -> None:
    with pytest.raises(TypeError):
        len(device_put(1.0))
    with raises_rule("array.copy", ValueError):
        np.array(device_put(1.0), copy=False)


def test_arguments_are_not_updated() -> None:
    @traceir_numba.jit(target="cuda")
    def update(x: Any) -> Any:
        x[0] = 1
        return x

    with raises_rule("update.refused"):
        update(np.zeros(2))


def test_there_are_two_targets() -> None:
    with raises_rule("jit.backend"):
        traceir_numba.jit(both, target="tpu")


WITHOUT = """
import traceir, numpy
try:
    traceir.jit(lambda x: x, backend="cuda")(numpy.ones(2))
except RuntimeError as error:
    print(error.rule)
"""


def test_the_module_that_compiles_can_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device.dialect.cache_clear()
    monkeypatch.setenv(device.CHOSEN, "math")
    with raises_rule(
        "backend.device", RuntimeError, "math has no simulator", inside=True
    ):
        device.dialect()
    monkeypatch.undo()
    assert device.dialect().__name__ in device.MODULES


def test_without_a_device_the_error_says_what_is_missing() -> None:
    settings = {"NUMBA_ENABLE_CUDASIM": "0", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
    )
    assert done.stdout == "backend.device\n", done.stderr
