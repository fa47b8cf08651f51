"""Executables wrapped for the debugging flags. Serves: debug.*, random.reuse"""

from __future__ import annotations

from typing import Any

from traceir.base.config import Context
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.sanitize.nan_checks import NanCheckedExecutable


def instrumented(exe: Any, closed: ClosedJaxpr, context: Context) -> Any:
    """The executable of a program, looked at as the flags ask.

    >>> instrumented("exe", None, Context())
    'exe'
    """
    if context.debug_nans or context.debug_infs or context.sanitize:
        exe = NanCheckedExecutable(exe, closed, context)
    if not context.debug_key_reuse:
        return exe
    from traceir.sanitize.key_reuse import (
        KeyCheckedExecutable,  # not on the way of an import
    )

    return KeyCheckedExecutable(exe, closed)
