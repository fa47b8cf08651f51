"""Walks over graphs and trees that arrays hold."""

import numpy as np

from plain.loops.program import Program, integers, uniform


def bfs_levels(adjacency, source):
    """The distance of each node from a source, a front at a time."""
    n = len(adjacency)
    level = np.full(n, -1)
    front = np.zeros(n, dtype=bool)
    front[source] = True
    depth = 0
    while front.any():
        level[front] = depth
        front = (adjacency & front[:, None]).any(axis=0) & (level < 0)
        depth += 1
    return level


def bellman_ford(edges, weights, n, source):
    dist = np.full(n, np.inf)
    dist[source] = 0
    for _ in range(n - 1):
        before = dist.copy()
        np.minimum.at(dist, edges[:, 1], dist[edges[:, 0]] + weights)
        if np.array_equal(before, dist):
            break
    return dist


def dijkstra(weights, source):
    """Shortest distances and predecessors; no edge has weight inf."""
    n = weights.shape[0]
    dist = np.full(n, np.inf)
    prev = np.full(n, -1)
    todo = np.ones(n, dtype=bool)
    dist[source] = 0.0
    for _ in range(n):
        u = np.argmin(np.where(todo, dist, np.inf))
        if not todo[u] or np.isinf(dist[u]):
            break
        todo[u] = False
        through = dist[u] + weights[u]
        closer = todo & (through < dist)
        dist[closer] = through[closer]
        prev[closer] = u
    return dist, prev


def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


def components(n, edges):
    """Unite the ends of all edges; the number of components and their roots."""
    parent = np.arange(n)
    size = np.ones(n, dtype=np.int64)
    count = n
    for e in range(edges.shape[0]):
        a = find(parent, edges[e, 0])
        b = find(parent, edges[e, 1])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        count -= 1
    for x in range(n):
        parent[x] = find(parent, x)
    return count, parent


def bfs_queue(indptr, indices, source):
    n = indptr.size - 1
    dist = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    head, tail = 0, 1
    queue[0] = source
    dist[source] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1
    return dist


def prim(weights):
    """The weight of a minimum spanning tree."""
    n = weights.shape[0]
    in_tree = np.zeros(n, np.bool_)
    key = np.empty(n)
    for v in range(n):
        key[v] = 1e300
    key[0] = 0.0
    total = 0.0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not in_tree[v] and (u < 0 or key[v] < key[u]):
                u = v
        in_tree[u] = True
        total += key[u]
        for v in range(n):
            if not in_tree[v] and weights[u, v] < key[v]:
                key[v] = weights[u, v]
    return total


def tree_sums(left, right, values):
    """Sum below each node of a binary tree, by a stack; -1 is no child."""
    n = len(values)
    stack = np.empty(2 * n, np.int64)
    done = np.zeros(n, np.uint8)
    sums = values.copy()
    depth = 0
    stack[depth] = 0
    deepest = 0
    while depth >= 0:
        node = stack[depth]
        deepest = max(deepest, depth)
        if done[node] == 0 and left[node] != -1:
            depth += 1
            stack[depth] = left[node]
        elif done[node] <= 1 and right[node] != -1:
            done[node] = 1
            depth += 1
            stack[depth] = right[node]
        else:
            depth -= 1
            if depth >= 0:
                above = stack[depth]
                sums[above] += sums[node]
                done[above] = 2 if right[above] == node else 1
    return sums, deepest


def for_bfs_queue(n):
    kept = uniform(n, n) < 2.5 / n
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return indptr, np.nonzero(kept)[1], 0


def for_tree_sums(n):
    nodes = np.arange(n)
    left = np.where(2 * nodes + 1 < n, 2 * nodes + 1, -1)
    right = np.where(2 * nodes + 2 < n, 2 * nodes + 2, -1)
    return left, right, integers(n).astype(float)


def symmetric(n):
    weights = uniform(n, n)
    return weights + weights.T


PROGRAMS = [
    Program("numpy", bfs_levels, lambda n: (uniform(n, n) < 2 / n, 0), (8,), (500,)),
    Program(
        "numpy",
        bellman_ford,
        lambda n, m: (integers(m, 2, below=n), uniform(m), n, 0),
        (6, 14),
        (500, 3000),
    ),
    Program(
        "numpy",
        dijkstra,
        lambda n: (np.where(uniform(n, n) < 0.5, symmetric(n), np.inf), 0),
        (7,),
        (300,),
    ),
    Program(
        "numba",
        components,
        lambda n, m: (n, integers(m, 2, below=n)),
        (10, 8),
        (50_000, 40_000),
    ),
    Program("numba", bfs_queue, for_bfs_queue, (12,), (1000,)),
    Program("numba", prim, lambda n: (symmetric(n),), (7,), (500,)),
    Program("numba", tree_sums, for_tree_sums, (11,), (50_000,)),
]
