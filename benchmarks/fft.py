"""Fourier transforms: of long lines, of images, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.workload import Function, Workload, normal, numpy_only

LENGTH = 1 << 20


def function(name: str) -> Callable[[Any], Function]:
    """The maker of a transform that the array module has."""
    return lambda xp: lambda x: getattr(xp.fft, name)(x)


def power(xp: Any) -> Function:
    """The power of each frequency."""
    return lambda x: xp.abs(xp.fft.fft(x)) ** 2


def convolved(xp: Any) -> Function:
    """The circular convolution of real elements."""
    return lambda x, y: xp.fft.irfft(xp.fft.rfft(x) * xp.fft.rfft(y))


def workloads() -> Iterator[Workload]:
    """A million elements, images of 512 rows, a thousand rows of 1,000."""
    real, other = normal(LENGTH), normal(LENGTH)
    line = (real + 1j * other).astype(np.complex64)
    image = (normal(512, 512) + 1j * normal(512, 512)).astype(np.complex64)
    for name, x, text in (
        ("fft", line, "2^20"),
        ("ifft", line, "2^20"),
        ("rfft", real, "2^20"),
        ("fft2", image, "512 x 512"),
        ("fft", normal(1000, 1000), "1,000 real rows of 1,000"),
    ):
        yield Workload(f"{name}, {text}", numpy_only(function(name)), (x,))
    yield Workload("abs(fft)**2, 2^20", numpy_only(power), (line,))
    yield Workload("convolution by rfft, 2^20", numpy_only(convolved), (real, other))
