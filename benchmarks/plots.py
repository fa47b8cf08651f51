"""The plots of the benchmarks' page, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt

plt.switch_backend("svg")
matplotlib.rcParams["svg.hashsalt"] = "traceir"  # the same file for the same figures
matplotlib.rcParams["svg.fonttype"] = "none"

OWN = "traceir"
Row = dict[str, Any]
Groups = dict[str, list[Row]]
# Bars of ours, and of others.
COLOURS = ("#1f6feb", "#9aa4b2")
ARRAYS = ("elementwise", "reductions", "stencils")
COMPARED = (*ARRAYS, "algebra", "loops", "gradients")


def write(groups: Groups, folder: Path) -> None:
    """Write all plots."""
    _ratios(groups, folder / "ratios.svg")
    _roofline(groups, folder / "roofline.svg")
    _growth(groups["growth"], folder / "growth.svg")


def headline(figures: dict[str, Any], path: Path) -> None:
    """The functions that each compiler runs, and the speed of ours beside others."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6))
    works = figures["works"]
    _bars(left, works, [f"{n}" for n in works.values()])
    left.set_xlim(0, figures["functions"] * 1.12)
    left.set_xlabel(f"plain NumPy functions that run, of {figures['functions']}")
    speeds = {f"than {who}": mean for who, mean in figures["means"].items()}
    if loops := figures.get("loops"):
        speeds["than numba.njit, loops"] = loops["mean"]
    _bars(right, speeds, [f"{mean:.2f}" for mean in speeds.values()])
    right.axvline(1.0, color="black", linewidth=1)
    right.set_xlim(0, max(speeds.values()) * 1.15)
    right.set_xlabel("times faster is traceir, where both run")
    _save(path)


def _bars(axis: Any, values: dict[str, float], labels: list[str]) -> None:
    """Horizontal bars from the top, each with its name and its number."""
    names = list(values)
    bars = axis.barh(names, list(values.values()), height=0.62, color=COLOURS[1])
    for name, bar in zip(names, bars, strict=True):
        if name == OWN or name.startswith("than"):
            bar.set_color(COLOURS[0])
    axis.bar_label(bars, labels, padding=4)
    axis.invert_yaxis()
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)


def _save(path: Path) -> None:
    plt.tight_layout()
    plt.savefig(path, metadata={"Date": None})
    plt.close()


def _most(rows: list[Row]) -> list[Row]:
    """The rows with the most threads."""
    most = max(row["threads"] for row in rows)
    return [row for row in rows if row["threads"] == most]


def _ratios(groups: Groups, path: Path) -> None:
    """A named bar for each row, the groups below one another."""
    chosen = [_most(groups[group]) for group in COMPARED]
    count = sum(map(len, chosen)) + 2 * len(chosen)
    plt.figure(figsize=(8, 0.17 * count + 1))
    at = 0
    ticks = []
    for group, rows in zip(COMPARED, chosen, strict=True):
        rows = sorted(rows, key=lambda row: row["ratios"]["JAX"][1])
        widths = [row["ratios"]["JAX"][1] for row in rows]
        plt.barh(range(at, at + len(rows)), widths, label=group)
        ticks += [(at + k, row["name"]) for k, row in enumerate(rows)]
        at += len(rows) + 2
    plt.axvline(1.0, color="black", linewidth=1)
    plt.axvline(2.0, color="grey", linewidth=1, linestyle=":")
    plt.xscale("log", base=2)
    plt.xlabel("times jax.jit's speed; above 1 traceir is faster")
    plt.yticks([y for y, _ in ticks], [name for _, name in ticks], fontsize=7)
    plt.ylim(-1, at - 1)
    plt.gca().invert_yaxis()
    plt.legend(loc="lower right")
    _save(path)


def _roofline(groups: Groups, path: Path) -> None:
    plt.figure(figsize=(8, 4))
    for group in ARRAYS:
        rows = _most(groups[group])
        speeds = [row["bytes"] / row["times"][OWN][1] / 1e9 for row in rows]
        shares = [row["ratios"]["copy"][1] for row in rows]
        plt.scatter(shares, speeds, label=group, s=18)
    plt.axvline(1.0, color="black", linewidth=1)
    plt.xscale("log", base=2)
    plt.yscale("log")
    plt.xlabel("share of the speed of a copy of as many bytes")
    plt.ylabel("bytes of arguments and results, GB/s")
    plt.legend()
    _save(path)


def _growth(rows: list[Row], path: Path) -> None:
    names = list(dict.fromkeys(row["name"] for row in rows))
    _, axes = plt.subplots(1, len(names), figsize=(3 * len(names), 3.5))
    for axis, name in zip(axes, names, strict=True):
        mine = [row for row in rows if row["name"] == name]
        for who in dict.fromkeys(who for row in mine for who in row["times"]):
            points = [
                (r["size"], r["times"][who][1]) for r in mine if who in r["times"]
            ]
            axis.plot(*zip(*points, strict=True), marker="o", label=who)
        axis.set(xscale="log", yscale="log", title=name, ylabel="seconds")
        elements = name in ("elements", "threads")
        axis.set_xlabel("elements" if elements else "equations")
        axis.legend()
    _save(path)
