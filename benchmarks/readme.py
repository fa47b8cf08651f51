"""`python -m benchmarks.readme [--draw]`: the README's figures, and its picture.

Measures the calls of the README's example, as they are and compiled, and writes
`benchmarks/readme.json`; then the parts of the README that are marked, and the picture,
from all records. With `--draw` nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import runpy
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FOLDER = ROOT / "benchmarks"
RESULTS = FOLDER / "readme.json"
PICTURE = ROOT / "docs" / "_static" / "benchmarks" / "headline.svg"
CALLS = {
    "smooth(x, 0.1)": "a loop over 1,000,000 numbers",
    "outliers(x)": "a mask of 1,000,000 numbers",
}
OWN, NUMBA, JAX = "traceir", "numba.njit", "jax.jit"
ROUNDS = 15
Row = dict[str, Any]


def example() -> str:
    """The program at the top of the README."""
    found = re.search(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def measure() -> list[Row]:
    """A row for each call: seconds as it is, compiled, and by Numba, in turns."""
    import numba

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "example.py")  # a loop needs its source
        path.write_text(example(), encoding="utf-8")
        names = runpy.run_path(str(path))
        rows = []
        for call in CALLS:
            name = call.partition("(")[0]
            plain = names[name].__wrapped__
            ways = {"NumPy": plain, OWN: names[name], NUMBA: numba.njit(plain)}
            runs = {who: _run(call, names | {name: f}) for who, f in ways.items()}
            rows.append({"call": call, **_medians(runs)})
    return rows


def _run(call: str, names: dict[str, Any]) -> Callable[[], Any]:
    code = compile(call, "<README>", "eval")
    return lambda: eval(code, names)


def _medians(runs: dict[str, Callable[[], Any]]) -> Row:
    """The median seconds of each, and who cannot run; the first calls do not count."""
    found: Row = {}
    for who in list(runs):
        try:
            runs[who]()
        except Exception as error:
            found[who] = type(error).__name__
            del runs[who]
    times: dict[str, list[float]] = {who: [] for who in runs}
    for _ in range(ROUNDS):
        for who, run in runs.items():
            start = time.perf_counter()
            run()
            times[who].append(time.perf_counter() - start)
    return {**found, **{who: statistics.median(t) for who, t in times.items()}}


def figures() -> dict[str, Any]:
    """The records of `make plain` in a few numbers.

    How many functions there are, how many run as NumPy runs them under each compiler,
    and the geometric means of the ratios of speed on those that both run.
    """
    rows = json.loads((FOLDER / "functions.json").read_text())["rows"]
    whos = (OWN, NUMBA, JAX)
    works = {w: sum(row[w]["status"] == "works" for row in rows) for w in whos}
    means = {"NumPy": _mean([r[OWN]["ratio"] for r in rows if "ratio" in r[OWN]])}
    for who in (NUMBA, JAX):
        both = [r for r in rows if "ratio" in r[OWN] and "ratio" in r[who]]
        means[who] = _mean([r[OWN]["ratio"] / r[who]["ratio"] for r in both])
    found = {"functions": len(rows), "works": works, "means": means}
    loops = FOLDER / "loops.json"
    if loops.exists():
        listed = json.loads(loops.read_text())["rows"]
        same = [row for row in listed if row.get("same")]
        speeds = [row[NUMBA]["best"] / row[OWN]["best"] for row in same]
        found["loops"] = {
            "functions": len(listed),
            "works": sum(r.get(OWN, {}).get("status") == "works" for r in listed),
            "both": len(same),
            "mean": _mean(speeds),
        }
    return found


def _mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def headline() -> str:
    """The sentences of benefit, in Markdown.

    >>> "numba.njit" in headline()
    True
    """
    f = figures()
    works, means = f["works"], f["means"]
    text = (
        f"Of {f['functions']} ordinary functions {works[OWN]} run, where "
        f"`numba.njit` runs {works[NUMBA]} and `jax.jit` {works[JAX]}, at "
        f"{means['NumPy']:.1f} times NumPy's speed, {means[NUMBA]:.1f} times that of "
        f"`numba.njit` and {means[JAX]:.1f} times that of `jax.jit` (geometric means "
        "over what both run)"
    )
    if loops := f.get("loops"):
        text += (
            f"; of {loops['functions']} loops over elements {loops['works']} run, at "
            f"{loops['mean']:.2f} times the speed of `numba.njit`"
        )
    return f"{text}."


def times() -> list[list[str]]:
    """The table of the example's times; the first row is the head."""
    rows = [["", "as it is", "under `@traceir_numba.jit`", "times faster", "Numba"]]
    for row in json.loads(RESULTS.read_text())["rows"]:
        ratio = row["NumPy"] / row[OWN]
        rows.append(
            [
                f"`{row['call']}`, {CALLS[row['call']]}",
                _time(row["NumPy"]),
                _time(row[OWN]),
                f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}",
                row[NUMBA] if isinstance(row[NUMBA], str) else _time(row[NUMBA]),
            ]
        )
    return rows


def _time(seconds: float) -> str:
    """A time in the unit that suits.

    >>> _time(0.0023), _time(1.2)
    ('2.3 ms', '1200 ms')
    """
    return f"{seconds * 1e3:.{0 if seconds >= 0.01 else 1}f} ms"


def parts() -> dict[str, str]:
    """The marked parts of the README, by name."""
    head, *rows = times()
    table = [head, ["---"] * len(head), *rows]
    about = json.loads(RESULTS.read_text())["machine"]
    lines = ["| " + " | ".join(row) + " |" for row in table]
    lines += ["", f"{about['processor']}, {about['processors']} processors,"]
    lines[-1] += f" Python {about['python']}, NumPy {about['numpy']}, {about['date']}."
    return {"headline": headline(), "times": "\n".join(lines)}


def filled(text: str) -> str:
    """The README with its marked parts written anew."""
    for name, part in parts().items():
        marks = rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)"
        space = "\n" if part.startswith("|") else ""
        around = rf"\g<1>{space}{part}\n{space}\g<2>"
        text, n = re.subn(marks, around, text, flags=re.DOTALL)
        assert n == 1, name
    return text


def draw() -> None:
    """Write the README's parts and its picture from the records."""
    from benchmarks import plots

    README.write_text(filled(README.read_text("utf-8")), encoding="utf-8")
    plots.headline(figures(), PICTURE)


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(prog="benchmarks.readme", description=__doc__)
    parser.add_argument("--draw", action="store_true", help="from the records alone")
    if not parser.parse_args().draw:
        os.environ["TRACEIR_CACHE"] = "0"
        from benchmarks.report import machine  # which asks for jax

        rows = json.loads(
            json.dumps(measure()), parse_float=lambda x: float(f"{float(x):.4g}")
        )
        document = {"machine": machine(), "rows": rows}
        RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    draw()


if __name__ == "__main__":
    main()
