"""Cases of slices whose bounds are values: functions of Python's, with calls of it."""

import numpy as np


def sum_of_a_slice(x, i, j):
    """Cites slice.length

    >>> sum_of_a_slice(np.array([1.0, 2.0, 4.0, 8.0]), 1, 3)
    6.0
    >>> sum_of_a_slice(np.array([1.0, 2.0, 4.0, 8.0]), -3, 9)
    14.0
    """
    return float(x[i:j].sum())


def sorted_slice(x, ends):
    """Cites slice.length

    >>> sorted_slice(np.array([4.0, 2.0, 1.0]), np.array([0, 2]))
    array([2., 4.])
    """
    return np.sort(x[ends[0] : ends[1]])


def turned_slice(x, ends):
    """Cites slice.length

    >>> turned_slice(np.array([4.0, 2.0, 1.0]), np.array([0, 2]))
    Traceback (most recent call last):
    slice.length: return np.roll(x[ends[0] : ends[1]], 1)
    """
    return np.roll(x[ends[0] : ends[1]], 1)


def slice_of_another_shape(x, ends):
    """Cites slice.lengths

    >>> slice_of_another_shape(np.array([4.0, 2.0, 1.0]), np.array([0, 2]))
    array([[8.],
           [4.]])
    >>> slice_of_another_shape(np.array([4.0, 2.0, 1.0]), np.array([0, 3]))
    Traceback (most recent call last):
    slice.lengths: return (x[ends[0] : ends[1]] * 2).reshape(2, 1)
    """
    return (x[ends[0] : ends[1]] * 2).reshape(2, 1)


def as_many_as_values_say(sizes):
    """Cites slice.negative, slice.length

    >>> as_many_as_values_say(np.array([3, 1]))
    (array([0, 1, 2]), array([1., 1.]), 3)
    >>> as_many_as_values_say(np.array([0, -1]))
    (array([], dtype=int64), array([], dtype=float64), 0)
    >>> as_many_as_values_say(np.array([2, -2]))
    Traceback (most recent call last):
    slice.negative: return np.arange(sizes[0]), np.ones(sizes[1] + 1), int(sizes[0])
    """
    return np.arange(sizes[0]), np.ones(sizes[1] + 1), int(sizes[0])


def counts_of_what_differs(x):
    """Cites slice.length

    >>> counts_of_what_differs(np.array([4, 1, 4, 4]))
    (array([1, 4]), array([0, 1, 0, 0, 3]), 2.5)
    """
    return np.unique(x[x > 0]), np.bincount(x), float(np.median(np.unique(x)))


def slices_that_are_combined(x, i, j):
    """Cites slice.lengths

    >>> slices_that_are_combined(np.array([1.0, 2.0, 4.0, 8.0]), 1, 3)
    24.0
    >>> slices_that_are_combined(np.array([1.0, 2.0, 4.0, 8.0]), 0, 3)
    Traceback (most recent call last):
    slice.lengths: return float((x[i:j] * x[2:4] - x[j - 1]).sum() - 8)
    """
    return float((x[i:j] * x[2:4] - x[j - 1]).sum() - 8)


def greatest_of_a_slice(x, i, j):
    """Cites slice.lengths

    >>> greatest_of_a_slice(np.array([1.0, 2.0, 4.0, 8.0]), 1, 3)
    4.0
    >>> greatest_of_a_slice(np.array([1.0, 2.0, 4.0, 8.0]), 3, 1)
    Traceback (most recent call last):
    slice.lengths: return float(x[i:j].max())
    """
    return float(x[i:j].max())


def slice_that_is_written(x, i, j):
    """Cites slice.lengths

    >>> slice_that_is_written(np.array([1.0, 2.0, 4.0, 8.0]), 2, 4)
    array([1., 2., 1., 2.])
    >>> slice_that_is_written(np.array([1.0, 2.0, 4.0, 8.0]), 1, 4)
    Traceback (most recent call last):
    slice.lengths: x[i:j] = x[:2]
    """
    x[i:j] = x[:2]
    return x


def slice_of_a_known_extent(x, i):
    """Cites slice.cut

    >>> slice_of_a_known_extent(np.array([4.0, 2.0, 1.0, 0.0]), 0)
    array([1., 2., 4.])
    >>> slice_of_a_known_extent(np.array([4.0, 2.0, 1.0, 0.0]), 2)
    Traceback (most recent call last):
    slice.cut: return np.sort(x[i : i + 3])
    """
    return np.sort(x[i : i + 3])


def step_that_is_a_value(x, steps):
    """Cites slice.step

    >>> step_that_is_a_value(np.array([4.0, 2.0, 1.0, 0.0]), np.array([2]))
    5.0
    >>> step_that_is_a_value(np.array([4.0, 2.0, 1.0, 0.0]), np.array([-2]))
    Traceback (most recent call last):
    slice.step: return float(x[:: steps[0]].sum())
    """
    return float(x[:: steps[0]].sum())


def step_of_nothing(x, k):
    """Cites slice.step

    >>> step_of_nothing(np.array([4.0, 2.0, 1.0, 0.0]), 2)
    Traceback (most recent call last):
    slice.step: return float(x[k::0].sum())
    """
    return float(x[k::0].sum())


def keys_that_are_values(x):
    """Cites staged.table

    >>> keys_that_are_values(np.array([4, 1, 4, 4]))
    (3, 1, 2, array([4, 1]))
    """
    counts, seen, order = {}, set(), []
    for value in x:
        counts[value] = counts.get(value, 0) + 1
        if value not in seen:
            seen.add(value)
            order.append(value)
    most = max(counts.values())
    return int(most), int(counts[1]), len(seen), np.array(order)


def values_that_are_arrays(x):
    """Cites staged.table

    >>> values_that_are_arrays(np.array([4, 1, 4, 4]))
    Traceback (most recent call last):
    staged.table: kept[value] = x[:2]
    """
    kept = {}
    for value in x:
        kept[value] = x[:2]
    return len(kept)
