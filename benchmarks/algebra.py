"""Products of matrices, with what comes before and after them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.workload import Workload, each, normal, numpy_only, whole


def workloads() -> Iterator[Workload]:
    """From 4 x 4 to 1024 x 1024."""
    product = each(lambda a, b: a @ b)
    for n in (64, 256, 1024):
        yield Workload(f"{n} x {n}", product, (normal(n, n), normal(n, n)))
    pair = normal(512, 512), normal(512, 512)
    yield Workload("512 x 512, f64", product, tuple(x.astype("f8") for x in pair))
    yield Workload("a.T @ b, 512", each(lambda a, b: a.T @ b), pair)
    yield Workload("a @ b.T, 512", each(lambda a, b: a @ b.T), pair)
    layer = numpy_only(lambda xp: lambda x, w, b: xp.maximum(x @ w + b, 0))
    weights = normal(784, 256), normal(256)
    yield Workload("layer 256 x 784 x 256", layer, (normal(256, 784), *weights))
    squash = numpy_only(lambda xp: lambda x, w, b: xp.tanh(x @ w + b))
    yield Workload(
        "layer 64 x 32 x 64, tanh", squash, (normal(64, 32), normal(32, 64), normal(64))
    )
    scaled = each(lambda a, b: (a * 2 + 1) @ b)
    yield Workload("(a * 2 + 1) @ b, 512", scaled, pair)
    yield Workload("batch of 64, 32 x 32", product, (normal(64, 32, 32),) * 2)
    yield Workload("batch of 10^5, 4 x 4", product, (normal(100_000, 4, 4),) * 2)
    yield Workload(
        "matrix and vector, 1000", product, (normal(1000, 1000), normal(1000))
    )
    yield Workload(
        "vector and matrix, 1000", product, (normal(1000), normal(1000, 1000))
    )
    yield Workload("tall 10^5 x 16", each(lambda a: a.T @ a), (normal(100_000, 16),))
    yield Workload("dot of 10^6", product, (normal(1_000_000), normal(1_000_000)))
    yield Workload("int32, 256", product, (whole(256, 256), whole(256, 256)))
