"""Policies of checkpoints: what is saved, and what is computed again.

Rules: checkpoint.saved, checkpoint.policy, checkpoint.names, name
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.as_jax.modules import ad_checkpoint
from traceir.as_jax.modules.ad_checkpoint import checkpoint_name, saved_residuals
from traceir.ir import checkpoint_policies as policies
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.text.printer import to_text

X = np.array([[0.5, -0.25], [0.125, 1]], "f4")


def layers(w: Any) -> Any:
    inner = checkpoint_name(jnp.sin(w @ X), "inner")
    batch = jnp.einsum("nij,njk->nik", inner[None], X[None])[0]
    return checkpoint_name(jnp.sin(batch), "outer").sum()


def saved(policy: Any, f: Any = layers) -> list[str]:
    """The sources of what is saved beside the argument and constants."""
    lines = saved_residuals(traceir.checkpoint(f, policy=policy), X)
    made = [line.partition(" ")[2] for line in lines if " from the arg" not in line]
    return [text.partition(" from ")[0] for text in made if text != "from a constant"]


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        (None, []),
        (policies.nothing_saveable, []),
        (policies.everything_saveable, ["output of cos"] * 2),
        (policies.dots_saveable, ["output of dot_general"] * 2),
        (policies.checkpoint_dots, ["output of dot_general"] * 2),
        (policies.dots_with_no_batch_dims_saveable, ["output of dot_general"]),
        (
            policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
            ["output of dot_general"],
        ),
        # What a name is given to is needed by no cotangent but through its sine.
        (policies.save_only_these_names("inner"), ["named 'inner'"]),
        (policies.save_any_names_but_these("outer"), ["named 'inner'"]),
        (policies.save_anything_except_these_names(), ["output of cos"] * 2),
        (
            policies.save_from_both_policies(
                policies.save_only_these_names("inner"),
                policies.dots_with_no_batch_dims_saveable,
            ),
            ["output of dot_general", "named 'inner'"],
        ),
        (
            policies.save_and_offload_only_these_names(
                names_which_can_be_saved=["outer"],
                names_which_can_be_offloaded=["inner"],
                offload_src="device",
                offload_dst="pinned_host",
            ),
            ["named 'inner'"],
        ),
        (lambda prim, *_, **params: prim.name == "sin", ["output of sin"]),
        (
            lambda prim, *avals, **_: prim == "sin" and avals[0].shape == (2, 2),
            ["output of sin"],
        ),
    ],
)
def test_a_policy_tells_what_is_saved(policy: Any, found: list[str]) -> None:
    assert saved(policy) == found
    again = traceir.grad(traceir.checkpoint(layers, policy=policy))(X)
    np.testing.assert_allclose(again, traceir.grad(layers)(X), rtol=1e-5)


def test_the_text_of_policies_is_read_back() -> None:
    for policy in (policies.dots_saveable, policies.save_only_these_names("b", "a")):
        closed = traceir.make_jaxpr(traceir.checkpoint(layers, policy=policy))(X)
        text = str(closed)
        assert str(traceir.parse(text)) == text
        assert policies.policy_of(closed.eqns[0].param("policy")) == policy
        assert pickle.loads(pickle.dumps(policy)) == policy
        read = traceir.parse(to_text(closed, full=True))
        pulled = traceir.grad(lambda x, read=read: run(read, x))(X)
        np.testing.assert_allclose(pulled, traceir.grad(layers)(X), rtol=1e-5)


def run(program: ClosedJaxpr, x: Any) -> Any:
    """The only result of a program with constants."""
    from traceir.tracing.staging import apply

    values = [np.asarray(c) for c in program.consts]
    return apply(ClosedJaxpr(program.jaxpr, tuple(values), "reference"), [x])[0]


def test_a_policy_is_something_to_call() -> None:
    with raises_rule("checkpoint.policy", TypeError, "everything"):
        traceir.checkpoint(layers, policy="everything")
    own = traceir.make_jaxpr(traceir.checkpoint(jnp.sin, policy=lambda *_, **__: 1))
    with raises_rule("text.opaque"):
        traceir.parse(str(own(1.0)))
    read = traceir.parse(str(own(1.0)).replace("<policy <lambda>>", "some_policy"))
    with raises_rule("checkpoint.policy", TypeError, "some_policy"):
        traceir.grad(lambda x: run(read, x))(1.0)
    with raises_rule("checkpoint.names", ValueError, "a"):
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["a", "b"],
            names_which_can_be_offloaded=["a"],
            offload_src="device",
            offload_dst="pinned_host",
        )
    with raises_rule("program.domain", TypeError):
        checkpoint_name(1.0, 3)


def test_functions_are_one_policy_if_they_are_equal() -> None:
    def policy(*_: Any, **__: Any) -> bool:
        return True

    one, other = policies.HostPolicy(policy), policies.HostPolicy(lambda *_: True)
    assert one == policies.HostPolicy(policy) and one != other
    assert hash(one) == hash(policies.HostPolicy(policy)) and one != str(one)


def test_policies_are_asked_within_loops_and_choices() -> None:
    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (jnp.sin(c @ X), c), x, None, length=3)[0].sum()

    def choice(x: Any) -> Any:
        return lax.cond(x.sum() > 0, lambda x: jnp.sin(x @ x), jnp.sin, x).sum()

    for f, inner in ((loop, "scan"), (choice, "cond"), (traceir.jit(loop), "jit")):
        point = traceir.checkpoint(f, policy=policies.dots_saveable)
        assert saved(policies.dots_saveable, f) == [f"output of {inner}"]
        assert saved(policies.nothing_saveable, f) == []
        closed = traceir.make_jaxpr(traceir.grad(point))(X)
        [again] = [e.param("jaxpr") for e in closed.eqns if e.primitive == "remat2"]
        # What is left are the products by which cotangents are pulled.
        assert str(again).count("dot_general[") == (2 if inner == "cond" else 1)
        np.testing.assert_allclose(
            traceir.grad(point)(X), traceir.grad(f)(X), rtol=1e-5
        )


def test_effects_of_what_is_saved_are_done_once() -> None:
    for policy, times in ((policies.everything_saveable, 1), (None, 2)):
        told: list[Any] = []

        def f(x: Any, told: list[Any] = told) -> Any:
            shape = traceir.ShapeDtypeStruct((), "float32")

            def told_of(x: Any) -> Any:
                told.append(x)
                return np.float32(2)

            y = traceir.experimental.io_callback(told_of, shape, 1.0, ordered=True)
            return jnp.sin(x * y)

        traceir.grad(traceir.checkpoint(f, policy=policy))(0.5)
        assert len(told) == times


def test_names_pass_through_transforms() -> None:
    def f(x: Any) -> Any:
        return checkpoint_name((jnp.sin(x), x), "pair")[0]

    assert float(traceir.grad(f)(0.0)) == 1
    assert traceir.vmap(f)(X).shape == X.shape
    assert [e.primitive for e in traceir.make_jaxpr(f)(1.0).eqns].count("name") == 2
    pushed = traceir.make_jaxpr(lambda x, t: traceir.jvp(f, (x,), (t,)))(1.0, 1.0)
    assert [e.primitive for e in pushed.eqns].count("name") == 2
    keys = checkpoint_name(traceir.random.key(0), "key")
    assert keys.dtype == traceir.random.key(0).dtype


def test_the_list_of_what_is_saved_is_printed(capsys: Any) -> None:
    ad_checkpoint.print_saved_residuals(lambda x, d: jnp.sin(x) * d["k"], X, {"k": 2.0})
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("f32[2,2] output of cos from ") for line in lines)
    ad_checkpoint.print_saved_residuals(lambda d: d["k"] * d["k"], {"k": 2.0})
    assert capsys.readouterr().out == "f32[] from the argument d['k']\n"


def random_function(rng: random.Random, depth: int) -> Callable[[Any], Any]:
    """A function of a matrix, of steps, calls, choices, loops and checkpoints."""
    steps = [random_step(rng, depth) for _ in range(rng.randrange(1, 4))]

    def f(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return f


def random_policy(rng: random.Random) -> Any:
    """A policy that has an answer for each primitive, or one of the module's."""
    number = rng.randrange(10)

    def own(prim: str, *_: Any, **__: Any) -> bool:
        return (sum(map(ord, prim)) + number) % 3 == 0

    known = (policies.dots_saveable, policies.everything_saveable, None, own)
    return rng.choice((*known, policies.save_only_these_names("a")))


def random_step(rng: random.Random, depth: int) -> Callable[[Any], Any]:
    """One step of a random function."""
    simple: list[Callable[[Any], Any]] = [
        jnp.sin,
        lambda x: x @ X,
        lambda x: checkpoint_name(x * jnp.cos(x), "a"),
        lambda x: jnp.tanh(x / 3 + 1),
    ]
    if not depth or rng.random() < 0.4:
        return rng.choice(simple)
    f, g = (random_function(rng, depth - 1) for _ in range(2))

    def loop(x: Any) -> Any:
        def body(c: Any, t: Any) -> Any:
            return jnp.sin(f(c)) * 0.1 + t, (jnp.sin(g(c)), t)

        last, (ys, ts) = lax.scan(body, x, jnp.stack([x, x * 2]))
        return last + ys[1] + ts[0]

    return rng.choice(
        [
            traceir.jit(f),
            traceir.checkpoint(f, policy=random_policy(rng)),
            lambda x: lax.cond(x.sum() > 0, f, g, x),
            loop,
        ]
    )


@pytest.mark.parametrize("seed", range(6))
def test_no_policy_changes_a_derivative(seed: int) -> None:
    rng = random.Random(seed)
    f = random_function(rng, 2)
    g = traceir.checkpoint(f, policy=random_policy(rng))
    pulled = traceir.grad(lambda x: g(x).sum())
    wanted = traceir.grad(lambda x: f(x).sum())
    ways = [pulled, traceir.jit(pulled), lambda x: traceir.vmap(pulled)(x[None])[0]]
    for way in ways:
        np.testing.assert_allclose(way(X), wanted(X), rtol=1e-3, atol=1e-5)
    pushed = traceir.jvp(pulled, (X,), (X,))[1]
    second = traceir.jvp(wanted, (X,), (X,))[1]
    np.testing.assert_allclose(pushed, second, rtol=1e-3, atol=1e-4)
    traceir.check(traceir.make_jaxpr(pulled)(X))
