"""Python ints, checked to fit a dtype. Serves: jit.overflow"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir.lax.checks.operands import default_dtype, fitting, typed

# What is cut off are upper bits of a number that 64 bits hold.
LEAST, GREATEST = -(2**63), 2**64 - 1


def held(value: Any, dtype: np.dtype, cut: bool = False) -> Any:
    """A Python int that is beyond the default integer dtype in one that holds it.

    With `cut` its upper bits may be cut off, as those of NumPy's ints are. Other
    values stay as they are. Raises OverflowError (jit.overflow).

    >>> held(2**31, np.dtype("uint32")), held(-1, np.dtype("uint32"))
    (np.uint32(2147483648), -1)
    >>> held(2**32 + 1, np.dtype("uint32"), cut=True)
    np.uint32(1)
    """
    if isinstance(value, np.integer):
        return typed(value, dtype, False)
    if type(value) is not int:
        return value
    limits = np.iinfo(default_dtype(int))
    if limits.min <= value <= limits.max:
        return value
    if not (cut and LEAST <= value <= GREATEST):
        fitting(value, dtype)
    return typed(value, dtype, False)
