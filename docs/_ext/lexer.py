"""Colours for programs and cases."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text

from traceir.conform.casefiles import cases

VERBS = "|".join(sorted(cases.VERBS))
APPLIED = r"(=)([ \t]*)([a-z_]\w+)(?=[\[ ])"
DTYPE = r"~?(?:bool|bf16|[iuf]\d+(?:_\w+)?)(?=\[)"


class CaseLexer(RegexLexer):
    """The language of `spec/cases`, and the text of programs within."""

    name = "tir"
    aliases: ClassVar[list[str]] = ["tir", "jaxpr"]
    filenames: ClassVar[list[str]] = ["*.tir"]
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"^[ \t]*#.*$", Comment.Single),
            (
                r"^(case)([ \t]+)(\S+)",
                bygroups(Keyword.Namespace, Text, Name.Namespace),
            ),
            (rf"^([ \t]*)({VERBS})(?=\s)", bygroups(Text, Keyword.Namespace)),
            (
                r"\b(lambda|let|in|static|with|traces|hits|raises|true|false|None)\b",
                Keyword,
            ),
            (DTYPE, Keyword.Type),
            (r"-?(?:0x[\da-f.]+p[+-]\d+|\d[\d.]*(?:e[+-]?\d+)?)", Number),
            (r"\b(?:-?inf|nan)\b", Number),
            (APPLIED, bygroups(Operator, Text, Name.Function)),
            (r"[A-Za-z_][\w.-]*", Name),
            (r"[=~]", Operator),
            (r"[\[\]{}():;,.<>*]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }
