"""Views and copies, strides and flags as NumPy has them. Rules: face.view, update.*

Every function and method of the face, on arrays that lie in memory in all ways.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from memory_programs import DTYPES, LAYOUTS, LINES, differences
from soak import SOAK

import traceir_numba
from traceir.errors import TraceirError
from traceir.face.arrays.aliasing import _rows
from traceir.face.arrays.memory_sharing import SAME, SHARED
from traceir.face.functions import functions
from traceir.rules import default

# A polynomial of conjugate roots stays complex, with a warning, where NumPy makes it
# real; the edges of complex numbers' bins are complex, those of nothing real in NumPy.
REAL = ("np.poly(a)", "np.histogramdd(a)")


def wrong(line: str, dtype: str, layouts: Any) -> tuple[list[str], int]:
    """The layouts under which there is another result, and how many are refused."""
    found, refused = [], 0
    for layout, ours, numpys in differences(line, dtype, layouts):
        if isinstance(ours, str) and ours in default().clauses:
            refused += 1
        else:
            found.append(f"{line} of {layout}: {ours} where NumPy has {numpys}")
    return found, refused


@pytest.mark.parametrize("part", range(4))
def test_results_lie_as_numpys(part: int) -> None:
    layouts, found, refused, asked = list(LAYOUTS), [], 0, 0
    for k, line in enumerate(LINES[part::4]):
        few = layouts if SOAK else layouts[k % 7 :: 7]
        dtypes = DTYPES[: 2 if line in REAL else 3]
        for dtype in dtypes if SOAK else [dtypes[k % len(dtypes)]]:
            others, count = wrong(line, dtype, few)
            found += others
            refused += count
            asked += len(few)
    assert not found, "\n".join(found)
    assert refused < 0.1 * asked


# What makes arrays of shapes and numbers, writes to one, or gives no arrays.
OTHERS = """
array_repr array_str bartlett blackman broadcast_shapes can_cast copyto diag_indices
einsum_path empty eye fill_diagonal from_dlpack frombuffer fromfile fromfunction
fromiter frompyfunc fromstring get_printoptions hamming hanning
identity indices iscomplexobj isdtype isrealobj isscalar issubdtype iterable kaiser
load mask_indices may_share_memory ndim place printoptions
promote_types put put_along_axis putmask result_type save savez set_printoptions
shape shares_memory size tri tril_indices triu_indices arange zeros ones fft.fftfreq
fft.rfftfreq
"""


def has(func: Any) -> bool:
    """True if the face has a function of NumPy's."""
    if func in functions.OWN or func in functions.DIRECT:
        return True
    try:
        functions.function_of(func)
    except TraceirError:
        return False
    return True


def test_every_function_of_the_face_is_asked() -> None:
    called = set(re.findall(r"np\.((?:linalg\.|fft\.)?\w+)", "\n".join(LINES)))
    missing = []
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in dir(module):
            func = getattr(module, name)
            plain = callable(func) and not isinstance(func, (type, np.ufunc))
            if name.startswith("_") or name == "test" or not plain or not has(func):
                continue
            if f"{prefix}{name}" not in called.union(OTHERS.split()):
                missing.append(f"{prefix}{name}")
    assert missing == []


def test_every_row_is_asked() -> None:
    called = "\n".join(LINES)
    names = {name.replace("numpy.", "np.", 1) for name in (*SHARED, *SAME)}
    spelled = {name.replace("ndarray.", "a.") for name in names}
    assert [name for name in sorted(spelled) if f"{name}" not in called] == []
    assert len(_rows()) > 40


@pytest.mark.parametrize("words", ["Q", ["C", "F"], "CONTIGUOUS"])
def test_what_numpy_does_not_know_to_require_is_its_error(words: Any) -> None:
    with pytest.raises((KeyError, ValueError), match=r"'Q'|both|'N'"):
        traceir_numba.jit(lambda x: np.require(x, requirements=words))(np.ones(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.array(x, nonsense=1),
        lambda x: np.asarray([x], nonsense=1),
        lambda x: np.asfortranarray(x, nonsense=1),
        lambda x: x.sort(nonsense=1),
        lambda x: np.require(x, nonsense=1),
        lambda x: x.partition(0, nonsense=1),
    ],
)
def test_an_argument_that_there_is_not_is_an_error(call: Any) -> None:
    with pytest.raises(TypeError, match="nonsense"):
        traceir_numba.jit(call)(np.ones(2))
