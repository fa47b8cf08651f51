"""Params that the backend gives to equations of its own.

Serves: backend.compile
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from traceir.ir.jaxpr import Params
from traceir.reference.kernels.registry import KERNELS

OWN_PARAMS = {
    *("apart", "half", "inside", "joined", "positive"),
    *("read", "rounds", "sizes", "wraps"),
}


def known_params(primitive: str, params: Mapping[str, Any]) -> Params:
    """The params that the reference's kernel of a primitive is to be told.

    >>> known_params("split", {"axis": 0, "sizes": (2, 4)})
    (('axis', 0), ('sizes', (2, 4)))
    >>> known_params("scatter-mul", {"mode": None, "inside": (1,)})
    (('mode', None),)
    """
    if OWN_PARAMS.isdisjoint(params):
        return tuple(params.items())
    own = OWN_PARAMS - signature(KERNELS[primitive]).parameters.keys()
    return tuple([pair for pair in params.items() if pair[0] not in own])
