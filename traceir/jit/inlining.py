"""Calls that become a part of the function that is traced.

Serves: face.random
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.base.config import local
from traceir.ir.jaxpr import Jaxpr
from traceir.pytrees.treedef import TreeDef
from traceir.tracing.staging import face_module


def inlined(
    face: str,
    fun: Callable[..., Any],
    args: Any,
    kwargs: Any,
    made: tuple[Jaxpr, TreeDef] | None = None,
) -> list[Any]:
    """The results of a call as a part of the function that is traced, as one in a list;
    none where it is a program of its own, which `made` has if it is known, and the
    structure of its results."""
    module = None if local.trace is None else face_module(face)
    if module is None or not module.is_inlined(args, kwargs, made):
        return []
    return [module.inlined(fun, args, kwargs)]
