"""Distances, masks, contractions, linear algebra."""

import numpy as np

from plain.examples import example, numbers


@example(
    numbers(5, 3),
    numbers(4, 3, seed=1),
    large=lambda: (numbers(400, 3), numbers(300, 3, seed=1)),
)
def pairwise_euclidean(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1))


@example(
    numbers(5, 3),
    numbers(4, 3, seed=1),
    large=lambda: (numbers(1000, 3), numbers(800, 3, seed=1)),
)
def pairwise_by_products(a, b):
    d = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * np.dot(a, b.T)
    return np.sqrt(np.maximum(d, 0))


@example(
    numbers(6),
    numbers(6, seed=1),
    large=lambda: (numbers(2_000_000), numbers(2_000_000, seed=1)),
)
def cosine_similarity(a, b):
    return np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))


@example(numbers(6, 2), large=lambda: (numbers(600, 2),))
def manhattan_matrix(x):
    return np.abs(x[:, np.newaxis] - x).sum(axis=2)


@example(
    numbers(6, 2),
    numbers(3, 2, seed=1),
    large=lambda: (numbers(20_000, 2), numbers(10, 2, seed=1)),
)
def nearest_centre(x, centres):
    d = ((x[:, None] - centres[None]) ** 2).sum(-1)
    return np.argmin(d, axis=1)


@example(
    numbers(8, 2),
    numbers(3, 2, seed=1),
    large=lambda: (numbers(20_000, 2), numbers(10, 2, seed=1)),
)
def k_means_step(x, centres):
    d = ((x[:, None] - centres[None]) ** 2).sum(-1)
    labels = d.argmin(axis=1)
    new = centres.copy()
    for k in range(len(centres)):
        mask = labels == k
        n = np.maximum(mask.sum(), 1)
        new[k] = (x * mask[:, None]).sum(axis=0) / n
    return new


@example(
    numbers(6),
    numbers(6, seed=1),
    0.84,
    0.2,
    large=lambda: (numbers(200_000), numbers(200_000, seed=1), 0.84, 0.2),
)
def haversine(latitudes, longitudes, latitude, longitude):
    a = np.sin((latitudes - latitude) / 2) ** 2
    b = np.sin((longitudes - longitude) / 2) ** 2
    a += np.cos(latitudes) * np.cos(latitude) * b
    return 2 * 6371 * np.arcsin(np.sqrt(a))


@example(
    np.array([1, 0, 1, 1]),
    np.array([1, 1, 0, 1]),
    large=lambda: (
        numbers(2_000_000, dtype="int64"),
        numbers(2_000_000, seed=1, dtype="int64"),
    ),
)
def hamming(a, b):
    return np.mean(a != b), np.count_nonzero(a != b)


@example(
    np.array([3, 1, 4, 1, 5]),
    np.array([3, 4, 1, 5]),
    large=lambda: (numbers(12, dtype="int64"), numbers(12, seed=1, dtype="int64")),
)
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


@example(np.abs(numbers(5, 5)), large=lambda: (np.abs(numbers(40, 40)),))
def floyd_warshall(d):
    d = d.copy()
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k], out=d)
    return d


@example(np.abs(numbers(4, 4)), large=lambda: (np.abs(numbers(500, 500)),))
def page_rank(links):
    p = links / links.sum(axis=0)
    n = len(links)
    r = np.full(n, 1 / n)
    for _ in range(10):
        r = 0.15 / n + 0.85 * p @ r
    return r


@example(
    numbers(3, 4),
    numbers(4, 5, seed=1),
    numbers(5, 2, seed=2),
    large=lambda: (numbers(60, 70), numbers(70, 50, seed=1), numbers(50, 40, seed=2)),
)
def chain_by_einsum(a, b, c):
    return np.einsum("ij,jk,kl->il", a, b, c)


@example(numbers(4, 4), large=lambda: (numbers(2000, 2000),))
def traces_by_einsum(m):
    return np.einsum("ii", m), np.einsum("ij->j", m), np.einsum("ij,ij->i", m, m)


@example(
    numbers(3, 4, 5),
    numbers(3, 5, 2, seed=1),
    large=lambda: (numbers(100, 40, 50), numbers(100, 50, 30, seed=1)),
)
def batched_product(a, b):
    return np.matmul(a, b), np.einsum("bij,bjk->bik", a, b)


@example(
    numbers(4, 4),
    numbers(4, seed=1),
    large=lambda: (numbers(300, 300), numbers(300, seed=1)),
)
def solve_and_check(a, b):
    x = np.linalg.solve(a, b)
    return x, a @ x - b


@example(numbers(6, 3), large=lambda: (numbers(3000, 16),))
def gram_schmidt(a):
    q = np.zeros_like(a)
    for k in range(a.shape[1]):
        v = a[:, k].copy()
        for j in range(k):
            v -= (q[:, j] @ a[:, k]) * q[:, j]
        q[:, k] = v / np.linalg.norm(v)
    return q


@example(numbers(5, 5), large=lambda: (numbers(500, 500),))
def power_iteration(a):
    a = a + a.T
    v = np.ones(len(a))
    for _ in range(20):
        v = a @ v
        v /= np.linalg.norm(v)
    return v @ a @ v


@example(numbers(4, 4), large=lambda: (numbers(60, 60),))
def lu_in_place(a):
    n = len(a)
    a += 5 * n * np.eye(n)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


@example(numbers(5, 3), large=lambda: (numbers(20_000, 30),))
def least_squares_cholesky(a):
    g = a.T @ a + np.eye(a.shape[1])
    c = np.linalg.cholesky(g)
    return c, np.linalg.inv(g), np.linalg.det(g)


@example(numbers(6), large=lambda: (numbers(500_000),))
def vandermonde(x):
    v = np.ones((len(x), 4))
    for k in range(1, 4):
        v[:, k] = v[:, k - 1] * x
    return v


@example(
    np.array([2.0, -1.0, 3.0]),
    numbers(5),
    large=lambda: (numbers(12), numbers(300_000)),
)
def horner(coefficients, x):
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return y


@example(0.3)
def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@example(numbers(6, 6), large=lambda: (numbers(800, 800),))
def masked_by_triangles(m):
    return np.tril(m), np.triu(m, 1), m[np.eye(len(m), dtype=bool)]


@example(
    numbers(3, 4, dtype="int32"),
    numbers(4, dtype="uint8", seed=1),
    large=lambda: (
        numbers(500, 400, dtype="int32"),
        numbers(400, dtype="uint8", seed=1),
    ),
)
def mixed_integers(a, b):
    return a * b, a / (b + 1), a // (b + 1), a % (b + 1), a**2, a @ b


@example(
    numbers(5, dtype="float32"),
    2,
    0.5,
    large=lambda: (numbers(1_000_000, dtype="float32"), 2, 0.5),
)
def weak_scalars(x, k, a):
    return x * k, x + a, x**2, np.sqrt(a) * x, x / k


@example(
    np.array([True, False, True]),
    np.array([1, 2, 3], dtype="int16"),
    large=lambda: (numbers(1_000_000) > 0, numbers(1_000_000, dtype="int16")),
)
def truths(mask, x):
    return mask + mask, mask * x, x[0] + mask, mask.sum(), np.where(mask, x, -x)


@example(numbers(12), large=lambda: (numbers(3_000_000),))
def views_of_views(x):
    table = x.reshape(3, -1)
    table[1] = 0
    corner = table[1:, 2:]
    corner += 1
    table.T[0] *= 2
    return x, corner


@example(
    np.array([3, 7, 0]),
    np.array([0, 2, 0]),
    large=lambda: (
        numbers(500_000, dtype="int64"),
        numbers(500_000, seed=1, dtype="int64"),
    ),
)
def integer_division_by_zero(a, b):
    with np.errstate(divide="ignore"):
        return a // b, a % b


@example(
    numbers(6),
    np.array([4, 0, 2]),
    large=lambda: (numbers(500_000), numbers(500_000, seed=1, dtype="int64")),
)
def gather_by_index(x, places):
    y = x[places]
    y[0] = -1
    return y, x[places[1]], np.take(x, places)


@example(
    numbers(6),
    np.array([4, 0, 2]),
    large=lambda: (numbers(500_000), numbers(500_000, seed=1, dtype="int64")),
)
def scatter_by_index(x, places):
    x[places] = 0
    x[places[0]] += 3
    return x[::-1]
