"""Cases of Numba's decorators: functions that get an implementation's own of these.

They are called as they are, `numba` being what stands in place of Numba.
"""

import numpy as np


def usual_options(numba):
    """Cites compat.option

    >>> usual_options(numba)
    10.0
    """

    @numba.njit(nopython=True, cache=True, nogil=True)
    def total(x):
        found = 0.0
        for k in numba.prange(len(x)):
            found += x[k]
        return found

    return float(total(np.arange(5.0)))


def option_of_another_compiler(numba):
    """Cites compat.option

    >>> option_of_another_compiler(numba)
    Traceback (most recent call last):
    compat.option: @numba.njit(forceobj=True)
    """

    @numba.njit(forceobj=True)
    def same(x):
        return x

    return same(1.0)


def option_that_is_unknown(numba):
    """Cites compat.option

    >>> option_that_is_unknown(numba)
    Traceback (most recent call last):
    compat.option: return numba.njit(nopyton=True)(len)
    """
    return numba.njit(nopyton=True)(len)


def class_of_numbas(numba):
    """Cites compat.missing

    >>> class_of_numbas(numba)
    Traceback (most recent call last):
    compat.missing: return numba.jitclass([("x", numba.int64)])
    """
    return numba.jitclass([("x", numba.int64)])


def list_of_numbas(numba):
    """Cites compat.missing

    >>> list_of_numbas(numba)
    Traceback (most recent call last):
    compat.missing: return numba.typed.List()
    """
    return numba.typed.List()


def signature_as_text(numba):
    """Cites compat.signature

    >>> signature_as_text(numba)
    8.0
    """

    @numba.njit("float64(float64)")
    def cube(x):
        return x * x * x

    return float(cube(2))


def signature_that_is_none(numba):
    """Cites compat.signature

    >>> signature_that_is_none(numba)
    Traceback (most recent call last):
    compat.signature: return numba.njit("nonsense(f8)")
    """
    return numba.njit("nonsense(f8)")


def arguments_of_another_type(numba):
    """Cites compat.signature

    >>> arguments_of_another_type(numba)
    Traceback (most recent call last):
    compat.signature: return cube(np.zeros(2))
    """

    @numba.njit("float64(float64)")
    def cube(x):
        return x * x * x

    return cube(np.zeros(2))
