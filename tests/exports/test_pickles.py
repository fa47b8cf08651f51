"""Jitted functions and programs in pickles. Cites export.pickled."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import work

import traceir
import traceir.numpy as jnp

X = np.arange(1.0, 4.0, dtype="float32")
ROOT = Path(__file__).parents[2]


def same(x: Any) -> Any:
    """A pickle of it, read."""
    return pickle.loads(pickle.dumps(x))


NAMED = (
    *(work.norm, work.power, work.plain, work.Model.apply, work.nested),
    *(work.doubled, work.donating, work.slope, work.line),
)


@pytest.mark.parametrize("f", NAMED)
def test_what_has_a_name_is_found_by_it(f: Any) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(f, protocol)) is f
    assert copy.copy(f) is f and copy.deepcopy([f])[0] is f


def test_what_was_made_of_a_function_is_made_of_it_again() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        found = pickle.loads(pickle.dumps(traceir.jit(work.double), protocol))
        assert found is not work.doubled and found._cache is work.doubled._cache
        assert found(X).tolist() == [2, 4, 6]
    assert same(work.powered)(X).tolist() == [1, 8, 27]
    assert same(partial(work.power, n=3))(X).tolist() == [1, 8, 27]


def test_options_are_kept() -> None:
    donate = {"static_argnums": 1, "donate_argnums": 0}
    donating = same(traceir.jit(work.raised, **donate))
    x = jnp.asarray(X)
    assert donating(x, 2).tolist() == [1, 4, 9] and x.is_deleted()
    strict = same(traceir.jit(work.double, backend="reference", strict=True))
    assert strict._options.strict and strict._options.backend == "reference"
    spread = traceir.jit(work.double, out_shardings=traceir.devices()[0])
    assert same(spread)._shardings == spread._shardings


def test_a_name_that_now_stands_for_another_function() -> None:
    before = work.norm
    try:
        work.norm = traceir.jit(work.double)
        with pytest.raises(pickle.PicklingError, match="same object"):
            pickle.dumps(before)
    finally:
        work.norm = before


def test_what_has_no_name_is_told_by_pickle() -> None:
    scale = np.float32(2)
    for f in (traceir.jit(lambda x: x * scale), traceir.jit(traceir.grad(jnp.sum))):
        with pytest.raises(
            (pickle.PicklingError, AttributeError), match=r"[Cc]an't pic"
        ):
            pickle.dumps(f)


def test_a_wrapper_has_nothing_of_the_function_but_its_attributes() -> None:
    def f(x: Any) -> Any:
        return x * x

    f.note = "kept"  # type: ignore[attr-defined]  # as users may
    g = traceir.grad(traceir.jit(f))
    assert g.note == "kept"  # type: ignore[attr-defined]  # as users may
    assert not [name for name in vars(g) if name.startswith("_") and name[1] != "_"]


def test_a_program_is_pickled_as_its_file() -> None:
    program = traceir.export(lambda x: x * 2, X)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(program, protocol)
        assert pickle.loads(data)(X).tolist() == [2, 4, 6]
    assert program.serialize() in data
    assert copy.copy(program) is program and copy.deepcopy([program])[0] is program


# A function of a script stands in `__main__`, which another process does not have.
SCRIPT = """
import sys, numpy as np, traceir, cloudpickle
scale = np.float32(3.0)

@traceir.jit
def times(x, n=2.0):
    assert times is not None  # it refers to itself
    return x * n * scale

line = traceir.jit(lambda x: x + 1)
slope = traceir.jit(traceir.grad(times))
assert cloudpickle.loads(cloudpickle.dumps(times)) is times
sys.stdout.buffer.write(cloudpickle.dumps((times, line, slope)))
"""


def run(script: str, given: bytes = b"") -> bytes:
    """The output of a Python process."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=given,
        capture_output=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_functions_of_a_script_go_with_their_code() -> None:
    pytest.importorskip("cloudpickle", reason="in the extra `parallel`")
    data = run(SCRIPT)
    times, line, slope = pickle.loads(data)
    assert times.__name__ == times.__qualname__ == "times"
    assert (float(times(1.0)), float(line(1.0)), float(slope(1.0))) == (6, 2, 6)
    assert times.__wrapped__ is not times
    reads = "import sys, pickle; f, g, h = pickle.load(sys.stdin.buffer)\n"
    assert run(reads + "print(f(2.0, n=1.0), g(2.0), h(2.0))", data) == b"6.0 3.0 6.0\n"
