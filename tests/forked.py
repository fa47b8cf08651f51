"""Work in a forked child, for the tests of what a fork leaves behind."""

from __future__ import annotations

import faulthandler
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any


def ends_well(work: Callable[[], Any], seconds: float = 60) -> bool:
    """True if a forked child ends without an error, and in time; else it has written
    where it was."""
    child = os.fork()
    if child == 0:
        code = 1
        faulthandler.dump_traceback_later(0.9 * seconds, file=sys.__stderr__)
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False
