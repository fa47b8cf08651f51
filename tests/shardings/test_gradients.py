"""Derivatives within functions of parts are JAX's. Cites: shard_map.vma"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from eight_devices import eight_devices as eight_devices
from recorded import Record
from shardings.gradients import PARAMETERS, PROGRAMS, ROWS, loss, results

import traceir
import traceir.numpy as jnp
from traceir import lax, shard_map
from traceir.as_jax.modules.ad_checkpoint import checkpoint_name
from traceir.errors import TraceirError
from traceir.sharding import P

RECORDED = json.loads(Record("gradients-of-parts.json").read_text())


def test_every_program_is_recorded() -> None:
    assert RECORDED.keys() == PROGRAMS.keys() and len(RECORDED) >= 40


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_jax(name: str) -> None:
    ways = (False, True) if list(PROGRAMS).index(name) % 3 == 0 else (False,)
    for jitted in ways:
        found = results(traceir, name, jitted)
        assert len(found) == len(RECORDED[name])
        for one, other in zip(found, RECORDED[name], strict=True):
            np.testing.assert_allclose(one, other, 2e-4, 1e-5)


def _over_devices(function: Any, out: str = "", **options: Any) -> Any:
    mesh = traceir.make_mesh((8,), ("x",))
    specs = {"in_specs": (P(), P("x")), "out_specs": P(*out)}
    return shard_map(function, mesh=mesh, **specs, **options)(PARAMETERS, ROWS)


def test_types_tell_what_varies() -> None:
    seen = {}

    def body(w: Any, a: Any) -> Any:
        values = {
            "shared": w,
            "own": a,
            "both": a * w,
            "sum": lax.psum(a, "x"),
            "number": lax.axis_index("x"),
            "gathered": lax.all_gather(w, "x"),
            "cast": lax.pcast(w, "x", to="varying"),
            "jitted": traceir.jit(jnp.multiply)(a, w),
        }
        seen.update({k: traceir.typeof(v) for k, v in values.items()})
        return w

    _over_devices(body)
    vary = {k for k, aval in seen.items() if aval.vma == ("x",)}
    assert vary == {"own", "both", "number", "gathered", "cast", "jitted"}
    assert repr(seen["own"]) == "ShapedArray(float32[1,4]{V:x})"
    assert seen["own"].manual_axis_type.varying == {"x"}
    seen.clear()
    _over_devices(body, check_vma=False)
    assert not any(aval.vma for aval in seen.values())


def test_a_choice_of_each_device_runs_all_branches() -> None:
    # JAX sums within the branch that some devices do not take.
    def value(w: Any, a: Any) -> Any:
        ways = lambda: jnp.sum(a @ w), lambda: jnp.sum((a * 2) @ w**2)
        return lax.cond(a[0, 0] > 0, *ways)

    slopes = [traceir.grad(value)(PARAMETERS, row[None]) for row in ROWS]
    found = _over_devices(traceir.grad(value))
    np.testing.assert_allclose(found, np.sum(slopes, axis=0), 1e-5)


def test_systems_that_are_solved_by_functions() -> None:
    # JAX refuses both.
    def by_steps(w: Any, a: Any) -> Any:
        found, _ = traceir.scipy.sparse.linalg.cg(lambda v: v * (1 + w**2), a[0])
        return found.sum()

    def solve(product: Any, b: Any) -> Any:
        return b / product(jnp.ones(4))

    def by_product(w: Any, a: Any) -> Any:
        scale = 1 + a[0] ** 2
        solved = lax.custom_linear_solve(lambda v: v * scale, w, solve, symmetric=True)
        return solved.sum()

    for value in (by_steps, by_product):
        slopes = [traceir.grad(value)(PARAMETERS, row[None]) for row in ROWS]
        found = _over_devices(traceir.grad(value))
        np.testing.assert_allclose(found, np.sum(slopes, axis=0), 1e-4)


def test_a_carry_varies_as_the_body_makes_it() -> None:
    def total(w: Any, a: Any) -> Any:
        last, rows = lax.scan(lambda c, row: (c + (row * w).sum(), c), 0.0, a)
        swung = lax.scan(lambda c, _: (lax.psum(c, "x"), None), last, None, 2)[0]
        return swung + rows.sum()

    sums = (ROWS * PARAMETERS).sum(1)
    found = _over_devices(lambda w, a: total(w, a)[None], "x")
    np.testing.assert_allclose(found, np.full(8, sums.sum() * 8), 1e-5)
    slope = _over_devices(traceir.grad(total))
    np.testing.assert_allclose(slope, ROWS.sum(0) * 64, 1e-4)


def test_loops_that_end_at_different_times() -> None:
    def below(w: Any, a: Any) -> Any:
        return lax.while_loop(lambda c: c < a.sum(), lambda c: c + 1, 0.0)[None]

    found = _over_devices(below, "x")
    assert found.tolist() == np.maximum(np.ceil(ROWS.sum(1)), 0).tolist()


def _collects(w: Any, a: Any) -> Any:
    def step(c: Any) -> Any:
        return c + lax.psum(a.sum(), "x")

    return lax.while_loop(lambda c: c < a.sum(), step, 0.0)[None]


def _differentiates(w: Any, a: Any) -> Any:
    def step(c: Any) -> Any:
        return c + traceir.grad(lambda w: (w * a).sum())(w).sum()

    return lax.while_loop(lambda c: c < a.sum(), step, 0.0)[None]


@pytest.mark.parametrize("loop", [_collects, _differentiates])
def test_devices_do_not_wait_for_one_that_has_left(loop: Any) -> None:
    with pytest.raises(TraceirError, match="psum over 'x'") as caught:
        _over_devices(loop, "x")
    assert caught.value.rule == "shard_map.loop"


def test_a_loop_that_all_leave_together_has_collectives() -> None:
    def halved(w: Any, a: Any) -> Any:
        def step(c: Any) -> Any:
            return c / 2 + 0 * lax.pmax(a.sum(), "x")

        return lax.while_loop(lambda c: lax.pmax(c, "x") > 1, step, 8.0 + w[0] * 0)

    assert float(_over_devices(halved)) == 1


def test_an_axis_of_a_batch_is_told_by_no_type() -> None:
    def body(w: Any, a: Any) -> Any:
        number = traceir.grad(lambda v: v * lax.axis_index("i"))
        return traceir.vmap(number, axis_name="i")(w)

    assert _over_devices(body).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_cast_is_refused() -> None:
    casts = {
        "axis.cast": lambda a: lax.pcast(a, "x", to="varying"),
        "axis.unbound": lambda a: lax.pcast(a, "y", to="varying"),
    }
    for rule, cast in casts.items():
        with pytest.raises(TraceirError) as caught:
            _over_devices(lambda w, a, cast=cast: cast(a))
        assert caught.value.rule == rule
    with pytest.raises(TraceirError, match="to='reduced'"):
        _over_devices(lambda w, a: lax.pcast(w, "x", to="reduced"))
    same = _over_devices(lambda w, a: lax.pcast(w, "x", to="varying"), check_vma=False)
    assert np.array_equal(same, PARAMETERS)


def test_one_function_is_traced_for_each_kind_of_argument() -> None:
    kept = traceir.jit(traceir.grad(lambda w, a: loss(traceir, w, a)))
    checked, unchecked = (
        _over_devices(
            lambda w, a, by=by: by(kept(w, a)),
            check_vma=check,
        )
        for check, by in ((True, lambda v: v), (False, lambda v: lax.psum(v, "x")))
    )
    np.testing.assert_allclose(checked, unchecked, 1e-5)
    assert kept.cache_info().misses == 2


@pytest.mark.parametrize("transform", [lambda f: f, traceir.jit, traceir.grad])
def test_a_rule_of_what_all_devices_share(transform: Any) -> None:
    def total(x: Any) -> Any:
        return lax.psum(x, "x")

    forward = traceir.custom_jvp(total)
    forward.defjvp(lambda xs, ts: (total(xs[0]), total(ts[0])))
    backward = traceir.custom_vjp(total)
    backward.defvjp(
        lambda x: (total(x), None),
        lambda _, ct: (lax.pcast(ct, "x", to="varying"),),
    )
    mesh = traceir.make_mesh((8,), ("x",))
    x = np.arange(16, dtype="float32")
    for rule in total, forward, backward:
        f = shard_map(
            lambda part, rule=rule: rule(jnp.sum(part**2)),
            mesh=mesh,
            in_specs=P("x"),
            out_specs=P(),
        )
        wanted = 2 * x if transform is traceir.grad else np.sum(x**2)
        assert np.array_equal(transform(traceir.jit(f))(x), wanted)


def test_a_rule_that_varies_where_its_function_does_not() -> None:
    def total(x: Any) -> Any:
        return lax.psum(x, "x")

    forward = traceir.custom_jvp(total)
    forward.defjvp(lambda xs, ts: (total(xs[0]), ts[0]))
    backward = traceir.custom_vjp(total)
    backward.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    mesh = traceir.make_mesh((8,), ("x",))
    for rule, row in (forward, "custom_jvp.types"), (backward, "custom_vjp.results"):
        f = shard_map(rule, mesh=mesh, in_specs=P("x"), out_specs=P(None))
        with pytest.raises(TraceirError) as error:
            traceir.grad(lambda x, f=f: f(x).sum())(np.ones(8, "float32"))
        assert f"[{row}]" in str(error.value)
        assert "vary along 'x'" in str(error.value)


def test_policies_are_asked_within_a_map() -> None:
    def parts(a: Any) -> Any:
        named = checkpoint_name(jnp.sin(a), "row")
        total = checkpoint_name(jnp.sinh(jnp.sum(a)), "number")
        return named * named * total

    mesh = traceir.make_mesh((8,), ("x",))
    f = shard_map(parts, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    a = jnp.linspace(-1, 1, 24)
    wanted = traceir.grad(lambda a: f(a).sum())(a)
    policies = traceir.checkpoint_policies
    for names, count in [
        ((), (2, 2)),
        (("row",), (1, 2)),
        (("row", "number"), (1, 1)),
    ]:
        g = traceir.checkpoint(f, policy=policies.save_only_these_names(*names))
        slopes = traceir.grad(lambda a, g=g: g(a).sum())
        text = str(traceir.make_jaxpr(slopes)(a))
        assert (text.count("= sin "), text.count("= sinh ")) == count
        for backend in ("reference", "numba"):
            found = traceir.jit(slopes, backend=backend)(a)
            np.testing.assert_allclose(found, wanted, 2e-5, 1e-6)
