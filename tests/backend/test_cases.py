"""Every case of the specification on the Numba backend. Cites: every row"""

from __future__ import annotations

import columns
import pytest
from soak import sample

from traceir.conform import Case, Verdict

# The corpus holds whole programs, whose every part a smaller case is about.
WHOLE = sample((case for case in columns.CASES if case.name.startswith("jax/")), 3)
CASES = [*(c for c in columns.CASES if not c.name.startswith("jax/")), *WHOLE]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_backend_does_what_a_case_says(case: Case) -> None:
    assert columns.verdict("numba", case.name) == Verdict("pass")
