"""Long chains of choices, and tests that set names."""

import numpy as np

from plain.forms.case import V, case

CODES = np.array([0, 5, 1, 3, 9, 2, 4, 8, 7, 6, 10, 5, 11, 0])


@case(V, 0.0)
@case(V, 2.0)
@case(V, 3.0)
@case(V, 4.0)
@case(V, 6.0)
@case(V, 7.0)
@case(V, 8.0)
@case(V, 12.0)
def early_returns(a, x):
    if x == 0:
        return a[0]
    y = x * 2
    if y == 4:
        return 1.0
    y += 1
    z = y
    if y == 7:
        return -1.0
    elif y == 9:
        y = 5
        z = a[2]
    elif y == 11:
        z = 3
    elif y == 13:
        if a[0] > 0:
            return 7.0
    elif y == 15:
        z = 17
    else:
        z = y + 1
        if z == 18:
            return 8.0
        elif z == 20:
            for v in a:
                if v > 3:
                    return v
    return z + y


@case(V, CODES)
def interpreter(a, program):
    total = 0.0
    place = 0
    for code in program:
        if code == 0:
            total = a[place]
        elif code == 1:
            total += a[place]
        elif code == 2:
            total -= a[place]
        elif code == 3:
            total *= 2
        elif code == 4:
            total = -total
        elif code == 5:
            place += 1
        elif code == 6:
            place -= 1
        elif code == 7:
            a[place] = total
        elif code == 8:
            total = abs(total)
        elif code == 9:
            total += 0.5
        elif code == 10:
            place = 0
        else:
            break
    return total, place


@case(V, 4.5)
@case(V, -4.5)
def name_set_by_test(a, limit):
    n = 0
    total = 0.0
    while (x := a[n]) < limit:
        n += 1
        total += x
    else:
        total *= -1
    return x, n, total
