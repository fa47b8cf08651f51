"""Loops that write to arrays, and lists."""

import numpy as np

from plain.forms.case import A, I, V, case


@case(V, 1.0)
@case(V, -1.0)
def one_branch(a, x):
    if x > 0:
        a[2:4] = x
    return a.sum()


@case(A)
def swap_rows(a):
    for i in range(2):
        j = 3 - i
        a[[i, j]] = a[[j, i]]


@case(A)
def swap_rows_t(a):
    n = a.shape[0]
    k = 0
    while k < n - 1 - k:
        a[[k, n - 1 - k]] = a[[n - 1 - k, k]]
        k += 1


@case(V)
def swap_el(a):
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]


@case(A)
def swap_views(a):
    # rows are views: the famous bug
    for k in range(3):
        a[k], a[k + 1] = a[k + 1], a[k]


@case(A)
def aug_view(a):
    for i in range(4):
        r = a[i]
        r += i
        r[1:] *= 2


@case(A)
def aug_view2(a):
    t = a.T
    for i in range(3):
        t[i] -= i
        c = t[i]
        c[0] = 7
    return t


@case(A)
def flat_view(a):
    b = a.reshape(-1)
    for i in range(12):
        b[i] = b[i - 1] + 1
    return a[2]


@case(V)
def rebinding_arg(a):
    for i in range(5):
        a = a + 1
    return a


@case(V)
def rebinding_arg2(a):
    for i in range(5):
        a = a * 2
        a[0] = 1
    return a


@case(V)
def aug_arg(a):
    for i in range(5):
        a += 1
    return a


@case(A)
def enum_rows(a):
    for i, row in enumerate(a):
        row[i % 3] = -1
        a[i] = row * 2
    return row


@case(V)
def ternary_array(a):
    for i in range(5):
        b = a if a[i] > 0 else a * 2
    return b


@case(A)
def col_views(a):
    for j in range(3):
        c = a[:, j]
        c -= c.mean()
        for i in range(4):
            c[i] = c[i] * 2 + c[i - 1]
    return a


@case(V)
def view_alias_loop(a):
    b = a[::2]
    for i in range(4):
        b[i] += a[i]
    return b


@case(A)
def row_carry(a):
    best = a[0]
    for i in range(1, 4):
        if a[i, 0] > best[0]:
            best = a[i]
    return best


@case(I)
def fancy(a):
    idx = np.array([0, 2, 4])
    for i in range(5):
        a[idx] += i
        a[idx + 1] -= a[idx]
    return a


@case(I)
def fancy2(a):
    p = np.argsort(a)
    for i in range(8):
        a[p[i]] = i
    return a


@case(V)
def masked(a):
    for i in range(3):
        m = a > i
        a[m] -= 0.5
        a[~m] *= 2
    return a


@case(V)
def where_loop(a):
    for i in range(3):
        a = np.where(a > i, a - 1, a)
    return a


@case(V)
def sort_in(a):
    for i in range(3):
        a.sort()
        a[0] = 99
    return a


@case(V)
def inplace_pow(a):
    for i in range(8):
        a[i] **= 2
        a[i] //= 3
        a[i] %= 5
    return a


@case(I)
def inplace_bits(a):
    for i in range(8):
        a[i] <<= 2
        a[i] |= 1
        a[i] ^= a[i - 1]
        a[i] &= 0xFF
        a[i] >>= 1


@case(I)
def list_state(a):
    l = [0, 0, 0]
    for x in a:
        l[0] += x
        l[1] = x
    return l[0], l[1]


@case(I)
def list_append(a):
    l = []
    for x in a:
        l.append(x * 2)
    return np.array(l)


@case(I)
def dict_state(a):
    d = {"s": 0.0, "n": 0}
    for x in a:
        d["s"] += x
        d["n"] += 1
    return d["s"], d["n"]


@case(V)
def cumulative_list(a):
    out = [0.0]
    for x in a:
        out.append(out[-1] + x)
    return np.array(out)


@case(A)
def flat_iter(a):
    s = 0.0
    for x in a.flat:
        s = s * 0.5 + x
    for x in a.ravel():
        s = s * 0.5 + x
    return s


@case(V)
def mean_slice(a):
    out = np.zeros(4)
    for i in range(4):
        out[i] = a[2 * i : 2 * i + 2].mean()
    return out


@case(A)
def arr_state_shape(a):
    b = np.zeros(3)
    for r in a:
        b = b + r
    return b
