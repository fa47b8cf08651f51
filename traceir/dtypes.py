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
    """The dtype of keys, which numbers do not mix with: two words of 32 bits each.

    NumPy takes it for `KEY_MEMORY`, in which arrays of keys are held; both are equal.

    >>> import numpy as np
    >>> KEY, KEY == KEY_MEMORY, np.empty(3, KEY).view("uint32").shape
    (key<fry>, True, (6,))
    """

    __slots__ = ()
    name = "key<fry>"
    kind = "V"
    itemsize = 8
    type = prng_key
    dtype = np.dtype([("words", np.uint32, (2,))])
    num = dtype.num

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, np.dtype) and other == self.dtype)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return "KEY"


KEY_MEMORY = KeyDType.dtype
# What reads a dtype's kind, name, size and equality can read these of it as well.
KEY = cast(np.dtype, KeyDType())


def is_key(dtype: np.dtype) -> bool:
    """True if a dtype is that of keys, or of the memory that holds them.

    >>> is_key(KEY), is_key(KEY_MEMORY), is_key(float0)
    (True, True, False)
    """
    return dtype.kind == "V" and dtype == KEY


class ExtendedDType:
    """The class that libraries derive dtypes of their own from, which no array has."""


# Dtypes by names that NumPy does not know, or not without an import.
_NAMED: Mapping[str, Callable[[], np.dtype]] = {
    **{name: partial(added, name) for name in ADDED},
    KeyDType.name: lambda: KEY,
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
    return KEY if found.kind == "V" and found == KEY_MEMORY else found


def are_keys(value: Any, dtype: Any) -> bool:
    """True for keys that are asked for as what they are.

    >>> are_keys(np.zeros(2), KEY)
    False
    """
    return dtype is KEY and getattr(value, "dtype", None) is KEY


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
