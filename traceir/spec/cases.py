"""Cases as JSON, their programs parsed. Serves: every table"""

from __future__ import annotations

from dataclasses import fields

from traceir.conform.casefiles.cases import Case
from traceir.conform.casefiles.plain_functions import PlainFunction
from traceir.conform.casefiles.profiles import profile_of
from traceir.conform.protocol.encoding import (
    Json,
    array_data,
    node_data,
    program_data,
    type_data,
)
from traceir.errors import TraceirError
from traceir.text.lexer import SourceText


def case_data(case: Case) -> dict[str, Json]:
    """One case.

    A text that cannot be read, which then is what the case is about, is `unreadable`.
    """
    found: dict[str, Json] = {
        "name": case.name,
        "file": case.file,
        "line": case.line,
        "profile": profile_of(case),
        "cites": list(case.cites),
        "reject": case.reject,
        "prints": case.prints,
        "full": case.full,
        "given": list(map(_text, case.verbs.get("given", ()))),
        "weak": list(case.words("weak")),
        "call": [array_data(v) for v in case.values("call")],
        "value": None,
        "type": None,
        "program": None,
        "session": None,
        "plain": None,
        "unreadable": None,
    }
    if case.plain:
        found["plain"] = plain_data(case.plain)
        return found
    if "value" in case.verbs:
        found["value"] = [array_data(v) for v in case.values("value")]
    if "type" in case.verbs:
        found["type"] = [type_data(aval) for aval in case.types or ()]
    try:
        if case.session:
            found["session"] = node_data(case.session)
        else:
            found["program"] = program_data(case.program())
    except TraceirError as error:
        found["unreadable"] = {"text": "\n".join(found["given"]), "rule": error.rule}
    return found


def plain_data(function: PlainFunction) -> dict[str, Json]:
    """A plain function: the text of its file, and its calls as text."""
    calls = [{f.name: getattr(c, f.name) for f in fields(c)} for c in function.calls]
    return {"function": function.name, "text": function.text, "calls": calls}


def _text(source: SourceText) -> str:
    return source.text[source.start : source.stop].strip()
