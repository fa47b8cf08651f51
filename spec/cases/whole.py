"""Cases of plain functions of whole arrays, as in `staged.py`."""

import numpy as np


def a_selection_added_up(x):
    """Cites face.reach

    >>> a_selection_added_up(np.arange(4.0))
    np.float64(5.0)
    >>> a_selection_added_up(np.arange(12).reshape(3, 4))
    np.int64(65)
    """
    return x[x > 1].sum()


def a_selection_counted(x):
    """Cites face.reach

    >>> a_selection_counted(np.arange(4.0))
    2
    >>> a_selection_counted(np.zeros(3))
    0
    """
    return len(x[x > 1])


def a_selection_returned(x):
    """Cites face.reach

    >>> a_selection_returned(np.arange(4.0))
    array([2., 3.])
    >>> a_selection_returned(np.arange(12).reshape(3, 4))
    array([ 2,  3,  4,  5,  6,  7,  8,  9, 10, 11])
    """
    return x[x > 1]


def places_of_a_selection(x):
    """Cites face.reach

    >>> places_of_a_selection(np.arange(4.0))
    (array([2, 3]),)
    """
    return np.nonzero(x > 1)


def integers_divided(x, y):
    """Cites face.ufunc

    >>> integers_divided(np.array([7, -7]), np.array([2, 2]))
    (array([ 3, -4]), array([1, 1]), array([ 3.5, -3.5]))
    >>> integers_divided(np.array([7.0, -7.0]), np.array([2.0, -2.0]))
    (array([3., 3.]), array([ 1., -1.]), array([3.5, 3.5]))
    """
    return x // y, x % y, x / y


def integers_wrap(x):
    """Cites face.ufunc

    >>> integers_wrap(np.array([100, -128], dtype=np.int8))
    (array([-56,   0], dtype=int8), array([16,  0], dtype=int8))
    >>> integers_wrap(np.array([200], dtype=np.uint8))
    (array([144], dtype=uint8), array([64], dtype=uint8))
    """
    return x + x, x * x


def numbers_keep_a_narrow_dtype(x):
    """Cites face.ufunc

    >>> numbers_keep_a_narrow_dtype(np.arange(3, dtype=np.float32))
    (array([1., 2., 3.], dtype=float32), array([0., 2., 4.], dtype=float32))
    >>> numbers_keep_a_narrow_dtype(np.arange(3, dtype=np.int16))
    (array([1, 2, 3], dtype=int16), array([0., 2., 4.]))
    """
    return x + 1, x * 2.0


def dtypes_that_meet(x, y):
    """Cites face.ufunc

    >>> dtypes_that_meet(np.arange(3, dtype=np.int32), np.arange(3, dtype=np.float32))
    array([0., 2., 4.])
    >>> dtypes_that_meet(np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.int8))
    array([0, 2, 4], dtype=int16)
    """
    return x + y


def sums_are_wide(x):
    """Cites face.reach

    >>> sums_are_wide(np.array([100, 100], dtype=np.int8))
    (np.int64(200), np.int64(10000), np.float64(100.0))
    >>> sums_are_wide(np.array([1, 2], dtype=np.float32))
    (np.float32(3.0), np.float32(2.0), np.float32(1.5))
    """
    return x.sum(), x.prod(), x.mean()


def along_an_axis(x):
    """Cites face.reach

    >>> along_an_axis(np.arange(12).reshape(3, 4))
    (array([12, 15, 18, 21]), array([ 3,  7, 11]), array([0, 0, 0]))
    >>> along_an_axis(np.array([[3.0, 1.0], [1.0, 3.0]]))
    (array([4., 4.]), array([3., 3.]), array([1, 0]))
    """
    return x.sum(0), x.max(1), np.argmin(x, axis=1)


def shapes_as_numbers(x):
    """Cites face.reach

    >>> shapes_as_numbers(np.arange(12).reshape(3, 4))
    (12, 2, 12)
    """
    n, m = x.shape
    return n * m, x.ndim, x.size


def stacked(x, y):
    """Cites face.reach

    >>> stacked(np.arange(4.0), np.arange(4.0))
    (array([[0., 1., 2., 3.],
           [0., 1., 2., 3.]]), array([0., 1., 2., 3., 0., 1., 2., 3.]))
    """
    return np.stack([x, y]), np.concatenate((x, y))


def repeated(x):
    """Cites face.reach

    >>> repeated(np.arange(3))
    (array([0, 0, 1, 1, 2, 2]), array([0, 1, 2, 0, 1, 2]))
    """
    return np.repeat(x, 2), np.tile(x, 2)


def sorted_and_ranked(x):
    """Cites face.reach

    >>> sorted_and_ranked(np.array([3, 1, 2, 1]))
    (array([1, 1, 2, 3]), array([1, 3, 2, 0]))
    """
    return np.sort(x), np.argsort(x, kind="stable")


def cut_to_a_range(x):
    """Cites face.reach

    >>> cut_to_a_range(np.arange(4.0))
    (array([1., 1., 2., 2.]), array([-0., -1.,  2.,  3.]))
    >>> cut_to_a_range(np.arange(12).reshape(3, 4))
    (array([[1, 1, 2, 2],
           [2, 2, 2, 2],
           [2, 2, 2, 2]]), array([[ 0, -1,  2,  3],
           [ 4,  5,  6,  7],
           [ 8,  9, 10, 11]]))
    """
    return np.clip(x, 1, 2), np.where(x > 1, x, -x)


def accumulated(x):
    """Cites face.reach

    >>> accumulated(np.arange(1, 5))
    (array([ 1,  3,  6, 10]), array([ 1,  2,  6, 24]), array([1, 1, 1]))
    >>> accumulated(np.arange(4.0))
    (array([0., 1., 3., 6.]), array([0., 0., 0., 0.]), array([1., 1., 1.]))
    """
    return np.cumsum(x), np.cumprod(x), np.diff(x)


def products_of_matrices(x):
    """Cites face.reach

    >>> products_of_matrices(np.arange(12).reshape(3, 4))
    (array([[ 14,  38,  62],
           [ 38, 126, 214],
           [ 62, 214, 366]]), array([[ 80,  92, 104, 116],
           [ 92, 107, 122, 137],
           [104, 122, 140, 158],
           [116, 137, 158, 179]]))
    """
    return x @ x.T, x.T.dot(x)


def truths(x):
    """Cites face.ufunc

    >>> truths(np.arange(4.0))
    (np.True_, np.True_, array([ True,  True, False, False]))
    >>> truths(np.arange(12).reshape(3, 4))
    (np.True_, np.True_, array([[ True,  True, False, False],
           [False, False, False, False],
           [False, False, False, False]]))
    """
    return (x > 1).any(), (x >= 0).all(), ~(x > 1)


def nothing_at_all(x):
    """Cites face.reach

    >>> nothing_at_all(np.zeros(0))
    (np.float64(0.0), np.float64(1.0), 0, array([], dtype=float64))
    >>> nothing_at_all(np.zeros(0, dtype=np.int8))
    (np.int64(0), np.int64(1), 0, array([], dtype=int8))
    """
    return x.sum(), x.prod(), x.size, x[1:]


def numbers_that_are_none(x):
    """Cites face.ufunc

    >>> numbers_that_are_none(np.array([1.0, np.nan, np.inf]))
    (array([False,  True, False]), np.float64(inf), array([ True, False, False]))
    """
    return np.isnan(x), np.nansum(x), np.isfinite(x)


def parts_of_complex_numbers(x):
    """Cites face.ufunc

    >>> parts_of_complex_numbers(np.array([3 + 4j, -1j]))
    (array([ 3., -0.]), array([ 4., -1.]), array([5., 1.]), array([ 3.-4.j, -0.+1.j]))
    """
    return x.real, x.imag, abs(x), x.conj()


def python_numbers_beside_arrays(x, n):
    """Cites face.ufunc

    >>> python_numbers_beside_arrays(np.arange(3.0), 5)
    (np.float64(5.0), 10, 1.25, 1)
    >>> python_numbers_beside_arrays(np.arange(3), 2.5)
    (np.float64(2.5), 5.0, 0.625, 0.5)
    """
    return x[0] + n, n * 2, n / 4, -n % 3


def a_name_that_is_a_function(x):
    """Cites face.ufunc

    >>> a_name_that_is_a_function(np.arange(4.0))
    array([0., 1., 1., 1.])
    >>> a_name_that_is_a_function(np.arange(12).reshape(3, 4))
    array([[ 1,  1,  2,  3],
           [ 4,  5,  6,  7],
           [ 8,  9, 10, 11]])
    """
    pick = np.minimum if x.ndim == 1 else np.maximum
    return pick(x, 1)
