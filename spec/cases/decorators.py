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


def type_that_is_said_later(numba):
    """Cites compat.missing

    >>> type_that_is_said_later(numba)
    Traceback (most recent call last):
    compat.missing: return numba.deferred_type()
    """
    return numba.deferred_type()


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


def independent_turns(numba):
    """Cites staged.turns, staged.turns.fold

    >>> independent_turns(numba)
    ([5.0, 25.0, 25.25], 3, 25.25)
    """

    @numba.njit(parallel=True)
    def norms(rows):
        out = np.empty(len(rows))
        many, most = 0, 0.0
        for i in numba.prange(len(rows)):
            total = 0.0
            for value in rows[i]:
                total += value * value
            out[i] = total
            many += 1
            most = max(most, total)
        return out, many, most

    out, many, most = norms(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.5]]))
    return out.tolist(), int(many), float(most)


def turns_that_meet(numba):
    """Cites staged.turns.ordered

    >>> turns_that_meet(numba)
    ([1, 1, 4], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    """

    @numba.njit(parallel=True)
    def meet(x):
        found = np.zeros(3, np.int64)
        steps = np.ones(len(x))
        for i in numba.prange(len(x)):
            found[x[i]] += 1
            if i > 0:
                steps[i] = steps[i - 1] + 1
        return found, steps

    found, steps = meet(np.array([2, 0, 2, 1, 2, 2]))
    return found.tolist(), steps.tolist()


def turns_that_fail(numba):
    """Cites staged.turns.ordered

    >>> turns_that_fail(numba)
    Traceback (most recent call last):
    ValueError: raise ValueError(i, x[i])
    """

    @numba.njit(parallel=True)
    def total(x):
        found = 0.0
        for i in numba.prange(len(x)):
            if x[i] < 0:
                raise ValueError(i, x[i])
            found += x[i]
        return found

    return float(total(np.array([1.0, -2.0, 3.0, -4.0])))
