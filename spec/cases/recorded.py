"""Cases of what is recorded: functions of Python's, as in `staged.py`."""

import numpy as np  # calls that the cases list as text use it


def choice(x):
    """Cites staged.choice

    >>> choice(np.array([1.0, 2.0]))
    1.0
    >>> recorded(choice, np.array([1.0, 2.0]))
    ['cond']
    """
    if x[0] > 0:
        return float(x[0])
    return float(x[1])


def choice_by_a_shape(x):
    """Cites staged.choice

    >>> choice_by_a_shape(np.array([1.0, 2.0]))
    1.0
    >>> recorded(choice_by_a_shape, np.array([1.0, 2.0]))
    []
    """
    if x.ndim == 1:
        return float(x[0])
    return float(x[1, 0])


def short_loop(x):
    """Cites staged.loop

    >>> recorded(short_loop, np.ones(4)), recorded(short_loop, np.ones(5))
    ([], ['scan'])
    >>> short_loop(np.ones(5))
    5.0
    """
    total = 0.0
    for value in x:
        total += float(value)
    return total


def short_loop_of_unknown_length(x, n):
    """Cites staged.loop

    >>> recorded(short_loop_of_unknown_length, np.ones(4), 2)
    ['while']
    """
    total = 0.0
    for k in range(n):
        total += float(x[k])
    return total


def short_search(x):
    """Cites staged.loop

    >>> recorded(short_search, np.ones(2)), recorded(short_search, np.ones(1))
    (['cond', 'cond', 'while'], ['cond', 'cond'])
    >>> short_search(np.array([1.0, 4.0])), short_search(np.array([1.0, 1.0]))
    (1, -1)
    """
    for k in range(len(x)):
        if x[k] > 3:
            return k
    return -1


def short_nest(x, y):
    """Cites staged.loop

    >>> recorded(short_nest, np.ones(4), np.ones(4))
    []
    >>> short_nest(np.ones(4), np.ones(4))
    16.0
    """
    total = 0.0
    for a in x:
        for b in y:
            total += float(a * b)
    return total


def short_nest_of_many_copies(x, y, z):
    """Cites staged.loop

    >>> recorded(short_nest_of_many_copies, np.ones(3), np.ones(3), np.ones(2))
    ['scan', 'scan', 'scan', 'scan', 'scan', 'scan', 'scan', 'scan', 'scan']
    >>> recorded(short_nest_of_many_copies, np.ones(4), np.ones(4), np.ones(1))
    []
    """
    total = 0.0
    for a in x:
        for b in y:
            for c in z:
                total += float(a * b - c)
    return total


def short_nest_of_three(x, y, z):
    """Cites staged.loop

    >>> recorded(short_nest_of_three, np.ones(3), np.ones(2), np.ones(2))
    []
    """
    total = 0.0
    for a in x:
        for b in y:
            for c in z:
                total += float(a * b - c)
    return total


def one_turn_in_many_copies(x, y):
    """Cites staged.loop, staged.run

    >>> recorded(one_turn_in_many_copies, np.ones(20), np.ones(1))
    []
    >>> one_turn_in_many_copies(np.ones(20), np.ones(1))
    21.0
    """
    found, total = [{}], 0.0
    for k in range(len(x)):
        found[0][k] = x[k]
        for value in y:
            total += float(value)
    return total + float(found[0][0])


def loop_over_data_of_pythons(x):
    """Cites staged.loop

    >>> recorded(loop_over_data_of_pythons, np.ones(3))
    []
    >>> loop_over_data_of_pythons(np.array([1.0, 2.0, 3.0]))
    47.0
    """
    total = 0.0
    for place, weight in [(0, 1.0), (1, 2.0), (2, 3.0), (0, 4.0), (1, 5.0), (2, 7.0)]:
        total += weight * float(x[place])
    return total - 2.0


def waiting(n):
    """Cites staged.while

    >>> waiting(27)
    111
    >>> recorded(waiting, 27)
    ['cond', 'while']
    """
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def shape_by_a_loop(x):
    """Cites staged.known

    >>> shape_by_a_loop(np.ones(5))
    array([0., 0., 0., 0., 0., 0., 0., 0.])
    >>> recorded(shape_by_a_loop, np.ones(5))
    []
    """
    size = 1
    while size < len(x):
        size = size * 2
    return np.zeros(size)


def shape_by_a_long_loop(x):
    """Cites staged.known, slice.length

    >>> shape_by_a_long_loop(np.zeros((10000, 0))).shape
    (10000,)
    >>> shape_by_a_long_loop(np.zeros((10001, 0)))
    Traceback (most recent call last):
    slice.length: return np.roll(np.zeros(size), 1)
    """
    size = 0
    for _ in range(x.shape[0]):
        size += 1
    return np.roll(np.zeros(size), 1)


def counted_while(x, size):
    """Cites staged.known

    >>> counted_while(np.ones(2), np.zeros((10000, 0)))
    (10000, array([10001., 10001.]))
    >>> recorded(counted_while, np.ones(2), np.zeros((10000, 0)))
    []
    >>> counted_while(np.ones(2), np.zeros((10012, 0)))
    (10012, array([10013., 10013.]))
    >>> recorded(counted_while, np.ones(2), np.zeros((10012, 0)))
    ['while']
    """
    count = 0
    while count < size.shape[0]:
        count += 1
    return count, x + count


def while_that_is_left(x):
    """Cites staged.known, staged.jump

    >>> while_that_is_left(np.ones(2))
    (10012, 5006.0)
    >>> recorded(while_that_is_left, np.ones(2))
    ['cond', 'while']
    """
    count, total = 0, 0.0
    while True:
        count += 1
        total += 0.5
        if count >= 10012:
            break
    return count, total * float(x[0])


def numbers_of_a_traced_one(x):
    """Cites staged.known

    >>> recorded(numbers_of_a_traced_one, np.ones(2))
    ['scan']
    """
    total = float(x[0])
    for k in range(7):
        total = total * 2 + k
    return total


def products_with_what_follows(x, turns):
    """Cites staged.lengths

    >>> products_with_what_follows(np.ones(20), np.zeros((6, 0)))
    array([20., 19., 18., 17., 16., 15.])
    >>> recorded(products_with_what_follows, np.ones(20_000), np.zeros((6, 0)))
    []
    >>> recorded(products_with_what_follows, np.ones(20), np.zeros((6, 0)))
    ['scan', 'while']
    >>> recorded(products_with_what_follows, np.ones(20_000), np.zeros((16, 0)))
    []
    >>> recorded(products_with_what_follows, np.ones(20_000), np.zeros((17, 0)))
    ['scan', 'while']
    """
    found = np.zeros(len(turns))
    for lag in range(len(turns)):
        found[lag] = np.dot(x[: len(x) - lag], x[lag:])
    return found


def some_products_with_what_follows(x, turns):
    """Cites staged.lengths

    >>> some_products_with_what_follows(np.ones(20), 3)
    array([20., 19., 18.,  0.])
    >>> recorded(some_products_with_what_follows, np.ones(20_000), 3)
    ['while', 'while']
    """
    found = np.zeros(4)
    for lag in range(turns):
        found[lag] = np.dot(x[: len(x) - lag], x[lag:])
    return found


def parts_of_a_traced_length(x, sizes):
    """Cites staged.lengths

    >>> parts_of_a_traced_length(np.ones(20), np.arange(6) + 3)
    array([3., 3., 3., 3., 3., 3.])
    >>> recorded(parts_of_a_traced_length, np.ones(20_000), np.arange(6) + 3)
    ['scan', 'while']
    """
    found = np.zeros(6)
    for k in range(6):
        found[k] = x[k : sizes[k]].sum()
    return found


def body_that_python_runs(x):
    """Cites staged.run

    >>> body_that_python_runs(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    7.0
    >>> recorded(body_that_python_runs, np.ones(6))
    []
    """
    found = [{}]
    for k in range(len(x)):
        found[0][k] = float(x[k])
    return found[0][0] + found[0][5]


def numbers_that_meet(x):
    """Cites staged.join.values, promote.numpy

    >>> numbers_that_meet(np.array([1.0, 2.0])), numbers_that_meet(np.array([-1.0, 2]))
    (1.0, 2.5)
    """
    return (1 if x[0] > 0 else 2.5) * 1.0


def arrays_that_meet(x, y):
    """Cites staged.join.values

    >>> arrays_that_meet(np.array([3.0, 4.0]), np.array([1.0, 2.0]))
    array([2., 3.])
    """
    found = x if x[0] < 0 else y
    return found + 1


def arrays_of_two_shapes(x):
    """Cites staged.join.values, staged.join

    >>> arrays_of_two_shapes(np.array([3.0, 4.0]))
    Traceback (most recent call last):
    staged.join: return found + 1
    """
    found = x
    if x[0] > 0:
        found = x[:1]
    return found + 1


def tuples_that_meet(x):
    """Cites staged.join.tuples

    >>> tuples_that_meet(np.array([3.0, 4.0])), tuples_that_meet(np.array([-3.0, 4.0]))
    ((3.0, 1.0), (4.0, 2.5))
    """
    return (float(x[0]), 1.0) if x[0] > 0 else (float(x[1]), 2.5)


def tuples_of_two_lengths(x):
    """Cites staged.join.tuples, staged.join

    >>> tuples_of_two_lengths(np.array([3.0, 4.0]))
    Traceback (most recent call last):
    staged.join: return sum(found)
    """
    found = x[0], 1
    if x[0] > 0:
        found = x[1], 2, 3
    return sum(found)


def equal_words(x):
    """Cites staged.join.others

    >>> equal_words(np.array([3.0, 4.0]))
    array([3., 4.])
    """
    word = "-".join(["a", "b"]) if x[0] > 0 else "+a-b"[1:]
    if word == "a-b":
        return x
    return -x


def equal_values_of_pythons(x):
    """Cites staged.join.others

    >>> equal_values_of_pythons(np.array([3.0, 4.0, 5.0, 6.0]))
    (array([3., 4.]), 2, None, 2, 2, 8)
    """
    if x[0] > 0:
        part, steps, none = slice(0, 2), range(0, 3, 2), None
        word, few = bytes([97, 98]), frozenset([1, 2])
        kind = np.dtype([("a", "f8")])
    else:
        part, steps, none = slice(0, len(x) - 2), range(0, 4, 2), None
        word, few = b"".join([b"a", b"b"]), frozenset([2, 1])
        kind = np.dtype([("a", float)])
    return x[part], len(steps), none, len(word), len(few), kind.itemsize


def list_on_both_sides(x):
    """Cites staged.join.others, staged.join

    >>> list_on_both_sides(np.array([3.0, 4.0]))
    Traceback (most recent call last):
    staged.join: return len(found)
    """
    found = [1]
    if x[0] > 0:
        found = [1]
    return len(found)
