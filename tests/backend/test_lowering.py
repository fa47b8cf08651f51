"""Generated source means what Numba makes of it, bit for bit, and nothing else.

Cites: backend.compile
"""

from __future__ import annotations

import itertools
import operator
import subprocess
import sys
from typing import Any

import numba
import pytest
from compiling import compiled, selu
from forms import FORMS
from numba.core.registry import cpu_target
from numba_bits import as_numba
from soak import sample
from with_numba import operands, ours, same

from traceir.errors import RuleRuntimeError
from traceir_numba import vecmath
from traceir_numba.device_functions import (
    TEMPLATES,
    DeviceFunction,
    closure,
    function,
    short,
)
from traceir_numba.llvm.lower import lower
from traceir_numba.llvm.symbols import Callee
from traceir_numba.llvm.types import NotInLanguage, arithmetic, common
from traceir_numba.pipeline import kernel_cache

# -- types --------------------------------------------------------------------------

DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
)
PAIRS = list(itertools.product(DTYPES, DTYPES))


def numba_type(dtype: str) -> Any:
    """Numba's type of a dtype."""
    return numba.boolean if dtype == "bool" else getattr(numba, dtype)


@pytest.fixture(scope="module")
def typing() -> Any:
    """The context in which Numba types."""
    cpu_target.target_context.refresh()
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context


def test_arithmetic_has_the_types_of_numba(typing: Any) -> None:
    for x, y in PAIRS:
        args = numba_type(x), numba_type(y)
        found = typing.resolve_function_type(operator.add, args, {})
        assert arithmetic(x, y) == str(found.return_type), (x, y)


def test_choices_have_the_types_of_numba(typing: Any) -> None:
    refused = []
    for x, y in PAIRS:
        want = str(typing.unify_types(numba_type(x), numba_type(y)))
        try:
            assert common(x, y) == want, (x, y)
        except NotInLanguage:
            refused.append((x, y, want))
    # To Numba these are float64, which no emitter means.
    assert {want for _, _, want in refused} == {"float64"}
    assert all({x[0], y[0]} == {"i", "u"} for x, y, _ in refused)
    assert {"uint64"} == {t for x, y, _ in refused for t in (x, y) if t[0] == "u"}


# -- the functions of the registries --------------------------------------------------

# One of each sort and size that behaves in a way of its own.
SORTS = "bool", "int8", "int32", "uint64", "float32", "float64"
REAL = sorted(vecmath.FUNCTIONS)


def names_of(template: str) -> list[str]:
    """The functions that a template makes and the language has."""
    if template == "convert":
        pairs = itertools.product(SORTS[1:4], SORTS[4:])
        return [f"{short(t)}_of_{short(s)}" for t, s in pairs]
    dtypes = [short(d).rstrip("_") for d in SORTS]
    return [n for n in (template, *(f"{template}_{d}" for d in dtypes)) if is_made(n)]


def is_made(name: str) -> bool:
    """True if a name is that of a function whose source is in the language."""
    try:
        for f in closure([name]):
            if not kernel_cache._is_bitcast(f):
                kernel_cache._function_text(f)
    except (KeyError, TypeError, ValueError, NotInLanguage):
        return False
    return "bool*" not in f.args  # which is no memory


# But for memory on the stack, which the functions that are given it are tested with,
# and for functions of a generator's address, which tests/test_plain_draws.py calls.
@pytest.mark.parametrize(
    "template",
    sorted(t for t in TEMPLATES if t != "lanes" and not t.startswith("draw_")),
)
def test_templates_have_the_bits_of_numba(template: str) -> None:
    names = names_of(template)
    assert names
    for name in sample(names, 2):
        f = function(name)
        arrays = operands(f, 256, seed=len(name))
        assert as_numba(f, arrays, 256), name


@pytest.mark.parametrize("name", [n for n in REAL if not n.startswith("as_")])
def test_real_functions_have_the_bits_of_numba(name: str) -> None:
    f = function(name)
    arrays = operands(f, 4099, seed=3)
    assert as_numba(f, arrays, 4099)


# -- constructs ---------------------------------------------------------------------


def form(name: str, monkeypatch: pytest.MonkeyPatch) -> DeviceFunction:
    """A function of this file, registered for the time of a test."""
    text, args, result = FORMS[name]
    f = DeviceFunction(name, args, result, text)
    monkeypatch.setitem(TEMPLATES, name, lambda _name: f)
    return f


@pytest.mark.parametrize("name", FORMS)
def test_constructs_have_the_bits_of_numba(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = form(name, monkeypatch)
    arrays = operands(f, 512, seed=1)
    assert as_numba(f, arrays, 512)
    assert not same(ours(f, arrays, 512), arrays)


# -- what is refused ------------------------------------------------------------------

REFUSED = {
    "x ** x": "power",
    "x < x < x": "x < x < x",
    "[x]": "List",
    "x.real": "Attribute",
    "unheard(x)": "unheard",
    "y": "the name y",
    "'text'": "'text'",
    "math.gamma(x)": "math.gamma",
    "math.sqrt(1)": "sqrt of int64",
    "x & x": "& of float32",
    "x[0]": "float32 indexed",
    "f32(x, x)": r"f32\(x, x\)",
    "f32(x=x)": "f32",
    "x @ x": "MatMult",
    "1 if x > 0 else u64(1)": "no integer type",
    "f32(x) and f32(x)": "a number as a truth",
    "fill(x)": "gives none",
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_expressions_are_refused_by_name(text: str) -> None:
    fill = kernel_cache.Callee("fill", ("float32",), None)
    with pytest.raises(NotInLanguage, match=REFUSED[text]):
        lowered(f"def f(x):\n    return {text}", fill=fill)


STATEMENTS = {
    "x = y = 1.0": "x = y",
    "x.a = 1.0": "x.a",
    "x[0] += 1.0": r"x\[0\]",
    "x, y = x": "several values",
    "del x": "Delete",
    "for i in x: pass": "for i in x",
    "for i in range(): pass": "the loop",
    "for i in range(1, 2, 3, 4): pass": "more than three",
    "for i in range(0, 9, 0): pass": "steps of 0",
    "while x > 1.0:\n        x = 0.5\n    else:\n        pass": "else",
    "for i in range(9):\n        x = f64(x)": "x, which changes its type",
    "return x\n    x = 1.0": "line 3",
    "x + 1.0": "x",
    "import math": "Import",
    "return": "return",
    "if x > 0.0:\n        z = x\n    x = z": "the name z",
    "for i in range(3):\n        z = x\n    x = i": "the name i",
    "pass": "without a result",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_other_statements_are_refused_by_name(text: str) -> None:
    end = "" if text in ("pass", "return") or "line 3" in text else "\n    return x"
    with pytest.raises(NotInLanguage, match=STATEMENTS[text]):
        lowered(f"def f(x):\n    {text}{end if not text.startswith('return') else ''}")


def lowered(text: str, **names: Any) -> str:
    """A function of one float32 as LLVM text."""
    return lower(text, "f", ("float32",), "float32", kernel_cache.NAMES | names)


def test_a_fault_of_an_emitter_is_an_error_with_a_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_args: object, **_options: object) -> str:
        return lowered("def f(x):\n    return lambda: x")

    monkeypatch.setattr(kernel_cache, "_lowered", broken)
    with pytest.raises(RuleRuntimeError, match="Lambda: lambda: x") as caught:
        compiled(selu(3).replace("1.66", "1.71"))
    assert caught.value.rule == "backend.compile"


# -- what it does without -------------------------------------------------------------


def test_a_choice_that_may_trap_is_a_branch_and_others_are_none() -> None:
    safe = lowered("def f(x):\n    return x * f32(2.0) if x > f32(1.0) else x")
    assert "br i1" not in safe
    read = "def f(p):\n    return p[1] if p[0] > f32(1.0) else f32(0.0)"
    assert "br i1" in lower(read, "f", ("float32*",), "float32", kernel_cache.NAMES)


def test_variables_are_registers() -> None:
    text = """def f(p, n):
        t = f32(0.0)
        for i in range(n):
            t = t + p[i]
        return t"""
    found = lower(text, "f", ("float32*", "int64"), "float32", kernel_cache.NAMES)
    assert "alloca" not in found
    assert found.count(" phi ") == 2


PROGRAM = """
import sys
import traceir
import traceir.numpy as jnp
import traceir_numba

x = jnp.ones((8, 8))
print(traceir.jit(lambda x: jnp.sin(x) @ x + jnp.sum(x, axis=0))(x)[0, 0])
print(traceir.jit(lambda x: traceir.lax.fori_loop(0, 3, lambda i, c: c * x, x))(x))
assert traceir.jit(jnp.sin).lower(x).compile().backend == "numba", "another backend"
assert "numba" not in sys.modules, "Numba"
"""


def test_compiling_and_running_imports_no_numba() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True)


def test_the_text_of_a_long_function_grows_with_it() -> None:
    def size(lines: int) -> int:
        body = "\n".join(f"    x = x * f32({k}.5) + x" for k in range(lines))
        text = f"def f(x):\n{body}\n    return x"
        return len(lowered(text))

    assert size(2000) < 2.2 * size(1000)


def test_turns_that_call_kernels_are_not_written_one_after_the_other() -> None:
    text = "def f(x):\n    for k in range(10):\n        inner(x, k)"
    known = {"inner": Callee("inner", ("float32*", "int64"), None)}
    made = lower(text, "f", ["float32*"], None, known)
    assert '!"llvm.loop.unroll.disable"' in made
    pure = "def f(x):\n    for k in range(10):\n        x[k] = x[k] + x[k]"
    assert "!llvm.loop" not in lower(pure, "f", ["float32*"], None, {})
