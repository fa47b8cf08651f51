"""`--write`: values come from the oracle, all else in a file stays. Cites text.case"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from traceir.conform import load_cases
from traceir.conform.casefiles.cases import Case, read_cases
from traceir.conform.casefiles.values import ValueReader
from traceir.conform.systems.write_values import Unwritten, write_values, written
from traceir.text.lexer import SourceText

TEXT = """# Two cases, the first without its value.

case one/half
  cites  accuracy.ulp # not here
  given  { lambda ; a:f32[3]. let b:f32[3] = exp a in (b,) }
  call   f32[3]{0 1 -inf}
  value  ?
  # below the value

case one/twice
\tcites  transform.gradient
\tgiven  { lambda ; x.
\t           let y = square x in (y,) }
\tunder  grad
\tcall   f32[]{1.5}
\tvalue  f32[]{7}\t
  # the end"""
DONE = TEXT.replace("?", "f32[3]{1 0x1.5bf0a8p+1 0}").replace("f32[]{7}", "f32[]{3}")


def cases_of(text: str) -> list[Case]:
    return read_cases(text, "some.tir")


def test_the_rest_of_a_file_stays_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "some.tir"
    file.write_text(TEXT, encoding="utf-8")
    assert write_values(cases_of(TEXT), tmp_path) == ["one/half", "one/twice"]
    assert file.read_text(encoding="utf-8") == DONE
    assert write_values(cases_of(DONE), tmp_path) == []


def test_what_stands_in_cases_is_written_again() -> None:
    drawn = [c for c in load_cases() if {"value", "call"} <= c.verbs.keys()][::19]
    told = 0
    for case in drawn:
        try:
            text = written(case)
        except Unwritten as error:
            assert "relations alone" in str(error)
            continue
        pairs = zip(
            ValueReader(SourceText(text)).arrays(), case.values("value"), strict=True
        )
        assert all(new.same(old) for new, old in pairs), case.name
        told += 1
    assert told > 80


REFUSED = {
    "relations": (
        "given { lambda ; a:f32[1,1]. let b:f32[1,1] = cholesky a in (b,) }\n"
        " call f32[1,1]{4}\n value ?",
        "cholesky is known by relations alone",
    ),
    "relations-under": (
        "given { lambda ; x. let y = cholesky x in (y,) }\n"
        " under jit\n call f32[1,1]{4}\n value ?",
        "cholesky is known by relations alone",
    ),
    "an-error": (
        "given { lambda ; a:i32[]. let b:i32[] = exp a in (b,) }\n"
        " call i32[]{4}\n value ?",
        "The operand must be floating or complex.",
    ),
    "no-call": (
        "given { lambda ; a:f32[]. let b:f32[] = exp a in (b,) }\n type f32[]",
        "a case with `call` and `value \\?`",
    ),
    "a-comment": (
        "given { lambda ; a:f32[]. let b:f32[] = neg a in (b,) }\n"
        " call f32[]{1}\n value f32[]\n   # minus\n   {1}",
        "a comment, or a CR, stands in a value",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_written_that_the_oracle_does_not_know(
    name: str, tmp_path: Path
) -> None:
    case, why = REFUSED[name]
    text = f"{TEXT}\n\ncase {name}\n {case}\n"
    file = tmp_path / "some.tir"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Unwritten, match=why):
        write_values(cases_of(text), tmp_path)
    assert file.read_text(encoding="utf-8") == text


def test_the_command_names_what_it_cannot_write() -> None:
    command = [sys.executable, "-m", "traceir.conform", "--write"]
    done = subprocess.run([*command, "cholesky/zero"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cholesky is known by relations alone" in done.stderr
