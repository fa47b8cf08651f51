"""The dtype of tangents that carry nothing. Serves: derive.float0"""

from typing import Any

import numpy as np

# The tangent of an integer or a boolean: it has a shape, and elements without bytes.
float0 = np.dtype([("float0", np.void, 0)])


def is_float0(value: Any) -> bool:
    """Whether a value is such a tangent.

    >>> is_float0(np.zeros(3, float0)), is_float0(np.zeros(3))
    (True, False)
    """
    return isinstance(value, np.ndarray) and value.dtype == float0
