"""Lists of plain functions under a name that had another list. Cites: staged.list"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir_numba

Function = Callable[..., Any]


def means_of_groups(x: Any) -> Any:
    """A list that begins anew where a step is wide."""
    group, found = [x[0]], []
    for i in range(1, len(x)):
        if x[i] - x[i - 1] < 0.1:
            group.append(x[i])
        else:
            found.append(sum(group) / len(group))
            group = [x[i]]
    found.append(sum(group) / len(group))
    return found


def lengths_of_runs(x: Any) -> Any:
    """A list to which each turn appends, and that a choice empties."""
    run, found = [], []
    for i in range(len(x)):
        run.append(i)
        if x[i] > 0.5:
            found.append(len(run))
            run = []
    return found, run


def heights(x: Any) -> Any:
    """A stack that is made anew."""
    stack, total = [], 0
    for v in x:
        while len(stack) > 0 and stack[-1] > v:
            stack.pop()
        stack.append(v)
        if v > 0.9:
            stack = [v, v]
        total += len(stack)
    return total


@pytest.mark.parametrize("function", [means_of_groups, lengths_of_runs, heights])
def test_a_name_has_another_list(function: Function) -> None:
    x = np.random.default_rng(0).random(40)
    for values in (x, np.sort(x), x[:1]):
        got, want = traceir_numba.jit(function)(values), function(values)
        if function is lengths_of_runs:
            assert got == want
        else:
            np.testing.assert_allclose(got, want)
