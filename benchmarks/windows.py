"""Windows: convolutions, pooling, running sums and maxima."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.workload import Function, Workload, normal, small

PLANES = ("NCHW", "OIHW", "NCHW")
ROWS = ("NHWC", "HWIO", "NHWC")


def convolved(mode: str) -> Any:
    """A signal and a filter, as `numpy.convolve` has them."""
    return lambda world: lambda x, w: world.numpy.convolve(x, w, mode=mode)


def layer(layout: tuple[str, str, str], stride: int = 1, groups: int = 1) -> Any:
    """A layer of a network for images."""

    def make(world: Any) -> Function:
        def run(x: Any, w: Any) -> Any:
            return world.lax.conv_general_dilated(
                x,
                w,
                (stride, stride),
                "SAME",
                dimension_numbers=layout,
                feature_group_count=groups,
            )

        return run

    return make


def trained(world: Any) -> Function:
    """The gradient of a layer's squares by its weights."""
    run = layer(PLANES)(world)
    return world.grad(lambda w, x: (run(x, w) ** 2).sum())


def greatest(world: Any) -> Function:
    """The greatest of each two by two."""

    def run(x: Any) -> Any:
        size = (1, 1, 2, 2)
        return world.lax.reduce_window(x, -np.inf, world.lax.max, size, size, "VALID")

    return run


def mean(world: Any) -> Function:
    """The mean of each three by three, overlapping."""

    def run(x: Any) -> Any:
        size, step = (1, 1, 3, 3), (1, 1, 1, 1)
        total = world.lax.reduce_window(x, 0.0, world.lax.add, size, step, "SAME")
        return total / 9

    return run


def pooled(world: Any) -> Function:
    """The gradient through the greatest of each two by two."""
    run = greatest(world)
    return world.grad(lambda x: (run(x) ** 2).sum())


def moving(size: int) -> Any:
    """The sum of so many in a row."""

    def make(world: Any) -> Function:
        add = world.lax.add
        return lambda x: world.lax.reduce_window(x, 0.0, add, (size,), (1,), "VALID")

    return make


def running(name: str, axis: int = 0) -> Any:
    """The folds of `lax` along an axis."""
    return lambda world: lambda x: getattr(world.lax, name)(x, axis)


def numpy_sum(xp: Any) -> Function:
    """Running sums, as NumPy calls them."""
    return lambda x: xp.numpy.cumsum(x)


def workloads() -> Iterator[Workload]:
    """Signals of a million, images of 64 x 64 in batches."""

    def row(name: str, make: Any, *args: Any) -> Workload:
        return Workload(name, make, args, in_numpy=False)

    def beside(name: str, make: Any, *args: Any) -> Workload:
        # A sum near zero of a million numbers has few digits.
        return Workload(name, make, args, near=0.999)

    x, square = normal(1_000_000), normal(1000, 1000)
    yield beside("convolve, 10^6 by 9", convolved("same"), x, small(9))
    yield beside("convolve, 10^5 by 101", convolved("valid"), x[:100_000], small(101))
    planes, rows = normal(8, 16, 64, 64), normal(8, 64, 64, 16)
    kernel = small(32, 16, 3, 3)
    turned = np.ascontiguousarray(kernel.transpose(2, 3, 1, 0))
    yield row("conv 3x3, 16 to 32, NCHW", layer(PLANES), planes, kernel)
    yield row("conv 3x3, 16 to 32, NHWC", layer(ROWS), rows, turned)
    yield row("conv 3x3, stride 2", layer(PLANES, 2), planes, kernel)
    yield row("conv 1x1, 16 to 32", layer(PLANES), planes, small(32, 16, 1, 1))
    yield row(
        "conv 3x3 of each channel", layer(PLANES, groups=16), planes, small(16, 1, 3, 3)
    )
    image = normal(1, 1, 1000, 1000)
    yield row("image filter 5x5", layer(PLANES), image, small(1, 1, 5, 5))
    yield row("gradient of conv 3x3", trained, kernel, planes)
    yield row("greatest of 2x2", greatest, planes)
    yield row("gradient of greatest of 2x2", pooled, planes)
    yield row("mean of 3x3", mean, planes)
    yield row("sum of 10 in a row", moving(10), x)
    yield beside("cumsum", numpy_sum, x)
    yield row("cumsum of rows, 1000^2", running("cumsum", 1), square)
    yield row("cumsum of columns, 1000^2", running("cumsum"), square)
    yield row("cummax", running("cummax"), x)
    yield row("cumprod of rows, 1000^2", running("cumprod", 1), square)
    yield row("cumlogsumexp of rows, 1000^2", running("cumlogsumexp", 1), square)
