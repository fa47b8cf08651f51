"""Cases of what plain functions refuse of arrays, as in `staged.py`."""

import numpy as np


def bits_of_numbers(x):
    """Cites face.loop

    >>> bits_of_numbers(np.arange(4.0))
    Traceback (most recent call last):
    face.loop: return x & 1
    """
    return x & 1


def truth_values_taken_apart(x):
    """Cites face.loop

    >>> truth_values_taken_apart(np.arange(4.0))
    Traceback (most recent call last):
    face.loop: return (x > 1) - (x < 2)
    """
    return (x > 1) - (x < 2)


def negative_power_of_integers(x):
    """Cites face.power

    >>> negative_power_of_integers(np.arange(12).reshape(3, 4))
    Traceback (most recent call last):
    face.power: return x**-1
    """
    return x**-1


def function_without_a_program(x):
    """Cites face.function

    >>> function_without_a_program(np.arange(4.0))
    Traceback (most recent call last):
    face.function: return np.real_if_close(x * 1j)
    """
    return np.real_if_close(x * 1j)


def argument_without_a_meaning(x):
    """Cites face.meaning

    >>> argument_without_a_meaning(np.arange(4.0))
    Traceback (most recent call last):
    face.meaning: return x.sum(nothing=1)
    """
    return x.sum(nothing=1)


def another_reading_of_bits(x):
    """Cites face.meaning

    >>> another_reading_of_bits(np.arange(4.0))
    Traceback (most recent call last):
    face.meaning: return x.view(np.int64)
    """
    return x.view(np.int64)


def result_into_a_narrower_array(x):
    """Cites face.cast

    >>> result_into_a_narrower_array(np.arange(12).reshape(3, 4))
    Traceback (most recent call last):
    face.cast: return np.add(x, 0.5, out=x)
    """
    return np.add(x, 0.5, out=x)


def conversion_that_is_not_safe(x):
    """Cites face.cast

    >>> conversion_that_is_not_safe(np.arange(4.0))
    Traceback (most recent call last):
    face.cast: return x.astype("i4", casting="safe")
    """
    return x.astype("i4", casting="safe")


def reshaped_to_other_sizes(x):
    """Cites face.size

    >>> reshaped_to_other_sizes(np.arange(4.0))
    Traceback (most recent call last):
    face.size: return x.reshape(3, 2)
    """
    return x.reshape(3, 2)


def first_of_several(x):
    """Cites face.item

    >>> first_of_several(np.arange(2.0))
    Traceback (most recent call last):
    face.item: return x.item()
    """
    return x.item()


def average_by_weights(x, weights):
    """Cites face.weights

    >>> average_by_weights(np.arange(2.0), np.array([1.0, 3.0]))
    np.float64(0.75)
    >>> average_by_weights(np.arange(2.0), np.array([1.0, -1.0]))
    Traceback (most recent call last):
    face.weights: return np.average(x, weights=weights)
    """
    return np.average(x, weights=weights)


def rounded_into_an_output(x):
    """Cites face.meaning

    >>> rounded_into_an_output(np.array([1.4, 2.5, -3.6]))
    array([ 1.,  2., -4.])
    """
    y = np.zeros(3)
    np.round(x, 0, y)
    return y


def reshaped_without_a_copy(x):
    """Cites face.size

    >>> reshaped_without_a_copy(np.arange(12).reshape(3, 4))
    Traceback (most recent call last):
    face.size: return np.reshape(x.T, (-1,), copy=False)
    """
    return np.reshape(x.T, (-1,), copy=False)


def two_selections_added(x):
    """Cites face.selection

    >>> two_selections_added(np.arange(4.0))
    Traceback (most recent call last):
    face.selection: return x[x > 1] + x[x > 2]
    """
    return x[x > 1] + x[x > 2]


def a_selection_as_a_list(x):
    """Cites index.mask

    >>> a_selection_as_a_list(np.arange(4.0))
    Traceback (most recent call last):
    index.mask: return list(x[x > 1])
    """
    return list(x[x > 1])


def a_selection_turned(x):
    """Cites index.mask

    >>> a_selection_turned(np.arange(4.0))
    Traceback (most recent call last):
    index.mask: return np.roll(x[x > 1], 1)
    """
    return np.roll(x[x > 1], 1)


def beyond_the_end(x):
    """Cites index.bounds

    >>> beyond_the_end(np.arange(4.0))
    Traceback (most recent call last):
    index.bounds: return x[7]
    """
    return x[7]


def more_indices_than_dimensions(x):
    """Cites index.bounds

    >>> more_indices_than_dimensions(np.arange(12).reshape(3, 4))
    Traceback (most recent call last):
    index.bounds: return x[:, :, 0]
    """
    return x[:, :, 0]


def unrolled_too_often(x):
    """Cites face.unrolled

    >>> unrolled_too_often(np.zeros(20_000))
    Traceback (most recent call last):
    face.unrolled: total = total + x[k] * 2
    """
    total = 0.0
    for k in list(range(len(x))):
        total = total + x[k] * 2
    return total


def strides_between_elements(x):
    """Cites face.strides

    >>> strides_between_elements(np.arange(4.0))
    Traceback (most recent call last):
    face.strides: return np.lib.stride_tricks.as_strided(x, (9,), (16,))
    """
    return np.lib.stride_tricks.as_strided(x, (9,), (16,))
