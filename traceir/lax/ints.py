"""Python ints that are to be of a dtype. Serves: jit.overflow"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.lax.operands import default_dtype, fitting, typed


def held(value: Any, dtype: np.dtype) -> Any:
    """A Python int that is beyond the default integer dtype in one that holds it.

    One of NumPy's wraps. Other values stay as they are. Raises OverflowError
    (jit.overflow).

    >>> held(2**31, np.dtype("uint32")), held(-1, np.dtype("uint32"))
    (np.uint32(2147483648), -1)
    """
    if isinstance(value, np.integer):
        return typed(value, dtype, False)
    if type(value) is not int:
        return value
    limits = np.iinfo(default_dtype(int))
    if limits.min <= value <= limits.max:
        return value
    return typed(fitting(value, dtype), dtype, False)
