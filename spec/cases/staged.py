"""Cases of loops and branches: functions of Python's, each with calls of it.

The first line of a function names the rules that it is about. What a call returns, and
what it leaves in its arguments, is what Python makes of it on NumPy's arrays: an
implementation has to return the same under its own `jit`, dtypes included. What is
raised is given with the line at which it stands.
"""

import numpy as np  # noqa: F401  calls that the cases list as text use it


def steps_of_a_range(x, n):
    """Cites staged.construct, staged.carry

    >>> steps_of_a_range(np.array([1.0, 2.0, 4.0]), 2)
    (3.0, 1)
    >>> steps_of_a_range(np.array([1.0, 2.0, 4.0]), 3)
    (7.0, 2)
    """
    total = 0.0
    i = -1
    for i in range(n):
        total += float(x[i])
    return total, i


def set_and_not_read(x):
    """Cites staged.carry

    >>> set_and_not_read(np.array([3, 1, 4, 1, 5, 9]))
    (9, 54)
    """
    last, twice = 0, 0
    for value in x:
        last = int(value)
        twice = last * 6
    return last, twice


def types_that_meet(x):
    """Cites staged.construct

    >>> types_that_meet(np.array([-1.0, 2.0]))
    2.5
    """
    weight = 3 if x[0] > 0 else 2.5
    return weight * 1


def written_on_one_side(x, k):
    """Cites staged.arrays

    >>> written_on_one_side(np.array([1.0, 2.0]), 0)
    (array([5., 3.]), 3.0)
    >>> written_on_one_side(np.array([1.0, 2.0]), 1)
    (array([1., 7.]), 7.0)
    """
    part = x[1:]
    if k == 0:
        x[0] = 5
        part += 1
    else:
        x[1] = 7
    return x, float(part[0])


def exchanged(x, y, n):
    """Cites staged.arrays

    >>> exchanged(np.array([1.0, 2.0]), np.zeros(2), 3)
    (array([4., 4.]), array([3., 3.]))
    """
    now, then = x, y
    for k in range(n + 2):
        for i in range(2):
            then[i] = k
        now, then = then, now
    return now, then


def exchanged_in_some_turns(x, y, n):
    """Cites staged.arrays

    >>> exchanged_in_some_turns(np.array([1.0, 2.0]), np.array([5.0, 3.0]), 4)
    (array([1.5, 2. ]), array([10.,  8.]))
    """
    for k in range(n):
        y[0] += k
        if x[1] > k:
            x, y = y, x
    x[0] -= 0.5
    y[1] += 5.0
    return x, y


def two_names_for_an_array_of_one_side(x):
    """Cites staged.arrays

    >>> two_names_for_an_array_of_one_side(np.array([1.0, 2.0]))
    (array([7., 8.]), array([7., 8.]))
    >>> two_names_for_an_array_of_one_side(np.array([-1.0, 2.0]))
    (array([7., 2.]), array([-1.,  8.]))
    """
    y = x.copy()
    if x[0] > 0:
        x = y = x * 1.0
    else:
        x = x * 1.0
    x[0] = 7.0
    y[1] = 8.0
    return x, y


def after_a_jump(x):
    """Cites staged.jump

    >>> after_a_jump(np.array([1, -1, 2, -2, 3, 9, 4]))
    (6, 5)
    >>> after_a_jump(np.array([1, -1, 2, -2, 3, 8, 4]))
    (18, -1)
    """
    total = 0
    for k in range(len(x)):
        if x[k] < 0:
            continue
        if x[k] == 9:
            break
        total += int(x[k])
    else:
        k = -1
    return total, k


def returned_from_inside(x, y):
    """Cites staged.jump

    >>> returned_from_inside(np.array([1, 2, 3]), np.array([9, 8, 3, 2]))
    (1, 3)
    >>> returned_from_inside(np.array([1]), np.array([9]))
    (-1, -1)
    """
    for i in range(len(x)):
        j = 0
        while j < len(y):
            if x[i] == y[j]:
                return i, j
            j += 1
    return -1, -1


def bound_where_it_ran(x):
    """Cites staged.unbound

    >>> bound_where_it_ran(np.array([1.0, 4.0, 2.0]))
    4.0
    >>> bound_where_it_ran(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    UnboundLocalError: return found
    """
    for k in range(len(x)):
        if x[k] > 3:
            found = float(x[k])
    return found


def unbound_on_a_side_that_does_not_run(x):
    """Cites staged.unbound

    >>> unbound_on_a_side_that_does_not_run(np.array([1.0, 4.0]))
    4.0
    """
    if x[0] > 3:
        y = 1.0
        del y
    z = float(x[1])
    if x[0] > 3:
        z += y
    return z


def no_turn(x, n):
    """Cites staged.carry

    >>> no_turn(np.array([1.0, 2.0]), 0)
    (2.5, 7)
    """
    value, k = 2.5, 7
    for k in range(n):
        value = float(x[k])
    return value, k
