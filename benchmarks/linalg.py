"""Factorizations, systems and chains of products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.workload import Function, Workload, normal


def named(name: str, **params: Any) -> Any:
    """A function of `linalg`, by its name."""
    return lambda world: lambda *xs: getattr(world.numpy.linalg, name)(*xs, **params)


def upper(world: Any) -> Function:
    """The part of a factorization that does not hang on signs: the size of each
    element.
    """
    return lambda x: world.numpy.abs(world.numpy.linalg.qr(x)[1])


def values(name: str) -> Any:
    """The values of a decomposition, whose vectors are computed, too."""

    def make(world: Any) -> Function:
        def run(x: Any) -> Any:
            found = getattr(world.numpy.linalg, name)(x)
            numbers, vectors = (found[1], found[0]) if name == "svd" else found[:2]
            return numbers, world.numpy.abs(vectors).sum()

        return run

    return make


def evidence(world: Any) -> Function:
    """The logarithm of a normal density by its covariance, and its gradient."""
    xp = world.numpy

    def density(c: Any, y: Any) -> Any:
        return -0.5 * (y @ xp.linalg.solve(c, y) + xp.linalg.slogdet(c)[1])

    return world.grad(density)


def einsum(text: str) -> Any:
    """Products as einsum writes them; NumPy is told to look for an order, too."""

    def make(world: Any) -> Function:
        return lambda *xs: world.numpy.einsum(text, *xs, optimize="optimal")

    return make


def attention(world: Any) -> Function:
    """Weights of rows among each other, and the sums with them."""
    xp = world.numpy

    def run(q: Any, k: Any, v: Any) -> Any:
        scores = xp.einsum("bqhd,bkhd->bhqk", q, k) / 4
        weights = xp.exp(scores - scores.max(-1, keepdims=True))
        weights = weights / weights.sum(-1, keepdims=True)
        return xp.einsum("bhqk,bkhd->bqhd", weights, v)

    return run


def definite(*shape: int) -> np.ndarray:
    """Symmetric matrices, all of whose values are positive."""
    x = normal(*shape)
    n = np.float32(shape[-1])
    return np.asarray(x @ x.swapaxes(-1, -2) / n + np.eye(shape[-1], dtype="f4"))


def workloads() -> Iterator[Workload]:
    """Matrices of 256 x 256, and stacks of small ones."""

    def row(name: str, make: Any, *args: Any) -> Workload:
        return Workload(name, make, args)

    x, d = normal(256, 256), definite(256, 256)
    many, vectors = definite(1000, 8, 8), normal(1000, 8, 1)
    yield row("cholesky, 256", named("cholesky"), d)
    yield row("cholesky, 1000 of 8", named("cholesky"), many)
    yield row("solve, 256", named("solve"), d, normal(256, 16))
    yield row("solve, 1000 of 8", named("solve"), many, vectors)
    yield row("inv, 256", named("inv"), d)
    yield row("det, 1000 of 8", named("det"), many)
    yield row("qr, 256", upper, x)
    yield row("svd, 256", values("svd"), x)
    yield row("values of svd, 256", named("svd", compute_uv=False), x)
    yield row("eigh, 256", values("eigh"), d)
    yield row("eigh, 1000 of 8", values("eigh"), many)
    yield Workload(
        "gradient of a density, 256", evidence, (d, normal(256)), in_numpy=False
    )
    chain = normal(64, 512), normal(512, 512), normal(512, 32)
    yield row("einsum ij,jk,kl", einsum("ij,jk,kl->il"), *chain)
    form = normal(4096, 64), normal(64, 64), normal(4096, 64)
    yield row("einsum of a form", einsum("ni,ij,nj->n"), *form)
    yield row("einsum bij,bjk", einsum("bij,bjk->bik"), *[normal(64, 64, 64)] * 2)
    yield row("einsum ijk,jil", einsum("ijk,jil->kl"), *[normal(64, 64, 64)] * 2)
    yield row("attention", attention, *[normal(4, 128, 4, 16)] * 3)
