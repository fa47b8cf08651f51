"""The precision that products are asked for. Serves: prim.dot_general

The precision stands in programs. Products are computed in the dtype of their result,
whatever it is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import Enum, auto
from typing import Any

from traceir import rules
from traceir.base import config
from traceir.base.config_scopes import default_matmul_precision
from traceir.ir.params import CHOICES, NamedInPrograms


class Precision(NamedInPrograms):
    """The precision of a product's operands.

    >>> from traceir import lax
    >>> lax.Precision.HIGHEST, lax.Precision("high")
    (Precision.HIGHEST, Precision.HIGH)
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> NamedInPrograms | None:
        named = _NAMES.get(value) if isinstance(value, str) else None
        return named or super()._missing_(value)

    def __repr__(self) -> str:
        return self.param

    def __str__(self) -> str:
        return self.name


CHOICES["precision"] = Precision


class DotAlgorithmPreset(Enum):
    """Algorithms of products, as XLA names them: dtypes of operands and of sums.

    No product is less precise than its dtype here: all of these but DEFAULT stand for
    `Precision.HIGHEST`. F64_F64_F64 asks for more than float32 has, and is refused.

    >>> precision_of(DotAlgorithmPreset.BF16_BF16_F32_X3)
    ('Precision.HIGHEST', 'Precision.HIGHEST')
    """

    DEFAULT = auto()
    ANY_F8_ANY_F8_F32 = auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = auto()
    ANY_F8_ANY_F8_ANY = auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = auto()
    F16_F16_F16 = auto()
    F16_F16_F32 = auto()
    BF16_BF16_BF16 = auto()
    BF16_BF16_F32 = auto()
    BF16_BF16_F32_X3 = auto()
    BF16_BF16_F32_X6 = auto()
    BF16_BF16_F32_X9 = auto()
    TF32_TF32_F32 = auto()
    TF32_TF32_F32_X3 = auto()
    F32_F32_F32 = auto()
    F64_F64_F64 = auto()

    def __str__(self) -> str:
        return self.name


_NAMES = {
    **dict.fromkeys(("default", "fastest", "bfloat16"), Precision.DEFAULT),
    **dict.fromkeys(("high", "tensorfloat32", "bfloat16_3x"), Precision.HIGH),
    **dict.fromkeys(("highest", "float32"), Precision.HIGHEST),
}
PrecisionLike = Precision | DotAlgorithmPreset | str | None
PrecisionLike |= tuple[Precision, Precision] | tuple[str, str]


def precisely(asked: PrecisionLike) -> AbstractContextManager[object]:
    """A context in which products have this precision, as the flag would set it.

    >>> with precisely("high"):
    ...     precision_of(None)
    ('Precision.HIGH', 'Precision.HIGH')
    """
    pair = None if asked is None else precision_of(asked)
    if pair is None:
        return nullcontext()
    return default_matmul_precision(pair[0].removeprefix("Precision.").lower())


def precision_of(asked: Any) -> tuple[str, str] | None:
    """The param for a precision: of one, or of each of two operands.

    None is what the flag `default_matmul_precision` says; an algorithm, or its name, is
    for both. Raises ValueError (face.choice).

    >>> precision_of("high"), precision_of(None)
    (('Precision.HIGH', 'Precision.HIGH'), None)
    """
    if asked is None:
        asked = config.local.context.default_matmul_precision
    if asked is None:
        return None
    if isinstance(asked, str):
        asked = DotAlgorithmPreset.__members__.get(asked, asked)
    if isinstance(asked, DotAlgorithmPreset):
        if asked is DotAlgorithmPreset.F64_F64_F64:
            hint = "convert the operands to float64, which are multiplied so"
            raise rules.error("face.choice", got=f"precision={asked}", hint=hint)
        least = asked is DotAlgorithmPreset.DEFAULT
        asked = Precision.DEFAULT if least else Precision.HIGHEST
    pair = asked if isinstance(asked, (tuple, list)) else (asked, asked)
    try:
        left, right = (Precision(p or "default").param for p in pair)
    except (TypeError, ValueError):
        hint = "a lax.Precision, its name in small letters, or None; or two of them"
        got = f"precision={asked!r}"
        raise rules.error("face.choice", got=got, hint=hint) from None
    return left, right
