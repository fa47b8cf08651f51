"""The contents of the tables. Serves: every table"""

from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fewer_rows import without
from soak import sample

from traceir import rules
from traceir.dtypes import NARROW, as_dtype, bits_of, finfo, is_key, kind_of
from traceir.errors import CLASSES, RuleTableError
from traceir.exact.numerics import limits
from traceir.rules import default, load, spec_path


def test_every_id_is_a_slug() -> None:
    # Primitives and params are spelled as in program text, with underscores.
    slug = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+(-[a-z0-9_]+)*)+")
    assert [rule for rule in default().clauses if not slug.fullmatch(rule)] == []


def test_every_sentence_ends() -> None:
    found = default().clauses.values()
    assert [c.id for c in found if not c.says.endswith((".", "!"))] == []


def test_the_error_of_a_clause_is_its_sentence() -> None:
    for rule, found in default().clauses.items():
        error = rules.error(rule, got="this", hint="do that", where="here")
        lines = str(error).splitlines()
        assert lines[0] == found.says
        rest = ["  got: this", "  at here", "  hint: do that", f"  [{rule}]"]
        assert lines[1:] == rest
        assert (error.rule, error.got) == (rule, "this")
        assert type(error) is CLASSES[found.class_]


def test_an_error_has_the_hint_of_its_row_and_the_users_line() -> None:
    text = str(rules.error("pointwise2.dtype"))
    assert default().clauses["pointwise2.dtype"].hint in text
    assert "test_tables.py" in text and "rules.error" in text


def test_every_class_of_rows_has_a_primitive() -> None:
    used = {name for p in default().prims.values() for name in p.classes}
    assert used == default().classes.keys()


def test_a_clause_of_a_primitive_replaces_that_of_its_class() -> None:
    found = {c.id for c in default().prims["pow"].clauses}
    assert "pow.dtype" in found and "pointwise2.dtype" not in found
    assert "pointwise2.broadcast" in found


# Rows that others speak of, by how their ids begin: what loading says without one.
SPOKEN_OF = {
    "accuracy.": "table.accuracy",
    "cache.state.": "table.key",
    "judgement.": "table.row",
    "syntax.": "table.formula",
}


@pytest.mark.parametrize("rule", sample(sorted(default().clauses), 4))
def test_a_row_can_be_taken_out(rule: str) -> None:
    try:
        less = without(rule)
    except RuleTableError as error:
        begins, _, name = rule.rpartition(".")
        assert error.rule == SPOKEN_OF.get(f"{begins}.")
        assert re.search(rf"\b{name}\b", error.got)
        return
    removed = default().clauses.keys() - less.clauses.keys()
    with_it = {flag.key for flag in default().flags.values() if flag.id == rule}
    assert removed == {rule, *filter(None, with_it)}
    assert less.error(rule).rule == "table.row"


def test_a_primitive_can_be_taken_out() -> None:
    less = without("sin")
    assert default().prims.keys() - less.prims.keys() == {"sin"}


def test_rules_are_immutable_and_equal_by_identity() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        default().prims = {}
    assert default() is default() and load() != default()


def test_the_lattice_describes_numpys_dtypes() -> None:
    for name, found in default().dtypes.items():
        dtype = as_dtype(name)
        assert found.numpy == dtype and found.bits == bits_of(dtype)
        assert found.narrow == (name in NARROW)
        if kind_of(dtype) == "f":
            info = finfo(dtype)
            assert (found.min, found.max) == (float(info.min), float(info.max))
        elif is_key(dtype):
            assert (found.min, found.max) == limits(np.dtype("uint32"))
        elif dtype.kind == "c":
            info = finfo(dtype)
            assert (found.min, found.max) == (float(info.min), float(info.max))
        else:
            assert (found.min, found.max) == limits(dtype)


def test_the_sets_are_those_of_the_kinds() -> None:
    sets = {
        name: [default().dtypes[m].numpy for m in members]
        for name, members in default().lattice.sets.items()
    }
    kinds = {name: {kind_of(d) for d in found} for name, found in sets.items()}
    assert kinds == {
        "narrow_floating": {"f"},
        "signed": {"i"},
        "unsigned": {"u"},
        "integer": {"i", "u"},
        "floating": {"f"},
        "complex": {"c"},
        "inexact": {"f", "c"},
        "numeric": {"i", "u", "f", "c"},
        "keys": {"V"},
    }


@pytest.mark.parametrize("wrong", [{"bits": 64}, {"max": "1"}, {"numpy": "key<rbg>"}])
def test_keys_are_as_they_are_held(wrong: dict[str, Any]) -> None:
    tables = copy.deepcopy(dict(default().tables))
    tables["lattice"]["dtype"]["key<urbg>"].update(wrong)
    with pytest.raises(RuleTableError, match=r"dtype\.key<urbg>") as caught:
        load(tables, like=default())
    assert caught.value.rule == "table.lattice"


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "errors.toml").write_text("[[clause]\n")
    with pytest.raises(RuleTableError, match=r"errors\.toml") as caught:
        load(tmp_path)
    assert caught.value.rule == "table.file"


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleTableError, match="no tables"):
        load(tmp_path)


def test_a_folder_and_its_tables_are_the_same_rules() -> None:
    again = load(spec_path() / "rules")
    assert again.tables == default().tables
    assert again.clauses == default().clauses
    assert again.prims == default().prims


def test_a_row_that_is_not_there_has_no_error() -> None:
    assert rules.error("add.colour").rule == "table.row"
    with pytest.raises(RuleTableError, match=r"add\.colour"):
        without("add.colour")
