"""Flags as context managers, named as in `jax`. Serves: cache.flag.*, debug.*, leak.*

Each row of the table of flags makes one, which sets its flag in this thread for as long
as the ``with`` lasts; `config` says what the flags are.

>>> import traceir
>>> with disable_jit():
...     traceir.base.config.current().disable_jit
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from traceir.base.config import FLAGS, ConfigScope, enable_x64, scope, scope_function

SCOPES = {name: scope_function(flag) for name, flag in FLAGS.items()}
SCOPES["enable_x64"] = enable_x64


def _disable_jit(disable: bool = True) -> ConfigScope:
    return scope("disable_jit", disable)


_disable_jit.__name__ = _disable_jit.__qualname__ = "disable_jit"
_disable_jit.__doc__ = FLAGS["disable_jit"].doc
SCOPES["disable_jit"] = _disable_jit  # JAX calls its parameter by another name
globals().update(SCOPES)
__all__ = [*SCOPES]

if TYPE_CHECKING:

    def __getattr__(flag: str) -> Callable[..., ConfigScope]: ...
