"""What an import of the library brings along: a test counts modules, not seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("scipy", "numba", "llvmlite", "ml_dtypes", "mpmath", "opt_einsum", "asyncio")
READ = "import sys; print(*sorted({m.partition('.')[0] for m in sys.modules}))"


def roots(code: str) -> set[str]:
    """The packages that a new process has after a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {READ}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import traceir, traceir.numpy",
        "import traceir.numpy as jnp; x = jnp.arange(6.0); x + x; jnp.sum(x @ x)",
        "import traceir.numpy as jnp; jnp.bfloat16, jnp.float32(1)",
    ],
    ids=["import", "arithmetic", "dtypes"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    assert roots(code) & set(HEAVY) == set()


def test_what_is_needed_is_imported() -> None:
    code = "import traceir.numpy as jnp; jnp.ones(2, jnp.bfloat16)"
    assert roots(code) & set(HEAVY) == {"ml_dtypes"}
