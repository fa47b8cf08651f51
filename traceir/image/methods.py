"""Interpolation kernels, by the names of methods. Serves: face.choice"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable

from traceir import rules
from traceir.arrays.array import Array
from traceir.numpy.elementwise.arithmetic import maximum, sin
from traceir.numpy.elementwise.composites import where


class ResizeMethod(enum.Enum):
    """A method of resizing; each has a name that the functions take, too.

    >>> ResizeMethod.from_string("bilinear")
    <ResizeMethod.LINEAR: 1>
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name. Raises ValueError (face.choice).

        >>> ResizeMethod.from_string("lanczos3")
        <ResizeMethod.LANCZOS3: 2>
        """
        if s not in NAMES:
            hint = f"the methods are {', '.join(NAMES)}"
            raise rules.error("face.choice", got=f"method={s!r}", hint=hint)
        return NAMES[s]


NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
}


def _linear(x: Array) -> Array:
    return maximum(0, 1 - x)


def _cubic(slope: float) -> Callable[[Array], Array]:
    """R. G. Keys, "Cubic convolution interpolation" (1981), of this slope at 1."""

    def weight(x: Array) -> Array:
        near = (slope + 2) * x - (slope + 3)
        near = near * x * x + 1
        far = (slope * x - 5 * slope) * x + 8 * slope
        far = far * x - 4 * slope
        return where(x >= 2, 0, where(x >= 1, far, near))

    return weight


def _lanczos(radius: int) -> Callable[[Array], Array]:
    """The product of two sincs, one as wide as the radius.

    C. Lanczos, "Applied Analysis" (1956). Nearest to 0 the quotient is 1.
    """

    def weight(x: Array) -> Array:
        angle = math.pi * x
        product = sin(angle) * sin(angle / radius)
        apart = x > 1e-3
        square = where(apart, angle * angle, 1)
        found = where(apart, radius * product / square, 1)
        return where(x > radius, 0, found)

    return weight


WEIGHTS: dict[ResizeMethod, Callable[[Array], Array]] = {
    ResizeMethod.LINEAR: _linear,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
}
# Where pixels that get smaller are means, the two cubic methods are one.
MEANS = {**WEIGHTS, ResizeMethod.CUBIC_PYTORCH: WEIGHTS[ResizeMethod.CUBIC]}
