"""Reports on a program's speed: kernels, memory, vectors. Cites: jit.explain"""

from __future__ import annotations

import platform
import re
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir_numba.pipeline.explain import vector_bits

X86 = platform.machine() in ("x86_64", "AMD64")


def said(f: Any, *args: Any) -> str:
    """The report on a function under the Numba backend."""
    return traceir.jit(f, backend="numba").explain(*args, what="speed")


def test_a_kernel_is_told_with_its_bytes_threads_and_vectors() -> None:
    text = said(lambda x: x * 2 + 1, jnp.zeros(1 << 20))
    assert ": 1 kernel; 8.4 MB of arguments and results" in text
    assert re.search(r"1\. .*_map: mul add over 1048576; reads a, writes \w+,", text)
    assert f"{traceir_numba.threads()} thread" in text
    if X86:
        assert re.search(r"vectors of (128|256|512) bits", text)
    for stage in ("simplify and fuse", "emit", "compile", "load", "trace"):
        assert re.search(rf"\b{stage} \d+\.\d ms", text), stage


def test_what_is_in_memory_is_told_with_its_reason() -> None:
    w = jnp.ones((300, 300))
    text = said(lambda w, x: jnp.tanh(x @ w + 1).sum(axis=0), w, w)
    assert "1 product" in text and "a product, which step 2 reads" in text
    text = said(lambda w, x: jnp.tanh(x) @ w, w, w)
    assert "the product of step 2 reads all of it" in text
    text = said(lambda x: x / jnp.sum(x), jnp.ones(1 << 20))
    assert "a reduction, which step 2 needs whole" in text


def test_a_loop_and_the_reference_are_told() -> None:
    def steps(x: Any) -> Any:
        return traceir.lax.fori_loop(0, 9, lambda k, x: jnp.sin(x) + k, x)

    assert "1 loop" in said(steps, jnp.ones(4))
    f = traceir.jit(steps, backend="reference")
    assert "reference: 1 equation, each by NumPy" in f.explain(1.0, what="speed")


def test_a_parameter_of_that_name_is_the_users() -> None:
    f = traceir.jit(lambda x, what: x * what)
    assert f.explain(1.0, what=2.0).startswith("miss")
    with pytest.raises(ValueError, match="'size'") as caught:
        traceir.jit(lambda x: x).explain(1.0, what="size")
    assert getattr(caught.value, "rule", None) == "jit.explain"


def test_where_the_time_to_compile_went_is_told() -> None:
    f = traceir.jit(lambda x: jnp.sum(jnp.sin(x), 0) * 2, backend="numba")
    whole, kernels, stages = f.explain(jnp.ones((3, 4)), what="compile").split("\n")
    made = float(re.fullmatch(r"made in (\d+\.\d) ms", whole)[1])
    assert re.fullmatch(r"longest kernel of 1 for LLVM: \w+ \d+\.\d KB", kernels)
    found = re.findall(r"([a-z ]+) (\d+\.\d) ms \((\d+) %\)", stages)
    names = [name.strip() for name, *_ in found]
    assert names == ["simplify and fuse", "emit", "compile", "load"]
    assert sum(float(time) for _, time, _ in found) == pytest.approx(made, abs=0.3)
    assert sum(int(part) for *_, part in found) == pytest.approx(100, abs=2)
    assert re.search(r", trace \d+\.\d ms$", stages)
    f = traceir.jit(lambda x: x + 1, backend="reference")
    assert "nothing is compiled" in f.explain(1.0, what="compile")


def test_the_widest_vectors_of_a_function_are_found() -> None:
    text = "f:\n\tvmovups\t%zmm0, (%rax)\n\tvmulps\t%xmm0, %xmm1, %xmm1\n\tretq\n"
    assert vector_bits(text, "f") == 128
    assert vector_bits(text.replace("mulps", "mulss"), "f") == 0
    assert vector_bits("f:\n\tvpaddd\t%zmm0, %zmm1, %zmm1\n\tretq\n", "f") == 512
    both = f"f:\n\tretq\n.Lfunc_end0:\ng:\n{text}"
    assert vector_bits(f"\n{both}", "f") == 0
    assert vector_bits("f:\n\tfadd\tv0.4s, v1.4s, v2.4s\n\tret\n", "f") is None


def test_a_function_of_numpy_arrays_is_told() -> None:
    f = traceir_numba.jit(lambda x: x * 2)
    assert "reads a, writes b, 16.0 KB" in f.explain(np.ones(1000), what="speed")
