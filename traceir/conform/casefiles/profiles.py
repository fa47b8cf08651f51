"""Profiles: the parts of the suite that an implementation may claim. Serves: all tables

>>> from traceir.conform import load_cases
>>> {case.name: profile_of(case) for case in load_cases()}["cache/shape"]
'cache'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from traceir.conform.casefiles.cases import Case

# By name, in the order of reports: what the cases of a profile are about.
PROFILES: Mapping[str, str] = {
    "core": "types, values and rejections of programs",
    "text": "programs as text, read and printed",
    "levels": "what Python may ask of a traced value",
    "cache": "what `jit` traces, shares and keeps",
    "face": "functions, operators and indices of arrays",
    "transforms": "derivatives, batching and named axes, nested in any order",
    "control": "conditions, loops and effects",
    "plain": "functions as Python has them, with its loops and branches",
}
# Files of sessions that are not about the cache.
_FILES = {
    "levels.tir": "levels",
    "tracing.tir": "levels",
    "aval.tir": "face",
    "face.tir": "face",
    "array.tir": "face",
    "index.tir": "face",
    "promote.tir": "face",
    "functions.tir": "face",
    "transform.tir": "transforms",
    "grad.tir": "transforms",
    "vmap.tir": "transforms",
    "collective.tir": "transforms",
    "control.tir": "control",
    "effect.tir": "control",
}


def profile_of(case: Case) -> str:
    """The one profile that a case belongs to, by its verbs and its file."""
    verbs = case.verbs.keys()
    if case.plain:
        return "plain"
    if case.file in _FILES:
        return _FILES[case.file]
    if verbs & {"prints", "full"} or (case.reject or "").startswith("text."):
        return "text"
    if verbs & {"session", "under"}:
        return "cache" if "session" in verbs else "levels"
    return "core"


def check_profiles(claimed: Any) -> str:
    """The fault of the profiles that are claimed, or nothing.

    >>> check_profiles(["core", "caches"]).partition(";")[0]
    'claims caches, no profile'
    >>> check_profiles("core")
    'claims profiles that are no tuple, list or set but str'
    """
    if not isinstance(claimed, Sequence | Set) or isinstance(claimed, str | bytes):
        name = type(claimed).__name__
        return f"claims profiles that are no tuple, list or set but {name}"
    unknown = [str(name) for name in claimed if name not in PROFILES]
    known = ", ".join(PROFILES)
    return (
        f"claims {', '.join(unknown)}, no profile; there are {known}" if unknown else ""
    )
