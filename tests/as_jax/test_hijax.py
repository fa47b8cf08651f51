"""Primitives whose rules are the methods of a class. Cites custom_primitive.*"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental.hijax import HiPrimitive, VJPHiPrimitive
from traceir.ir.avals import ShapedArray

X = jnp.arange(3.0)


class Scaled(HiPrimitive):
    """Elements times a number, with a derivative that is told from the true one."""

    def abstract_eval(self, x: Any, *, by: float) -> Any:
        return x, set()

    def to_lojax(self, x: Any, *, by: float) -> Any:
        return x * by

    def jvp(self, primals: Any, tangents: Any, *, by: float) -> Any:
        return self.bind(*primals, by=by), 100 * by * tangents[0]


class Power(VJPHiPrimitive):
    """A power, whose cotangents are a hundred times the true ones."""

    power: int

    def __init__(self, aval: Any, power: int) -> None:
        self.in_avals, self.out_aval, self.params = (aval,), aval, {"power": power}
        super().__init__()

    def expand(self, x: Any) -> Any:
        return x**self.power

    def vjp_fwd(self, nonzero: Any, /, x: Any) -> Any:
        assert nonzero == (True,)
        return self(x), x

    def vjp_bwd(self, x: Any, ct: Any, /, accum: Any) -> None:
        accum.accum(50 * ct * self.power * x ** (self.power - 1))
        accum.accum(50 * ct * self.power * x ** (self.power - 1))

    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        assert axis_data.size == 3
        return power(args[0], self.power), dims[0]


def power(x: Any, n: int = 3) -> Any:
    return Power(traceir.typeof(x), n)(x)


class Both(VJPHiPrimitive):
    """A function of trees."""

    def __init__(self, a: Any) -> None:
        self.in_avals, self.out_aval = ({"a": a}, a), (a, {"s": a})
        self.params = {}
        super().__init__()

    def expand(self, first: Any, other: Any) -> Any:
        return first["a"] * other, {"s": other + 1}

    def vjp_fwd(self, nonzero: Any, /, *args: Any) -> Any:
        return self(*args), args

    def vjp_bwd_retval(self, args: Any, ct: Any, /) -> Any:
        return {"a": ct[0] * args[1]}, None

    def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
        return 0, {"s": 0}


def both(a: Any, b: Any) -> Any:
    return Both(traceir.typeof(a))({"a": a}, b)


class Forwards(VJPHiPrimitive):
    """A sine whose tangent is seven times that of its operand."""

    def __init__(self, aval: Any) -> None:
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    def expand(self, x: Any) -> Any:
        return jnp.sin(x)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self(*primals), 7 * tangents[0]

    def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
        return dims[0]


def forwards(x: Any) -> Any:
    return Forwards(traceir.typeof(x))(x)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, 1e-6)


def test_a_primitive_of_methods() -> None:
    scaled_p = Scaled("scaled")
    f = traceir.jit(lambda x: scaled_p.bind(x, by=2.0))
    same(f(X), 2 * X)
    same(traceir.jvp(f, (X,), (X,))[1], 200 * X)
    same(traceir.grad(lambda x: f(x).sum())(X), [200, 200, 200])
    lacking = HiPrimitive("lacking")
    with raises_rule("custom_primitive.rule", NotImplementedError, "no to_lojax of la"):
        lacking.bind(1.0)
    with raises_rule("custom_primitive.rule", NotImplementedError, "no batching of sc"):
        traceir.vmap(f)(X)


def test_what_has_effects_is_refused() -> None:
    class Told(Scaled):
        def abstract_eval(self, x: Any, *, by: float) -> Any:
            return x, {"told"}

    with raises_rule("custom_primitive.rule", NotImplementedError, "order among eff"):
        traceir.jit(lambda x: Told("told").bind(x, by=2.0))(X)


@pytest.mark.parametrize("staged", [False, True])
def test_an_operation_has_its_own_derivative_and_batching(staged: bool) -> None:
    wrap = traceir.jit if staged else lambda f: f
    same(wrap(power)(2.0), 8)
    same(wrap(traceir.grad(power))(2.0), 1200)
    same(wrap(traceir.vmap(power))(X), X**3)
    same(wrap(traceir.vmap(traceir.grad(power)))(X), 300 * X**2)
    summed = traceir.grad(lambda x: traceir.vmap(power)(x).sum())
    same(wrap(summed)(X), 300 * X**2)
    same(wrap(lambda x: lax.scan(lambda c, _: (power(c), None), x, X)[0])(1.5), 1.5**27)
    same(wrap(traceir.vmap(forwards))(X), jnp.sin(X))
    same(wrap(lambda x: traceir.jvp(forwards, (x,), (x,))[1])(X), 7 * X)
    through = traceir.vmap(lambda x: traceir.jvp(forwards, (x,), (x,))[1])
    same(wrap(through)(X), 7 * X)
    same(wrap(traceir.grad(lambda x: forwards(x).sum()))(X), [7, 7, 7])


def test_an_operation_on_trees() -> None:
    out, more = both(2.0, 3.0)
    assert (out, more["s"]) == (6, 4)
    moved = traceir.grad(lambda a, b: both(a, b)[0], (0, 1))(2.0, 3.0)
    assert moved == (3, 0)  # None is a cotangent of zero
    out, more = traceir.vmap(both)(X, X)
    same(out, X * X)
    same(more["s"], X + 1)


def test_an_operation_says_what_it_lacks() -> None:
    class Plain(Power):
        batch = VJPHiPrimitive.batch

    class Bare(VJPHiPrimitive):
        pass

    aval = ShapedArray((), "float32")
    rule = "custom_primitive.rule"
    with raises_rule(rule, NotImplementedError, "no in_avals of Bare"):
        Bare()
    with raises_rule(rule, NotImplementedError, "no batch or batch_dim_rule of Plain"):
        traceir.vmap(Plain(aval, 2))(X)
    with raises_rule("custom_primitive.types", TypeError, r"f32\[3\].* f32\[\]"):
        Power(aval, 2)(X)
    with raises_rule("custom_vjp.forward", TypeError):
        traceir.jvp(power, (1.0,), (1.0,))
    assert Power(aval, 2) == Power(aval, 2) != Power(aval, 3)
    assert repr(Power(aval, 2)) == "Power[{'power': 2}]"
    assert len({Power(aval, 2), Power(aval, 2)}) == 1


def test_effects_of_a_primitive_are_told_with_its_types() -> None:
    from traceir.as_jax.modules.interpreters import mlir

    told_p = traceir.as_jax.modules.core.Primitive("told")
    told_p.def_effectful_abstract_eval(lambda x: (x, set()))
    mlir.register_lowering(told_p, mlir.lower_fun(lambda x: 2 * x, False))
    same(traceir.jit(told_p.bind)(X), 2 * X)
