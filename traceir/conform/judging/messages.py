"""Messages of rejections: the rules that they speak of. Serves: every table

A rejection by a system that does not know our rules has a class and a text. Its
adapter's `messages` say what texts are about, as pairs of a regular expression and
patterns of ids; then a rejection for another reason is told from the right one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from traceir.conform.judging.answers import Unattributed
from traceir.rules import Rules, spec_path

Messages = Sequence[tuple[str, Sequence[str]]]


def read_messages(name: str) -> Messages:
    """The messages of an implementation that comes with the project, from its table.

    >>> len(read_messages("jax")) > 100
    True
    """
    path = spec_path() / "messages" / f"{name}.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["message"]
    return [(row["text"], tuple(row["rules"])) for row in rows]


def check_messages(messages: Any, rules: Rules) -> str | None:
    """The fault of an adapter's `messages`, or None.

    >>> from traceir.rules import default
    >>> check_messages([("(", ("add.numeric",))], default())
    'the message `(` is no regular expression'
    >>> check_messages([("a", ("add.colour",))], default())
    'the message `a` is about add.colour, which is no rule'
    >>> check_messages([(".*", ("*",))], default())
    'the message `.*` is about most rules, so it tells nothing'
    """
    try:
        pairs = [(str(text), tuple(ids)) for text, ids in messages]
    except (TypeError, ValueError):
        return "`messages` are pairs of a regular expression and ids of rules"
    for text, ids in pairs:
        try:
            re.compile(text)
        except re.error:
            return f"the message `{text}` is no regular expression"
        spoken = set[str]()
        for one in ids:
            fitting = {rule for rule in rules.clauses if fnmatchcase(rule, one)}
            if not fitting:
                return f"the message `{text}` is about {one}, which is no rule"
            spoken |= fitting
        if 2 * len(spoken) > len(rules.clauses):
            return f"the message `{text}` is about most rules, so it tells nothing"
    return None


def attributed(messages: Messages, text: str, rule: str) -> str | None:
    """The reason why a text is about other rules than this one, or None.

    Raises Unattributed where nothing is known of the text.

    >>> shapes = [("incompatible shapes", ("*.shape", "*.broadcast"))]
    >>> attributed(shapes, "add got incompatible shapes", "face.broadcast")
    >>> attributed(shapes, "add got incompatible shapes", "add.numeric")
    'that is said of *.shape, *.broadcast'
    """
    found = [one for said, ids in messages if re.search(said, text) for one in ids]
    if not found:
        raise Unattributed
    if any(fnmatchcase(rule, one) for one in found):
        return None
    return f"that is said of {', '.join(dict.fromkeys(found))}"
