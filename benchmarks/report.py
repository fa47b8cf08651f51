"""Results as tables and plots of the docs."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.rows import Row, geometric_mean
from benchmarks.worlds import OWN

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "benchmarks.rst"
PLOTS = DOCS / "_static" / "benchmarks"
VERSIONS = ("jax", "numba", "llvmlite", "numpy", "scipy", "numexpr")
PICTURES = {
    "ratios": "a bar for each row, by how many times it is faster than jax.jit",
    "roofline": "bytes a second of each row, beside the speed of a copy",
    "growth": "seconds of calls and of first calls as programs grow",
}
TITLES = {
    "elementwise": "Elementwise functions",
    "reductions": "Reductions",
    "stencils": "Stencils",
    "algebra": "Products of matrices",
    "linalg": "Linear algebra",
    "loops": "Loops with carries",
    "gradients": "Gradients",
    "indexing": "Places that are values",
    "windows": "Windows and running sums",
    "ordering": "Order",
    "formats": "Numbers of 16 bits",
    "random": "Random numbers",
    "complex": "Complex numbers",
    "fft": "Fourier transforms",
    "special": "Special functions",
    "examples": "Examples",
    "plain": "Plain NumPy functions",
    "devices": "Devices of a host",
    "calls": "Calls of nine elements",
    "steps": "Small steps",
    "eager": "Calls outside traces",
    "compiles": "First calls",
    "growth": "Growth",
    "processes": "Processes",
    "memory": "Memory of a process with many functions",
}


def machine() -> dict[str, str]:
    """The machine on which the figures depend."""
    names = [
        line.partition(":")[2].strip()
        for line in _lines("/proc/cpuinfo")
        if line.startswith("model name")
    ]
    return {
        "processor": names[0] if names else platform.processor(),
        "processors": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
        "date": date.today().isoformat(),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def own_time(row: Row) -> str:
    """The median of our times, in the unit that suits.

    >>> own_time({"times": {"traceir": (1e-6, 2.5e-6, 3e-6)}})
    '2.5 us'
    """
    median = row["times"][OWN][1]
    if "unit" in row:
        return f"{median:.3g} {row['unit']}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if median >= scale:
            return f"{median / scale:.3g} {unit}"
    return f"{median * 1e6:.3g} us"


def ratio_texts(row: Row) -> str:
    """The ratios of a row in words."""
    return ", ".join(f"{k} {v[1]:.2f}" for k, v in row["ratios"].items())


def write(document: dict[str, Any]) -> None:
    """Write the page and its plots."""
    from benchmarks import plots

    groups: dict[str, list[Row]] = defaultdict(list)
    for row in document["rows"]:
        groups[row["group"]].append(row)
    PLOTS.mkdir(parents=True, exist_ok=True)
    plots.write(groups, PLOTS)
    PAGE.write_text("\n".join(_page(document["machine"], groups)) + "\n")


def _page(about: dict[str, str], groups: dict[str, list[Row]]) -> Iterable[str]:
    yield from _heading("Benchmarks", "=")
    yield (
        "Written by ``make bench``, one group after another. Implementations take "
        "turns; a figure is the median of the ratios\nof one round, *how many times as "
        "long* the other "
        "took as ``traceir`` does: above 1, ``traceir`` is faster.\nThe two numbers in "
        "brackets are the quartiles. ``copy`` is a copy that moves as many bytes as "
        "the arguments\nand the results have; what is near 1 there cannot be faster."
    )
    yield ""
    yield ", ".join(f"{name} {what}" for name, what in about.items()) + "."
    yield ""
    for name, shown in PICTURES.items():
        yield ".. container:: diagram\n"
        yield f"   .. image:: _static/benchmarks/{name}.svg\n      :alt: {shown}\n"
    yield from _means(groups)
    for group, rows in groups.items():
        yield from _heading(TITLES[group], "-")
        for threads in sorted({row["threads"] for row in rows}):
            yield from _table([r for r in rows if r["threads"] == threads], threads)


def _heading(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _means(groups: dict[str, list[Row]]) -> Iterable[str]:
    yield from _heading("Geometric means", "-")
    yield ".. list-table::\n   :header-rows: 1\n"
    yield "   * - group\n     - threads\n     - rows\n     - times JAX's speed"
    yield "     - slowest row"
    for group, rows in groups.items():
        for threads in sorted({row["threads"] for row in rows}):
            found = {
                row["name"]: row["ratios"]["JAX"][1]
                for row in rows
                if row["threads"] == threads and "JAX" in row["ratios"]
            }
            if not found:  # beside NumPy alone
                continue
            least = min(found, key=lambda name: found[name])
            yield f"   * - {TITLES[group]}\n     - {threads}\n     - {len(found)}"
            yield f"     - {geometric_mean([*found.values()]):.2f}"
            yield f"     - {least}: {found[least]:.2f}"
    yield ""


def _table(rows: list[Row], threads: int) -> Iterable[str]:
    others = list(dict.fromkeys(name for row in rows for name in row["ratios"]))
    yield f".. list-table:: {threads} thread{'s' if threads > 1 else ''}"
    yield "   :header-rows: 1\n"
    for k, text in enumerate(("function", OWN, *others)):
        yield f"   {'* -' if k == 0 else '  -'} {text}"
    for row in rows:
        size = f", {row['size']:,}" if "size" in row else ""
        yield f"   * - {row['name']}{size}\n     - {own_time(row)}"
        for name in others:
            found = row["ratios"].get(name)
            text = "{1:.2f} ({0:.2f} to {2:.2f})".format(*found) if found else ""
            yield f"     - {text}".rstrip()
    yield ""
