"""Routines on small matrices keep to one thread of the library's, whoever calls."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Thread

import numpy as np
import pytest

from traceir.kernels import KERNELS
from traceir.kernels.alone import SMALL, alone, count_of, one_thread

counted = count_of()
pytestmark = pytest.mark.skipif(
    counted is None, reason="SciPy's routines here are not those of its OpenBLAS"
)


def threads() -> int:
    """How many threads the library has now."""
    assert counted is not None
    return counted[0]()


@pytest.fixture
def several() -> Iterator[int]:
    """A library of three threads, however many processors there are."""
    assert counted is not None
    before = threads()
    counted[1](3)
    yield threads()
    counted[1](before)


def test_small_matrices_are_for_one_thread_and_large_ones_for_all(several: int) -> None:
    seen = alone(lambda *arrays: threads())
    side = int(SMALL**0.5)
    assert seen(np.ones((side, side))) == 1
    assert seen(np.ones((9, side, side)), np.ones((9, side, 1))) == 1
    assert seen(np.ones((side, side)), np.ones((side, side + 1))) == several
    assert threads() == several


def test_the_count_comes_back_after_an_error(several: int) -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == several


def test_calls_that_overlap_leave_the_count_as_it_was(several: int) -> None:
    inside, first_out = Barrier(2), Barrier(2)
    seen: list[int] = []

    def first() -> None:
        with one_thread():
            inside.wait()
        first_out.wait()

    def second() -> None:
        with one_thread():
            inside.wait()
            first_out.wait()
            seen.append(threads())

    running = [Thread(target=first), Thread(target=second)]
    for one in running:
        one.start()
    for one in running:
        one.join(timeout=10)
    assert seen == [1] and threads() == several


@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "lu", "qr", "svd", "triangular_solve"]
)
def test_the_routine_of_a_kernel_is_alone(name: str) -> None:
    assert KERNELS[name].__wrapped__.__name__ == name
