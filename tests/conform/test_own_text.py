"""The oracle's own reader and printer, beside the reference's, with which they share
no code: by the grammar, and by the rows about text.

Rules: text.roundtrip, text.lossless, and all other rows about text
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import pytest
import soak
from conform.test_grammar import sentence
from hypothesis import given
from hypothesis import strategies as st

from traceir.conform import judge, load_cases
from traceir.conform.drawing.programs import programs
from traceir.conform.systems.implementations import Oracle
from traceir.errors import TraceirError
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.ir.typecheck import check
from traceir.oracle import grammar, layout, numbers, printing, reading
from traceir.rules import spec_path
from traceir.text import parse, to_text

CASES = {c.name: c for c in load_cases() if not c.plain and not c.session}
EBNF = (spec_path() / "grammar.ebnf").read_text(encoding="utf-8")


def found(make: Callable[..., Any], *args: Any) -> Any:
    """The thing made, or the rule by which it is refused."""
    try:
        return make(*args)
    except TraceirError as error:
        return error.rule


def differences(program: ClosedJaxpr) -> Iterator[str]:
    """In what the two differ about a program."""
    for full in (False, True):
        text = found(to_text, program, full)
        own = found(printing.write, program, full)
        if own != text:
            yield f"{own}\nprinted, not\n{text}"
        elif text != "text.opaque":
            back = reading.read(text)
            if back != (program if full else parse(text)):
                yield f"{back}\nread, not\n{text}"


# One case of eight is read and printed here, all are by `make soak`; what the oracle is
# judged by is its own reading and printing of every case.
@pytest.mark.parametrize("name", soak.sample(CASES, 8))
def test_cases_are_read_and_printed_alike(name: str) -> None:
    program, own = (found(CASES[name].program, None, r) for r in (None, reading.read))
    if isinstance(program, str):
        assert own == program
    elif len(program.consts) not in (0, len(program.jaxpr.constvars)):
        assert found(check, program) == "program.constants"  # no text has some alone
    elif found(parse, to_text(program)) == parse(to_text(program)):
        assert own == program  # what nothing defines is equal to nothing
        assert not list(differences(program))


@given(programs(depth=2, control=True, wide=True))
def test_drawn_programs_are_read_and_printed_alike(program: ClosedJaxpr) -> None:
    assert not list(differences(program))


@given(st.randoms(use_true_random=False))
def test_sentences_are_read_alike(random: Random) -> None:
    agree(sentence("text", random))


@given(st.randoms(use_true_random=False), st.sampled_from(list(CASES)))
def test_texts_with_a_mistake_are_read_alike(random: Random, name: str) -> None:
    (source,) = CASES[name].verbs["given"]
    text = source.text[source.start : source.stop]
    at = random.randrange(len(text))
    agree(text[:at] + random.choice(MISTAKES) + text[at + random.randrange(4) :])


MISTAKES = (
    "",
    "",
    ";",
    "\n",
    " ",
    "{",
    "}",
    "=",
    ":",
    "a",
    "1",
    "-",
    ".",
    "_",
    "~",
    "[",
)


def agree(text: str) -> None:
    """Both refuse a text, or both read the same program."""
    own = found(reading.read, text)
    try:
        other = parse(text)
    except TraceirError as error:
        # What stands twice in a program that nothing uses is not looked for.
        assert isinstance(own, str) or "not yet" in error.got, text
    else:
        assert str(own) == str(other), text


# Wrong ones --------------------------------------------------------------------------

# What a grammar has instead, and the case that tells it.
WRONG_GRAMMARS = {
    "an operand stands on any line": (
        "{ deeper atom }",
        "{ atom }",
        "text/an-operand-on-a-line-that-is-not-deeper",
    ),
    "equations need nothing between them": (
        '( ";" { ";" } | newline ) equation',
        '[ ";" { ";" } | newline ] equation',
        "text/two-equations-on-a-line",
    ),
    "no constants": ('[ "=" elements ]', "", "text/constants"),
    "no weak types": ('[ "~" ] dtype', "dtype", "text/full-constants-and-weak-types"),
    "no effects": ('{ "!" name }', "", "text/full-effects"),
    "no bits of a NaN": ("number | payload", "number", "text/full-nan"),
    "a literal has a type": ('[ ":" type ]', '":" type', "text/untyped-literals"),
    "one dimension": (
        '[ digits { "," digits } ] "]"    (* ~',
        '[ digits ] "]"    (* ~',
        "text/parameters-that-do-not-fit",
    ),
    "numbers are decimal": ("hexadecimal | digits", "digits", "text/literals"),
    "nothing of NumPy's": (
        "wrapped | record",
        "record",
        "text/a-number-as-numpy-spells-it",
    ),
    "one more comma": (
        'digits { "," digits } ] "]"    (* ~',
        'digits { "," digits } [ "," ] ] "]"    (* ~',
        "text/a-comma-after-the-last-extent",
    ),
}


@pytest.mark.parametrize("what", WRONG_GRAMMARS)
def test_a_wrong_grammar_is_told(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong, name = WRONG_GRAMMARS[what]
    assert EBNF.count(right) == 1, what
    other = grammar.Grammar(EBNF.replace(right, wrong))
    assert judge(Oracle(), CASES[name])
    monkeypatch.setattr(reading, "grammar", lambda: other)
    assert not judge(Oracle(), CASES[name])


def _names_by_the_tens(letters: str, taken: Any) -> Iterator[str]:
    """After the last letter comes a second round with numbers."""
    yield from (f"{c}{k or ''}" for k in count() for c in letters)


def _what_follows_counts(piece: Any, room: int) -> int:
    return layout_room(piece, room - 1)


def _number_without_point(value: Any, dtype: Any, full: bool) -> str:
    return usual_number(value, dtype, full).removesuffix(".0")


def _number_without_bits(value: Any, dtype: Any, full: bool) -> str:
    return usual_number(value, dtype, False)


layout_room, usual_number = layout._room_after, numbers.number_text
WRITER = printing._Writer
# What a printer does instead: of which module or class, its name, and the case.
WRONG_PRINTERS: dict[str, tuple[Any, str, Any, str]] = {
    "what follows counts": (
        *(layout, "_room_after", _what_follows_counts),
        "text/eighty-columns",
    ),
    "names go on with numbers": (
        *(printing, "names", _names_by_the_tens),
        "text/names-after-z",
    ),
    "inner names are new": (
        *(WRITER, "inner_names", lambda *_: {}),
        "text/inner-programs-take-their-callers-names",
    ),
    "each use of a program is written": (
        *(WRITER, "sharing", lambda self: iter(())),
        "text/programs-used-twice-come-first",
    ),
    "all params are written": (
        *(WRITER, "shows", lambda *_: True),
        "text/params-with-their-defaults",
    ),
    "weakness is not marked": (
        *(WRITER, "type", lambda _, atom: atom.aval.str_short()),
        "text/full-constants-and-weak-types",
    ),
    "constants without their elements": (
        *(WRITER, "elements", lambda *_: ""),
        "text/full-constants-and-weak-types",
    ),
    "numbers without a point": (
        *(printing, "number_text", _number_without_point),
        "text/untyped-literals",
    ),
    "a NaN is a NaN": (
        *(printing, "number_text", _number_without_bits),
        "text/full-nan",
    ),
    "no effects": (
        *(printing, "_effects", lambda eqn: [eqn.effects]),
        "text/full-effects",
    ),
}


@pytest.mark.parametrize("what", WRONG_PRINTERS)
def test_a_wrong_printer_is_told(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, attribute, wrong, name = WRONG_PRINTERS[what]
    assert judge(Oracle(), CASES[name])
    monkeypatch.setattr(place, attribute, wrong)
    if place is layout:
        monkeypatch.setattr(printing, "laid_out", layout.laid_out)
    assert not judge(Oracle(), CASES[name])
