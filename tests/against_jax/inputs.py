"""Inputs of drawn programs: dtypes, shapes, values and layouts, as source text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np

Shape = tuple[int, ...]

INTEGERS = ("int32", "int8", "uint8", "int16", "uint16", "uint32")
WIDE_INTEGERS = (*INTEGERS, "int64", "int64", "uint64")
FLOATS = ("float32", "float32", "float32", "float16", "bfloat16")
WIDE_FLOATS = (*FLOATS, "float64", "float64", "float64")
COMPLEX = ("complex64",)
WIDE_COMPLEX = ("complex64", "complex128")

# The kinds of array holes: which groups of dtypes, the likely ones repeated.
KINDS = {
    "A": "fffiiibc",
    "N": "fffiic",
    "R": "fffiib",
    "F": "f",
    "G": "fffc",
    "I": "i",
    "J": "iiib",
    "B": "b",
    "C": "c",
    "K": "i",
    "P": "f",
    "U": "f",
    "V": "f",
    "S": "fffc",
    "M": "fffc",
}
SHAPES: tuple[Shape, ...] = (
    *((3,), (3,), (2, 3), (2, 3), (2, 3), (4,), (), (2, 3, 2), (3, 2)),
    *((1,), (3, 1), (1, 3), (0,), (0, 3), (2, 1, 3)),
)
EXTENTS = (1, 2, 2, 3, 3, 3, 4)
LAYOUTS = ("plain",) * 6 + ("array",) * 8 + ("transposed", "strided", "reversed")


def dtypes(group: str, wide: bool) -> tuple[str, ...]:
    """The dtypes of a group: ``b``, ``i``, ``f`` or ``c``."""
    match group:
        case "b":
            return ("bool",)
        case "i":
            return WIDE_INTEGERS if wide else INTEGERS
        case "f":
            return WIDE_FLOATS if wide else FLOATS
        case _:
            return WIDE_COMPLEX if wide else COMPLEX


@dataclass(frozen=True)
class Input:
    """One argument of a program: a Python number, or an array under some layout."""

    values: object  # nested lists of Python numbers
    dtype: str  # empty for a Python number
    shape: Shape = ()
    layout: str = "plain"

    @property
    def text(self) -> str:
        """Source that makes the argument."""
        if not self.dtype:
            return _number(self.values)
        if 0 in self.shape and (self.layout == "array" or self.dtype == "bfloat16"):
            return f'jnp.zeros({self.shape}, "{self.dtype}")'
        if self.dtype == "bfloat16" or self.layout == "array":
            return f'jnp.array({_nested(self.values)}, "{self.dtype}")'
        return self._numpy()

    def _numpy(self) -> str:
        if not self.shape:
            return f"np.{_scalar(self.dtype)}({_number(self.values)})"
        array = np.empty(self.shape, object)
        array[...] = np.array(self.values, object).reshape(self.shape)
        match self.layout:
            case "transposed":
                array, after = array.T, ".T"
            case "strided":
                array, after = np.repeat(array, 2, axis=0), "[::2]"
            case "reversed":
                array, after = array[::-1], "[::-1]"
            case _:
                after = ""
        shaped = "" if array.size else f".reshape({array.shape})"
        return f'np.array({_nested(array.tolist())}, "{self.dtype}"){shaped}{after}'

    def simpler(self) -> list[Input]:
        """The same argument in plainer layouts and dtypes, for the minimiser."""
        found = []
        if self.layout not in ("plain", "array"):
            found.append(replace(self, layout="plain"))
        if self.layout == "plain" and self.dtype:
            found.append(replace(self, layout="array"))
        plain = {"f": "float32", "i": "int32", "c": "complex64"}
        group = group_of(self.dtype)
        if group in plain and self.dtype != plain[group]:
            found.append(replace(self, dtype=plain[group]))
        ones = _filled(self.values, True if group == "b" else 1)
        if self.dtype and ones != self.values:
            found.append(replace(self, values=ones))
        return found


def group_of(dtype: str) -> str:
    """The group of a dtype's name."""
    kinds = {"bool": "b", "int": "i", "uint": "i", "complex": "c"}
    return kinds.get(dtype.rstrip("0123456789"), "f" if dtype else "")


def _filled(values: object, value: object) -> object:
    if isinstance(values, list):
        return [_filled(v, value) for v in values]
    return value


def _scalar(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def _nested(values: object) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_nested(v) for v in values)}]"
    return _number(values)


def _number(value: object) -> str:
    """A number as source; infinities and NaN by `np`'s names."""
    if isinstance(value, complex):
        if not (np.isfinite(value.real) and np.isfinite(value.imag)):
            return f"complex({_number(value.real)}, {_number(value.imag)})"
        return repr(value)
    if isinstance(value, float) and not np.isfinite(value):
        name = "nan" if np.isnan(value) else "inf"
        return f"-np.{name}" if value < 0 else f"np.{name}"
    return repr(value)


@dataclass(frozen=True)
class Values:
    """A recipe for the elements of one input."""

    random: Random
    kind: str
    dtype: str
    special: bool

    def array(self, shape: Shape) -> object:
        """Nested lists of elements."""
        if self.kind in "SM" and len(shape) >= 2:
            return self._matrices(shape)
        return self._drawn(shape)

    def _drawn(self, shape: Shape) -> object:
        if shape:
            return [self._drawn(shape[1:]) for _ in range(shape[0])]
        return self._element()

    def _element(self) -> object:
        match group_of(self.dtype):
            case "b":
                return self.random.random() < 0.5
            case "i":
                return self._integer()
            case "f":
                return self._float()
            case _:
                return complex(self._float(), self._float())

    def _integer(self) -> int:
        if self.kind == "K":
            return self.random.randrange(3)
        info = np.iinfo(self.dtype)
        if self.special and self.random.random() < 0.1:
            return int(self.random.choice((info.min, info.max)))
        return max(self.random.randint(-5, 6), int(info.min))

    def _float(self) -> float:
        match self.kind:
            case "P":
                return self.random.randint(1, 16) / 4
            case "U":
                return self.random.randint(1, 15) / 16
            case "V":
                return self.random.randint(-15, 15) / 16
        if self.special and self.random.random() < 0.15:
            return self.random.choice((np.nan, np.inf, -np.inf, -0.0, 1e30, 1e-30))
        return self.random.randint(-12, 12) / 4

    def _matrices(self, shape: Shape) -> object:
        """Well-conditioned ones; symmetric and positive definite for ``S``."""
        array = np.array(self._drawn(shape)).reshape(shape)
        rows, columns = shape[-2:]
        if self.kind == "S" and rows == columns:
            array = (array + np.conj(np.swapaxes(array, -1, -2))) / 2
        array = array + 16 * np.eye(rows, columns)
        found: object = array.tolist()
        return found
