"""Dynamic programming, and alignment of sequences."""

import numpy as np

from plain.loops.program import Program, integers, normal, uniform

NEG_INF = -1e30
GAP = -2


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for w, v in zip(weights, values):
        taken = best[: capacity + 1 - w] + v
        best[w:] = np.maximum(best[w:], taken)
    return best[capacity]


def edit_distance(a, b):
    prev = np.arange(len(b) + 1)
    for i, ca in enumerate(a):
        cur = np.empty_like(prev)
        cur[0] = i + 1
        cost = prev[:-1] + (b != ca)
        for j in range(len(b)):
            cur[j + 1] = min(cost[j], prev[j + 1] + 1, cur[j] + 1)
        prev = cur
    return prev[-1]


def viterbi(start, trans, emit, observed):
    T = len(observed)
    score = np.log(start) + np.log(emit[:, observed[0]])
    back = np.zeros((T, len(start)), dtype=int)
    for t in range(1, T):
        table = score[:, None] + np.log(trans)
        back[t] = table.argmax(axis=0)
        score = table.max(axis=0) + np.log(emit[:, observed[t]])
    path = np.zeros(T, dtype=int)
    path[-1] = np.argmax(score)
    for t in range(T - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score.max()


def floyd_warshall(dist):
    d = dist.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[k, None, :])
    return d


def pair_score(a, b, match=2, mismatch=-1):
    if a == b:
        return match
    return mismatch


def smith_waterman(a, b):
    """The best local alignment's score, where it ends, and the table."""
    n = a.size
    m = b.size
    H = np.zeros((n + 1, m + 1), dtype=np.int32)
    best = 0
    bi = bj = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = H[i - 1, j - 1] + pair_score(a[i - 1], b[j - 1])
            up = H[i - 1, j] + GAP
            left = H[i, j - 1] + GAP
            score = max(0, diagonal, up, left)
            H[i, j] = score
            if score > best:
                best = score
                bi, bj = i, j
    return best, bi, bj, H


def needleman_wunsch(a, b, out_a, out_b):
    """Align two sequences globally; -1 is a gap. The alignment's length is returned."""
    n, m = len(a), len(b)
    F = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        F[i, 0] = GAP * i
    for j in range(m + 1):
        F[0, j] = GAP * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            F[i, j] = max(
                F[i - 1, j - 1] + pair_score(a[i - 1], b[j - 1]),
                F[i - 1, j] + GAP,
                F[i, j - 1] + GAP,
            )
    i, j = n, m
    k = 0
    while i > 0 or j > 0:
        if (
            i > 0
            and j > 0
            and F[i, j] == F[i - 1, j - 1] + pair_score(a[i - 1], b[j - 1])
        ):
            i -= 1
            j -= 1
            out_a[k] = a[i]
            out_b[k] = b[j]
        elif i > 0 and F[i, j] == F[i - 1, j] + GAP:
            i -= 1
            out_a[k] = a[i]
            out_b[k] = -1
        else:
            j -= 1
            out_a[k] = -1
            out_b[k] = b[j]
        k += 1
    return k


def matrix_chain(dims):
    n = len(dims) - 1
    cost = np.zeros((n, n), np.int64)
    split = np.full((n, n), -1)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = 2**62
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
                    split[i, j] = k
    return cost[0, n - 1], split


def dtw(x, y, window):
    """The cost of warping one series onto another, within a band."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        lo = max(1, i - window)
        hi = min(m, i + window)
        for j in range(lo, hi + 1):
            c = abs(x[i - 1] - y[j - 1])
            D[i, j] = c + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def longest_increasing(a):
    """The length of the longest increasing subsequence, by bisection of the tails."""
    tails = np.empty_like(a)
    size = 0
    for x in a:
        lo, hi = 0, size
        while lo < hi:
            mid = (lo + hi) // 2
            if tails[mid] < x:
                lo = mid + 1
            else:
                hi = mid
        tails[lo] = x
        if lo == size:
            size += 1
    return size


def for_viterbi(states, steps):
    emit = uniform(states, 5, seed=2) + 0.1
    trans = uniform(states, states, seed=1) + 0.1
    start = uniform(states) + 0.1
    return start, trans, emit, integers(steps, below=5, seed=3)


def for_needleman_wunsch(n, m):
    ends = np.zeros(n + m, np.int64), np.zeros(n + m, np.int64)
    return integers(n, below=4), integers(m, below=4, seed=1), *ends


PROGRAMS = [
    Program(
        "numpy",
        knapsack,
        lambda n, c: (integers(n) + 1, integers(n, seed=1) + 1, c),
        (5, 20),
        (100, 20_000),
    ),
    Program(
        "numpy",
        edit_distance,
        lambda n: (integers(n, below=4), integers(n + 2, below=4, seed=1)),
        (7,),
        (600,),
    ),
    Program("numpy", viterbi, for_viterbi, (3, 6), (30, 1000)),
    Program("numpy", floyd_warshall, lambda n: (uniform(n, n) * 10 + 1,), (6,), (150,)),
    Program(
        "numba",
        smith_waterman,
        lambda n: (integers(n, below=4), integers(n + 1, below=4, seed=1)),
        (8,),
        (600,),
    ),
    Program("numba", needleman_wunsch, for_needleman_wunsch, (7, 8), (600, 590)),
    Program("numba", matrix_chain, lambda n: (integers(n) + 1,), (7,), (200,)),
    Program(
        "numba", dtw, lambda n: (normal(n), normal(n + 1, seed=1), 3), (8,), (1000,)
    ),
    Program(
        "numba",
        longest_increasing,
        lambda n: (integers(n, below=99),),
        (15,),
        (50_000,),
    ),
]
