"""The document: its parts, their digests, and rules read from it again.

Serves: every table

    format     the name and the version of this form; versions are told in CHANGELOG
    suite      the version of the project, and a digest of each other part
    rules      all tables, see `codec` and the docstrings of `traceir.rules`:
               lattice, prims, program, keys, flags, machine, levels, accuracy, choices,
               text, decisions, judgements, and others: rows that are a sentence alone
    grammar    the rules of text as trees, and the names of those that are words
    vocabulary the functions and the domains that rows name
    cases      all cases
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

from traceir.base.version import VERSION
from traceir.conform.casefiles.cases import Case
from traceir.oracle.ebnf import read_rules
from traceir.rules import Rules, spec_path
from traceir.rules.applied import SCOPES
from traceir.rules.batching import BATCH_CLASSES
from traceir.rules.formulas.domains import DOMAINS
from traceir.rules.formulas.helpers import HELPERS
from traceir.rules.formulas.language import BUILTINS, FOLDS
from traceir.rules.judgements import Judgements
from traceir.rules.primitives import STEP_CALLS
from traceir.rules.rows import Clause
from traceir.spec.cases import case_data
from traceir.spec.codec import decode, encode
from traceir.spec.sets import sets_of
from traceir.spec.trees import Json

NAME = "traceir-specification"
# The first number is raised when a reader of the old form would misread the new one.
FORMAT = "0.3"
# The fields of `Rules` that are tables, in their order.
TABLES = (
    *("lattice", "prims", "program", "keys", "flags", "machine", "levels"),
    *("accuracy", "choices", "text", "decisions"),
)


def document(rules: Rules, cases: Iterable[Case]) -> dict[str, Json]:
    """The specification as data.

    >>> from traceir.rules import default
    >>> found = document(default(), [])
    >>> list(found), found["rules"]["prims"]["add"]["value"]["op"]
    (['format', 'suite', 'rules', 'grammar', 'vocabulary', 'cases'], '+')
    """
    parts = {
        "rules": rules_data(rules),
        "grammar": grammar_data(),
        "vocabulary": vocabulary_data(),
        "cases": [{**case_data(c), "sets": sets_of(c, rules)} for c in cases],
    }
    digests = {name: digest(part) for name, part in parts.items()}
    return {
        "format": {"name": NAME, "version": FORMAT},
        "suite": {"version": VERSION, "sha256": digests},
        **parts,
    }


def digest(part: Json) -> str:
    """SHA-256 of a part in UTF-8, its members sorted, and without any space."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def rules_data(rules: Rules) -> dict[str, Json]:
    """All tables."""
    found = {name: encode(getattr(rules, name)) for name in TABLES}
    found["judgements"] = encode(rules.judgements)
    own = {c.id for prim in rules.prims.values() for c in prim.clauses}
    own |= {c.id for c in rules.program}
    found["others"] = [encode(c) for c in rules.clauses.values() if c.id not in own]
    found["errors"] = list(rules.errors)
    return found


def grammar_data() -> dict[str, Json]:
    """The grammar: a node is `is` and its text, or its `parts`."""
    text = (spec_path() / "grammar.ebnf").read_text(encoding="utf-8")
    found, words = read_rules(text)
    return {
        "rules": {name: _grammar_node(node) for name, node in found.items()},
        "words": sorted(words),
    }


def _grammar_node(node: Any) -> dict[str, Json]:
    kind, inner = node
    if isinstance(inner, str):
        return {"is": kind, "text": inner}
    return {"is": kind, "parts": list(map(_grammar_node, inner))}


def vocabulary_data() -> dict[str, Json]:
    """The names that rows use and that are defined in chapters."""
    helpers = {n: inspect.cleandoc(f.__doc__ or "") for n, f in HELPERS.items()}
    return {
        "python": sorted(BUILTINS),
        "folds": sorted(FOLDS),
        "helpers": helpers,
        "steps": list(STEP_CALLS),
        "domains": list(DOMAINS),
        "batching": list(BATCH_CLASSES),
        "scopes": {name: list(names) for name, names in SCOPES.items()},
    }


def written(data: Mapping[str, Json]) -> str:
    """The document as text: a row or a case has a line."""
    return _lines(data, 3) + "\n"


def _lines(data: Json, depth: int) -> str:
    """JSON whose containers, down to a depth, have a line for each member."""
    if depth and isinstance(data, dict) and data:
        inner = (f"{json.dumps(k)}: {_lines(v, depth - 1)}" for k, v in data.items())
        return "{\n" + ",\n".join(inner) + "\n}"
    if depth and isinstance(data, list) and data:
        return "[\n" + ",\n".join(_lines(v, 0) for v in data) + "\n]"
    return json.dumps(data, ensure_ascii=False)


def read(data: Mapping[str, Json]) -> Mapping[str, Any]:
    """The tables of a document by their names in `Rules`; ValueError if malformed.

    >>> from traceir.rules import default
    >>> found = read(json.loads(json.dumps(document(default(), []))))
    >>> found["choices"] == default().choices
    True
    """
    kinds = get_type_hints(Rules)
    found = {name: decode(kinds[name], data["rules"][name]) for name in TABLES}
    found["judgements"] = decode(Judgements, data["rules"]["judgements"])
    others = decode(tuple[Clause, ...], data["rules"]["others"])
    own = (clause for prim in found["prims"].values() for clause in prim.clauses)
    found["clauses"] = {c.id: c for c in (*others, *own, *found["program"])}
    return found
