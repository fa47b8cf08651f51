"""Dtypes: NumPy's functions about them, and about those of ml_dtypes.

Serves: derive.float0

bfloat16 and the narrow dtypes are those of the package ml_dtypes, which every array
library has them from; the package is imported when one of them is first asked for.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, cast

import numpy as np

# The tangent of an integer or a boolean: it has a shape, and elements without bytes.
float0 = np.dtype([("float0", np.void, 0)])
BFLOAT16 = "bfloat16"
# Of eight bits and fewer: in memory an element is the low bits of a byte.
NARROW_FLOATS: Final = (
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
    *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    "float4_e2m1fn",
)
NARROW_INTEGERS: Final = ("int2", "int4", "uint2", "uint4")
NARROW: Final = frozenset({*NARROW_FLOATS, *NARROW_INTEGERS})
# The kinds of the dtypes that NumPy knows once ml_dtypes is imported.
ADDED: Final[Mapping[str, str]] = {
    **dict.fromkeys((BFLOAT16, *NARROW_FLOATS), "f"),
    **{name: name[0] for name in NARROW_INTEGERS},
}
# The least number that NumPy gives a dtype of another package.
OTHERS: Final = 256


def is_float0(value: Any) -> bool:
    """True if a value is such a tangent.

    >>> import numpy as np
    >>> is_float0(np.zeros(3, float0)), is_float0(np.zeros(3))
    (True, False)
    """
    return isinstance(value, np.ndarray) and value.dtype == float0


@cache
def added(name: str) -> np.dtype:
    """A dtype of ml_dtypes.

    >>> added("bfloat16"), added("int4")
    (dtype(bfloat16), dtype(int4))
    """
    import ml_dtypes

    dtype: np.dtype = np.dtype(getattr(ml_dtypes, name))
    return dtype


class extended(np.generic):
    """The class of the dtypes that are none of NumPy's, for `issubdtype`."""


class prng_key(extended):
    """The class of the dtypes of keys, for `issubdtype`.

    >>> import traceir, traceir.numpy as jnp
    >>> jnp.issubdtype(traceir.random.key(0).dtype, prng_key)
    True
    """


def is_added(dtype: np.dtype) -> bool:
    """True if a dtype is one of ml_dtypes that arrays have.

    >>> is_added(added("float8_e5m2")), is_added(np.dtype("int8"))
    (True, False)
    """
    return dtype.num >= OTHERS and dtype.name in ADDED


def is_narrow(dtype: np.dtype) -> bool:
    """True if a dtype has eight bits and fewer, and mixes with numbers alone.

    >>> is_narrow(added("int4")), is_narrow(added("bfloat16")), is_narrow(KEY)
    (True, False, False)
    """
    return dtype.num >= OTHERS and dtype.name in NARROW


def bits_of(dtype: np.dtype) -> int:
    """The number of bits of an element.

    >>> bits_of(np.dtype("int8")), bits_of(added("int4")), bits_of(KEY)
    (8, 4, 64)
    """
    if not is_narrow(dtype):
        return 8 * dtype.itemsize
    info = iinfo(dtype) if dtype.name in NARROW_INTEGERS else finfo(dtype)
    return int(info.bits)


class KeyDType:
    """The dtype of keys, which numbers do not mix with: words of 32 bits each.

    NumPy takes it for `dtype`, in which arrays of keys are held; both are equal.
    `generator` makes random numbers of the keys, and `tag` is short for it.

    >>> import numpy as np
    >>> KEY, KEY == KEY.dtype, np.empty(3, KEY).view("uint32").shape
    (key<fry>, True, (6,))
    """

    __slots__ = ("dtype", "generator", "itemsize", "name", "tag", "words")
    kind = "V"
    type = prng_key
    num = np.dtype("V").num

    def __init__(self, tag: str, words: int, generator: str) -> None:
        self.tag, self.words, self.generator = tag, words, generator
        self.name = f"key<{tag}>"
        self.itemsize = 4 * words
        # Dtypes of NumPy's are told apart by names of their fields.
        field = "words" if tag == "fry" else tag
        self.dtype = np.dtype([(field, np.uint32, (words,))])

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, np.dtype) and other == self.dtype
        return other is self or same

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return "KEY" if self.tag == "fry" else self.tag.upper()


# What reads a dtype's kind, name, size and equality can read these of them as well.
KEY = cast(np.dtype, KeyDType("fry", 2, "threefry2x32"))
RBG = cast(np.dtype, KeyDType("rbg", 4, "rbg"))
URBG = cast(np.dtype, KeyDType("urbg", 4, "unsafe_rbg"))
_KEYS = cast(list[KeyDType], [KEY, RBG, URBG])
KEYS: Mapping[str, KeyDType] = {key.tag: key for key in _KEYS}
_HELD: Mapping[np.dtype, np.dtype] = {
    key.dtype: cast(np.dtype, key) for key in KEYS.values()
}


def key_of(dtype: Any) -> KeyDType:
    """The dtype of keys by itself, or by that of the memory that holds them.

    >>> key_of(RBG).words, key_of(KEY.dtype)
    (4, key<fry>)
    """
    return cast(KeyDType, _HELD[dtype])


def word_count(dtype: np.dtype) -> int:
    """The number of words of a key.

    >>> word_count(KEY), word_count(RBG)
    (2, 4)
    """
    return dtype.itemsize // 4


def number_of_key(key: Any) -> int:
    """A key as one number: its words, the first above the others.

    >>> number_of_key(key_from_number(2**32 + 2, KEY)) == 2**32 + 2
    True
    """
    words = np.asarray(key).reshape(1).view(np.uint32).tolist()
    found = 0
    for word in words:
        found = found << 32 | word
    return found


def key_from_number(number: int, dtype: np.dtype) -> Any:
    """The key that is such a number; None where it has too many bits, or is negative.

    >>> key_from_number(2**32 + 2, KEY), key_from_number(2**64, KEY) is None
    (np.void(([1, 2],), dtype=[('words', '<u4', (2,))]), True)
    """
    key = key_of(dtype)
    if not 0 <= number < 1 << 32 * key.words:
        return None
    words = [number >> 32 * k & 0xFFFFFFFF for k in reversed(range(key.words))]
    return np.array((words,), key.dtype)[()]


def is_key(dtype: Any) -> bool:
    """True if a dtype is one of keys, or of the memory that holds them.

    >>> is_key(KEY), is_key(RBG.dtype), is_key(float0)
    (True, True, False)
    """
    if type(dtype) is KeyDType:
        return True
    return isinstance(dtype, np.dtype) and dtype.kind == "V" and dtype in _HELD


class ExtendedDType:
    """The class that libraries derive dtypes of their own from, which no array has."""


# Dtypes by names that NumPy does not know, or not without an import.
_NAMED: Mapping[str, Callable[[], np.dtype]] = {
    **{name: partial(added, name) for name in ADDED},
    **{key.name: partial(_HELD.__getitem__, key.dtype) for key in KEYS.values()},
}


def as_dtype(asked: Any) -> np.dtype:
    """`numpy.dtype(asked)`, where those of ml_dtypes and the keys' are names as well.

    Raises TypeError for whatever is no dtype.

    >>> as_dtype("bfloat16"), as_dtype("float32"), as_dtype("key<fry>")
    (dtype(bfloat16), dtype('float32'), key<fry>)
    """
    if type(asked) is str and asked in _NAMED:
        return _NAMED[asked]()
    try:
        found = np.dtype(asked)
    except (TypeError, ValueError, SyntaxError) as error:  # some texts are parsed
        raise TypeError(f"{asked!r} is no dtype: {error}") from None
    return _HELD.get(found, found) if found.kind == "V" else found


def are_keys(value: Any, dtype: Any) -> bool:
    """True for keys that are asked for as what they are.

    >>> are_keys(np.zeros(2), KEY)
    False
    """
    return type(dtype) is KeyDType and getattr(value, "dtype", None) is dtype


def is_half(dtype: np.dtype) -> bool:
    """True if a dtype is floating and has 16 bits: sums of it are taken in float32.

    >>> import numpy as np
    >>> is_half(np.dtype("float16")), is_half(added("bfloat16")), is_half(KEY)
    (True, True, False)
    """
    return dtype.itemsize == 2 and kind_of(dtype) == "f"


def kind_of(dtype: np.dtype) -> str:
    """`dtype.kind`, and that of those of ml_dtypes, of which NumPy knows none.

    >>> import numpy as np
    >>> kind_of(added("bfloat16")), kind_of(added("int4")), kind_of(np.dtype("int8"))
    ('f', 'i', 'i')
    """
    kind = dtype.kind
    return ADDED.get(dtype.name, kind) if kind == "V" and dtype.num >= OTHERS else kind


def is_inexact(dtype: np.dtype) -> bool:
    """True if numbers of a dtype are rounded: it is floating or complex.

    >>> import numpy as np
    >>> is_inexact(np.dtype("complex64")), is_inexact(np.dtype("int8"))
    (True, False)
    """
    return kind_of(dtype) in "fc"


def part_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the two parts of a complex one; of any other, itself.

    >>> import numpy as np
    >>> part_dtype(np.dtype("complex64")), part_dtype(np.dtype("int8"))
    (dtype('float32'), dtype('int8'))
    """
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def finfo(dtype: Any) -> Any:
    """`numpy.finfo(dtype)`, of those of ml_dtypes, too.

    >>> finfo("bfloat16").bits, float(finfo("float16").max)
    (16, 65504.0)
    """
    asked = as_dtype(dtype)
    return _ml_dtypes().finfo(asked) if is_added(asked) else np.finfo(asked)


def iinfo(int_type: Any) -> Any:
    """`numpy.iinfo(dtype)`, of those of ml_dtypes, too.

    >>> iinfo("int4").min, iinfo("uint8").max
    (-8, 255)
    """
    asked = as_dtype(int_type)
    return _ml_dtypes().iinfo(asked) if is_added(asked) else np.iinfo(asked)


def _ml_dtypes() -> Any:
    import ml_dtypes

    return ml_dtypes


# What `jax.dtypes` has of functions that stand elsewhere, imported when asked for.
_LATER = {
    **dict.fromkeys(("bfloat16", "issubdtype", "result_type"), "traceir.numpy"),
    "TypePromotionError": "traceir.errors",
    **dict.fromkeys(
        ("canonicalize_dtype", "scalar_type_of", "itemsize_bits"),
        "traceir.as_jax.modules.dtype_functions",
    ),
}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return globals().setdefault(name, getattr(import_module(_LATER[name]), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
