"""The directory of the store, its size, and whom it trusts.

`TRACEIR_CACHE=0` turns it off, `TRACEIR_CACHE_DIR` says where it is, or the flag
`jax_compilation_cache_dir`, and `TRACEIR_CACHE_SIZE` how many bytes it may have.
"""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Mapping

from traceir.base.fast_dataclass import dataclass

# What the store may have where nobody says otherwise: some ten thousand kernels.
BOUND = 1 << 29
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class StoreWarning(UserWarning):
    """Something in the store was not used, and made anew."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory for entries, and the number of bytes that it may have."""

    directory: str
    bound: int = BOUND


def place_of(
    environment: Mapping[str, str], directory: str | None = None
) -> Place | None:
    """The place that an environment names; None where there is to be no store.

    A `directory` that is given comes first.

    ValueError, which names the variable, for values that say nothing.

    >>> place_of({"XDG_CACHE_HOME": "/var/cache", "TRACEIR_CACHE_SIZE": "10M"})
    Place(directory='/var/cache/traceir', bound=10485760)
    >>> place_of({"TRACEIR_CACHE": "0"}) is None
    True
    """
    if not _is_on(environment.get("TRACEIR_CACHE", "")):
        return None
    bound = _bound(environment.get("TRACEIR_CACHE_SIZE", ""))
    own = directory or environment.get("TRACEIR_CACHE_DIR", "")
    own = own or environment.get("JAX_COMPILATION_CACHE_DIR", "")
    if own:
        return Place(os.path.abspath(os.path.expanduser(own)), bound)
    # As its specification has it, a relative path is as none.
    base = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = environment.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".cache")
    return Place(os.path.join(base, "traceir"), bound) if os.path.isabs(base) else None


def _is_on(text: str) -> bool:
    word = text.strip().lower()
    if word in ("", "1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ValueError(f"TRACEIR_CACHE must be 1 or 0, got {text!r}")


def _bound(text: str) -> int:
    try:
        return byte_count(text) if text.strip() else BOUND
    except ValueError as error:
        raise ValueError(f"TRACEIR_CACHE_SIZE: {error}") from None


def byte_count(text: str) -> int:
    """A number of bytes, with K, M or G for powers of 1024; ValueError if it is none.

    >>> byte_count("20M")
    20971520
    """
    found = re.fullmatch(r"(\d+)([KMG]?)B?", text.strip().upper())
    if found is None:
        raise ValueError(
            f"a number of bytes is written as 512M or 1000000, not {text!r}"
        )
    return int(found[1]) * _UNITS[found[2]]


def distrust(info: os.stat_result) -> str | None:
    """The reason to distrust a file or directory: others could have written it."""
    if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        return f"it belongs to user {info.st_uid}, not to {os.geteuid()}"
    if info.st_mode & stat.S_IWOTH:
        return "every user may write it"
    # One's own directories may be a group's; files of the store never are.
    if stat.S_ISREG(info.st_mode) and info.st_mode & stat.S_IWGRP:
        return "its group may write it"
    return None


def exposed(directory: str) -> str | None:
    """The reason why others could replace a directory, or None.

    They can where they may write a directory above it, unless that is sticky, as those
    for temporary files are.
    """
    if not hasattr(os, "geteuid"):
        return None
    above = os.path.dirname(os.path.realpath(directory))
    while True:
        mode = os.stat(above).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"every user may write {above}, which it is in"
        if above == os.path.dirname(above):
            return None
        above = os.path.dirname(above)


_warned: set[str] = set()


def warn(path: str, why: str, matter: str) -> None:
    """Tell once in a process of each matter."""
    if matter not in _warned:
        _warned.add(matter)
        text = f"the store of compiled programs does not use {path}: {why}"
        text += ". What is in it is made anew."
        warnings.warn(text, StoreWarning, stacklevel=2)
