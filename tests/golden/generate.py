"""The generated source of some programs, kept to be looked at when it changes.

`python tests/golden/generate.py --update` writes the files anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
SOURCES = HERE / "sources"


def names() -> list[str]:
    """The programs, each a file of jaxpr text."""
    return sorted(path.stem for path in PROGRAMS.glob("*.txt"))


# What source is for: a processor, or a device.
TARGETS = ("py", "cuda.py")


def kept(name: str, target: str = "py") -> Path:
    """The file that holds a program's source."""
    return SOURCES / f"{name}.{target}.txt"


def generated(name: str, target: str = "py") -> str:
    """The source that is generated now, without the library of real functions."""
    from traceir.text import parse
    from traceir_numba import backend
    from traceir_numba.cuda.source import module_of
    from traceir_numba.pipeline.build_program import build_program

    closed = parse((PROGRAMS / f"{name}.txt").read_text())
    if target == "py":
        return own_part(backend.compile(closed, name).source)
    return own_part(module_of(build_program(closed, name, device=True)))


def own_part(source: str) -> str:
    """A module's text without what is the same in all modules.

    The functions of `traceir_numba.vecmath` have tests of their own.
    """
    from traceir_numba import vecmath

    functions = vecmath.FUNCTIONS
    parts = source.split("\n\n\n")
    return "\n\n\n".join(part for part in parts if defined(part) not in functions)


def defined(part: str) -> str:
    """The function that a part defines; empty for other parts."""
    heads = [line for line in part.splitlines() if line.startswith("def ")]
    return heads[-1].removeprefix("def ").partition("(")[0] if heads else ""


def main() -> None:
    """Write all sources, when asked to."""
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    SOURCES.mkdir(exist_ok=True)
    for name in names():
        for target in TARGETS:
            kept(name, target).write_text(generated(name, target) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parents[1]))
    main()
