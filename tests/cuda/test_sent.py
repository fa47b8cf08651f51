"""Functions for a device in pickles, programs that run there. Cites export.pickled."""

from __future__ import annotations

import pickle

import numpy as np
from exports import work

import traceir
import traceir_numba

X = np.arange(1.0, 4.0, dtype="float32")


def test_a_function_for_a_device_is_pickled_as_others_are() -> None:
    function = traceir_numba.jit(work.double, target="cuda")
    found = pickle.loads(pickle.dumps(function))
    assert type(found) is type(function) and found._options == function._options
    result = found(X)
    assert isinstance(result, traceir_numba.cuda.DeviceArray)
    assert np.asarray(result).tolist() == [2, 4, 6]


def test_a_program_is_for_no_device_in_particular() -> None:
    program = traceir.export(traceir.grad(lambda x: traceir.numpy.sum(x * x * x)), X)
    there = traceir.deserialize(program.serialize(), backend="cuda")
    assert there.backend == pickle.loads(pickle.dumps(there)).backend == "cuda"
    assert there(X).tolist() == program(X).tolist() == [3, 12, 27]
