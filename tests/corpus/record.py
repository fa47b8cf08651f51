"""Writes the corpus: what JAX prints for each program, as cases.

`make corpus` runs `python -m corpus.record` with JAX. The values are
those of the tables; where JAX's bits are others, and right, they stand in a comment.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from corpus.program import GROUPS, Program, corpus

from traceir.conform.casefiles.cases import read_cases
from traceir.conform.casefiles.values import TypedValue, same_bits, show
from traceir.conform.judging.run import Unsupported, judge
from traceir.conform.systems.implementations import result_types
from traceir.ir.avals import ShapedArray
from traceir.oracle.scalar_interpreter import run
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default
from traceir.text import parse

HALVES = "partitionable=False"
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "spec" / "cases" / "jax"
# The last program of a text: its constants, if any, and its inputs.
_HEAD = re.compile(r"^\{ lambda(?P<constants>[^;]*);(?P<inputs>[^.]*)\.", re.MULTILINE)
CITES = {
    "text.roundtrip": "",
    "text.layout": "\n",
    "text.shared": " in\n{",
    "text.params": "[",
    "text.names": "jaxpr=",
    "program.constants": None,
    "text.wrapped": "np.int64(",
    "accuracy.program": " = ",
}
# What is applied in a text, where its results are known by relations alone.
_KNOWN = [row.name for row in default().prims.values() if row.post]
RELATIONS = re.compile(rf"= ({'|'.join(_KNOWN)})\b")


def values_of(arrays: Sequence[np.ndarray], weak: Sequence[bool]) -> list[TypedValue]:
    """Arrays as cases write them."""
    return [
        TypedValue(ShapedArray(a.shape, a.dtype, w), a)
        for a, w in zip(map(np.asarray, arrays), weak, strict=True)
    ]


def head(text: str) -> re.Match[str]:
    """The beginning of the last program of a text."""
    *_, found = _HEAD.finditer(text)
    return found


def with_constants(text: str, constants: Sequence[np.ndarray]) -> str:
    """The text with the elements of its constants written after their types."""
    found = head(text)
    written = found["constants"].split()
    for k, value in enumerate(values_of(constants, [False] * len(constants))):
        elements = str(value).partition("{")[2]
        written[k] = f"{written[k]}={{{elements}"
    start, stop = found.span("constants")
    return text[:start] + " " + " ".join(written) + text[stop:]


def weak_names(text: str, weak: Sequence[bool]) -> str:
    """The names of the inputs that are weakly typed."""
    names = [word.partition(":")[0] for word in head(text)["inputs"].split()]
    return " ".join(n for n, w in zip(names, weak, strict=True) if w)


def indented(text: str) -> str:
    """The lines of a text below a verb."""
    return "".join(f"\n    {line}" for line in text.split("\n"))


def in_halves(text: str) -> str:
    """The text with the older layout in its equations, which for JAX is a flag."""
    return re.sub(r"(random_(?:bits|split)\[[^\]]*?)(shape=)", rf"\1{HALVES} \2", text)


def block(program: Program, jax: Any) -> str:
    """One program as a case."""
    with program.context(jax), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        closed = jax.make_jaxpr(program.bound(jax))(*program.python(jax))
        text = str(closed)
        constants = [np.asarray(c) for c in closed.consts]
    if not program.partitionable:
        text = in_halves(text)
    weak = weak_names(text, [a.weak_type for a in closed.in_avals])
    given = with_constants(text, constants) if constants else text
    cites = [
        rule
        for rule, sign in CITES.items()
        if (sign in text if sign is not None else constants)
    ]
    if RELATIONS.search(text):
        cites.append("accuracy.relation")
    # A number that NumPy made is printed as NumPy writes it, which moves line breaks.
    moved = "np.int64(" in text or HALVES in text
    printed = str(parse(text)) if moved else text
    lines = [
        f"case jax/{program.name}",
        f"  # {program.says}",
        f"  cites  {' '.join(cites)}",
        f"  given{indented(given)}",
        *([f"  weak   {weak}"] if weak else ()),
        f"  call   {program.arguments}".rstrip(),
    ]
    verbs = "\n".join(lines)
    prints = f"  prints{indented(printed)}\n"
    return verbs + "\n" + expected(program, verbs) + prints


def expected(program: Program, verbs: str) -> str:
    """The program's results by the tables, and by JAX where that is other bits."""
    (case,) = read_cases(f"{verbs}\n  type\n")
    closed = case.program()
    # The text of a program leaves out which of its literals are weak.
    weak = [a.weak_type for a in result_types(closed, default())]
    args = [v.array for v in program.values]
    by_tables = run(closed, closed.consts, args, guess=evaluate_eqn)
    implementation = import_module("traceir.conform.jax.adapter").Jax()
    try:
        by_jax = implementation.eval(closed, args)
    except Unsupported:  # of a rule that the text has the name of
        by_jax = by_tables
    found = "  value  " + show(values_of(by_tables, weak))
    (case,) = read_cases(f"{verbs}\n{found.rstrip()}\n")
    verdict = judge(implementation, case)
    if not verdict:
        print(f"{program.name}: {verdict.why}", file=sys.stderr)
    lines = found.rstrip() + "\n"
    if not all(map(same_bits, by_tables, by_jax)):
        lines += f"  # by JAX {show(values_of(by_jax, weak))}\n"
    return lines


def files(jax: Any) -> Iterator[tuple[Path, str]]:
    """Each file of the corpus and its text."""
    for group in GROUPS:
        title = (import_module(f"corpus.{group}").__doc__ or "").strip()
        begin = f"# {title} As JAX {jax.__version__} prints them.\n"
        begin += f"# Written by `make corpus` from tests/corpus/{group}.py.\n"
        blocks = (block(p, jax) for p in corpus() if p.group == group)
        yield FOLDER / f"{group}.tir", begin + "".join(f"\n{b}" for b in blocks)


def main() -> None:
    """Write all files."""
    jax = import_module("jax")
    FOLDER.mkdir(exist_ok=True)
    for path, text in files(jax):
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
