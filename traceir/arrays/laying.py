"""Values laid out on devices, arrays and traced ones. Serves: sharding.value"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.arrays.array import LIVING
from traceir.arrays.process_mesh import crosses
from traceir.arrays.sharding import constrain

# Lays out a traced value over several processes; who starts these enters it.
LAID: list[Callable[[Any, Any], Any]] = []


def lying(value: Any, sharding: Any) -> Any:
    """An array that lies so, or a traced value that is to; None means where it is."""
    if type(value) in LIVING:
        return value._at(sharding)
    if sharding is not None and crosses(sharding):
        return LAID[0](value, sharding)
    constrain(value, sharding)
    return value
