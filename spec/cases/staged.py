"""Cases of loops and branches: functions of Python's, each with calls of it.

The first line of a function names the rules that it is about. What a call returns, and
what it leaves in its arguments, is what Python makes of it on NumPy's arrays: an
implementation has to return the same under its own `jit`, dtypes included. What is
raised is given with the line at which it stands.
"""

import numpy as np  # calls that the cases list as text use it


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


# What is recorded --------------------------------------------------------------------


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
    found, total = {}, 0.0
    for k in range(len(x)):
        found[k] = x[k]
        for value in y:
            total += float(value)
    return total + float(found[0])


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
    """Cites staged.known, face.shape

    >>> shape_by_a_long_loop(np.zeros((10000, 0))).shape
    (10000,)
    >>> shape_by_a_long_loop(np.zeros((10001, 0)))
    Traceback (most recent call last):
    face.shape: return np.zeros(size)
    """
    size = 0
    for _ in range(x.shape[0]):
        size += 1
    return np.zeros(size)


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


def body_that_python_runs(x):
    """Cites staged.run

    >>> body_that_python_runs(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    7.0
    >>> recorded(body_that_python_runs, np.ones(6))
    []
    """
    found = {}
    for k in range(len(x)):
        found[k] = float(x[k])
    return found[0] + found[5]


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


# What is raised ----------------------------------------------------------------------


def raised_by_a_value(x, limit):
    """Cites staged.raised

    >>> raised_by_a_value(np.array([1.0, 4.0]), 2.0)
    4.0
    >>> raised_by_a_value(np.array([1.0, 4.0]), 9.0)
    Traceback (most recent call last):
    LookupError: raise LookupError("nothing above", limit)
    >>> raised_by_a_value(np.array([np.nan, 4.0]), 2.0)
    Traceback (most recent call last):
    AssertionError: assert value == value
    """
    for value in x:
        assert value == value
        if value > limit:
            return float(value)
    raise LookupError("nothing above", limit)


# What is refused ---------------------------------------------------------------------


def list_on_one_side(x):
    """Cites staged.effect

    >>> list_on_one_side(np.array([1.0]))
    Traceback (most recent call last):
    staged.effect: found.append(x)
    """
    found = []
    if x[0] > 0:
        found.append(x)
    return found


def list_in_a_loop(x):
    """Cites staged.effect

    >>> list_in_a_loop(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    Traceback (most recent call last):
    staged.effect: found.append(value)
    """
    found = []
    for value in x:
        if value > 1:
            found.append(value)
    return found


def dictionary_while(x):
    """Cites staged.effect, staged.while

    >>> dictionary_while(np.array([9.0]))
    Traceback (most recent call last):
    staged.effect: found[0] = value
    """
    value, found = x[0], {}
    while value > 1:
        value = value / 2
        found[0] = value
    return found[0]


def list_of_a_loop(x):
    """Cites staged.list

    >>> list_of_a_loop(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    (array([ 2.,  4.,  6.,  8., 10., 12.]), 6)
    >>> recorded(list_of_a_loop, np.ones(6))
    ['scan']
    """
    found = []
    for k in range(len(x)):
        found.append(x[k] * 2)
    return np.array(found), len(found)


def data_of_pythons_left_early(x):
    """Cites staged.exit

    >>> data_of_pythons_left_early(np.array([2.0]))
    Traceback (most recent call last):
    staged.exit: for name, limit in {"low": 1, "high": 3}.items():
    """
    for name, limit in {"low": 1, "high": 3}.items():
        if x[0] < limit:
            return name
    return "over"


def number_or_word(x):
    """Cites staged.join

    >>> number_or_word(np.array([2.0]))
    Traceback (most recent call last):
    staged.join: return kind
    """
    kind = "none"
    if x[0] > 0:
        kind = 1
    return kind


def shape_that_grows(x, limit):
    """Cites staged.join

    >>> shape_that_grows(np.array([2.0]), 7.0)
    Traceback (most recent call last):
    staged.join: y = np.concatenate([y, x])
    """
    y = x
    while x[0] < limit:
        y = np.concatenate([y, x])
        limit = limit - 1
    return y


def inner_loop_that_names(x, n):
    """Cites staged.memory

    >>> inner_loop_that_names(np.array([2.0, 3.0]), 5)
    Traceback (most recent call last):
    staged.memory: y[:1] += 1.0
    """
    y = np.zeros(2)
    for _ in range(n):
        for _ in range(n):
            y = x
    y[:1] += 1.0
    return y


def read_by_another_name(x, y, n):
    """Cites staged.memory

    >>> read_by_another_name(np.array([2.0, 3.0]), np.array([4.0, 5.0]), 3)
    Traceback (most recent call last):
    staged.memory: for _ in range(n):
    """
    same, total = x, 0.0
    for _ in range(n):
        x[0] += 1
        total += float(same[0])
        x, y = y, x
    return total


def calls_itself(n):
    """Cites staged.recursion

    >>> calls_itself(5)
    Traceback (most recent call last):
    staged.recursion: return 1 if n <= 1 else n * calls_itself(n - 1)
    """
    return 1 if n <= 1 else n * calls_itself(n - 1)


def handled_later(x, k):
    """Cites staged.handler

    >>> handled_later(np.array([2.0, 3.0]), 5)
    Traceback (most recent call last):
    staged.handler: return float(x[k])
    """
    try:
        return float(x[k])
    except IndexError:
        return 0.0


def drawn_until(rng, n):
    """Cites staged.drawn

    >>> drawn_until(np.random.default_rng(3), 100)
    (17.300064554182033, 6, 0.28420116374879145)
    """
    total, count = 0.0, 0
    while rng.random() < 0.9 and count < n:
        total += rng.normal(count, 2.0) if rng.integers(3) else rng.uniform(-1, 1)
        if total > 40:
            break
        count += 1
    return total, count, rng.random()


def drawn_by_the_module(n):
    """Cites staged.drawn

    >>> drawn_by_the_module(20)
    (np.float64(9.172812694995901), np.float64(1.7312427203340226), 0.577662858129756)
    """
    np.random.seed(5)
    counts = np.zeros(6)
    for _ in range(n):
        counts[np.random.randint(1, 6)] += np.random.rand()
    return counts.sum(), counts[5], np.random.random()


_made: dict = {}
exec("def without_source(x):\n    return x if x[0] > 0 else -x", _made)


def calls_one_without_source(x):
    """Cites staged.source, level.concretize.bool

    >>> calls_one_without_source(np.array([2.0, 3.0]))
    Traceback (most recent call last):
    level.concretize.bool: return _made["without_source"](x)
    """
    return _made["without_source"](x)


def turns_with_places_of_their_own(x):
    """Cites staged.turns.proved

    >>> turns_with_places_of_their_own(np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]))
    (array([ 1.,  3.,  6., 12., 24., 48.]), 6)
    """
    out = x.copy()
    count = 1
    for i in range(1, len(x)):
        out[i] = out[i] + x[i - 1]
        count += 1 if out[i] > 0 else 0
    return out, count
