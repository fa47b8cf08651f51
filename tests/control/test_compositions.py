"""Control flow under chains of transforms has JAX's values.

Rules: derive.*, batch.*, control.reverse-mode
"""

from __future__ import annotations

import json

import pytest
from control.compositions import BASES, Chain, chains, value
from recorded import Record

import traceir

RECORDED = json.loads(Record("control-values.json.xz").read_text())
CHAINS = list(chains())


def test_every_chain_is_recorded() -> None:
    assert RECORDED.keys() == {chain.name for chain in CHAINS}
    assert any(v is None for v in RECORDED.values())


def judge(chain: Chain) -> None:
    """Compare a chain with what is recorded."""
    found, wanted = value(traceir, chain), RECORDED[chain.name]
    if found is None or wanted is None:
        assert found is wanted, chain.name
    else:
        assert found == pytest.approx(wanted, rel=2e-4, abs=2e-4), chain.name


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
def test_chains_by_the_reference(base: object, reference: None) -> None:
    for chain in CHAINS:
        if chain.base is base:
            judge(chain)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
def test_short_chains_by_the_default_backend(base: object) -> None:
    for chain in CHAINS:
        if chain.base is base and len(chain.transforms) < 2:
            judge(chain)
