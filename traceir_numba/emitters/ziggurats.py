"""Ziggurats of NumPy's: normal and exponential numbers of one word, mostly.

NumPy takes a layer and a place in it from the bits of a word, and nearly always gives
the place times the layer's width. This is done here; what else a word may mean is left
to NumPy's own function, which is given that word again. The widths, and how many
places of a layer are certain, are asked of that function, once in a process.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from functools import cache

from traceir.base.fast_dataclass import dataclass

LAYERS = 256
_WORD = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_HALF = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
_REAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Layout:
    """The bits of a word: where those of a layer and a place begin, and of a sign."""

    layer: int
    place: int
    bits: int
    sign: int | None = None

    def word(self, layer: int, place: int, negative: bool = False) -> int:
        """The word of a place in a layer."""
        sign = 0 if self.sign is None else negative << self.sign
        return layer << self.layer | place << self.place | sign


LAYOUTS = {
    "random_standard_normal": Layout(0, 9, 52, 8),
    "random_standard_exponential": Layout(3, 11, 53),
}


class _Interface(ctypes.Structure):
    _fields_ = [
        ("state", ctypes.c_void_p),
        ("next_uint64", _WORD),
        ("next_uint32", _HALF),
        ("next_double", _REAL),
        ("next_raw", _WORD),
    ]


class _Asked:
    """One of NumPy's functions, asked for what it makes of a word."""

    def __init__(self, name: str) -> None:
        file = sys.modules["numpy.random._generator"].__file__
        self.function = getattr(ctypes.CDLL(file), name)
        self.function.restype, self.function.argtypes = (
            ctypes.c_double,
            [ctypes.c_void_p],
        )
        self.again = LAYOUTS[name].word(2, 0)  # which has a number at once
        self.word = self.count = 0
        self.interface = _Interface(
            None, _WORD(self._word), _HALF(lambda _: 0), _REAL(self._real)
        )

    def _word(self, _: object) -> int:
        self.count += 1
        return self.word if self.count == 1 else self.again

    def _real(self, _: object) -> float:
        self.count += 1
        return 0.5

    def of(self, word: int) -> float | None:
        """The number of a word; None where more than the word is drawn."""
        self.word, self.count = word, 0
        found: float = self.function(ctypes.addressof(self.interface))
        return found if self.count == 1 else None


@cache
def tables(name: str) -> tuple[tuple[float, ...], tuple[int, ...]] | None:
    """The widths of the layers, and how many places of each are certain; None for a
    function that makes something else of words."""
    asked, layout = _Asked(name), LAYOUTS[name]
    widths: list[float] = []
    certain: list[int] = []
    for layer in range(LAYERS):
        width = asked.of(layout.word(layer, 1)) or 0.0
        guess = 0
        if layer > 1 and width:
            guess = int(widths[-1] / width * 2.0**layout.bits)
        widths.append(width)
        certain.append(_certain(asked, layout, layer, guess) if width else 0)
    found = tuple(widths), tuple(certain)
    return found if _holds(asked, layout, *found) else None


def _certain(asked: _Asked, layout: Layout, layer: int, guess: int) -> int:
    """The first place of a layer for which more is drawn."""
    low, high = 1, 1 << layout.bits  # the first is certain, the last is none
    for place in (guess - 2, guess - 1, guess, guess + 1, guess + 2):
        if low < place < high:
            if asked.of(layout.word(layer, place)) is None:
                high = place
            else:
                low = place
    while high - low > 1:
        middle = (low + high) // 2
        if asked.of(layout.word(layer, middle)) is None:
            high = middle
        else:
            low = middle
    return high


def _holds(
    asked: _Asked, layout: Layout, widths: tuple[float, ...], certain: tuple[int, ...]
) -> bool:
    """True if tables tell what the function makes of many words."""
    number = 1
    for _ in range(4 * LAYERS):
        number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
        layer, place = number >> 56, (number >> 3) % (1 << layout.bits)
        negative = layout.sign is not None and bool(number & 1)
        found = asked.of(layout.word(layer, place, negative))
        wanted = place * widths[layer] * (-1 if negative else 1)
        if found != (wanted if place < certain[layer] else None):
            return False
    return True


def llvm_text(name: str) -> str:
    """A template of LLVM text for a draw; "" where NumPy's function is to be called."""
    found = tables(name)
    if found is None:
        return ""
    layout = LAYOUTS[name]
    widths = ", ".join(f"double {_bits(w)}" for w in found[0])
    certain = ", ".join(f"i64 {k}" for k in found[1])
    sign = (
        f"and i64 %word, {1 << layout.sign}"
        if layout.sign is not None
        else "add i64 0, 0"
    )
    return _TEXT.format(
        symbol="{symbol}",
        name=name,
        widths=widths,
        certain=certain,
        layer=layout.layer,
        place=layout.place,
        mask=(1 << layout.bits) - 1,
        sign=sign,
    )


def _bits(value: float) -> str:
    (found,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"0x{found:016X}"


# A generator that gives the word again, and then goes on as the one that it is for.
_TEXT = """
@{symbol}_widths = private constant [256 x double] [{widths}]
@{symbol}_certain = private constant [256 x i64] [{certain}]
declare double @traceir_{name}(i64)
define i64 @{symbol}_word(ptr %state) nounwind {{{{
  %flag = getelementptr i64, ptr %state, i64 2
  %used = load i64, ptr %flag
  store i64 1, ptr %flag
  %first = icmp eq i64 %used, 0
  br i1 %first, label %again, label %more
again:
  %place = getelementptr i64, ptr %state, i64 1
  %word = load i64, ptr %place
  ret i64 %word
more:
  %bits = load ptr, ptr %state
  %own = load ptr, ptr %bits
  %at = getelementptr ptr, ptr %bits, i64 1
  %next = load ptr, ptr %at
  %new = call i64 %next(ptr %own)
  ret i64 %new
}}}}
define double @{symbol}_real(ptr %state) nounwind {{{{
  %bits = load ptr, ptr %state
  %own = load ptr, ptr %bits
  %at = getelementptr ptr, ptr %bits, i64 3
  %next = load ptr, ptr %at
  %new = call double %next(ptr %own)
  ret double %new
}}}}
define double @{symbol}(i64 %generator) nounwind {{{{
  %state = alloca [3 x i64]
  %again = alloca [5 x ptr]
  %bits = inttoptr i64 %generator to ptr
  %own = load ptr, ptr %bits
  %at = getelementptr ptr, ptr %bits, i64 1
  %next = load ptr, ptr %at
  %word = call i64 %next(ptr %own)
  %up = lshr i64 %word, {layer}
  %layer = and i64 %up, 255
  %high = lshr i64 %word, {place}
  %place = and i64 %high, {mask}
  %limit = getelementptr [256 x i64], ptr @{symbol}_certain, i64 0, i64 %layer
  %end = load i64, ptr %limit
  %certain = icmp ult i64 %place, %end
  br i1 %certain, label %inside, label %outside
inside:
  %entry = getelementptr [256 x double], ptr @{symbol}_widths, i64 0, i64 %layer
  %width = load double, ptr %entry
  %real = sitofp i64 %place to double
  %x = fmul double %real, %width
  %minus = fneg double %x
  %sign = {sign}
  %below = icmp ne i64 %sign, 0
  %y = select i1 %below, double %minus, double %x
  ret double %y
outside:
  %second = getelementptr i64, ptr %state, i64 1
  %third = getelementptr i64, ptr %state, i64 2
  store i64 %generator, ptr %state
  store i64 %word, ptr %second
  store i64 0, ptr %third
  store ptr %state, ptr %again
  %a1 = getelementptr ptr, ptr %again, i64 1
  %a2 = getelementptr ptr, ptr %again, i64 2
  %a3 = getelementptr ptr, ptr %again, i64 3
  %a4 = getelementptr ptr, ptr %again, i64 4
  store ptr @{symbol}_word, ptr %a1
  store ptr null, ptr %a2
  store ptr @{symbol}_real, ptr %a3
  store ptr @{symbol}_word, ptr %a4
  %fake = ptrtoint ptr %again to i64
  %z = call double @traceir_{name}(i64 %fake)
  ret double %z
}}}}
"""
