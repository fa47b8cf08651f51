"""The C header of an object: a documented prototype for each entry."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill, indent

import traceir
from traceir.dtypes import ADDED
from traceir_numba.aot.entries import AotArray, AotFunction, Artefact
from traceir_numba.aot.seals import FORMAT, digest_of, sealed
from traceir_numba.aot.symbols import MATHEMATICS

# What C calls the elements of an array: bits where it has no such number.
C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    **dict.fromkeys(ADDED, "uint8_t"),
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float",
    "complex128": "double",
    **{
        f"{sign}int{n}": f"{sign}int{n}_t"
        for sign in ("", "u")
        for n in (8, 16, 32, 64)
    },
}
NOTES = {
    "bool": "each 0 or 1",
    "float16": "as bits",
    **dict.fromkeys(ADDED, "as bits"),
    "complex64": "each its real part, then its imaginary part",
    "complex128": "each its real part, then its imaginary part",
}

TEXT = """\
/* {name}: made by traceir {version} for {machine}.
 *
 * Arrays are given as pointers to their first elements; these lie one after the other,
 * the last index runs first. Memory that is written overlaps no other memory that is
 * given. Functions keep nothing, write to what is marked "out", and may run in several
 * threads at once, each in that of its caller.
 *
{about}
 *
{digests}
 */
#ifndef {guard}
#define {guard}

/* The form of this file, of the object, and of what its functions mean. */
#define {upper}_FORMAT {format}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What a function returns: results are there, or nothing was done since there is no
 * memory, or since this processor lacks instructions. */
#define {upper}_DONE 0
#define {upper}_NO_MEMORY 1
#define {upper}_NO_INSTRUCTIONS 2

/* The instructions that this processor lacks: bit k is the k-th of the list above. */
int64_t {missing}(void);

/* The object of this header has it, so that no other one links. Who opens the library
 * while the program runs looks first whether it has a symbol of this name. */
extern const char {mark};
#define {upper}_MARK "{mark}"
#if defined(__GNUC__)
static const char *const {mark}_used __attribute__((used)) = &{mark};
#endif

{functions}
#ifdef __cplusplus
}}
#endif

#endif
/* """


WIDTH = 88


def header_of(
    artefact: Artefact, needs: Sequence[str], files: Mapping[str, bytes]
) -> str:
    """The header of an object.

    `needs` are the functions that the object calls, `files` those that go with it.
    """
    name = artefact.name
    used = ", ".join(artefact.instructions) or "those of every such processor"
    called = ", ".join(needs) or "no other function"
    about = [f"They use these instructions: {used}.", f"They call {called}."]
    if set(needs) & MATHEMATICS:
        about.append("Some of these are in the library of mathematics: link with -lm.")
    functions = "\n".join(
        f"{_comment(e)}\n{_declaration(e)}\n" for e in artefact.entries
    )
    text = TEXT.format(
        name=name,
        version=traceir.__version__,
        machine=platform.machine(),
        guard=f"{name.upper()}_H",
        upper=name.upper(),
        about="\n *\n".join(map(_filled, about)),
        digests="\n".join(
            f" * sha256 of {file}:\n *   {digest_of(data)}"
            for file, data in files.items()
        ),
        format=FORMAT,
        missing=artefact.missing,
        mark=artefact.mark,
        functions=functions,
    )
    return sealed(text, begin="", end=" */")


def _filled(text: str) -> str:
    return fill(text, WIDTH, initial_indent=" * ", subsequent_indent=" * ")


def _comment(entry: AotFunction) -> str:
    lines = [f"{entry.signature}, for arrays of these types.", ""]
    kinds = ["in/out" if k in entry.written else "in" for k in range(len(entry.inputs))]
    lines += [*_rows(kinds, entry.inputs)]
    lines += [*_rows(["out"] * len(entry.outputs), entry.outputs)]
    lines += ["", *entry.text.splitlines()]
    text = indent("\n".join(lines), " * ", lambda _: True).replace("*/", "* /")
    text = re.sub(r"(?m) +$", "", text)
    return f"/*\n{text}\n */"


def _rows(kinds: Sequence[str], arrays: Sequence[AotArray]) -> Iterator[str]:
    for kind, one in zip(kinds, arrays, strict=True):
        note = f", {NOTES[one.dtype]}" if one.dtype in NOTES else ""
        yield f"{kind:4} {one.name}: {one.path}, {one.type}{note}"


def _declaration(entry: AotFunction) -> str:
    given = [
        f"{'' if k in entry.written else 'const '}{C_TYPES[a.dtype]} *{a.name}"
        for k, a in enumerate(entry.inputs)
    ]
    given += [f"{C_TYPES[a.dtype]} *{a.name}" for a in entry.outputs]
    line = f"int {entry.symbol}({', '.join(given) or 'void'});"
    if len(line) <= WIDTH:
        return line
    return f"int {entry.symbol}(\n    " + ",\n    ".join(given) + ");"
