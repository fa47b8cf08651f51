"""Cases of what is raised and what is refused: functions as in `staged.py`."""

import numpy as np  # calls that the cases list as text use it


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
    """Cites staged.list

    >>> list_in_a_loop(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.0]))
    [2.0, 3.0, 4.0, 5.0]
    >>> recorded(list_in_a_loop, np.ones(6))
    ['cond', 'scan', 'while']
    """
    found = []
    for value in x:
        if value > 1:
            found.append(float(value))
    return found


def dictionary_while(x):
    """Cites staged.effect, staged.while

    >>> dictionary_while(np.array([9.0]))
    Traceback (most recent call last):
    staged.effect: found[0][0] = value
    """
    value, found = x[0], [{}]
    while value > 1:
        value = value / 2
        found[0][0] = value
    return found[0][0]


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


def drawn_arrays(rng, n):
    """Cites staged.drawn

    >>> drawn_arrays(np.random.default_rng(2), 3)
    (np.float64(4.539942868624169), 1, 0.43263079080478717)
    """
    place, count = np.zeros(3), 0
    for _ in range(n):
        place += rng.normal(0.0, 2.0, size=3)
        if place[0] > 0:
            count += int(rng.integers(0, 9, 2)[1])
    return place[0], count, rng.random()


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
