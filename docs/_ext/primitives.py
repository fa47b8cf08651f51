"""A primitive on its page: signature, inference rule, clauses, elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from docutils import nodes

from _ext.cited import citations, named
from _ext.mathematics.markup import Leaf, Line
from _ext.mathematics.typeset import typeset
from _ext.pieces import (
    box,
    code,
    folded,
    line,
    link,
    math,
    mathematics,
    permalink,
    sentence,
    separated,
    table,
    text,
)
from _ext.playground import try_it
from _ext.views import View, view
from traceir.rules import Clause, Formula, Out, Rules
from traceir.rules.derivatives import Cases

EQUALS, DOT = Leaf("operator", "="), Leaf("operator", ".")


def primitive(rules: Rules, name: str) -> list[nodes.Node]:
    """All that is shown of a primitive or a class of primitives."""
    row = view(rules, name)
    parts = [
        _head(row),
        *([] if row.is_class else try_it(name)),
        *_params(row),
        _inference(row),
        *_clauses(row),
        *_inherited(row),
        *_elements(rules, row),
        *_across(row),
        *_derivative(row),
        *_batch(row),
        *_effects(row),
        *([] if row.is_class else named(name)),
        *_written(row),
    ]
    return [box("rule", *parts, id=name)]


def _head(row: View) -> nodes.Node:
    kind = "class" if row.is_class else "primitive"
    origin: list[nodes.Node] = []
    if row.classes:
        links = separated((link("rule", c) for c in reversed(row.classes)), ", ")
        origin = [text(" of "), *links]
    label = nodes.inline("", "", text(kind), *origin, classes=["kind"])
    return line(
        "rule-head", code(row.name), text(" "), label, permalink(row.name, "rule")
    )


def _params(row: View) -> list[nodes.Node]:
    """The params of the row itself; those of a class are shown there."""
    if not row.own_params:
        return []
    rows = [
        (
            [code(p.name)],
            [code(p.domain)],
            [code(repr(p.default))] if p.has_default else [text("required")],
            [text(p.print)],
        )
        for p in row.params
        if p.name in row.own_params
    ]
    return [table(("param", "domain", "default", "printed"), rows, "params")]


# --- the inference rule ---------------------------------------------------------------


def application(row: View) -> str:
    """An application of the row, as program text has it: `reduce_sum[axes] x`."""
    params = f"[{' '.join(p.name for p in row.params)}]" if row.params else ""
    return " ".join([f"{row.name}{params}", *row.inputs])


def _inference(row: View) -> nodes.Node:
    premises = [_premise(c) for c in (*row.inherited, *row.clauses)]
    where = [_equation(name, part) for name, part in row.let.items()]
    parts: list[nodes.Node] = [box("premises", *premises)] if premises else []
    parts.append(box("conclusion", *_conclusion(row)))
    if where:
        parts.append(box("where", line("word", text("where")), *where))
    return box("inference", *parts)


def _premise(clause: Clause) -> nodes.Node:
    assert clause.holds is not None
    return box("premise", math(clause.holds), line("label", link("rule", clause.id)))


def _conclusion(row: View) -> Iterator[nodes.Node]:
    if row.out is None:
        yield line("judgment", code(application(row)), text(" has a type of its own"))
    elif isinstance(row.out, Formula):
        yield line("judgment", code(application(row)), text(" : "), code("τs"))
        yield _equation("τs", row.out)
    else:
        for out in row.out:
            yield line("judgment", code(application(row)), text(" : "), code("τ"))
            yield from _type(out)


def _type(out: Out) -> Iterator[nodes.Node]:
    for part in ("shape", "dtype", "weak_type"):
        formula: Formula = getattr(out, part)
        left = Line((Leaf("name", "τ"), DOT, Leaf("text", part)))
        yield _equation(left, formula)


def _equation(left: str | Line, formula: Formula) -> nodes.Node:
    start = Leaf("name", left) if isinstance(left, str) else left
    whole = Line((start, EQUALS, typeset(formula)))
    return box("equation", mathematics(whole))


def _written(row: View) -> list[nodes.Node]:
    """The formulas as they are written, to be copied."""
    rows = [f"{name}: {words}" for name, words in row.written.items()]
    block = nodes.literal_block("", "\n".join(rows), language="python")
    return folded("formulas as written", block)


# --- clauses --------------------------------------------------------------------------


def _clauses(row: View) -> Iterator[nodes.Node]:
    for clause in row.clauses:
        yield box("clause", *clause_body(clause), *citations(clause.id), id=clause.id)


def clause_body(clause: Clause, raised: bool = True) -> Iterator[nodes.Node]:
    """A clause's id, sentence, exception, hint, and the clauses that it needs."""
    sign = permalink(clause.id, "rule")
    kind = clause.class_ if raised else ""
    label = nodes.inline("", kind, classes=["exception"])
    yield line("rule-head", code(clause.id), text(" "), label, sign)
    yield line("says", *sentence(clause.says))
    if clause.hint and raised:
        yield line("hint", text("Hint: "), *sentence(clause.hint), text("."))
    if clause.needs:
        links = separated((link("rule", n) for n in clause.needs), ", ")
        yield line("needs", text("Asked only where these hold: "), *links, text("."))


def _inherited(row: View) -> list[nodes.Node]:
    if not row.inherited:
        return []
    links = separated((link("rule", c.id) for c in row.inherited), ", ")
    return [line("inherited", text("Clauses of its classes: "), *links, text("."))]


# --- elements -------------------------------------------------------------------------


def _elements(rules: Rules, row: View) -> Iterator[nodes.Node]:
    if row.value is not None:
        yield line("word", text("The element at the index "), code("i"), text(" is"))
        yield box("value", box("equation", math(row.value, block=True)))
    elif row.steps is not None:
        yield line("word", text("The results are"))
        yield box("value", box("equation", math(row.steps, block=True)))
    elif row.means is not None:
        yield line("word", text("It means"))
        yield nodes.literal_block("", row.means, language="jaxpr")
    yield from _relations(row)
    used = _used(row.each, row.value) if row.value else row.each
    if used:
        lead = "where" if row.value else "For the index i of an element,"
        equations = (_equation(name, part) for name, part in used.items())
        yield box("where", line("word", text(lead)), *equations)
    if row.accuracy:
        yield _accuracy(rules, row)


def _relations(row: View) -> Iterator[nodes.Node]:
    """The relations of the results: a sentence, the indices, the formula."""
    if row.post:
        yield line("word", text("The results are such that"))
    for relation in row.post:
        yield line("says", *sentence(relation.says))
        yield line("word", text("at every index "), code("i"), text(" into"))
        yield box("value", box("equation", math(relation.over)))
        yield box("value", box("equation", math(relation.holds, block=True)))


def _used(parts: Mapping[str, Formula], value: Formula) -> dict[str, Formula]:
    """The parts that a value reads, itself or through another part."""
    names = set(value.names)
    for name in reversed(list(parts)):
        if name in names:
            names |= parts[name].names
    return {name: part for name, part in parts.items() if name in names}


def _accuracy(rules: Rules, row: View) -> nodes.Node:
    found = rules.accuracy[row.accuracy]
    parts = [text("Results: "), link("rule", found.id)]
    if row.ulp:
        units = ", ".join(f"{n:g} for {dtype}" for dtype, n in row.ulp.items())
        parts.append(text(f", k = {units}"))
    return line("accuracy", *parts, text("."))


# --- what transforms read -------------------------------------------------------------


def _across(row: View) -> Iterator[nodes.Node]:
    if row.across is not None:
        yield line("word", text("For the example "), code("n"), text(" it is"))
        yield box("value", box("equation", math(row.across, block=True)))


def _derivative(row: View) -> Iterator[nodes.Node]:
    """The templates, one a line."""
    found = row.derivative
    if found is None:
        return
    if found.zero:
        yield line("accuracy", text("Its tangent is zero."))
    if found.linear:
        names = separated(code(name) for name in found.linear)
        yield line("accuracy", text("Linear in "), *names, text("."))
    templates = [
        *(("tangent due to " + " and ".join(k), c) for k, c in found.jvp.items()),
        *((f"cotangent of {k}", c) for k, c in found.transpose.items()),
    ]
    if templates:
        yield _templates("derivative", templates)
    for point in row.singular:
        parts = [text("Where "), code(point.at.text), text(f": {point.says}")]
        yield line("accuracy", text("The derivative is not the slope. "), *parts)


def _templates(head: str, templates: Sequence[tuple[str, Cases]]) -> nodes.Node:
    """A table of templates, one a line, each with its condition."""
    rows = [
        (
            [text(what)],
            [code(case.template.text if case.template else "zero")],
            [code(case.when.text)] if case.when else [text("else" if k else "")],
        )
        for what, cases in templates
        for k, case in enumerate(cases)
    ]
    return table((head, "template", "where"), rows, "params")


def _batch(row: View) -> Iterator[nodes.Node]:
    """The class of batching, and the formulas that the row adds to it."""
    found = row.batch
    if found is None:
        return
    parts = [text("Batched: "), code(found.rule)]
    if found.scalars:
        parts += [text(", scalars "), *separated(code(n) for n in found.scalars)]
    if found.shared:
        parts += [text(", shared "), *separated(code(n) for n in found.shared)]
    if found.empty:
        parts += [text(", of no examples "), code(found.empty)]
    yield line("accuracy", *parts, text("."))
    formulas = {**found.let, **found.params}
    parts = [_equation(name, formula) for name, formula in formulas.items()]
    if found.dim is not None:
        parts.append(_equation("dim", found.dim))
    if parts:
        yield box("where", *parts)
    if found.cases:
        yield _templates("batch", [("the batch", found.cases)])


def _effects(row: View) -> Iterator[nodes.Node]:
    if row.effects:
        names = separated(code(name) for name in sorted(row.effects))
        yield line("accuracy", text("Effects: "), *names, text("."))
    if row.host:
        yield line("accuracy", text("Calls the host."))
