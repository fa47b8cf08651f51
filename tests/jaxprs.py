"""JAX 0.10.2's texts: of the seeds' programs by name, and of ordinary ones."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
RECORDED = (DATA / "jax-0.10.2.txt").read_text(encoding="utf-8")[:-1].split("\n--\n")


def jax_text(name: str) -> str:
    """The text recorded under a name."""
    blocks = (DATA / "seed-jaxprs.txt").read_text(encoding="utf-8").split("\n\n")
    texts = dict(block.strip("\n").split("\n", 1) for block in blocks)
    return texts[name]
