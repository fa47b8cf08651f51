"""Cases of plain functions that write into arrays, as in `staged.py`."""

import numpy as np


def beyond_the_end(x):
    """Cites index.bounds

    >>> beyond_the_end(np.arange(4.0))
    Traceback (most recent call last):
    index.bounds: x[4] = 1
    """
    x[4] = 1
    return x


def of_another_shape(x):
    """Cites update.shape

    >>> of_another_shape(np.arange(4.0))
    Traceback (most recent call last):
    update.shape: x[...] = np.ones(3)
    """
    x[...] = np.ones(3)
    return x


def into_a_part_that_is_too_small(x):
    """Cites update.shape

    >>> into_a_part_that_is_too_small(np.arange(4.0))
    Traceback (most recent call last):
    update.shape: return np.add(x, 1, out=x[:2])
    """
    return np.add(x, 1, out=x[:2])


def of_a_number(x):
    """Cites update.scalar

    >>> of_a_number(np.arange(4.0))
    Traceback (most recent call last):
    update.scalar: total[...] = 1
    """
    total = np.sum(x)
    total[...] = 1
    return total


def by_a_selection(x):
    """Cites face.selection

    >>> by_a_selection(np.arange(4.0))
    Traceback (most recent call last):
    face.selection: x[x > 1] = x[x > 2]
    """
    x[x > 1] = x[x > 2]
    return x


def of_a_diagonal(x):
    """Cites update.readonly

    >>> of_a_diagonal(np.arange(12).reshape(3, 4))
    Traceback (most recent call last):
    update.readonly: part[0] = 1
    """
    part = np.diagonal(x)
    part[0] = 1
    return part


def of_parts_that_are_not_there(x):
    """Cites update.readonly

    >>> of_parts_that_are_not_there(np.arange(4.0))
    Traceback (most recent call last):
    update.readonly: part[0] = 1
    """
    part = x.imag
    part[0] = 1
    return part


def by_too_few_values(x):
    """Cites update.mask

    >>> by_too_few_values(np.arange(4.0))
    Traceback (most recent call last):
    update.mask: np.place(x, x > 1, [7, 8])
    """
    np.place(x, x > 1, [7, 8])
    return x


def of_two_names_for_one_memory(x, y):
    """Cites face.box

    >>> of_two_names_for_one_memory(np.arange(4.0), np.arange(4.0)[::-1])
    array([2., 1., 2., 3.])
    """
    x[0] = y[1]
    return x


def of_what_shares_elements(x):
    """Cites update.shared

    >>> of_what_shares_elements(np.arange(4.0))
    Traceback (most recent call last):
    update.shared: found[found > 1] = 1
    """
    found = np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
    found[found > 1] = 1
    return found


def through_a_view(x):
    """Cites face.view

    >>> through_a_view(np.arange(4.0))
    (array([0., 2., 4., 3.]), array([2., 4.]))
    >>> through_a_view(np.arange(4))
    (array([0, 2, 4, 3]), array([2, 4]))
    """
    part = x[1:3]
    part *= 2
    return x, part


def through_a_view_of_a_view(x):
    """Cites face.view

    >>> through_a_view_of_a_view(np.arange(12).reshape(3, 4))
    array([[ 0,  2,  2,  3],
           [ 4,  6,  6,  7],
           [ 8, 10, 10, 11]])
    >>> through_a_view_of_a_view(np.zeros((2, 2)))
    array([[0., 1.],
           [0., 1.]])
    """
    x.T[1:][0] += 1
    return x


def backwards_through_itself(x):
    """Cites face.view

    >>> backwards_through_itself(np.arange(4.0))
    array([0., 0., 1., 2.])
    >>> backwards_through_itself(np.arange(5))
    array([0, 0, 1, 2, 3])
    """
    x[1:] = x[:-1]
    return x


def by_a_mask(x):
    """Cites face.box

    >>> by_a_mask(np.arange(4.0))
    array([ 0.,  1., -1., -1.])
    >>> by_a_mask(np.arange(12).reshape(3, 4))
    array([[ 0,  1, -1, -1],
           [-1, -1, -1, -1],
           [-1, -1, -1, -1]])
    """
    x[x > 1] = -1
    return x


def by_a_mask_and_a_sum(x):
    """Cites face.box

    >>> by_a_mask_and_a_sum(np.arange(4.0))
    array([ 0.,  1., 12., 13.])
    >>> by_a_mask_and_a_sum(np.arange(6, dtype=np.int8))
    array([ 0,  1, 12, 13, 14, 15], dtype=int8)
    """
    x[x > 1] += 10
    return x


def by_places(x, k):
    """Cites face.box

    >>> by_places(np.arange(4.0), np.array([1, 3]))
    array([0., 9., 2., 9.])
    >>> by_places(np.arange(4), np.array([-1]))
    array([0, 1, 2, 9])
    """
    x[k] = 9
    return x


def by_places_twice(x, k):
    """Cites face.box

    >>> by_places_twice(np.zeros(4), np.array([1, 1, 3]))
    array([0., 2., 0., 1.])
    """
    np.add.at(x, k, 1)
    return x


def of_rows_exchanged(x):
    """Cites face.view

    >>> of_rows_exchanged(np.arange(12).reshape(3, 4))
    array([[ 4,  5,  6,  7],
           [ 0,  1,  2,  3],
           [ 8,  9, 10, 11]])
    """
    x[[0, 1]] = x[[1, 0]]
    return x


def of_a_column(x):
    """Cites face.view

    >>> of_a_column(np.arange(12).reshape(3, 4))
    array([[ 0,  0,  2,  3],
           [ 4,  8,  6,  7],
           [ 8, 16, 10, 11]])
    """
    x[:, 1] = x[:, 0] * 2
    return x


def in_an_out(x):
    """Cites face.box

    >>> in_an_out(np.arange(4.0))
    array([0., 2., 4., 6.])
    >>> in_an_out(np.arange(12).reshape(3, 4))
    array([[ 0,  2,  4,  6],
           [ 8, 10, 12, 14],
           [16, 18, 20, 22]])
    """
    np.multiply(x, 2, out=x)
    return x


def filled(x):
    """Cites face.box

    >>> filled(np.arange(4.0))
    array([3., 3., 3., 3.])
    >>> filled(np.arange(12).reshape(3, 4))
    array([[3, 3, 3, 3],
           [3, 3, 3, 3],
           [3, 3, 3, 3]])
    """
    x.fill(3)
    return x


def sorted_in_place(x):
    """Cites face.box

    >>> sorted_in_place(np.array([3.0, 1.0, 2.0]))
    array([1., 2., 3.])
    >>> sorted_in_place(np.array([[3, 1], [2, 0]]))
    array([[1, 3],
           [0, 2]])
    """
    x.sort()
    return x


def of_a_flat_view(x):
    """Cites face.view

    >>> of_a_flat_view(np.arange(12).reshape(3, 4))
    array([[ 0,  7,  2,  3],
           [ 4,  5,  6,  7],
           [ 8,  9, 10, 11]])
    >>> of_a_flat_view(np.zeros((2, 2)))
    array([[0., 7.],
           [0., 0.]])
    """
    flat = x.reshape(-1)
    flat[1] = 7
    return x


def narrowed(x):
    """Cites face.box

    >>> narrowed(np.arange(3))
    array([2, 1, 2])
    >>> narrowed(np.arange(3, dtype=np.float32))
    array([2.75, 1.  , 2.  ], dtype=float32)
    """
    x[0] = 2.75
    return x
