"""Cases of plain functions that reach what is not theirs, as in `staged.py`."""

import time

import numpy as np

from traceir import lax

TABLE = np.zeros(3)
COUNTS = {"n": 0}


def what_another_call_hears_otherwise(x):
    """Cites face.external

    >>> what_another_call_hears_otherwise(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    face.external: return x + time.time()
    """
    return x + time.time()


def bytes_of_the_generator(x):
    """Cites face.random

    >>> bytes_of_the_generator(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    face.random: return x + len(np.random.bytes(2))
    """
    return x + len(np.random.bytes(2))


def a_count_of_calls(x):
    """Cites update.external

    >>> a_count_of_calls(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    update.external: COUNTS["n"] += 1
    """
    COUNTS["n"] += 1
    return x


def into_an_array_outside(x):
    """Cites face.out

    >>> into_an_array_outside(np.array([1.0, 2.0, 3.0]))
    Traceback (most recent call last):
    face.out: return np.add(x, 1, out=TABLE)
    """
    return np.add(x, 1, out=TABLE)


def from_an_inner_function(x):
    """Cites update.outer

    >>> from_an_inner_function(np.array([1.0, 2.0, 3.0]))
    Traceback (most recent call last):
    update.outer: x[0] = carry
    """

    def body(k, carry):
        x[0] = carry
        return carry

    return lax.fori_loop(0, 3, body, 1.0)


def order_of_the_memory(x):
    """Cites update.layout

    >>> order_of_the_memory(np.arange(4.0).reshape(2, 2))
    array([0., 1., 2., 3.])
    >>> order_of_the_memory(np.arange(4.0).reshape(2, 2).T)
    Traceback (most recent call last):
    update.layout
    """
    return x.ravel("K")


def two_names_of_one_memory(x, y):
    """Cites update.overlap

    >>> two_names_of_one_memory(v := np.arange(4.0), v[::-1])
    Traceback (most recent call last):
    update.overlap
    """
    x[0] = y[1]
    return y


def an_array_of_another_class(x):
    """Cites jit.subclass

    >>> an_array_of_another_class(np.ones((2, 2)))
    array([[1., 1.],
           [1., 1.]])
    >>> an_array_of_another_class(np.ones((2, 2)).view(np.matrix))
    Traceback (most recent call last):
    jit.subclass
    """
    return x * x


def a_row_as_a_number(x):
    """Cites face.records

    >>> a_row_as_a_number(np.ones(2, [("a", float)]))
    Traceback (most recent call last):
    face.records: return x + 1
    """
    return x + 1


def what_no_list_can_keep(xs):
    """Cites update.container

    >>> what_no_list_can_keep([1.0])
    Traceback (most recent call last):
    update.container
    """
    xs.append(object())
    return 1.0
