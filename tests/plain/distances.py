"""Distances, masks, contractions, linear algebra."""

import numpy as np

from plain.examples import example, numbers


@example(numbers(5, 3), numbers(4, 3, seed=1))
def pairwise_euclidean(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1))


@example(numbers(5, 3), numbers(4, 3, seed=1))
def pairwise_by_products(a, b):
    d = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * np.dot(a, b.T)
    return np.sqrt(np.maximum(d, 0))


@example(numbers(6), numbers(6, seed=1))
def cosine_similarity(a, b):
    return np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))


@example(numbers(6, 2))
def manhattan_matrix(x):
    return np.abs(x[:, np.newaxis] - x).sum(axis=2)


@example(numbers(6, 2), numbers(3, 2, seed=1))
def nearest_centre(x, centres):
    d = ((x[:, None] - centres[None]) ** 2).sum(-1)
    return np.argmin(d, axis=1)


@example(numbers(8, 2), numbers(3, 2, seed=1))
def k_means_step(x, centres):
    d = ((x[:, None] - centres[None]) ** 2).sum(-1)
    labels = d.argmin(axis=1)
    new = centres.copy()
    for k in range(len(centres)):
        mask = labels == k
        n = np.maximum(mask.sum(), 1)
        new[k] = (x * mask[:, None]).sum(axis=0) / n
    return new


@example(np.array([48.1, 52.5]), np.array([11.6, 13.4]))
def haversine(latitudes, longitudes):
    p = np.radians(latitudes)
    q = np.radians(longitudes)
    a = np.sin((p[1] - p[0]) / 2) ** 2
    a += np.cos(p[0]) * np.cos(p[1]) * np.sin((q[1] - q[0]) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(a))


@example(np.array([1, 0, 1, 1]), np.array([1, 1, 0, 1]))
def hamming(a, b):
    return np.mean(a != b), np.count_nonzero(a != b)


@example(np.array([3, 1, 4, 1, 5]), np.array([3, 4, 1, 5]))
def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0] = np.arange(len(a) + 1)
    table[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = np.where(a[i - 1] == b[j - 1], 0, 1)
            step = np.minimum(table[i - 1, j], table[i, j - 1]) + 1
            table[i, j] = np.minimum(step, table[i - 1, j - 1] + cost)
    return table[-1, -1]


@example(np.abs(numbers(5, 5)))
def floyd_warshall(d):
    d = d.copy()
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k], out=d)
    return d


@example(np.abs(numbers(4, 4)))
def page_rank(links):
    p = links / links.sum(axis=0)
    r = np.full(4, 1 / 4)
    for _ in range(10):
        r = 0.15 / 4 + 0.85 * p @ r
    return r


@example(numbers(3, 4), numbers(4, 5, seed=1), numbers(5, 2, seed=2))
def chain_by_einsum(a, b, c):
    return np.einsum("ij,jk,kl->il", a, b, c)


@example(numbers(4, 4))
def traces_by_einsum(m):
    return np.einsum("ii", m), np.einsum("ij->ji", m), np.einsum("ij,ij->i", m, m)


@example(numbers(3, 4, 5), numbers(3, 5, 2, seed=1))
def batched_product(a, b):
    return np.matmul(a, b), np.einsum("bij,bjk->bik", a, b)


@example(numbers(4, 4), numbers(4, seed=1))
def solve_and_check(a, b):
    x = np.linalg.solve(a, b)
    return x, a @ x - b


@example(numbers(6, 3))
def gram_schmidt(a):
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        v = a[:, k].copy()
        for j in range(k):
            v -= (q[:, j] @ a[:, k]) * q[:, j]
        q[:, k] = v / np.linalg.norm(v)
    return q


@example(numbers(5, 5))
def power_iteration(a):
    a = a + a.T
    v = np.ones(5)
    for _ in range(20):
        v = a @ v
        v /= np.linalg.norm(v)
    return v @ a @ v


@example(numbers(4, 4))
def lu_in_place(a):
    a += 5 * np.eye(4)
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@example(numbers(5, 3))
def least_squares_cholesky(a):
    g = a.T @ a + np.eye(3)
    c = np.linalg.cholesky(g)
    return c, np.linalg.inv(g), np.linalg.det(g)


@example(numbers(6))
def vandermonde(x):
    v = np.ones((len(x), 4))
    for k in range(1, 4):
        v[:, k] = v[:, k - 1] * x
    return v


@example(np.array([2.0, -1.0, 3.0]), numbers(5))
def horner(coefficients, x):
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return y


@example(0.3)
def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@example(numbers(6, 6))
def masked_by_triangles(m):
    return np.tril(m), np.triu(m, 1), m[np.eye(6, dtype=bool)]


@example(numbers(3, 4, dtype="int32"), numbers(4, dtype="uint8", seed=1))
def mixed_integers(a, b):
    return a * b, a / (b + 1), a // (b + 1), a % (b + 1), a**2, a @ b


@example(numbers(5, dtype="float32"), 2, 0.5)
def weak_scalars(x, k, a):
    return x * k, x + a, x**2, np.sqrt(a) * x, x / k


@example(np.array([True, False, True]), np.array([1, 2, 3], dtype="int16"))
def truths(mask, x):
    return mask + mask, mask * x, x[0] + mask, mask.sum(), np.where(mask, x, -x)


@example(numbers(12))
def views_of_views(x):
    table = x.reshape(3, 4)
    table[1] = 0
    corner = table[1:, 2:]
    corner += 1
    table.T[0] *= 2
    return x, corner


@example(np.array([3, 7, 0]), np.array([0, 2, 0]))
def integer_division_by_zero(a, b):
    with np.errstate(divide="ignore"):
        return a // b, a % b


@example(numbers(6), np.array([4, 0, 2]))
def gather_by_index(x, places):
    y = x[places]
    y[0] = -1
    return y, x[places[1]], np.take(x, places)


@example(numbers(6), np.array([4, 0, 2]))
def scatter_by_index(x, places):
    x[places] = 0
    x[places[0]] += 3
    return x[::-1]
