"""The modules that an import of the library brings along, counted, not timed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import traceir
import traceir.numpy as jnp
from traceir.base import lazy_exports
from traceir.base.moved_modules import MOVED
from traceir.reference.kernels import KERNELS
from traceir.reference.kernels import registry as kernels
from traceir.transforms.rules import registry

HEAVY = ("scipy", "numba", "llvmlite", "ml_dtypes", "mpmath", "opt_einsum", "asyncio")
# What errors, logs and the reading of tables need.
LATER = ("logging", "hashlib", "json", "pathlib", "difflib", "tomllib", "pickle")
TESTS = Path(__file__).parent
ROOT = TESTS.parent
READ = "import sys; print(*sorted(sys.modules))"


def modules(code: str) -> set[str]:
    """The modules that a new process has after a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {READ}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def roots(code: str) -> set[str]:
    """The packages that a new process has after a program."""
    return {module.partition(".")[0] for module in modules(code)}


@pytest.mark.parametrize(
    "code",
    [
        "import traceir, traceir.numpy",
        "import traceir.numpy as jnp; x = jnp.arange(6.0); x + x; jnp.sum(x @ x)",
        "import traceir.numpy as jnp; jnp.bfloat16, jnp.float32(1)",
        "import traceir_numba; traceir_numba.threads(), traceir_numba.memory_info()",
    ],
    ids=["import", "arithmetic", "dtypes", "backend"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    assert roots(code) & set(HEAVY) == set()


def test_what_is_needed_is_imported() -> None:
    code = "import traceir.numpy as jnp; jnp.ones(2, jnp.bfloat16)"
    assert roots(code) & set(HEAVY) == {"ml_dtypes"}


def test_an_import_brings_little_beyond_numpy() -> None:
    beyond = modules("import traceir, traceir.numpy") - modules("import numpy")
    own = {module for module in beyond if module.startswith("traceir")}
    # Former names of modules are in the table of modules, and cost no file.
    assert len(own - {f"traceir.{name}" for name in MOVED}) < 162
    later = {"polynomials.polynomials", "linalg"}
    later = {*LATER, "traceir.text", *(f"traceir.numpy.{name}" for name in later)}
    assert beyond & later == set()
    assert len(beyond - own) < 15


def test_rules_stand_though_no_function_was_asked_for() -> None:
    code = (
        "import traceir.transforms.rules.registry as r; assert 'cumlogsumexp' in r.JVP"
    )
    assert "traceir.numpy.reductions.cumulative" in modules(f"import traceir; {code}")


def test_an_import_brings_no_transform_and_no_function() -> None:
    whole = modules("import traceir, traceir.numpy, traceir_numba")
    whole -= {f"traceir.{name}" for name in MOVED}
    assert "traceir.jit.function" in whole
    # What operators are made of comes with the first operator.
    late = ("transforms", "lax.elementwise", "lax.control", "numpy.elementwise")
    late += ("numpy.reductions", "reference.kernels.special", "binding.device_put")
    begins = tuple(f"traceir.{name}" for name in late)
    assert [name for name in whole if name.startswith(begins)] == []
    assert {"traceir_numba.aot.api", "traceir_numba.aot.seals"} & whole == set()


@pytest.mark.parametrize("table", ["JVP", "LINEARIZE", "SPLIT", "TRANSPOSE", "BATCH"])
def test_rules_are_entered_by_the_modules_that_are_listed(table: str) -> None:
    entering = {
        f"traceir.{path.relative_to(ROOT / 'traceir').with_suffix('')}".replace(
            "/", "."
        )
        for folder in ("transforms", "lax", "numpy")
        for path in (ROOT / "traceir" / folder).rglob("*.py")
        if re.search(rf"^ *{table}\[", path.read_text(), re.MULTILINE)
    }
    # A user's primitives have a name that only their module gives.
    assert entering - {"traceir.transforms.custom.custom_primitive"} <= set(
        registry.MODULES
    )


def test_kernels_are_entered_by_the_modules_that_are_listed() -> None:
    folder = ROOT / "traceir" / "reference" / "kernels"
    entering = {
        str(path.relative_to(folder).with_suffix("")).replace("/", ".")
        for path in folder.rglob("*.py")
        if re.search(r"^(@kernel\(|KERNELS)", path.read_text(), re.MULTILINE)
    }
    assert entering and entering - {"registry"} <= set(kernels.MODULES)


def test_a_table_is_filled_by_a_look_at_it() -> None:
    code = "from traceir.reference.kernels import KERNELS; import sys; {}; "
    code += "assert {!r} in sys.modules"
    late = "traceir.reference.kernels.special.bessel"
    for look in (
        "KERNELS['bessel_i0e']",
        "'no such' in KERNELS",
        "len(KERNELS)",
        "list(KERNELS)",
        "KERNELS.get('no such')",
        "dict(KERNELS)",
        "KERNELS.keys()",
        "KERNELS.values()",
        "KERNELS.items()",
    ):
        modules(code.format(look, late))
    with pytest.raises(KeyError, match="no such"):
        KERNELS["no such"]


def test_a_function_is_imported_when_it_is_asked_for() -> None:
    code = "import traceir.numpy as jnp; jnp.poly, jnp.linalg"
    assert {"traceir.numpy.polynomials.polynomials", "traceir.numpy.linalg"} <= modules(
        code
    )


def test_a_program_is_printed_though_no_printer_was_imported() -> None:
    code = "import traceir; str(traceir.make_jaxpr(lambda x: x)(1.0))"
    assert "traceir.text.printer" in modules(code)


def test_a_module_that_is_asked_for_alone_is_there() -> None:
    """Nothing else has imported it: a module is a name of its package only then."""
    later = traceir._LATER.items()
    names = [name for name, m in later if hasattr(import_module(m), "__path__")]
    assert {"checkpoint_policies", "monitoring"} <= {*names}
    for name in names:
        assert modules(f"import traceir; traceir.{name}"), name


def test_all_names_are_listed_and_there() -> None:
    assert set(jnp.__all__) <= set(dir(jnp))
    assert [name for name in jnp.__all__ if not hasattr(jnp, name)] == []


@pytest.mark.parametrize(
    "module", sorted({*lazy_exports.places(jnp.__file__).values()})
)
def test_no_module_has_the_name_of_a_function(module: str) -> None:
    package, _, name = module.rpartition(".")
    assert package != jnp.__name__ or name not in jnp.__all__


WARM = """
import os, sys
os.environ["TRACEIR_CACHE_DIR"] = sys.argv[1]
import numpy as np, traceir_numba
traceir_numba.jit(lambda x: np.sin(x) + 1)(np.ones(3, np.float32))
print(*sorted(sys.modules))
"""
# What makes programs, and is not needed where they are found.
COMPILER = {
    "traceir_numba.emitters",
    "traceir_numba.vecmath",
    "traceir_numba.fusion.fuse",
}


def test_a_program_that_is_found_needs_nothing_of_the_compiler(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WARM, str(tmp_path / "store")]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    first, second = (set(run.stdout.split()) for run in runs)
    assert first & COMPILER == COMPILER
    assert second & COMPILER == set()


def test_children_are_told_where_the_modules_of_tests_lie() -> None:
    # pytest tells its own process alone: without PYTHONPATH a child finds none of them.
    # The campaign is begun by `make against-jax`, which says it; `libraries.speed`
    # starts other interpreters, and says it to them, as those do who start MPI.
    own = {path.stem for path in TESTS.iterdir()} - {p.stem for p in ROOT.iterdir()}
    told = {"own_process.py", "campaign.py", "speed.py", "test_processes.py"}
    named = {
        path.name: module
        for path in TESTS.rglob("*.py")
        for module in re.findall(r'"-m",?\s*"(\w+)', path.read_text())
        if module in own
    }
    assert named.keys() - told == set(), "call own_process.output_of"
