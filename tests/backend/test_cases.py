"""Every case of the specification on the Numba backend. Cites: every row"""

from __future__ import annotations

import pytest

from traceir.conform import Case, judge, load_cases
from traceir.conform.implementations import Compiled

NUMBA = Compiled("numba")


@pytest.mark.parametrize("case", load_cases(), ids=str)
def test_the_backend_does_what_a_case_says(case: Case) -> None:
    verdict = judge(NUMBA, case)
    assert verdict, verdict.why
