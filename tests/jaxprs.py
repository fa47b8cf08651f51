"""JAX 0.10.2's texts: of the seeds' programs by name, and of ordinary ones."""

from __future__ import annotations

from pathlib import Path

from recorded import Record

DATA = Path(__file__).parent / "data"
RECORDED = Record("jaxprs.txt.xz").read_text()[:-1].split("\n--\n")


def jax_text(name: str) -> str:
    """The text recorded under a name."""
    blocks = Record("seed-jaxprs.txt").read_text().split("\n\n")
    texts = dict(block.strip("\n").split("\n", 1) for block in blocks)
    return texts[name]
