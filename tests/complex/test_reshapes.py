"""Complex numbers in other shapes. Cites: reshape"""

from __future__ import annotations

import numpy as np
import pytest

import traceir


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_all_elements_have_their_places(dtype: str) -> None:
    a = (np.arange(8) * (1 + 2j)).astype(dtype).reshape(2, 4)
    with traceir.enable_x64(True):
        for shape in ((2, 1, 4), (8,), (4, 2)):
            found = traceir.jit(lambda x, shape=shape: x.reshape(shape))(a)
            np.testing.assert_array_equal(found, a.reshape(shape))
            again = traceir.jit(lambda x, s=shape: x.reshape(s).reshape(1, 8) * 2)(a)
            np.testing.assert_array_equal(again, a.reshape(1, 8) * 2)
