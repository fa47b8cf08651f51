"""Bad input to functions of arrays: one clear error each. Rules: face.*, index.*"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir.scipy as jsp
from traceir import lax
from traceir.errors import (
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)
from traceir.rules import default

X = jnp.arange(12.0).reshape(3, 4)
V = jnp.arange(4)
MASK = np.array([True, False, True])
MASKED = np.ma.masked_array([1, 2, 3, 4], mask=[0, 1, 0, 0])

# The rule, the exception's class, a pattern in its text, what to do.
BAD: list[tuple[str, type[Exception], str, Callable[[], Any]]] = [
    ("face.argument", TypeError, "str at position 1 of add", lambda: jnp.add(V, "a")),
    ("face.argument", TypeError, "list at position 0", lambda: jnp.sin([1.0])),
    ("face.argument", TypeError, "NoneType", lambda: jnp.sum(None)),
    ("face.argument", TypeError, "bytes", lambda: jnp.exp(b"")),
    ("face.argument", TypeError, "ndarray", lambda: jnp.sin(np.array(["a"]))),
    ("face.argument", TypeError, "str", lambda: jnp.array("a")),
    ("face.argument", TypeError, "where", lambda: jnp.where("a", 1, 2)),
    ("face.argument", TypeError, "position 0 of clip", lambda: jnp.clip([1], 0)),
    ("face.argument", TypeError, "tuple", lambda: lax.add((1,), 2)),
    ("face.no-out", NotImplementedError, "out=", lambda: jnp.sum(V, out=V)),
    ("face.no-out", NotImplementedError, "median", lambda: jnp.median(V, None, V)),
    ("face.where", ValueError, r"i32\[3\]", lambda: jnp.mean(V, where=jnp.arange(3))),
    ("array.order", NotImplementedError, "'F'", lambda: jnp.array(V, order="F")),
    ("array.order", NotImplementedError, "reshape", lambda: jnp.ravel(V, "A")),
    ("face.dtype", TypeError, "'foo' for zeros", lambda: jnp.zeros(3, dtype="foo")),
    ("face.dtype", TypeError, "str", lambda: jnp.ones(3, dtype=str)),
    (
        "face.dtype",
        TypeError,
        "clongdouble|complex256",
        lambda: X.astype(np.clongdouble),
    ),
    (
        "face.broadcast",
        ValueError,
        r"broadcast_shapes of \(2,\), \(3,\)",
        lambda: jnp.broadcast_shapes((2,), (3,)),
    ),
    ("face.broadcast", ValueError, "of", lambda: lax.broadcast_shapes((2,), (3,))),
    ("face.broadcast", TypeError, "add of", lambda: jnp.add(X, V[:3])),
    ("face.broadcast", ValueError, "where of", lambda: jnp.where(True, X, V[:3])),
    (
        "face.ragged",
        ValueError,
        r"\[\[1\], \[1, 2\]\]",
        lambda: jnp.array([[1], [1, 2]]),
    ),
    ("face.shape", TypeError, r"2\.0", lambda: jnp.zeros(2.0)),
    ("face.shape", TypeError, "'ab'", lambda: X.reshape("ab")),
    ("face.shape", TypeError, "None", lambda: jnp.ones(None)),
    ("face.shape", TypeError, r"1\.5", lambda: jnp.eye(3, k=1.5)),
    (
        "face.broadcast",
        TypeError,
        r"incompatible shapes for broadcasting.*\n.*add of \(4,\), \(3,\)",
        lambda: V + jnp.ones(3),
    ),
    ("face.broadcast", TypeError, "where of", lambda: jnp.where(V > 0, X, V[:3])),
    (
        "face.broadcast",
        TypeError,
        "matmul",
        lambda: jnp.ones((2, 3, 4)) @ jnp.ones((3, 4, 5)),
    ),
    (
        "face.broadcast-to",
        ValueError,
        r"i32\[4\] to \(4, 3\)",
        lambda: jnp.broadcast_to(V, (4, 3)),
    ),
    ("face.broadcast-to", ValueError, "to", lambda: jnp.full((2,), jnp.ones(3))),
    ("face.broadcast-to", ValueError, "to", lambda: X.at[0].set(jnp.ones(3))),
    (
        "face.reshape",
        TypeError,
        r"f32\[3,4\] into \(5,\)",
        lambda: X.reshape(5),
    ),
    ("face.reshape", TypeError, r"-1, -1", lambda: X.reshape(-1, -1)),
    ("face.reshape", TypeError, r"-2", lambda: X.reshape(-2, 6)),
    ("face.reshape", TypeError, r"-1, 5", lambda: X.reshape(-1, 5)),
    ("face.reshape", TypeError, r"-1, 0", lambda: X.reshape(-1, 0)),
    ("face.axis", ValueError, "axis 1 of 1", lambda: V.sum(1)),
    ("face.axis", ValueError, "axis -3 of 2", lambda: jnp.max(X, axis=(0, -3))),
    ("face.axis", ValueError, "axis 2", lambda: jnp.concatenate([X, X], axis=2)),
    ("face.axis", ValueError, "axis 5", lambda: jnp.swapaxes(X, 0, 5)),
    ("face.axis", ValueError, "axis 5", lambda: jnp.expand_dims(V, 5)),
    ("face.axis", ValueError, "axis", lambda: V.mT),
    ("face.axis", ValueError, "axis 3", lambda: jnp.stack([V, V], 3)),
    ("face.axis-type", TypeError, "'rows'", lambda: X.sum("rows")),
    ("face.axis-repeated", ValueError, r"\(0, -2\)", lambda: X.sum((0, -2))),
    ("face.axis-pairs", ValueError, "and", lambda: jnp.moveaxis(X, (0, 1), (0,))),
    (
        "face.reduce-empty",
        ValueError,
        r"max of shape \(0,\)",
        lambda: jnp.zeros(0).max(),
    ),
    ("face.reduce-empty", ValueError, "argmin", lambda: jnp.argmin(jnp.zeros(0))),
    ("face.reduce-empty", ValueError, "a mask", lambda: jnp.max(X, where=X > 0)),
    ("face.reduce-empty", ValueError, "a mask", lambda: jnp.nanmin(X, where=True)),
    ("face.join-empty", ValueError, "stack", lambda: jnp.stack([])),
    ("face.join-empty", ValueError, "concatenate", lambda: jnp.hstack([])),
    ("face.matmul-rank", ValueError, r"i32\[4\] and i32\[\]", lambda: V @ 2),
    ("face.tensordot-axes", TypeError, "axes=3", lambda: jnp.tensordot(X, V, 3)),
    (
        "face.tensordot-axes",
        TypeError,
        "axes",
        lambda: jnp.tensordot(X, X, ([0], [0, 1])),
    ),
    ("face.step", ValueError, "step 0", lambda: jnp.arange(0, 1, 0)),
    ("face.count", ValueError, "num=-1", lambda: jnp.linspace(0, 1, -1)),
    ("face.least-rank", ValueError, "tril of 1 dimensions", lambda: jnp.tril(V)),
    ("face.least-rank", ValueError, "unstack of 0", lambda: jnp.unstack(2)),
    ("face.vector", ValueError, r"vander of shape \(3, 4\)", lambda: jnp.vander(X)),
    ("face.sections", ValueError, "4 elements in 3 parts", lambda: jnp.split(V, 3)),
    ("face.sections", ValueError, "in 0", lambda: jnp.array_split(V, 0)),
    ("face.repeats", ValueError, "-1", lambda: jnp.tile(V, -1)),
    ("face.repeats", ValueError, "of 4 elements", lambda: jnp.repeat(V, V[:3])),
    ("face.complex", ValueError, "unwrap", lambda: jnp.unwrap(V, period=2j)),
    ("face.pad-width", ValueError, "-1", lambda: jnp.pad(V, -1)),
    ("face.pad-width", ValueError, "for 1 dim", lambda: jnp.pad(V, (1, 2, 3))),
    ("face.pad-empty", ValueError, "axis 0", lambda: jnp.pad(V[:0], 1, "edge")),
    ("face.place", IndexError, "4 of 4 elements", lambda: jnp.delete(V, 4)),
    ("face.place", IndexError, "1.5", lambda: jnp.insert(V, 1.5, 0)),
    ("face.signature", ValueError, "n->", lambda: jnp.vectorize(abs, signature="n->")),
    (
        "face.signature",
        ValueError,
        "n: extents 4 and 3",
        lambda: jnp.vectorize(jnp.dot, signature="(n),(n)->()")(V, V[:3]),
    ),
    ("face.missing", AttributeError, "sin, ", lambda: jnp.sine),
    ("face.choice", ValueError, "'yx'", lambda: jnp.meshgrid(V, indexing="yx")),
    ("index.count", IndexError, "Too many indices.*\n.*2 for 1", lambda: V[0, 0]),
    ("index.count", IndexError, "1 for 0", lambda: jnp.float32(1)[0]),
    ("index.ellipsis", IndexError, "2 of them", lambda: V[..., None, ...]),
    ("index.type", TypeError, "'a' of type str", lambda: V["a"]),
    ("index.type", TypeError, r"1\.5 of type float", lambda: V[1.5]),
    ("index.type", TypeError, "list", lambda: V[[0, 1]]),
    ("index.type", TypeError, "object", lambda: V[object()]),
    ("index.type", TypeError, "float64", lambda: V[np.ones(2)]),
    ("index.slice", IndexError, "'a'", lambda: V["a":]),
    ("index.slice", IndexError, "zero", lambda: V[0:2:0]),
    ("index.empty", IndexError, "0 elements", lambda: jnp.zeros(0)[0]),
    ("index.mask-shape", IndexError, r"\(3,\) on \(4,\)", lambda: V[MASK]),
    ("index.mask-shape", IndexError, r"on \(4,\)", lambda: V.at[MASK].set(0)),
    (
        "index.arrays",
        IndexError,
        "broadcast",
        lambda: X[np.array([0, 1]), np.array([0, 1, 2])],
    ),
    ("index.mode", ValueError, "wrap", lambda: V[:0].at[7].set(0, mode="wrap")),
    ("index.mode", ValueError, "nearest", lambda: V.at[0].get(mode="nearest")),
    ("index.along", ValueError, "", lambda: jnp.take_along_axis(X, V, 1)),
    ("index.inplace", ValueError, "put", lambda: jnp.put(V, V, 0)),
    ("index.option", ValueError, "mode", lambda: jnp.choose(V, [V, V], mode="near")),
    ("index.choices", ValueError, "no choices", lambda: jnp.choose(V, [])),
    ("face.floating", TypeError, r"i32\[\]", lambda: jnp.quantile(X, 1)),
    ("face.truths", ValueError, r"bool\[4\]", lambda: jnp.round(V > 1)),
    ("face.tens", NotImplementedError, "-1", lambda: jnp.round(V, -1)),
    ("face.single", TypeError, "f16", lambda: jsp.special.ndtr(jnp.float16(1))),
    ("face.single", TypeError, "norm|ndtri", lambda: jsp.stats.norm.ppf(1)),
    ("face.shape", TypeError, "3", lambda: jnp.indices(3)),
    ("face.choice", ValueError, "smaller", lambda: jsp.signal.convolve(X, X.T)),
    (
        "index.conditions",
        TypeError,
        "shapes",
        lambda: jnp.piecewise(X, [X > 1, True], [0, 1]),
    ),
    ("index.taken", ValueError, "5 elements", lambda: jnp.compress(MASK, V, size=5)),
    ("jit.overflow", OverflowError, "1099511627776", lambda: V + 2**40),
    ("jit.overflow", OverflowError, "1099511627776", lambda: jnp.array([2**40])),
    ("jit.overflow", OverflowError, str(2**70), lambda: jnp.array([2**70])),
    ("jit.overflow", OverflowError, "300 for int8", lambda: jnp.int8(300)),
    ("jit.overflow", OverflowError, "-1 for uint8", lambda: jnp.array([-1], "uint8")),
    ("jit.overflow", OverflowError, "for int8", lambda: jnp.full(2, 2**64, "int8")),
    ("jit.overflow", OverflowError, "300.0 for int8", lambda: jnp.int8(300.0)),
    ("jit.overflow", ValueError, "nan for int32", lambda: jnp.array([np.nan], int)),
    ("jit.masked", ValueError, "filled", lambda: jnp.sin(MASKED)),
    ("jit.masked", ValueError, "filled", lambda: jnp.asarray(MASKED)),
    ("jit.masked", ValueError, "filled", lambda: jnp.asarray([MASKED])),
    ("jit.masked", ValueError, "filled", lambda: V * MASKED),
    ("jit.masked", ValueError, "filled", lambda: jnp.where(MASKED, V, 0)),
    ("dot_general.contract-size", TypeError, "", lambda: jnp.dot(X, X)),
    ("dot_general.contract-size", TypeError, "", lambda: X @ X),
    ("pointwise2.broadcast", TypeError, "", lambda: lax.add(X, V)),
    ("pointwise2.dtype", TypeError, "", lambda: lax.add(X, 1)),
    ("concatenate.rank", TypeError, "", lambda: jnp.concatenate([X, V])),
    ("stack.shape", TypeError, "", lambda: jnp.stack([V, V[:3]])),
    ("face.axis-one", ValueError, "", lambda: jnp.squeeze(X, 0)),
    ("transpose.permutation", TypeError, "", lambda: jnp.transpose(X, (0, 0))),
    ("integer_pow.exponent", TypeError, "", lambda: V**-1),
    ("sub.numeric", TypeError, "", lambda: (V > 0) - (V > 0)),
    ("iota.numeric", TypeError, "", lambda: jnp.arange(3, dtype=bool)),
    ("broadcast_in_dim.extents", TypeError, "", lambda: jnp.zeros(-1)),
]


@pytest.mark.parametrize(
    ("rule", "kind", "pattern", "act"),
    BAD,
    ids=[f"{b[0]}-{k}" for k, b in enumerate(BAD)],
)
def test_bad_input(
    rule: str, kind: type[Exception], pattern: str, act: Callable[[], Any]
) -> None:
    with raises_rule(rule, kind, pattern):
        act()


# As above, of a traced argument `t`, an int32 scalar, beside a concrete array.
TRACED: list[tuple[str, type[Exception], str, Callable[[Any], Any]]] = [
    ("index.size", ConcretizationTypeError, "argument t", lambda t: jnp.nonzero(V + t)),
    (
        "level.concretize.number",
        ConcretizationTypeError,
        "jnp.arange argument 'stop'",
        jnp.arange,
    ),
    (
        "level.concretize.number",
        ConcretizationTypeError,
        "jnp.arange argument 'step'",
        lambda t: jnp.arange(0, 4, t),
    ),
    (
        "level.concretize.number",
        ConcretizationTypeError,
        "'num' argument of jnp.linspace",
        lambda t: jnp.linspace(0, 1, t),
    ),
    (
        "face.shape",
        TypeError,
        r"Shapes must be 1D sequences of concrete values of integer type"
        r"(.|\n)*argument t",
        jnp.zeros,
    ),
    ("face.shape", TypeError, r"\[.*, 2\]", lambda t: jnp.ones([t, 2])),
    ("face.shape", TypeError, "argument t", lambda t: X.reshape(t, 2)),
    ("face.shape", TypeError, "argument t", lambda t: jnp.broadcast_to(V, (t, 4))),
    (
        "level.concretize.index",
        TracerIntegerConversionError,
        "argument t",
        lambda t: X.sum(axis=t),
    ),
    (
        "level.concretize.index",
        TracerIntegerConversionError,
        "",
        lambda t: jnp.stack([V], axis=t),
    ),
    (
        "index.condition",
        TracerBoolConversionError,
        r"bool\[4\]",
        lambda t: jnp.compress(t < V, V),
    ),
    ("level.concretize.array", TracerArrayConversionError, "", lambda t: np.sin(t)),
    ("level.concretize.bool", TracerBoolConversionError, "", lambda t: t in V),
    ("index.slice", IndexError, "argument t", lambda t: V[:t]),
    (
        "index.mask",
        NonConcreteBooleanIndexError,
        r"Array boolean indices must be concrete(.|\n)*bool\[4\]",
        lambda t: V[t < V],
    ),
    ("array.length", TypeError, r"i32\[\]", len),
    ("array.length", TypeError, r"i32\[\]", list),
    ("array.immutable", TypeError, "at", lambda t: t.__setitem__(0, 1)),
]


@pytest.mark.parametrize(
    ("rule", "kind", "pattern", "act"),
    TRACED,
    ids=[f"{b[0]}-{k}" for k, b in enumerate(TRACED)],
)
def test_bad_use_of_a_traced_value(
    rule: str, kind: type[Exception], pattern: str, act: Callable[[Any], Any]
) -> None:
    def f(t: Any) -> Any:
        return act(t)

    with raises_rule(rule, kind, pattern):
        traceir.jit(f)(3)


def test_errors_show_the_line_of_the_user() -> None:
    with raises_rule("face.broadcast", TypeError) as _:
        V + jnp.ones(3)
    with pytest.raises(TypeError, match=r"test_face_errors\.py:\d+ in .*: V @ X"):
        V @ X


def test_every_clause_about_arrays_is_raised_by_a_test() -> None:
    prefixes = ("array.", "device.", "face.", "index.", "update.")
    clauses = {id_ for id_ in default().errors if id_.startswith(prefixes)}
    raised = {rule for rule, *_ in (*BAD, *TRACED)}
    others = (
        *("test_array", "test_donation", "test_jit_arguments", "test_plain_errors"),
        *("array/test_windows", "array_api/test_objects", "test_keys"),
        *(
            "fourier/test_fft",
            "complex/test_lost_parts",
            "transforms/test_devices",
            "processes/refusals",
        ),
        *(
            "test_plain_containers",
            "test_plain_external",
            "test_plain_records",
            "neighbours/test_ndimage",
        ),
        *("neighbours/test_spectra", "neighbours/test_kernel_density"),
        "answers/test_parameters",
    )
    for other in (f"{name}.py" for name in others):
        text = (Path(__file__).parent / other).read_text(encoding="utf-8")
        kinds = "array|device|face|index|update"
        raised |= set(re.findall(rf"\"((?:{kinds})\.[\w-]+)\"", text))
    others = default().clauses.keys() - clauses  # settings are rows of another table
    assert clauses == {r for r in raised - others if r.startswith(prefixes)}


def test_an_integer_need_fit_no_other_dtype_than_the_one_asked_for() -> None:
    large = 2**32 - 5
    made = [
        jnp.uint32(large),
        jnp.array(large, "uint32"),
        jnp.asarray([large], "uint32")[0],
        jnp.full((), large, "uint32"),
        jnp.full_like(jnp.float32(0), large, "uint32"),
        traceir.jit(lambda x: x + jnp.uint32(large))(jnp.uint32(0)),
    ]
    assert [int(x) for x in made] == [large] * len(made)
    assert {x.dtype.name for x in made} == {"uint32"}
    assert jnp.float32(2**40) == 2.0**40
    # What is an array of NumPy's already is converted, and wraps.
    assert jnp.array(np.array([300]), "uint8")[0] == 44


REDUCTIONS = [f"reduce_{name}" for name in ("sum", "prod", "max", "min")]
REDUCTIONS += [f"reduce_{name}" for name in ("and", "or", "xor")]


@pytest.mark.parametrize("kind", [TypeError, ValueError, IndexError])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_an_axis_outside_is_whatever_error_is_caught(
    name: str, kind: type[Exception]
) -> None:
    for axis in (2, -3, 7):
        with raises_rule("reduction.axes-range", kind):
            getattr(lax, name)(jnp.ones((2, 3), int), (axis,))
