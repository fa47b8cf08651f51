"""The README's programs run, and its figures, source and picture are those recorded."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import numpy as np
from _ext.reference import entries

from benchmarks import readme
from traceir.conform import load_cases

ROOT = Path(__file__).parents[1]
LANDING = (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")
HUNDREDS = {3: "three", 4: "four", 8: "eight", 9: "nine", 10: "ten"}
README = readme.README.read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SESSIONS = "\n".join(re.findall(r"```pycon\n(.*?)```", README, flags=re.DOTALL))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# The user's line stands in a comment, which needs a file to be read from.
COMMENT = re.compile(r"^ *# [\w.<>\[\] ]+:\d.*\n", re.MULTILINE)


def test_the_example_runs(tmp_path: Path) -> None:
    example = tmp_path / "example.py"  # a loop needs its source
    example.write_text(PROGRAMS[0], encoding="utf-8")
    names = runpy.run_path(str(example))
    x = names["x"][:1000]
    for f in (lambda: names["smooth"], lambda: names["outliers"]):
        rest = (0.1,) if f().__name__ == "smooth" else ()
        np.testing.assert_allclose(f()(x, *rest), f().__wrapped__(x, *rest), rtol=1e-12)
    assert names["y"].shape == (1_000_000,)
    assert np.all(np.abs(names["far"]) > 2.9)


def test_the_sessions_run_and_the_source_is_the_one_generated() -> None:
    import traceir_numba

    names = {"np": np, "traceir_numba": traceir_numba, "__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(SESSIONS, names, "README", "README", 0)
    found: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(
        test, out=found.append, clear_globs=False
    )
    assert found == []
    source = str(test.globs["source"])
    assert COMMENT.sub("", PROGRAMS[1]) in COMMENT.sub("", source)


def test_the_figures_are_those_recorded() -> None:
    assert readme.filled(README) == README
    assert set(re.findall(r"figures: (\w+)", README)) == readme.parts().keys()


def test_sizes_in_words_are_those_that_there_are() -> None:
    ours = ("numpy", "lax", "random", "nn", "scipy")
    prefixes = tuple(f"traceir.{name}." for name in ours)
    functions = [e for e in entries().values() if e.kind == "function"]
    count = sum(e.name.startswith(prefixes) for e in functions)
    assert f"some\n{HUNDREDS[round(count / 100)]} hundred functions of `jax" in README
    thousands = f"over {HUNDREDS[len(load_cases()) // 1000]} thousand cases"
    assert thousands in README and thousands in LANDING.lower()
    examples = re.findall(r"main/(docs/examples/\w+\.py)", README)
    lines = [len((ROOT / path).read_text("utf-8").splitlines()) for path in examples]
    assert len(lines) == 8 and max(lines) < int(
        re.findall(r"than (\d+) lines", README)[0]
    )


def test_the_picture_is_there_and_says_what_it_shows() -> None:
    text = readme.PICTURE.read_text(encoding="utf-8")
    figures = readme.figures()
    for words in (*figures["works"], f"of {figures['functions']}", "than NumPy"):
        assert f"{words}</text>" in text
    for mean in figures["means"].values():
        assert f">{mean:.2f}</text>" in text


def test_links_stay_links_on_a_package_index() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 15
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_commands_are_targets() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", README, flags=re.MULTILINE)
    assert {"demo", "test", "docs"} <= set(targets)
    assert [t for t in targets if f"\n{t}:" not in makefile] == []
