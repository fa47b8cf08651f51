"""The stages of a compiled function: traced, lowered, compiled."""

from typing import Any, TypeAlias

from traceir.jit.function import JitFunction as Wrapped
from traceir.jit.stages import ArgInfo, Compiled, Lowered, Traced

CompilerOptions: TypeAlias = dict[str, Any]

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
