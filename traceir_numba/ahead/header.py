"""The C header of an object: a documented function for each entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import fill, indent

import traceir
from traceir_numba.ahead.entries import Array, Entry

# What C calls the elements of an array: bits where it has no such number.
C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
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
    "bfloat16": "as bits",
    "complex64": "each its real part, then its imaginary part",
    "complex128": "each its real part, then its imaginary part",
}

TEXT = """\
/* {name}: made by traceir {version} for {machine}.
 *
 * Arrays are given as pointers to their first elements; these lie one after the other,
 * the last index runs first. Memory of a result overlaps no other memory that is given.
 * Functions keep nothing, write to results alone, and may run in several threads.
 *
{instructions}
 */
#ifndef {guard}
#define {guard}

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

/* The object of this header has it, so that no other one links. */
extern const char {mark};
#if defined(__GNUC__)
static const char *const {mark}_used __attribute__((used)) = &{mark};
#endif

{functions}
#ifdef __cplusplus
}}
#endif

#endif
"""


WIDTH = 88


def header_of(
    name: str,
    entries: Sequence[Entry],
    missing: str,
    mark: str,
    machine: str,
    instructions: Sequence[str],
) -> str:
    """The header of an object with these entries, and with the symbol `mark`."""
    used = ", ".join(instructions) or "those of every such processor"
    functions = "\n".join(f"{_comment(e)}\n{_declaration(e)}\n" for e in entries)
    return TEXT.format(
        name=name,
        version=traceir.__version__,
        machine=machine,
        guard=f"{name.upper()}_H",
        upper=name.upper(),
        instructions=fill(
            f"They use these instructions: {used}.",
            WIDTH,
            initial_indent=" * ",
            subsequent_indent=" * ",
        ),
        missing=missing,
        mark=mark,
        functions=functions,
    )


def _comment(entry: Entry) -> str:
    lines = [f"{entry.signature}, for arrays of these types.", ""]
    lines += [*_rows("in", entry.inputs), *_rows("out", entry.outputs)]
    lines += ["", *entry.text.splitlines()]
    text = indent("\n".join(lines), " * ", lambda _: True).replace("*/", "* /")
    text = re.sub(r"(?m) +$", "", text)
    return f"/*\n{text}\n */"


def _rows(kind: str, arrays: Sequence[Array]) -> Iterator[str]:
    for one in arrays:
        note = f", {NOTES[one.dtype]}" if one.dtype in NOTES else ""
        yield f"{kind:4} {one.name}: {one.path}, {one.type}{note}"


def _declaration(entry: Entry) -> str:
    given = [f"const {C_TYPES[a.dtype]} *{a.name}" for a in entry.inputs]
    given += [f"{C_TYPES[a.dtype]} *{a.name}" for a in entry.outputs]
    line = f"int {entry.symbol}({', '.join(given) or 'void'});"
    if len(line) <= WIDTH:
        return line
    return f"int {entry.symbol}(\n    " + ",\n    ".join(given) + ");"
