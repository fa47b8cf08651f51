"""Fourier transforms of arrays, dimension after dimension.

Those of real elements, and of large arrays, are taken by `groups` where the factors of
all lengths are 2, 3, 5, 7, 11 and 13. A long one is two steps, as Bailey describes them
("FFTs in external or hierarchical memory", Journal of Supercomputing 4, 1990). Groups
are given to threads; each transform is computed by itself, so its bits depend on no
other one and on no number of threads.

Serves: fft.*
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba import cost_model
from traceir_numba.fft.interface import COLUMNS, PANELS, ROWS, lanes_of
from traceir_numba.fft.plans import entry, factors, half_twiddles, plan_of, two_steps
from traceir_numba.runtime import thread_pool
from traceir_numba.runtime.allocator import empty_large

REALS = {"f": "float32", "F": "float32", "d": "float64", "D": "float64"}
Shape = tuple[int, ...]


def own_kernel(primitive: str) -> Callable[..., np.ndarray | None]:
    """The function that computes the one primitive `fft`, or gives None."""
    assert primitive == "fft"
    return transform


def transform(x: np.ndarray, *, fft_lengths: Shape, fft_type: int) -> np.ndarray | None:
    """The transform of the last dimensions; the params are those of the primitive.

    None for small arrays and other lengths, which are left to the reference.
    """
    real, count = fft_type > 1, len(fft_lengths)
    *others, last = fft_lengths
    points = prod(x.shape[: x.ndim - count]) * prod(fft_lengths)
    lengths = [*others, last // 2 if real else last]
    if (
        points < cost_model.FFT_POINTS * (2 if real else 1)
        or (real and (last % 2 or lengths[-1] == 1))
        or any(factors(n) is None for n in lengths)
    ):
        return None
    x = np.ascontiguousarray(x)
    before = range(x.ndim - count, x.ndim - 1)
    inverse = fft_type in (1, 3)
    if fft_type == 3:
        for axis in before:
            x = _along(x, axis, inverse)
        return _from_half(x)
    x = _half(x) if fft_type == 2 else _along(x, x.ndim - 1, inverse)
    for axis in reversed(before):
        x = _along(x, axis, inverse)
    return x


def _along(x: np.ndarray, axis: int, inverse: bool) -> np.ndarray:
    """The transform of one dimension."""
    n, neighbours = x.shape[axis], prod(x.shape[axis + 1 :])
    if n == 1:
        return x
    if 1 < neighbours < lanes_of(REALS[x.dtype.char]) // 2:
        moved = np.ascontiguousarray(np.moveaxis(x, axis, -1))
        made = _along(moved, x.ndim - 1, inverse)
        return np.ascontiguousarray(np.moveaxis(made, -1, axis))
    y = _empty(x.shape, x.dtype)
    stacks = x.size // (n * neighbours)
    if neighbours == 1:
        _rows(x, y, n, stacks, 2 * n, 2 * n, inverse, 1 / n if inverse else 1.0)
        return y
    layout = PointLayout(COLUMNS, 2 * n * neighbours, 2 * neighbours, 2)
    groups = FftBatch(n, stacks, neighbours, layout, layout, inverse, inverse)
    groups.run(x, y, 1 / n if inverse else 1.0)
    return y


def _rows(
    x: np.ndarray,
    y: np.ndarray,
    n: int,
    rows: int,
    x_row: int,
    y_row: int,
    inverse: bool,
    scale: float,
) -> None:
    """Transforms of rows that are so many real numbers apart."""
    if n <= cost_model.FFT_PANEL:
        source, sink = PointLayout(ROWS, lane=x_row), PointLayout(ROWS, lane=y_row)
        FftBatch(n, 1, rows, source, sink, inverse, inverse).run(x, y, scale)
        return
    real = REALS[y.dtype.char]
    steps, lanes = two_steps(n, real), lanes_of(real)
    # Between the steps a panel has as many rows as there are lanes, and all columns.
    panels = -(-steps.rows // lanes)
    panel = -(-steps.columns // lanes) * lanes * 2 * lanes
    between = _empty((rows * panels * panel,), np.dtype(real))
    source = PointLayout(COLUMNS, x_row, 2 * steps.columns, 2)
    sink = PointLayout(PANELS, panels * panel, panel, 2 * lanes)
    first = FftBatch(steps.rows, rows, steps.columns, source, sink, inverse, False)
    first.run(x, between, scale, (steps.coarse, steps.fine))
    source = PointLayout(PANELS, panels * panel, 0, panel // lanes)
    sink = PointLayout(COLUMNS, y_row, 2 * steps.rows, 2)
    second = FftBatch(steps.columns, rows, steps.rows, source, sink, False, inverse)
    second.run(between, y)


def _half(x: np.ndarray) -> np.ndarray:
    """The half of the spectrum of real rows, whose length is even."""
    *stack, length = x.shape
    n, rows, real = length // 2, prod(stack), x.dtype.name
    y = _empty((*stack, n + 1), np.dtype(f"complex{16 * x.itemsize}"))
    twiddles = half_twiddles(n, real, False)
    if n <= cost_model.FFT_PANEL:
        source, sink = PointLayout(ROWS, lane=2 * n), PointLayout(ROWS, lane=2 * n + 2)
        FftBatch(n, 1, rows, source, sink, half=1).run(x, y, halves=twiddles)
        return y
    z = _empty(y.shape, y.dtype)
    _rows(x, z, n, rows, 2 * n, 2 * n + 2, False, 1.0)
    z[..., n] = z[..., 0]
    _halve(z, y, twiddles, 0, n, 1.0)
    return y


def _from_half(x: np.ndarray) -> np.ndarray:
    """Real rows, whose length is even, of the half of their spectrum."""
    *stack, points = x.shape
    n, rows, real = points - 1, prod(stack), REALS[x.dtype.char]
    y = _empty((*stack, 2 * n), np.dtype(real))
    twiddles = half_twiddles(n, real, True)
    if n <= cost_model.FFT_PANEL:
        source, sink = PointLayout(ROWS, lane=2 * n + 2), PointLayout(ROWS, lane=2 * n)
        groups = FftBatch(n, 1, rows, source, sink, True, True, half=2)
        groups.run(x, y, 1 / n, halves=twiddles)
        return y
    z = _empty(x.shape, x.dtype)
    _halve(x, z, twiddles, 1, n, 1 / n)
    # The first and the last one are real, whatever their imaginary parts.
    first, last = x[..., 0].real, x[..., n].real
    scale = x.real.dtype.type(0.5 / n)
    z[..., 0] = (first + last) * scale + 1j * ((first - last) * scale)
    _rows(z, y, n, rows, 2 * n + 2, 2 * n, True, 1.0)
    return y


def _halve(
    x: np.ndarray, y: np.ndarray, twiddles: np.ndarray, low: int, n: int, scale: float
) -> None:
    """The same as `passes.half_text` does in panels, of rows from point `low` on."""
    call = entry("halve_line", twiddles.dtype.name)
    factor, high = np.array(scale, twiddles.dtype), n // 2 + 1
    threads = _threads(x.size)
    parts = thread_pool.equal_parts(low, high, 2 * threads if threads > 1 else 1)
    rows = zip(x.reshape(-1, n + 1), y.reshape(-1, n + 1), strict=True)
    tasks = [(*row, twiddles, factor, lo, hi, n) for row in rows for lo, hi in parts]
    thread_pool.each(call, tasks, threads)


@dataclass(frozen=True, slots=True)
class PointLayout:
    """The places of the points of transforms, as `kind` says: how many real numbers it
    is to the next stack, to the next point and to the neighbouring transform.
    """

    kind: int
    stack: int = 0
    point: int = 0
    lane: int = 0


@dataclass(frozen=True, slots=True)
class FftBatch:
    """Transforms of n points: so many stacks of neighbours, from layout to layout.

    Of an inverse the two parts of numbers change places in what is read and written.
    `half` is 1 if the half of a spectrum is made, 2 if it is given.
    """

    n: int
    stacks: int
    neighbours: int
    source: PointLayout
    sink: PointLayout
    swapped_in: bool = False
    swapped_out: bool = False
    half: int = 0

    def run(
        self,
        x: np.ndarray,
        y: np.ndarray,
        scale: float = 1.0,
        between: tuple[np.ndarray, np.ndarray] | None = None,
        halves: np.ndarray | None = None,
    ) -> None:
        """From x to y, with twiddle factors for two steps, or for halves."""
        real = REALS[y.dtype.char]
        lanes, plan = lanes_of(real), plan_of(self.n, real)
        call, source, sink = entry("groups", real), self.source, self.sink
        none = plan.twiddles, plan.twiddles
        halves = plan.twiddles if halves is None else halves
        numbers = *(between or none), halves, np.array(scale, real)
        sizes = (
            *(self.n, self.neighbours, source.kind, sink.kind, self.half),
            *(int(scale != 1.0), 0 if self.swapped_in else lanes),
            *(0 if self.swapped_out else lanes, source.stack, source.point),
            *(source.lane, sink.stack, sink.point, sink.lane),
        )

        def some(low: int, high: int) -> None:
            work = _empty((plan.work,), np.dtype(real))
            given = plan.table, plan.twiddles, *numbers
            call(x, y, work, *given, low, high, *sizes)

        groups = self.stacks * -(-self.neighbours // lanes)
        points = groups * lanes * self.n
        threads = _threads(points)
        # Between pieces Python handles signals.
        pieces = 2 * points * self.n.bit_length() // cost_model.MATMUL_PIECE_WORK
        least = cost_model.PIECES_PER_THREAD * threads if threads > 1 else 1
        parts = thread_pool.equal_parts(0, groups, max(pieces, least))
        thread_pool.each(some, parts, threads)


def _threads(points: int) -> int:
    """The threads for transforms of so many points in all."""
    return thread_pool.threads() if points >= cost_model.THREADED_FFT_POINTS else 1


def _empty(shape: Shape, dtype: np.dtype) -> np.ndarray:
    """An array, in memory of our own if it is large."""
    if prod(shape) * dtype.itemsize >= cost_model.POOLED_BYTES:
        return empty_large(shape, dtype)
    return np.empty(shape, dtype)
