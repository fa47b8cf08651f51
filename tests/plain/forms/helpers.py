"""Loops and choices with functions inside of them, and around."""

import numpy as np

from plain.forms.case import A, V, case

N = 7
DX = (1, 0, -1, 0, 2)
W = ((0, 1), (1, 0), (0, -1), (-1, 0), (2, 2))
F = [0.5, 1.5, 2]


def sgn(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def first(a, v):
    for i in range(len(a)):
        if a[i] > v:
            return i
    return -1


@case(V)
def helper_early(a):
    t = np.zeros(len(a), int)
    for i in range(len(a)):
        t[i] = sgn(a[i])
    return t


@case(V, A)
def helper_loop(a, b):
    t = np.zeros(4, int)
    for i in range(4):
        t[i] = first(a, b[i, 0])
    return t


@case(V)
def closure(a):
    scale = 2.0

    def f(x, y=1.0):
        return x * scale + y

    s = 0.0
    for x in a:
        s += f(x) if x > 0 else f(x, y=-1.0)
    return s


@case(V)
def closure_late(a):
    k = 0.0

    def f():
        return k + 1

    for x in a:
        k = k + f() * x
    return k


@case(V)
def nonlocal_(a):
    k = 0.0

    def add(x):
        nonlocal k
        k += x

    for x in a:
        add(x)
    return k


@case(V)
def nonlocal_2(a):
    count = 0
    best = -np.inf

    def look(x):
        nonlocal count, best
        if x > best:
            best = x
            count += 1

    for x in a:
        look(x)
    look(100.0)
    return count, best


@case(V)
def glob(a):
    s = 0
    for i in range(N):
        s += a[i] * N
    return s


@case(V)
def lam(a):
    f = lambda x, k: x * k if x > 0 else -x
    s = 0.0
    for i, x in enumerate(a, 2):
        s += f(x, i)
    return s


@case(V)
def cond_call(a):
    f = np.sin if len(a) > 3 else np.cos
    s = 0.0
    for x in a:
        s += f(x)
    return s


@case(V, True)
@case(V, False)
def bool_arg(a, flag):
    s = 0.0
    for x in a:
        if flag:
            s += x
        else:
            s -= x
    return s


@case(V, None)
@case(V, 2.0)
def none_arg(a, w):
    s = 0.0
    for x in a:
        s += x if w is None else x * w
    return s


@case(V)
def assert_ok(a):
    for x in a:
        assert x < 100, "big"
    return a[0]


@case(V)
def star(a):
    first, *rest = a[:4]
    s = first
    for x in rest:
        s = s * 2 + x
    return s


@case(V, 7)
def tab(a, n):
    s = 0.0
    for i in range(n):
        s += DX[i % 5] * a[i]
    return s


@case(V.astype(np.float32), 7)
def tab32(a, n):
    s = a[0]
    for i in range(n):
        s += F[i % 3] * a[i]
    return s


@case(V, 7)
def tab2(a, n):
    s = 0
    for i in range(n):
        dy, dx = W[i % 5]
        s += dy * 3 - dx
    return s
