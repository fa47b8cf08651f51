"""Sparse matrices: three arrays hold the entries row by row."""

import numpy as np
from numba import prange

from plain.loops.program import Program, normal, uniform


def csr_times_vector(data, indices, indptr, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        row = slice(indptr[i], indptr[i + 1])
        y[i] = np.sum(data[row] * x[indices[row]])
    return y


def coo_to_dense(rows, cols, vals, shape):
    dense = np.zeros(shape)
    for r, c, v in zip(rows, cols, vals):
        dense[r, c] += v
    return dense


def csr_product(data, indices, indptr, x):
    n = indptr.shape[0] - 1
    out = np.empty(n)
    for i in prange(n):
        acc = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            acc += data[k] * x[indices[k]]
        out[i] = acc
    return out


def csr_transpose(data, indices, indptr, n_cols):
    nnz = data.size
    n_rows = indptr.size - 1
    t_data = np.empty_like(data)
    t_indices = np.empty_like(indices)
    t_indptr = np.zeros(n_cols + 1, indptr.dtype)
    for k in range(nnz):
        t_indptr[indices[k] + 1] += 1
    for j in range(n_cols):
        t_indptr[j + 1] += t_indptr[j]
    place = t_indptr[:-1].copy()
    for i in range(n_rows):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            p = place[j]
            t_data[p] = data[k]
            t_indices[p] = i
            place[j] += 1
    return t_data, t_indices, t_indptr


def pagerank(indices, indptr, damping, tol):
    """Rank the pages of a graph whose rows list the pages they point to."""
    n = len(indptr) - 1
    rank = np.full(n, 1.0 / n)
    nxt = np.empty(n)
    for it in range(100):
        lost = 0.0
        for i in range(n):
            nxt[i] = 0.0
        for i in range(n):
            degree = indptr[i + 1] - indptr[i]
            if degree == 0:
                lost += rank[i]
                continue
            share = rank[i] / degree
            for k in range(indptr[i], indptr[i + 1]):
                nxt[indices[k]] += share
        diff = 0.0
        for i in range(n):
            new = (1.0 - damping) / n + damping * (nxt[i] + lost / n)
            diff += abs(new - rank[i])
            rank[i] = new
        if diff < tol:
            break
    return rank, it


def csr(n, m, density=0.3):
    """The three arrays of a random matrix; some rows are empty."""
    kept = uniform(n, m, seed=5) < density
    kept[n // 2] = False
    rows, cols = np.nonzero(kept)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return normal(len(rows), seed=6), cols.astype(np.int32), indptr.astype(np.int32)


def for_coo_to_dense(n, m):
    rng = np.random.default_rng(3)
    places = rng.integers(0, n, m), rng.integers(0, n, m)
    return *places, rng.normal(size=m), (n, n)


PROGRAMS = [
    Program(
        "numpy",
        csr_times_vector,
        lambda n, m: (*csr(n, m), normal(m)),
        (6, 7),
        (2000, 300),
    ),
    Program("numpy", coo_to_dense, for_coo_to_dense, (4, 9), (300, 3000)),
    Program(
        "numba", csr_product, lambda n, m: (*csr(n, m), normal(m)), (6, 7), (2000, 300)
    ),
    Program("numba", csr_transpose, lambda n, m: (*csr(n, m), m), (6, 7), (2000, 300)),
    Program("numba", pagerank, lambda n: (*csr(n, n)[1:], 0.85, 1e-9), (6,), (500,)),
]
