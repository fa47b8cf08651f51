"""Systems of equations and decompositions, written out."""

import numpy as np

from plain.loops.program import Program, normal


def lu(A):
    """L and U in one matrix, without pivots."""
    A = A.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def gauss_pivot(A, b):
    """The solution of A x = b; both are overwritten."""
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i] -= f * A[k]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def gram_schmidt(A):
    Q = A.copy()
    n = A.shape[1]
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.linalg.norm(Q[:, k])
        Q[:, k] /= R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ Q[:, j]
            Q[:, j] -= R[k, j] * Q[:, k]
    return Q, R


def power_iteration(A, tol=1e-10):
    v = np.ones(A.shape[0])
    value = 0.0
    err = np.inf
    steps = 0
    while err > tol and steps < 1000:
        w = A @ v
        v = w / np.linalg.norm(w)
        old, value = value, v @ A @ v
        err = abs(value - old)
        steps += 1
    return value, v, steps


def conjugate_gradient(A, b, tol=1e-8, maxiter=200):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for it in range(maxiter):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if np.sqrt(new) < tol:
            break
        p = r + (new / rs) * p
        rs = new
    else:
        raise ArithmeticError("no convergence")
    return x, it


def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite")
                L[i, i] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def swap_rows(A, p, q):
    for j in range(A.shape[1]):
        t = A[p, j]
        A[p, j] = A[q, j]
        A[q, j] = t


def largest_below(A, k):
    best = k
    for i in range(k + 1, A.shape[0]):
        if abs(A[i, k]) > abs(A[best, k]):
            best = i
    return best


def determinant(M):
    A = M.copy()
    n = A.shape[0]
    det = 1.0
    for k in range(n):
        p = largest_below(A, k)
        if A[p, k] == 0.0:
            return 0.0
        if p != k:
            swap_rows(A, k, p)
            det = -det
        det *= A[k, k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= f * A[k, j]
    return det


def durbin(r):
    n = r.size
    y = np.empty_like(r)
    z = np.empty_like(r)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


def gauss_seidel(A, b, x, tol):
    """The number of sweeps until no entry of x moves by more than tol."""
    n = len(b)
    sweeps = 0
    while True:
        worst = 0.0
        for i in range(n):
            s = b[i]
            for j in range(n):
                if j == i:
                    continue
                s -= A[i, j] * x[j]
            s /= A[i, i]
            worst = max(worst, abs(s - x[i]))
            x[i] = s
        sweeps += 1
        if worst < tol:
            break
        if sweeps >= 500:
            return -1
    return sweeps


def positive(n):
    A = normal(n, n)
    return A @ A.T + n * np.eye(n)


PROGRAMS = [
    Program("numpy", lu, lambda n: (positive(n),), (7,), (150,)),
    Program(
        "numpy", gauss_pivot, lambda n: (normal(n, n), normal(n, seed=1)), (6,), (100,)
    ),
    Program("numpy", gram_schmidt, lambda n: (normal(n + 2, n),), (5,), (80,)),
    Program("numpy", power_iteration, lambda n: (positive(n),), (6,), (200,)),
    Program(
        "numpy",
        conjugate_gradient,
        lambda n: (positive(n), normal(n, seed=1)),
        (8,),
        (400,),
    ),
    Program("numba", cholesky, lambda n: (positive(n),), (6,), (200,)),
    Program("numba", determinant, lambda n: (normal(n, n),), (6,), (150,)),
    Program("numba", durbin, lambda n: (normal(n) / n,), (8,), (2000,)),
    Program(
        "numba",
        gauss_seidel,
        lambda n: (positive(n), normal(n, seed=1), np.zeros(n), 1e-9),
        (7,),
        (200,),
    ),
]
