"""Products of matrices and vectors, and kernels made of them."""

import numpy as np
from numba import prange

from plain.loops.program import Program, normal


def two_products(alpha, beta, A, B, C, D):
    tmp = alpha * (A @ B)
    D *= beta
    for i in range(D.shape[0]):
        D[i] += tmp[i] @ C
    return tmp


def gemver(alpha, beta, A, u1, v1, u2, v2, y, z):
    n = A.shape[0]
    x = np.zeros(n)
    w = np.zeros(n)
    for i in range(n):
        A[i, :] += u1[i] * v1 + u2[i] * v2
    for i in range(n):
        x += beta * A[i] * y[i]
    x += z
    for i in range(n):
        w[i] = alpha * np.dot(A[i, :], x)
    return x, w


def gram(points, centre=True):
    """Dot products of the columns, centred if asked for."""
    n, m = points.shape
    data = points.copy()
    if centre:
        for j in range(m):
            data[:, j] -= data[:, j].mean()
    cov = np.empty((m, m))
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = data[:, i] @ data[:, j] / (n - 1.0)
            cov[j, i] = cov[i, j]
    return cov


def gemm(alpha, beta, A, B, C):
    ni, nj = C.shape
    nk = A.shape[1]
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]


def bicg(A, p, r):
    n, m = A.shape
    s = np.zeros(m)
    q = np.empty(n)
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return s, q


def blocked_product(A, B, block=4):
    n = A.shape[0]
    C = np.zeros((n, n))
    for ii in prange((n + block - 1) // block):
        for kk in range(0, n, block):
            for jj in range(0, n, block):
                for i in range(ii * block, min((ii + 1) * block, n)):
                    for k in range(kk, min(kk + block, n)):
                        a = A[i, k]
                        for j in range(jj, min(jj + block, n)):
                            C[i, j] += a * B[k, j]
    return C


def symm(alpha, beta, C, A, B):
    """C = alpha A B + beta C, where only the lower triangle of A is read."""
    m, n = C.shape
    for i in range(m):
        for j in range(n):
            temp = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp
    return C


def doitgen(A, C4):
    nr, nq, np_ = A.shape
    sums = np.zeros(np_, A.dtype)
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                sums[p] = 0.0
                for s in range(np_):
                    sums[p] += A[r, q, s] * C4[s, p]
            for p in range(np_):
                A[r, q, p] = sums[p]


def for_two_products(n):
    A, B, C = (normal(n, n, seed=k) for k in range(3))
    return 1.5, 1.2, A, B, C, normal(n, n, seed=3)


def for_gemver(n):
    vectors = (normal(n, seed=k) for k in range(6))
    return 1.5, 1.2, normal(n, n, seed=9), *vectors


def for_gemm(n):
    return 1.5, 0.7, normal(n, n + 2), normal(n + 2, n + 1), normal(n, n + 1, seed=2)


PROGRAMS = [
    Program("numpy", two_products, for_two_products, (6,), (200,)),
    Program("numpy", gemver, for_gemver, (7,), (600,)),
    Program("numpy", gram, lambda n, m: (normal(n, m),), (9, 4), (500, 60)),
    Program("numba", gemm, for_gemm, (5,), (200,)),
    Program(
        "numba",
        bicg,
        lambda n: (normal(n, n + 1), normal(n + 1, seed=1), normal(n, seed=2)),
        (6,),
        (1500,),
    ),
    Program(
        "numba",
        blocked_product,
        lambda n: (normal(n, n), normal(n, n, seed=1)),
        (10,),
        (200,),
    ),
    Program(
        "numba",
        symm,
        lambda n: (1.5, 1.2, normal(n, n + 1), normal(n, n), normal(n, n + 1, seed=2)),
        (5,),
        (200,),
    ),
    Program(
        "numba",
        doitgen,
        lambda n: (normal(n, n, n).astype(np.float32), normal(n, n).astype(np.float32)),
        (4,),
        (50,),
    ),
]
