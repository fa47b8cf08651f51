"""Routines on small matrices keep to one thread of the library's, whoever calls."""

from __future__ import annotations

from threading import Barrier, Thread

import numpy as np
import pytest

from traceir.base import cost_model
from traceir.reference.kernels import KERNELS
from traceir.reference.kernels.linalg import single_thread_blas as module
from traceir.reference.kernels.linalg.single_thread_blas import (
    alone,
    count_of,
    one_thread,
)

several = 3


class Library:
    """A library that has so many threads as it was told last."""

    def __init__(self) -> None:
        self.threads = several

    def write(self, threads: int) -> None:
        """Have so many threads."""
        self.threads = threads


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library in the place of the one that SciPy has."""
    found = Library()
    monkeypatch.setattr(
        module, "count_of", lambda: (lambda: found.threads, found.write)
    )
    return found


def test_small_matrices_are_for_one_thread_and_large_ones_for_all(
    library: Library,
) -> None:
    seen = alone(lambda *arrays: library.threads)
    side = int(cost_model.SINGLE_THREAD_ELEMENTS**0.5)
    assert seen(np.ones((side, side))) == 1
    assert seen(np.ones((9, side, side)), np.ones((9, side, 1))) == 1
    assert seen(np.ones((side, side)), np.ones((side, side + 1))) == several
    assert library.threads == several


def test_the_count_comes_back_after_an_error(library: Library) -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert library.threads == several


def test_calls_that_overlap_leave_the_count_as_it_was(library: Library) -> None:
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
            seen.append(library.threads)

    running = [Thread(target=first), Thread(target=second)]
    for one in running:
        one.start()
    for one in running:
        one.join(timeout=60)
    assert seen == [1] and library.threads == several


@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "lu", "qr", "svd", "triangular_solve"]
)
def test_the_routine_of_a_kernel_is_alone(name: str) -> None:
    assert KERNELS[name].__wrapped__.__name__ == name


def test_the_library_itself_is_told() -> None:
    counted = count_of()
    before = counted and counted[0]()
    with one_thread():
        assert counted is None or counted[0]() == 1
    assert before == (counted and counted[0]())
