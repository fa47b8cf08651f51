"""Cases of Python's own numbers in plain functions, with calls of these."""

import math

import numpy as np  # noqa: F401  # calls that the cases list as text use it


def kinds_of_numbers(x):
    """Cites python.numbers

    >>> kinds_of_numbers(2.5), kinds_of_numbers(-3.5)
    ((2, 2, 2.5, 2.5, 0.5), (-3, -4, -3.5, 2.0, 0.5))
    """
    return int(x), round(x), round(x, 1), max(x, 2.0), x % 1


def signs_of_numbers(n):
    """Cites python.numbers

    >>> signs_of_numbers(-7), signs_of_numbers(7)
    ((-4, 1, (-3, -1), -14), (3, 1, (3, 1), 14))
    """
    return n // 2, n % 2, (int(n / 2), int(math.fmod(n, 2))), n << 1


def printed_in_turns(x):
    """Cites python.print

    >>> printed_in_turns(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    1.0 0
    2.0 1
    3.0 2
    4.0 3
    5.0 4
    15.0
    """
    total = 0.0
    for k, value in enumerate(x):
        print(float(value), k)
        total += float(value)
    return total


def root(x):
    """Cites python.domain

    >>> root(4.0)
    2.0
    >>> root(-1.0)
    Traceback (most recent call last):
    python.domain: return math.sqrt(x)
    """
    return math.sqrt(x)


def roots_of_elements(x):
    """Cites python.domain

    >>> roots_of_elements(np.array([4.0, 9.0, 1.0, 0.0, 1.0]))
    7.0
    >>> roots_of_elements(np.array([4.0, 9.0, 1.0, -1.0, 1.0]))
    Traceback (most recent call last):
    python.domain: total += math.sqrt(value)
    """
    total = 0.0
    for value in x:
        total += math.sqrt(value)
    return total


def exponential(x):
    """Cites python.overflow

    >>> exponential(0.0)
    1.0
    >>> exponential(1e4)
    Traceback (most recent call last):
    python.overflow: return math.exp(x)
    """
    return math.exp(x)


def whole_number(x):
    """Cites python.overflow

    >>> whole_number(-2.5)
    -2
    >>> whole_number(math.nan)
    Traceback (most recent call last):
    python.overflow: return int(x)
    """
    return int(x)


def mean(x):
    """Cites python.zero

    >>> mean(np.array([4.0, 9.0, 2.0, 0.0, 5.0]))
    5.0
    >>> mean(np.array([-4.0, -9.0, -2.0, 0.0, -5.0]))
    Traceback (most recent call last):
    python.zero: return total / count
    """
    total, count = 0.0, 0
    for value in x:
        if value > 0:
            total += float(value)
            count += 1
    return total / count


def remainder(n, m):
    """Cites python.zero

    >>> remainder(7, -3)
    -2
    >>> remainder(7, 0)
    Traceback (most recent call last):
    python.zero: return n % m
    """
    return n % m


def root_of_an_array(x):
    """Cites python.argument

    >>> root_of_an_array(np.array([4.0, 9.0]))
    Traceback (most recent call last):
    python.argument: return math.sqrt(x)
    """
    return math.sqrt(x)


def divisor_of_a_float(x):
    """Cites python.argument

    >>> divisor_of_a_float(2.0)
    Traceback (most recent call last):
    python.argument: return math.gcd(x, 2)
    """
    return math.gcd(x, 2)
