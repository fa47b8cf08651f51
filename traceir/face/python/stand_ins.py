"""Stand-ins for Python's functions and classes of numbers.

Serves: face.reach, python.numbers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.face.python import (
    builtin_functions,
    complex_functions,
    math_functions,
    ordered_lists,
    state_changes,
)
from traceir.face.python.conversions import CLASSES

Function = Callable[..., Any]
# By the names of builtins.
BUILTINS: dict[str, Function] = {
    **builtin_functions.FUNCTIONS,
    **state_changes.BUILTINS,
    **{kind.__name__: seen for kind, seen in CLASSES.items()},
}
# By Python's own objects.
FUNCTIONS: dict[Any, Function] = {
    **math_functions.FUNCTIONS,
    **complex_functions.FUNCTIONS,
    **ordered_lists.FUNCTIONS,
    **state_changes.FUNCTIONS,
    **CLASSES,
}
