"""A mutant that waits for ever ends; one that is slow does not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Any

import pytest
from mutation.installed import in_child
from mutation.waiting import leave_when_idle

SOON = 0.5


def _twice() -> None:
    lock = Lock()
    lock.acquire()
    lock.acquire()


def _of_another() -> None:
    thread = Thread(target=_twice)
    thread.start()
    thread.join()


def _of_nobody() -> None:
    read, _ = os.pipe()
    os.read(read, 1)


@pytest.mark.parametrize("wait", [_twice, _of_another, _of_nobody, Event().wait])
def test_who_waits_for_ever_has_no_answer(wait: Callable[[], Any]) -> None:
    def work() -> str:
        leave_when_idle(SOON)
        wait()
        return "an answer"

    assert in_child(work, patient=True) is None


def test_who_works_for_long_has_an_answer() -> None:
    def work() -> str:
        leave_when_idle(SOON)
        ends = time.process_time() + 4 * SOON
        while time.process_time() < ends:
            pass
        return "an answer"

    assert in_child(work, patient=True) == "an answer"
