"""Views and copies, strides and flags as NumPy has them. Rules: face.view, update.*

Every function and method of the face, on arrays that lie in memory in all ways.
"""

from __future__ import annotations

from typing import Any

import pytest
from memory_programs import DTYPES, LAYOUTS, LINES, differences
from soak import SOAK

from traceir.face.aliasing import _rows
from traceir.face.sharing import SAME, SHARED
from traceir.rules import default


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
        few = layouts if SOAK else layouts[k % 4 :: 4]
        for dtype in DTYPES if SOAK else [DTYPES[k % 3]]:
            others, count = wrong(line, dtype, few)
            found += others
            refused += count
            asked += len(few)
    assert not found, "\n".join(found)
    assert refused < 0.1 * asked


def test_every_function_is_asked() -> None:
    called = "\n".join(LINES)
    names = {name.replace("numpy.", "np.", 1) for name in (*SHARED, *SAME)}
    spelled = {name.replace("ndarray.", "a.") for name in names}
    assert [name for name in sorted(spelled) if f"{name}" not in called] == []
    assert len(_rows()) > 40
