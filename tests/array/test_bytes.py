"""Memory as arrays, their types and devices tell of memory, as programs for JAX ask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp


def test_arrays_tell_their_bytes() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    assert x.tobytes() == np.asarray(x).tobytes()
    assert x.T.tobytes("F") == x.tobytes() != x.T.tobytes()
    assert x.on_device_size_in_bytes() == x.nbytes == 24
    assert x.unsafe_buffer_pointer() == np.asarray(x).ctypes.data

    def f(x: Any) -> Any:
        return x.tobytes()

    with pytest.raises(TypeError):
        traceir.jit(f)(x)


def test_a_device_counts_no_memory() -> None:
    assert traceir.devices()[0].memory_stats() is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.ones((2, 3), np.float32), "float32[2,3]"),
        (1.5, "~float32[]"),
        (True, "bool[]"),
        (jnp.ones(2, jnp.bfloat16), "bfloat16[2]"),
        (traceir.random.key(0), "key<fry>[]"),
    ],
)
def test_types_have_a_short_text(value: Any, text: str) -> None:
    assert str(traceir.typeof(value)) == f"{traceir.typeof(value)}" == text
    assert repr(traceir.typeof(value)).startswith("ShapedArray(")
