"""Results made independent of operands, without warnings. Serves: eval.*"""

from __future__ import annotations

import contextvars
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

# A context in which NumPy's floating-point warnings are off. Entering a copy of it
# costs 0.2 us, `np.errstate` 1.2 us, and an eager operation is not much longer.
QUIET = contextvars.Context()
QUIET.run(np.seterr, all="ignore")
# A new context in which functions run: one cannot be entered twice.
quiet = QUIET.copy


def run_kernel(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """The one result of a kernel, as `evaluate_eqn` has it.

    >>> run_kernel(np.negative, np.arange(2))
    array([ 0, -1])
    """
    result = quiet().run(function, *arrays)
    if type(result) is np.ndarray and result.base is None:
        for array in arrays:
            if result is array:
                return np.array(result, order="C")
        return result
    return fresh(result, arrays)


def fresh(result: Any, arrays: Iterable[np.ndarray]) -> np.ndarray:
    """The result as a writable contiguous array sharing no memory with `arrays`."""
    if type(result) is not np.ndarray:
        return np.asarray(result)
    base = result.base
    if base is None:
        whole = not any(result is a for a in arrays)
    else:
        # The base of a view is the array that owns the memory.
        whole = not any(base is a or base is a.base for a in arrays)
    if whole and result.flags.c_contiguous and result.flags.writeable:
        return result
    return np.array(result, order="C")


def separate(results: Sequence[Any], given: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Results that share memory neither with `given` nor with one another.

    Of several views of one array all but the last are copied; by identity, so that
    many results cost no more each than few.
    """
    taken = {id(a) for a in given}
    lent = taken | {id(a.base) for a in given if a.base is not None}
    same = Counter(map(id, results))
    viewed = Counter(id(owner(r)) for r in results)
    found = []
    for result in results:
        memory = id(owner(result))
        if memory == id(result):
            copied = memory in taken or same[memory] > 1
        else:
            copied = memory in lent or viewed[memory] > 1
        if copied:
            same[id(result)] -= 1
            viewed[memory] -= 1
        found.append(np.array(result, order="C") if copied else fresh(result, ()))
    return found


def owner(array: Any) -> Any:
    """The array that owns the memory of a view."""
    base = getattr(array, "base", None)
    return array if base is None else base
