"""Lists among the entries of an index. Serves: face.ragged"""

from __future__ import annotations

from typing import Any

import numpy as np

from traceir import rules
from traceir.numpy.arrays.creation import array


def listed(part: Any) -> Any:
    """An entry among those of an index: a list is an array, of ints if it is empty.

    It is NumPy's while every element is known. Raises ValueError (face.ragged).

    >>> listed([0, 2]), listed(None)
    (array([0, 2]), None)
    """
    if not isinstance(part, (list, tuple)):
        return part
    try:
        found = np.asarray(part)
    except (rules.TraceirError, ValueError):  # traced elements, or unequal lengths
        return array(part)
    return found if found.size else found.astype(np.int32)
