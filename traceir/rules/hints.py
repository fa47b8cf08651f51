"""Hints that know where they are: the face of a function, and the user's line.

A row's `hints` are for some places, its `hint` for all others. `traceir.numpy`
is spelled as the function spells it: `np.where` in a plain NumPy function, `jnp.where`
in another.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any, Protocol

from traceir.base import config
from traceir.base.fast_dataclass import dataclass
from traceir.base.source_info import Source

_NUMPY = re.compile(r"\b(?:traceir\.numpy|jnp)\.")
# A name in a hint that has to exist.
_NAME = re.compile(r"`(traceir|jnp)\.(\w+(?:\.\w+)*)")


@dataclass(frozen=True, slots=True)
class LineHint:
    """A hint for some of the places where a clause fails: for functions of a `face`,
    where the user's `line` begins so, or the expression there is such `code`. Groups
    of these stand in it as ``{1}``."""

    hint: str
    face: str = ""
    line: str = ""
    code: str = ""


class HasHints(Protocol):
    """A clause, as far as it is asked here."""

    @property
    def hint(self) -> str:
        """The hint for all other places."""

    @property
    def hints(self) -> tuple[LineHint, ...]:
        """The hints for some places."""


def face() -> str:
    """The face of the function that is running, `jax` or `numpy`."""
    trace, context = config.local.trace, config.local.context
    faces = {context.face}
    while trace is not None:  # functions of the packages are traced in the user's
        faces.add(trace.face)
        trace = trace.parent
    return "numpy" if "numpy" in faces else "jax"


def spelled(hint: str) -> str:
    """A hint with names of `traceir.numpy` as the function that is running has them.

    >>> spelled("use `traceir.numpy.where`")
    'use `jnp.where`'
    """
    return _NUMPY.sub("np." if face() == "numpy" else "jnp.", hint)


def hint_at(clause: HasHints, source: Source | None) -> str:
    """The hint of a clause that fails at a place.

    >>> from traceir.rules import default
    >>> hint_at(default().clauses["face.axis"], None)
    'see `x.ndim`'
    """
    for one in clause.hints:
        found = _filled(one, source)
        if found is not None:
            return found
    return clause.hint


def _filled(one: LineHint, source: Source | None) -> str | None:
    """The text of a hint for some places; None if it is not for this one, or names
    what does not exist."""
    if one.face and one.face != face():
        return None
    hint = one.hint
    texts = ((one.line, source.text), (one.code, source.expression)) if source else ()
    for pattern, text in texts if source else ((one.line or one.code, ""),):
        found = re.match(pattern, text)
        if found is None:
            return None
        for k, group in enumerate(found.groups(), 1):
            hint = hint.replace(f"{{{k}}}", group or "")
    return hint if all(_exists(*name) for name in _NAME.findall(hint)) else None


def _exists(root: str, name: str) -> bool:
    module = sys.modules.get("traceir" if root == "traceir" else "traceir.numpy")
    try:
        found: Any = functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return False
    return found is not None
