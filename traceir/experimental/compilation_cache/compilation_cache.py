"""The directory of compiled functions, as a program says.

They are kept without it, too, where `TRACEIR_CACHE_DIR` says, or in the user's own
cache; `python -m traceir cache` shows them.
"""

from __future__ import annotations

import os

from traceir.base import config
from traceir.base.tracebacks import entry_point
from traceir.base.tracebacks import publish as _publish
from traceir.lax.checks.attribute_hints import missing

__all__ = ["reset_cache", "set_cache_dir"]


@entry_point
def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Keep compiled functions in this directory from now on, and look for them there.

    The flag `jax_compilation_cache_dir` does the same. The directory is made when the
    first one is kept; where that can't be done there is a warning, and nothing is kept.

    >>> import tempfile
    >>> set_cache_dir(tempfile.mkdtemp())
    >>> reset_cache()
    """
    config.update("compilation_cache_dir", os.fspath(path))


@entry_point
def reset_cache() -> None:
    """Keep compiled functions where the environment says, as at the start.

    >>> reset_cache()
    """
    config.update("compilation_cache_dir", None)


def __getattr__(name: str) -> object:
    raise missing(name, __all__, __name__)


_publish(globals())
