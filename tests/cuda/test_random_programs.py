"""Random programs give one answer on a device and in the reference.

Cites: accuracy.one-answer
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from traceir.conform.programs import arguments, programs
from traceir.evaluate import eval_jaxpr
from traceir_numba.cuda import backend

# The simulator takes its time, and each program has kernels of its own.
FEW = max(8, settings.default.max_examples // 4)


@settings(max_examples=FEW)
@given(st.data())
def test_programs_agree_with_the_evaluator(data: st.DataObject) -> None:
    closed = data.draw(programs(12, grid=True, wide=True))
    args = data.draw(arguments(closed))
    got = backend.compile(closed, "program").run(*args)
    want = eval_jaxpr(closed, closed.consts, *args)
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        np.testing.assert_array_equal(g, w)
