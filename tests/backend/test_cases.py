"""Every case of the specification on the Numba backend. Cites: every row"""

from __future__ import annotations

import columns
import pytest

from traceir.conform import Case, Verdict


def halves(case: Case) -> bool:
    """Whether a case has numbers of a half's precision, which the backend has not."""
    return any("f16[" in w for verb in case.verbs for w in case.words(verb))


@pytest.mark.parametrize("case", columns.CASES, ids=str)
def test_the_backend_does_what_a_case_says(case: Case) -> None:
    found = columns.verdict("numba", case.name)
    wanted = Verdict("pass")
    if halves(case) and found.kind == "unsupported":
        wanted = Verdict("unsupported", "backend.unsupported")
    assert found == wanted


def test_the_run_that_is_kept_is_fresh() -> None:
    kept = columns.kept("numba")
    assert columns.differences(kept, columns.fresh("numba")) == []
