"""Chains of steps that move elements: what is made grows with their length alone.

Cites: jit.unrolled
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soak import SOAK
from structures import FORMS, PARTING, STEPS, made_by

import traceir
import traceir.numpy as jnp
from traceir_numba import cost_model

# So short a chain is already cut in parts, as a long one is.
SHORT, LONG = 20, 40
# No derivative goes back through a loop whose end the values say, and what a loop
# carries keeps its shape.
WITHOUT = {"grad": ("while",), "in a loop": ("slice", "slice, add", "pad")}
CHAINS = [("plain", name) for name in STEPS]
CHAINS += [
    (form, name)
    for form in FORMS
    for name in (STEPS if SOAK else PARTING)
    if form != "plain" and name not in WITHOUT.get(form, ())
]


@pytest.mark.parametrize(("form", "name"), CHAINS)
def test_what_is_made_grows_with_the_steps(
    form: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, x = STEPS[name]
    x = np.stack([x] * 3) if form == "vmap" else x
    few, many = (
        made_by(FORMS[form](step, n), x, monkeypatch).each(n) for n in (SHORT, LONG)
    )
    # Half a nest more: the last ones of a chain are cut where it ends.
    assert all(b <= 1.25 * a + 0.5 for a, b in zip(few, many, strict=True)), (
        f"from {few} to {many}: visits, nests, nodes, characters of each step"
    )


def test_what_is_stored_in_the_last_round_has_a_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost_model, "FUSION_ROUNDS", 1)

    def program(x: Any) -> tuple[Any, ...]:
        y = jnp.exp(x)
        again = jnp.broadcast_to(jnp.exp(jnp.exp(x[:1])), x.shape) * x
        return jnp.log(y[:, :1] * y).sum(0) + x.sum(0), y.T * 2, again

    x = np.random.default_rng(0).random((300, 40), np.float32)
    found = traceir.jit(program, backend="numba")(x)
    for one, expected in zip(found, program(x), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-4)
