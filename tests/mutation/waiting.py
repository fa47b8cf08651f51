"""An end for children that wait for ever: patience counts the processor's time alone.

By mutants of the machine a thread may wait for another that never comes. Such a child
uses nothing of the processor, which one that is only slow does on the busiest machine.
Apart from the engine, since it changes no verdict: where this ends a child, there was
none.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

# Seconds between two looks, and the least share of them that who works has used.
PAUSE = 10.0
SHARE = 0.005


def leave_when_idle(pause: float = PAUSE) -> None:
    """End this process as soon as it has waited from one look to the next."""
    used = time.process_time()

    def look(*_: Any) -> None:
        nonlocal used
        before, used = used, time.process_time()
        if used - before < SHARE * pause:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, pause, pause)
