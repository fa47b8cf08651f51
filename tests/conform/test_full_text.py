"""The full text is lossless, whatever a program holds.

Programs here have primitives that no table has: a program is text before it is checked.
Rules: text.lossless, text.constants, text.nan, text.weak, text.opaque
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest
from fewer_rows import without
from hypothesis import given
from hypothesis import strategies as st

from traceir.dtypes import as_dtype, bits_of, is_narrow
from traceir.errors import JaxprSyntaxError, RuleTableError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params
from traceir.rules import default
from traceir.text import parse, to_text

DTYPES = sorted(d.name for d in default().dtypes.values())
WORDS = (
    "None",
    "True",
    "float32",
    "nan",
    "<lambda>",
    "jaxpr",
    "a b",
    "it's",
    "",
    "f.g",
)
KEYS = ("jaxpr", "name", "axis", "branches")


def words() -> st.SearchStrategy[Hashable]:
    """Values of params without programs."""
    number = st.integers(-(10**30), 10**30) | st.floats() | st.complex_numbers()
    plain = st.none() | st.booleans() | number | st.sampled_from(WORDS) | st.text()
    return plain | st.sampled_from(DTYPES).map(as_dtype)


def values(inner: st.SearchStrategy[Hashable]) -> st.SearchStrategy[Hashable]:
    """Values of params: also tuples, programs, and tuples of programs."""
    return st.recursive(
        words() | inner, lambda v: st.lists(v, max_size=3).map(tuple), max_leaves=4
    )


def param(key: str, inner: st.SearchStrategy[Hashable]) -> st.SearchStrategy[Hashable]:
    """Values of a param of that name: two names tell what the param is."""
    if key == "name":
        return st.sampled_from(WORDS) | st.text()
    return inner if key == "jaxpr" else values(inner)


@st.composite
def avals(draw: st.DrawFn) -> ShapedArray:
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    return ShapedArray(shape, draw(st.sampled_from(DTYPES)), draw(st.booleans()))


@st.composite
def arrays(draw: st.DrawFn, aval: ShapedArray) -> np.ndarray:
    """An array of any bits, NaNs of all kinds among them."""
    size = aval.size * aval.dtype.itemsize
    if aval.dtype.kind == "b":
        return draw(st.integers(0, 1)) * np.ones(aval.shape, "uint8") > 0
    drawn = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
    if is_narrow(aval.dtype):
        drawn = drawn & np.uint8((1 << bits_of(aval.dtype)) - 1)
    return drawn.view(aval.dtype).reshape(aval.shape)


@st.composite
def literals(draw: st.DrawFn) -> Literal:
    aval = ShapedArray((), draw(st.sampled_from(DTYPES)), draw(st.booleans()))
    return Literal(draw(arrays(aval))[()], aval)


@st.composite
def closed(draw: st.DrawFn, depth: int = 2) -> ClosedJaxpr:
    constvars = tuple(map(Var, draw(st.lists(avals(), max_size=2))))
    invars = tuple(map(Var, draw(st.lists(avals(), max_size=2))))
    known: list[Var] = [*constvars, *invars]
    inner = st.sampled_from(draw(held(depth - 1))) if depth else st.none()

    def atoms() -> tuple[Atom, ...]:
        drawn = st.one_of(literals(), *[st.just(v) for v in known])
        return tuple(draw(st.lists(drawn, max_size=2)))

    eqns = []
    for _ in range(draw(st.integers(0, 2))):
        keys = draw(st.sets(st.sampled_from(KEYS[depth == 0 :]), max_size=2))
        params = {key: draw(param(key, inner)) for key in keys}
        effects = draw(st.frozensets(st.sampled_from(("io", "state"))))
        outputs = tuple(map(Var, draw(st.lists(avals(), max_size=2))))
        eqns.append(Eqn("some", atoms(), outputs, sort_params(params), effects))
        known += outputs
    jaxpr = Jaxpr(constvars, invars, tuple(eqns), atoms())
    return ClosedJaxpr(jaxpr, tuple(draw(arrays(v.aval)) for v in constvars))


@st.composite
def held(draw: st.DrawFn, depth: int) -> list[ClosedJaxpr]:
    """Programs for params, to be used once or often: two differ in constants alone."""
    found = [draw(closed(depth)), draw(closed(depth))]
    first = found[0].jaxpr
    consts = tuple(draw(arrays(v.aval)) for v in first.constvars)
    return [*found, ClosedJaxpr(first, consts)]


@given(closed())
def test_the_full_text_is_lossless(program: ClosedJaxpr) -> None:
    assert parse(to_text(program, full=True)) == program


# NaNs of 64 bits: usual, negative, with bits of their own, signalling; and none.
BITS = [0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1, 0]
FLOATS = np.array(BITS, "uint64").view("float64")
COMPLEX = np.array([[a, b] for a in BITS for b in BITS], "uint64").view("complex128")

# A value of every kind that a param may be.
KINDS: tuple[Hashable, ...] = (
    *(None, True, 3, 10**99, 1.5, -0.0, 5e-324, float("inf"), float("nan")),
    *(1 + 2j, complex(0.0, -0.0), complex("nan"), complex("-inf+nanj")),
    *("x", "None", "nan", "1", "-1", "1j", "(1,)", "key<fry>", "<a>", "f.g", "a\nb"),
    *map(as_dtype, DTYPES),
    *(*FLOATS.tolist(), *COMPLEX.ravel().tolist()),
)


@pytest.mark.parametrize("key", ["axis", "branches"])
def test_every_kind_of_value_is_kept_at_every_depth(key: str) -> None:
    lost = []
    for value in KINDS:
        for nested in (value, (value,), (None, value), ((value, 2), ((value,),))):
            eqn = Eqn("some", (), (), ((key, nested),))
            program = ClosedJaxpr(Jaxpr((), (), (eqn,), ()))
            if parse(to_text(program, full=True)) != program:
                lost.append(nested)
    assert lost == []


def test_the_full_text_keeps_the_bits_of_a_nan_and_effects() -> None:
    nan = np.uint32(0xFFC00001).view(np.float32)
    out = Var(ShapedArray((), "float32"))
    literal = Literal(nan, out.aval)
    eqn = Eqn("neg", (literal,), (out,), (), frozenset({"io", "state"}))
    program = ClosedJaxpr(Jaxpr((), (), (eqn,), (out,)))
    assert "neg!io!state nan(0xffc00001):f32[]" in to_text(program, full=True)
    assert "nan:f32[]" in str(program)


@pytest.mark.parametrize(
    "value, told",
    [
        (len, "function"),
        (np.float32(1), "float32"),
        ((1, (object,)), "type"),
        (np.dtype("V8"), "VoidDType"),
        ((np.dtype(">f4"),), "Float32DType"),
    ],
)
def test_what_has_no_text_is_refused_with_its_name(value: Hashable, told: str) -> None:
    eqn = Eqn("some", (), (), (("x", value),))
    program = ClosedJaxpr(Jaxpr((), (), (eqn,), ()))
    assert str(program).startswith("{ lambda ; . let some[x=")
    with pytest.raises(JaxprSyntaxError) as caught:
        to_text(program, full=True)
    assert caught.value.rule == "text.opaque"
    assert "`x` of `some`" in caught.value.got and told in caught.value.got


@pytest.mark.parametrize("rule", ["text.layout", "text.names", "text.weak"])
def test_a_row_about_text_is_read_when_text_is_written(rule: str) -> None:
    program = parse("{ lambda ; . let in () }")
    with pytest.raises(RuleTableError) as caught:
        to_text(program, rules=without(rule))
    assert caught.value.rule == "table.row"


def test_the_margin_is_the_one_that_the_sentence_names() -> None:
    form = default().form("text.layout")
    assert f"column {form.width}," in form.says


@pytest.mark.parametrize("high", ["7fa00000", "7fc00000", "7ff80000", "00000000"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float64", "bfloat16"])
def test_a_nan_keeps_its_bits(dtype: str, high: str) -> None:
    kind = as_dtype(dtype)
    stored = bytes.fromhex(high + "7f800001" + high + "00000001")[: kind.itemsize]
    constant = np.frombuffer(stored[::-1], kind)
    variable = Var(ShapedArray((1,), kind))
    program = ClosedJaxpr(Jaxpr((variable,), (), (), (variable,)), (constant,))
    found = parse(to_text(program, full=True))
    assert found.consts[0].tobytes() == constant.tobytes()
