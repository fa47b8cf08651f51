"""Sorting and searching by hand."""

import numpy as np

from plain.loops.program import Program, integers, normal


def odd_even_sort(a):
    n = len(a)
    for phase in range(n):
        lo = a[phase % 2 : n - 1 : 2].copy()
        hi = a[phase % 2 + 1 :: 2].copy()
        a[phase % 2 : n - 1 : 2] = np.minimum(lo, hi)
        a[phase % 2 + 1 :: 2] = np.maximum(lo, hi)


def selection_sort(rows):
    """Sort the rows of a table by their first column, in place."""
    for i in range(len(rows) - 1):
        j = i + np.argmin(rows[i:, 0])
        if j != i:
            rows[[i, j]] = rows[[j, i]]
    return rows


def bubble_sort(a):
    n = len(a)
    swaps = 0
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
                swaps += 1
        if not swapped:
            break
    return swaps


def sift_down(a, start, end):
    root = start
    while True:
        child = 2 * root + 1
        if child > end:
            return
        if child + 1 <= end and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


def heap_sort(a):
    n = a.shape[0]
    for start in range(n // 2 - 1, -1, -1):
        sift_down(a, start, n - 1)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift_down(a, 0, end - 1)


def quick_sort(a):
    """Sort by a stack of ranges that are still to do."""
    stack = np.empty((64, 2), np.int64)
    top = 0
    stack[0, 0] = 0
    stack[0, 1] = len(a) - 1
    while top >= 0:
        lo = stack[top, 0]
        hi = stack[top, 1]
        top -= 1
        while lo < hi:
            pivot = a[(lo + hi) // 2]
            i = lo
            j = hi
            while i <= j:
                while a[i] < pivot:
                    i += 1
                while a[j] > pivot:
                    j -= 1
                if i <= j:
                    t = a[i]
                    a[i] = a[j]
                    a[j] = t
                    i += 1
                    j -= 1
            if j - lo < hi - i:
                if i < hi:
                    top += 1
                    stack[top, 0] = i
                    stack[top, 1] = hi
                hi = j
            else:
                if lo < j:
                    top += 1
                    stack[top, 0] = lo
                    stack[top, 1] = j
                lo = i


def merge(src, dst, lo, mid, hi):
    i, j = lo, mid
    for k in range(lo, hi):
        if i < mid and (j >= hi or src[i] <= src[j]):
            dst[k] = src[i]
            i += 1
        else:
            dst[k] = src[j]
            j += 1


def merge_sort(a):
    n = len(a)
    src = a.copy()
    dst = np.empty_like(a)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            merge(src, dst, lo, min(lo + width, n), min(lo + 2 * width, n))
        src, dst = dst, src
        width *= 2
    return src


def radix_sort(a):
    """Sort unsigned numbers by four bits at a time."""
    n = len(a)
    cur = a.copy()
    out = np.empty_like(a)
    for shift in range(0, 16, 4):
        counts = np.zeros(17, dtype=np.int64)
        for i in range(n):
            counts[((cur[i] >> shift) & 15) + 1] += 1
        for d in range(16):
            counts[d + 1] += counts[d]
        for i in range(n):
            d = (cur[i] >> shift) & 15
            out[counts[d]] = cur[i]
            counts[d] += 1
        cur, out = out, cur
    return cur


def search_all(table, wanted):
    """The place of each wanted number in a sorted table, or -1."""
    places = np.full(len(wanted), -1, dtype=np.int32)
    for q in range(len(wanted)):
        lo = 0
        hi = len(table) - 1
        while lo <= hi:
            mid = (lo + hi) >> 1
            if table[mid] == wanted[q]:
                places[q] = mid
                break
            elif table[mid] < wanted[q]:
                lo = mid + 1
            else:
                hi = mid - 1
    return places


PROGRAMS = [
    Program("numpy", odd_even_sort, lambda n: (normal(n),), (9,), (800,)),
    Program("numpy", selection_sort, lambda n: (normal(n, 3),), (7,), (800,)),
    Program("numba", bubble_sort, lambda n: (normal(n),), (10,), (1500,)),
    Program("numba", heap_sort, lambda n: (integers(n, below=99),), (14,), (50_000,)),
    Program("numba", quick_sort, lambda n: (normal(n),), (20,), (50_000,)),
    Program("numba", merge_sort, lambda n: (normal(n),), (13,), (50_000,)),
    Program(
        "numba",
        radix_sort,
        lambda n: (integers(n, below=2**16).astype(np.uint32),),
        (12,),
        (50_000,),
    ),
    Program(
        "numba",
        search_all,
        lambda n, m: (np.sort(integers(n, below=3 * n)), integers(m, below=3 * n)),
        (12, 9),
        (100_000, 20_000),
    ),
]
