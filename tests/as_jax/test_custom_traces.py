"""Traces of users: subclasses of `core.Trace`, under transforms and around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import traceir as jax
import traceir.numpy as jnp
from traceir import lax
from traceir.as_jax.modules import core
from traceir.as_jax.modules.extend import linear_util as lu


class NotedTracer(core.Tracer):
    """A value with the names of the operations that it comes from."""

    def __init__(self, trace: NotedTrace, value: Any, names: tuple[str, ...]) -> None:
        super().__init__(trace, core.get_aval(value))
        self.value = value
        self.names = names


class NotedTrace(core.Trace):
    """Notes the names of operations, and has the trace around it apply them."""

    def __init__(self, outer: Any) -> None:
        super().__init__()
        self.outer = outer

    def parts(self, tracers: Any) -> tuple[list[Any], tuple[str, ...]]:
        own = [isinstance(t, NotedTracer) and t._trace is self for t in tracers]
        values = [t.value if o else t for t, o in zip(tracers, own, strict=True)]
        lists = [t.names for t, o in zip(tracers, own, strict=True) if o]
        return values, sum(lists, ())

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        values, names = self.parts(tracers)
        with core.set_current_trace(self.outer):
            out = primitive.bind(*values, **params)
        names = (*names, primitive.name)
        if primitive.multiple_results:
            return [NotedTracer(self, x, names) for x in out]
        return NotedTracer(self, out, names)


class WithRules(NotedTrace):
    """The same, which passes rules of derivatives on."""

    def process_custom_jvp_call(
        self,
        primitive: Any,
        fun: Any,
        jvp: Any,
        tracers: Any,
        /,
        *,
        symbolic_zeros: Any,
    ) -> Any:
        values, names = self.parts(tracers)
        outs = primitive.bind_with_trace(
            self.outer,
            tuple(values),
            tuple(map(core.get_aval, values)),
            {"subfuns": (fun, jvp), "symbolic_zeros": symbolic_zeros},
        )
        return [NotedTracer(self, x, (*names, primitive.name)) for x in outs]


def noted(fun: Any, kind: Any = WithRules) -> Any:
    """The function, run in a trace of that kind; its names are in `noted.names`."""

    def call(*args: Any) -> Any:
        with core.take_current_trace() as outer:
            trace = kind(outer)
            with core.set_current_trace(trace):
                out = fun(*[NotedTracer(trace, x, ()) for x in args])
        # Functions take attributes, of which a checker knows nothing.
        call.names = out.names  # type: ignore[attr-defined]
        return out.value

    return call


def steep(x: Any) -> Any:
    return jnp.sum(jnp.where(x > 0, x * 2.0, jnp.exp(x)))


def loop(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, v: v * jnp.sin(v) + i, x).sum()


def branch(x: Any) -> Any:
    return lax.cond(x.sum() > 0, lambda v: v * 2, jnp.negative, x).sum()


@jax.custom_jvp
def straight(x: Any) -> Any:
    return jnp.round(x)


straight.defjvps(lambda t, out, x: t)


def rounded(x: Any) -> Any:
    return jnp.sum(straight(x) * x)


X = jnp.array([0.5, -1.25, 2.0])


@pytest.mark.parametrize("fun", [steep, loop, branch, rounded])
def test_numbers_and_derivatives_are_those_of_the_function(fun: Any) -> None:
    own, batch = noted(fun), jnp.stack([X, -X])
    assert own(X) == fun(X) and own.names
    for transform in (jax.jit, jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f))):
        np.testing.assert_allclose(transform(own)(X), transform(fun)(X), 1e-6)
    np.testing.assert_allclose(jax.vmap(own)(batch), jax.vmap(fun)(batch), 1e-6)
    inner = noted(jax.grad(fun)), noted(jax.jit(fun)), noted(lambda x: own(x) + x.sum())
    wanted = jax.grad(fun)(X), fun(X), fun(X) + X.sum()
    for one, want in zip(inner, wanted, strict=True):
        np.testing.assert_allclose(one(X), want, 1e-6)


def test_operations_are_handled_whatever_their_operands() -> None:
    seen = noted(lambda x: x + jnp.zeros(3) + jnp.arange(3))
    seen(X)
    assert seen.names.count("add") == 2 and "iota" in seen.names


def test_a_rule_is_never_lost() -> None:
    with pytest.raises(NotImplementedError, match="process_custom_jvp_call"):
        noted(rounded, NotedTrace)(X)


def test_of_a_value_the_type_is_known() -> None:
    with pytest.raises(jax.errors.TracerBoolConversionError):
        noted(lambda x: x if x[0] > 0 else -x)(X)
    kept = []
    noted(lambda x: kept.append(x) or x)(X)
    assert kept[0].shape == (3,) and kept[0].dtype == np.float32
    with pytest.raises(jax.errors.UnexpectedTracerError, match="WithRules"):
        kept[0] + 1


def test_two_results_of_a_transformation_are_kept_apart() -> None:
    @lu.transformation_with_aux
    def told(x: Any) -> Any:
        result = yield (x,), {}
        yield result, "seen"

    first, one = told(lu.wrap_init(abs))
    _, other = told(lu.wrap_init(abs))
    with pytest.raises(RuntimeError, match="abs"):
        lu.merge_linear_aux(other, other)
    first.call_wrapped(-1)
    assert lu.merge_linear_aux(one, other) == (True, "seen")
    assert lu.merge_linear_aux(other, one) == (False, "seen")


class AskingTrace(NotedTrace):
    """Notes the params, too, that operations are given."""

    given: dict[str, list[str]]

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        self.given = {**getattr(self, "given", {}), primitive.name: sorted(params)}
        return super().process_primitive(primitive, tracers, params)


def test_an_operation_of_a_trace_has_the_params_that_jax_gives_it() -> None:
    with core.take_current_trace() as outer:
        trace = AskingTrace(outer)
        with core.set_current_trace(trace):
            x: Any = NotedTracer(trace, X, ())
            found, _ = lax.scan(lambda c, x: (c + x, x), np.float32(0), x)
            found = lax.while_loop(lambda c: c < 9, lambda c: 2 * c, found)
    assert float(found.value) == 10.0
    scan = ["jaxpr", "length", "num_carry", "num_consts", "reverse", "unroll"]
    assert trace.given["scan"] == scan
    loop = ["body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"]
    assert trace.given["while"] == loop


class ChoosingTrace(NotedTrace):
    """Keeps the choices that params of operations are."""

    found: list[Any]

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        names = {"mode", "precision", "fft_type"} & params.keys()
        self.found = [*getattr(self, "found", []), *map(params.get, names)]
        return super().process_primitive(primitive, tracers, params)


def test_choices_are_given_as_members_of_enumerations() -> None:
    with core.take_current_trace() as outer:
        trace = ChoosingTrace(outer)
        with core.set_current_trace(trace):
            x: Any = NotedTracer(trace, X, ())
            x.at[jnp.array([0])].get(mode="clip")
            lax.dot(x, x, precision="high")
            lax.fft_p.bind(x, fft_type=lax.FftType.RFFT, fft_lengths=(3,))
    modes = [lax.GatherScatterMode.CLIP, (lax.Precision.HIGH,) * 2, lax.FftType.RFFT]
    assert trace.found == modes
    assert list(map(type, trace.found)) == list(map(type, modes))
    assert type(trace.found[1][0]) is lax.Precision


def test_all_traces_and_primitives_are_instances_of_the_public_classes() -> None:
    kinds = []
    jax.jit(lambda x: kinds.append(isinstance(x._trace, core.Trace)))(1.0)
    jax.grad(lambda x: kinds.append(isinstance(x._trace, core.Trace)) or x)(1.0)
    assert kinds == [True, True] and not isinstance(1, core.Trace)
    assert not isinstance(NotedTrace(None), WithRules)
    eqn = jax.make_jaxpr(jnp.sin)(1.0).eqns[0]
    for primitive in (eqn.primitive, lax.neg_p):
        assert isinstance(primitive, core.Primitive)
    assert not isinstance("neg", core.Primitive)
