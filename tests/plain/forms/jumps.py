"""Loops over all kinds of steps, and ways out of them."""

import numpy as np

from plain.forms.case import A, V, case


@case(V)
def neg_step(a):
    s = 0.0
    for i in range(len(a) - 1, -1, -1):
        s = s * 0.5 + a[i]
    return s, i


@case(V)
def neg_step2(a):
    out = np.zeros(8)
    for i in range(7, 0, -2):
        out[i] = a[i] - a[i - 1]
    return out, i


@case(V, 0)
@case(V, 8)
def zero_len(a, n):
    s = 1.5
    for i in range(n):
        s += a[i]
    return s


@case(V, 0)
@case(V, 3)
def after_loop(a, n):
    i = -1
    for i in range(n):
        a[i] = 0
    return i


@case(V, 5)
def after_loop2(a, n):
    for i in range(n):
        a[i] = 0
    return i


@case(A, 2.0)
@case(A, 20.0)
@case(A, 6.0)
def nested_break(a, v):
    found = (-1, -1)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == v:
                found = (i, j)
                break
        else:
            continue
        break
    return found


@case(V, 9.0)
@case(V, 10.0)
def for_else(a, v):
    for i in range(len(a)):
        if a[i] == v:
            break
    else:
        i = 100
    return i


@case(27)
@case(1)
def while_true(n):
    c = 0
    while True:
        if n == 1:
            break
        c += 1
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        if c > 200:
            break
    return c, n


@case(10, 3)
@case(3, 3)
def while_else(n, k):
    while n > 0:
        n -= k
        if n == 1:
            break
    else:
        n = -50
    return n


@case(V, 3)
def continue_(a, k):
    s = 0
    for i in range(len(a)):
        if i == k:
            continue
        if a[i] < 0:
            s -= 1
            continue
        s += 2
    return s


@case(V)
def multi_break(a):
    i = 0
    why = 0
    while True:
        if i >= len(a):
            why = 1
            break
        if a[i] < 0 and i > 2:
            why = 2
            break
        if a[i] > 100:
            why = 3
            break
        i += 1
    return i, why


@case(A)
def return_in_nested(a):
    for i in range(4):
        for j in range(3):
            if a[i, j] > 4:
                return i, j, a[i, j]
    return -1, -1, 0.0


@case(V)
def void(a):
    for i in range(len(a)):
        if a[i] < 0:
            a[i] = 0
            return
        a[i] *= 2


@case(V)
def two_returns(a):
    i = 0
    while True:
        if a[i] < 0:
            return "neg" if False else -i
        if a[i] > 8:
            return i
        i += 1


@case(V)
def mixed_return(a):
    for i in range(8):
        if a[i] > 5:
            return a[i]
    return 0


@case(V)
@case(-V)
def early_neg(a):
    if a[0] < 0:
        return a * 2
    b = a + 1
    for i in range(8):
        if b[i] > 9:
            return b
    return b * 3


@case(V)
def nested_same_name(a):
    s = 0
    for i in range(5):
        for i in range(3):
            s += i
        s += i * 10
    return s, i


@case(V)
def neg_range(a):
    c = 0
    for i in range(8):
        for j in range(i, -1, -1):
            c = c * 3 % 101 + j
        for j in range(5, i):
            c += 1
    return c


@case(V)
def zero_trip(a):
    last = -1
    for i in range(8):
        for j in range(i, 3):
            last = j
    return last


@case(V)
def inner_len(a):
    c = 0
    for i in range(8):
        for j in range(i):
            for k in range(j, i, 2):
                c += k
    return c


@case(V, 3)
def step_arg(a, k):
    s = 0.0
    for i in range(0, 8, k):
        s += a[i]
    for i in range(7, -1, -k):
        s -= 2 * a[i]
    return s


@case(V)
def shadow(a):
    x = 0.0
    for x in a:
        pass
    return x


@case(V, 7)
def nd_break(a, n):
    b = a.reshape(2, 4)
    for i, j in np.ndindex(2, 4):
        if b[i, j] > 5:
            break
    return i, j


@case(A)
def nd_enum_zip(a):
    s = 0.0
    for k, ((i, j), x) in enumerate(np.ndenumerate(a)):
        s += k * x + i - j
    return s


@case(A)
def ndidx(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * i - j
    for (i, j), x in np.ndenumerate(a):
        s += x * i
    return s


@case(V)
def rev(a):
    s = 0.0
    for x in reversed(a):
        s = s / 2 + x
    for i in reversed(range(len(a))):
        s -= a[i] * i
    return s


@case(A, V)
def zip_uneq(a, v):
    s = 0.0
    for r, x in zip(a, v):
        s += r[0] * x
    return s


@case(np.zeros((0, 3)))
def empty_rows(a):
    s = 0.0
    for r in a:
        for x in r:
            s += x
    return s


@case(V)
def while_pop(a):
    stack = np.zeros(10, int)
    top = 1
    n = 0
    stack[0] = 7
    while top:
        top -= 1
        k = stack[top]
        n += 1
        if k > 1:
            stack[top] = k // 2
            top += 1
            stack[top] = k - k // 2 - 1
            top += 1
    return n


@case(V, 2)
@case(V, 50)
def pop_cond(a, lim):
    total = 0.0
    i = 0
    while i < len(a) and total < lim:
        total += a[i]
        i += 1
    return total, i


@case(V)
def try_(a):
    s = 0.0
    for i in range(8):
        try:
            s += a[i]
        except IndexError:
            break
    return s


@case(V)
def delete(a):
    for i in range(6):
        t = a[i]
        del t
    return a


@case(V)
def bound_use(a):
    for x in a:
        if x > 4:
            t = x
    return t


@case(V)
def walrus(a):
    s = 0.0
    for i in range(8):
        if (y := a[i] * 2) > 3:
            s += y
    return s, y


@case(V)
def comp_in_loop(a):
    s = 0.0
    for i in range(8):
        s += sum([a[i] * k for k in range(3)])
    return s


@case(V)
def while_float(a):
    x = 1.0
    n = 0
    while x > 1e-3:
        x /= 2
        n += 1
    return x, n


@case(2.0)
@case(0.0)
def newton(a):
    x = a
    it = 0
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
        it += 1
    return x, it
