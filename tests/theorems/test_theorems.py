"""The theorems hold of small programs, and each trial fails its wrong miniature.

`make theorems` tries all small programs, and drawn ones; here it is one in so many.
Cites theorem.*
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fewer_rows import without

import traceir
from theorems.__main__ import read
from theorems.miniatures import MINIATURES
from theorems.subjects import SUBJECTS
from theorems.transformed import reads_bits
from theorems.trials import TRIALS, Subject, tried
from traceir.conform import judge, load_cases
from traceir.conform.systems.implementations import Oracle
from traceir.errors import RuleTableError
from traceir.rules import default

# One in so many programs is tried: of those that are typed, which most are not, fewer
# than of those that are transformed.
EVERY = {"theorem.determinism": 101, "theorem.checker": 101, "theorem.soundness": 101}
EVERY |= {"theorem.keys": 53}
OTHERS = 13


def faults(theorem: str, subject: Subject) -> Iterator[str]:
    """A line for each fault."""
    for program in SUBJECTS[theorem](EVERY.get(theorem, OTHERS)):
        for fault in tried(theorem, program, subject):
            yield f"{program}: {fault}"


def test_every_theorem_has_a_trial_and_a_miniature() -> None:
    stated = default().judgements.theorems.keys()
    assert stated == TRIALS.keys() == MINIATURES.keys() == SUBJECTS.keys()


@pytest.mark.parametrize("theorem", TRIALS)
def test_a_theorem_holds_of_small_programs(theorem: str) -> None:
    assert list(faults(theorem, Subject())) == []


@pytest.mark.parametrize("theorem", MINIATURES)
def test_a_wrong_miniature_fails_the_trial(theorem: str) -> None:
    assert next(faults(theorem, MINIATURES[theorem]()), None)


# The trial that needs an inference rule, by how its id begins.
NEEDING = {
    "theorem.checker": "typing.",
    "theorem.soundness": "running.",
    "theorem.trace": "tracing.",
    "theorem.keys": "keying.",
}


def rules_of(theorem: str) -> Iterator[str]:
    """The inference rules that a trial needs, but those of relations."""
    for row in default().tables["judgements"]["inference"]:
        if row["id"].startswith(NEEDING[theorem]) and row["id"] != "running.relation":
            yield row["id"]


def test_every_rule_is_needed_by_a_trial() -> None:
    ids = [row["id"] for row in default().tables["judgements"]["inference"]]
    needed = [rule for theorem in NEEDING for rule in rules_of(theorem)]
    assert sorted((*needed, "running.relation")) == sorted(ids)


@pytest.mark.parametrize("judgement", default().judgements.judgements)
def test_without_a_judgement_its_rules_are_not_loaded(judgement: str) -> None:
    with pytest.raises(RuleTableError, match=r"judgements\.toml: inference") as caught:
        without(judgement)
    assert (caught.value.rule, caught.value.got) == ("table.row", judgement)


@pytest.mark.parametrize(
    ("rule", "theorem"),
    [(r, theorem) for theorem in NEEDING for r in rules_of(theorem)],
)
def test_without_a_rule_a_trial_fails(rule: str, theorem: str) -> None:
    assert next(faults(theorem, Subject(rules=without(rule))), None)


def test_without_its_rule_a_relation_is_not_judged() -> None:
    less = without("running.relation")
    using = [c for c in load_cases() if c.name.startswith("qr/") and not c.session]
    assert not all(judge(Oracle(less), case, less, exact=True) for case in using)


def test_all_small_programs_were_tried_without_a_fault() -> None:
    record = read()
    assert record.keys() == TRIALS.keys()
    for row in record.values():
        assert row["whole"]
        assert not row["small_faults"] + row.get("drawn_faults", [])


# Programs that were drawn once and showed a fault, of the trial or of what it tries.
FOUND = (
    (
        "theorem.jvp",
        "a:f64[] b:f64[2,3]. let c:f64[] = div a a ; d:f64[] = asin c ;"
        " e:f64[2,3] = max c b in (d, e)",
    ),
    (
        "theorem.jvp",
        "a:f64[] b:f64[2,3] c:f64[]. let d:f64[2,3] = pow c b ;"
        " e:f64[2,3,3] = dot_general[dimension_numbers=(([], []), ([0], [0]))] d d"
        " in (e,)",
    ),
    (
        "theorem.jvp",
        "a:f64[1]. let b:f64[0] = slice[limit_indices=(0,) start_indices=(0,)"
        " strides=None] a ; c:f64[] = reduce_sum[axes=(0,) out_sharding=None] b ;"
        " d:f64[] = div c c in (d,)",
    ),
    # The remainder of a number by itself, at a jump, unless it is rounded.
    (
        "theorem.jvp",
        "a:f64[] b:f64[2]. let c:f64[2] = div a b ;"
        " d:f64[2] = dot_general[dimension_numbers=(([], []), ([0], [0]))] c b ;"
        " e:f64[2] = rem a d in (e,)",
    ),
    # A power of zero, beside which there is none.
    (
        "theorem.jvp",
        "a:f64[2,3] b:f64[] c:f64[]. let d:f64[2,3] = sub a b ;"
        " e:f64[2,3] = pow d c in (e,)",
    ),
    # A pole nearer than the steps of differences.
    (
        "theorem.jvp",
        "a:f64[] b:i32[] c:f64[] d:f64[2,3]. let _:f64[] = pow a b ;"
        " e:f64[2,3] = rem c d ; f:f64[2,3] = integer_pow[y=-1] e in (f,)",
    ),
    (
        "theorem.trace",
        "a:f32[2,2]. let b:f32[2,2] = rev[dimensions=(1, 0)] a ;"
        " c:f32[2,2] = sinh b in (b, c)",
    ),
    (
        "theorem.partial-evaluation",
        "a:f32[8]. let b:f32[8] = rev[dimensions=(0,)] a ; c:f32[8] = cosh b in (b, c)",
    ),
)


@pytest.mark.parametrize(("theorem", "text"), FOUND)
def test_what_was_found_is_mended(theorem: str, text: str) -> None:
    program = traceir.parse(f"{{ lambda ; {text} }}")
    assert list(tried(theorem, program, Subject())) == []


def test_bits_that_depend_on_an_order_are_read() -> None:
    text = "b:i64[] = bitcast_convert_type[new_dtype=int64] {} in (b,)"
    summed = "a:f64[2]. let c:f64[] = reduce_sum[axes=(0,) out_sharding=None] a ; "
    assert reads_bits(traceir.parse(f"{{ lambda ; {summed}{text.format('c')} }}"))
    assert not reads_bits(
        traceir.parse(f"{{ lambda ; a:f64[]. let {text.format('a')} }}")
    )
