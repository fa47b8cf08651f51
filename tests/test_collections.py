"""Pauses of Python's garbage collector while programs are compiled."""

from __future__ import annotations

import gc
import threading

import pytest
from forked import ends_well

from traceir.base.caches import uncollected


def test_collections_go_on_after_the_last_pause() -> None:
    assert gc.isenabled()
    with uncollected():
        with pytest.raises(ValueError, match="inside"), uncollected():
            raise ValueError("inside")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_who_collects_nothing_is_left_so() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_pauses_of_threads_end_with_the_last() -> None:
    inside, end = threading.Event(), threading.Event()

    def other() -> None:
        with uncollected():
            inside.set()
            end.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with uncollected():
        pass
    paused = not gc.isenabled()
    end.set()
    thread.join()
    assert paused and gc.isenabled()


def test_a_forked_child_collects() -> None:
    def child() -> None:
        assert gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert gc.isenabled()

    with uncollected():
        assert ends_well(child)
    assert gc.isenabled()
