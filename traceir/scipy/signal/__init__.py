"""Convolutions, correlations, trends and spectra, as in `scipy.signal`.

Serves: face.choice, face.empty, face.least-rank

Takes signals, gives signals or spectra. Start reading at `convolve`.

- `segments`: signals cut into segments, and their spectra
- `spectral`: spectral estimates: `stft`, `istft`, `csd`, `welch`
- `trends`: signals without their trends
- `windows`: windows by their names in SciPy
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    operands,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.precision import PrecisionLike
from traceir.lax.checks.shapes import axes_in
from traceir.numpy.fft.transforms import fftn, ifftn, irfftn, rfftn
from traceir.numpy.manipulation.rearrange import flip
from traceir.numpy.products.convolve import MODES
from traceir.scipy.signal.spectral import csd, istft, stft, welch
from traceir.scipy.signal.trends import check_choice, detrend
from traceir.tracing.trace import typeof

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "detrend",
    "fftconvolve",
    "istft",
    "stft",
    "welch",
]

Shape = tuple[int, ...]


def convolve(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    method: str = "auto",
    precision: PrecisionLike = None,
) -> Array:
    """Sums of products of `in1` with `in2` turned around, of as many dimensions.

    `"full"` has every place at which the two meet, `"same"` as many as `in1`, around
    the middle, `"valid"` those at which one lies within the other. The method is
    `"direct"`, or `"fft"` for `fftconvolve`; `"auto"` is direct, and asks for one array
    that is the smaller in every dimension. The result is floating. Raises ValueError
    (face.choice, face.empty, face.least-rank).

    >>> import traceir.numpy as jnp
    >>> convolve(jnp.array([1, 2, 3]), jnp.array([0, 1]), "same")
    Array([0., 1., 2.], dtype=float32)
    """
    check_choice("method", method, ("auto", "direct", "fft"))
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    x, y = _pair("convolve", in1, in2, mode)
    if not _nested(x, y):
        got = f"shapes {shape_of(x)} and {shape_of(y)}, of which neither is the smaller"
        raise rules.error("face.choice", got=got, hint='see method="fft"')
    return _direct(x, y, mode, precision)


def correlate(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    method: str = "auto",
    precision: PrecisionLike = None,
) -> Array:
    """Sums of products of `in1` with the conjugate of `in2`; otherwise as `convolve`.

    >>> import traceir.numpy as jnp
    >>> correlate(jnp.array([1, 2, 3]), jnp.array([0, 1]), "valid")
    Array([2., 3.], dtype=float32)
    """
    x, y = operands("correlate", (in1, in2))
    if kind_of(typeof(y).dtype) == "c":
        y = lax.conj(y)
    return convolve(x, flip(y), mode, method, precision)


def convolve2d(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """`convolve` of two matrices; there are zeros beside them.

    Raises ValueError (face.choice, face.empty, face.least-rank).

    >>> import traceir.numpy as jnp
    >>> convolve2d(jnp.ones((2, 2)), jnp.ones((1, 2)))
    Array([[1., 2., 1.],
           [1., 2., 1.]], dtype=float32)
    """
    _matrices(in1, in2, boundary, fillvalue)
    return convolve(in1, in2, mode, "direct", precision)


def correlate2d(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: PrecisionLike = None,
) -> Array:
    """`correlate` of two matrices; there are zeros beside them.

    As in SciPy it is the later of two middles with "same", where `correlate` takes the
    earlier one, and with "valid" it is `in1` that is conjugated where it is smaller.

    >>> import traceir.numpy as jnp
    >>> correlate2d(jnp.array([[1, 2, 3]]), jnp.array([[0, 1]]), "valid")
    Array([[2., 3.]], dtype=float32)
    """
    _matrices(in1, in2, boundary, fillvalue)
    x, y = operands("correlate2d", (in1, in2))
    if mode == "same":
        return flip(correlate(flip(x), flip(y), mode, "direct", precision))
    smaller = any(n < m for n, m in zip(shape_of(x), shape_of(y), strict=True))
    if mode == "valid" and smaller:
        return flip(correlate(y, x, mode, "direct", precision))
    return correlate(x, y, mode, "direct", precision)


def fftconvolve(
    in1: Operand,
    in2: Operand,
    mode: str = "full",
    axes: int | Sequence[int] | None = None,
) -> Array:
    """`convolve` by Fourier transforms, along some axes; the others broadcast.

    Raises ValueError (face.choice, face.empty, face.least-rank, face.axis).

    >>> import traceir.numpy as jnp
    >>> fftconvolve(jnp.array([1, 2, 3]), jnp.array([0, 1])).round()
    Array([0., 1., 2., 3.], dtype=float32)
    """
    x, y = _pair("fftconvolve", in1, in2, mode, axes is None)
    along = axes_in(axes, len(shape_of(x)))
    sizes = [(shape_of(x)[d], shape_of(y)[d]) for d in along]
    if all(1 in pair for pair in sizes):
        found = as_array(x * y)
    else:
        lengths = tuple(n + m - 1 for n, m in sizes)
        real = kind_of(typeof(x).dtype) == "f"
        forth, back = (rfftn, irfftn) if real else (fftn, ifftn)
        spectra = forth(x, lengths, along) * forth(y, lengths, along)
        found = back(spectra, lengths, along)
    starts, stops = [0] * found.ndim, list(found.shape)
    for d, (n, m) in zip(along, sizes, strict=True):
        starts[d], kept = _kept(n, m, mode)
        stops[d] = starts[d] + kept
    return lax.slice(found, starts, stops)


def _direct(x: Operand, y: Operand, mode: str, precision: PrecisionLike) -> Array:
    """One convolution of a single feature."""
    n, m = shape_of(x), shape_of(y)
    if any(a < b for a, b in zip(n, m, strict=True)) and mode == "valid":
        x, y, n, m = y, x, m, n
    pads = []
    for a, b in zip(n, m, strict=True):
        start, kept = _kept(a, b, mode)
        pads.append((b - 1 - start, b - 1 - (a + b - 1 - start - kept)))
    dims = tuple(range(2, 2 + len(n)))
    image, window = (
        lax.broadcast_in_dim(v, (1, 1, *shape_of(v)), dims) for v in (x, flip(y))
    )
    found = lax.conv_general_dilated(
        image, window, (1,) * len(n), pads, precision=precision
    )
    return lax.squeeze(found, (0, 1))


def _kept(n: int, m: int, mode: str) -> tuple[int, int]:
    """The first place that is kept of all at which the two meet, and how many."""
    many = {"full": n + m - 1, "same": n, "valid": abs(n - m) + 1}[mode]
    start = {"full": 0, "same": (m - 1) // 2, "valid": min(n, m) - 1}[mode]
    return start, many


def _pair(
    name: str, in1: Operand, in2: Operand, mode: str, all_axes: bool = True
) -> list[Any]:
    """Both operands in the dtype in which they meet, checked."""
    check_choice("mode", mode, MODES)
    x, y = promoted_inexact(name, *operands(name, (in1, in2)))
    n, m = shape_of(x), shape_of(y)
    if len(n) != len(m):
        got = f"{len(n)} dimensions and {len(m)} in {name}, which need as many"
        raise rules.error("face.least-rank", got=got)
    if 0 in (*n, *m):
        raise rules.error("face.empty", got=f"{n} and {m} in {name}")
    if mode == "valid" and all_axes and not _nested(x, y):
        got = f"'valid' for shapes {n} and {m}, of which neither fits in the other"
        raise rules.error("face.choice", got=got)
    return [x, y]


def _nested(x: Operand, y: Operand) -> bool:
    """True if one of two arrays is not the larger in any dimension."""
    pairs = list(zip(shape_of(x), shape_of(y), strict=True))
    return all(n >= m for n, m in pairs) or all(n <= m for n, m in pairs)


def _matrices(in1: Operand, in2: Operand, boundary: str, fillvalue: float) -> None:
    check_choice("boundary", boundary, ("fill",))
    if fillvalue != 0:
        raise rules.error("face.choice", got=f"fillvalue={fillvalue!r}, not 0")
    for value in operands("convolve2d", (in1, in2)):
        if len(shape_of(value)) != 2:
            got = f"{len(shape_of(value))} dimensions, not 2"
            raise rules.error("face.least-rank", got=got)


def __getattr__(name: str) -> object:
    from traceir.lax.checks.attribute_hints import missing

    raise missing(name, __all__, __name__)


_publish(globals())
