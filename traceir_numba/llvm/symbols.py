"""The things that a name may stand for besides a variable."""

from __future__ import annotations

import numpy as np

from traceir.base.fast_dataclass import dataclass
from traceir_numba.llvm.types import FLOATS, float_text, llvm_type


@dataclass(frozen=True, slots=True)
class Callee:
    """Another function, by symbol; types as in `functions.Function`."""

    symbol: str
    args: tuple[str, ...]
    result: str | None


@dataclass(frozen=True, slots=True)
class Cast:
    """A type's name in a call: `f32(x)`."""

    dtype: str


@dataclass(frozen=True, slots=True)
class Bits:
    """A function that reads a number's bits as those of another type."""

    operand: str
    result: str


@dataclass(frozen=True, slots=True)
class LaneArray:
    """A function that makes accumulators on the stack."""

    dtype: str
    count: int


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """An operation on floating numbers of one type that LLVM has by name."""

    name: str
    args: int


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array, by the symbol that the module gives it."""

    symbol: str
    dtype: str
    values: tuple[float, ...]

    @property
    def text(self) -> str:
        """Its definition."""
        t = llvm_type(self.dtype)
        elements = ", ".join(f"{t} {_number(v, self.dtype)}" for v in self.values)
        kind = f"[{len(self.values)} x {t}]"
        return f"@{self.symbol} = private constant {kind} [{elements}], align 64"


def table(name: str, array: np.ndarray) -> Table:
    """An array of one dimension as a table."""
    values = tuple(array.tolist())
    return Table(f"traceir_table_{name}", array.dtype.name, values)


def _number(value: float, dtype: str) -> str:
    return float_text(value) if dtype in FLOATS else str(int(value))


# Functions of modules and built-in ones. LLVM makes most of them one instruction.
KNOWN: dict[str, Intrinsic] = {
    "math.sqrt": Intrinsic("sqrt", 1),
    "math.copysign": Intrinsic("copysign", 2),
    "np.ceil": Intrinsic("ceil", 1),
    "np.floor": Intrinsic("floor", 1),
    "np.fmod": Intrinsic("frem", 2),
    "np.rint": Intrinsic("rint", 1),
    "np.trunc": Intrinsic("trunc", 1),
    "fma": Intrinsic("fma", 3),
}
