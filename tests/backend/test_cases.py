"""Every case of the specification on the Numba backend. Cites: every row"""

from __future__ import annotations

import columns
import pytest

from traceir.conform import Case, Verdict


@pytest.mark.parametrize("case", columns.CASES, ids=str)
def test_the_backend_does_what_a_case_says(case: Case) -> None:
    assert columns.verdict("numba", case.name) == Verdict("pass")
