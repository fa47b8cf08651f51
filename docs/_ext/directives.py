"""The directives that splice rules, cases, tables and drawings into pages."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.casebook import pages, shown
from _ext.cited import by_rule, cases, marks, rows
from _ext.domain import Specification, ids
from _ext.drawings import hasse, layers, nesting
from _ext.judgements import letters
from _ext.levels import levels_table
from _ext.machine import machine_nodes
from _ext.packages import Package, first_sentence, packages
from _ext.pieces import box, drawing, line, link, separated, text, to_page
from _ext.primitives import primitive
from _ext.rows import clause, row_table
from _ext.summaries import summary
from traceir.rules import default


class Spliced(SphinxDirective):
    """The base of the directives: one argument, and a place in the domain."""

    required_arguments = 1

    def note(self, kind: str, id: str) -> None:
        """Enter a rule or a case in the domain, defined on this page."""
        domain = self.env.domains["tir"]
        assert isinstance(domain, Specification)
        domain.note(kind, id)

    def noted(self, found: list[nodes.Node]) -> list[nodes.Node]:
        """Enter all rules that these nodes define."""
        for node in found:
            for place in node.findall(nodes.container):
                for id in place["ids"]:
                    self.note("rule", id)
                    self.state.document.note_explicit_target(place)
        return found


class RuleDirective(Spliced):
    """`.. rule:: id` shows a rule as the tables have it, `id.*` those below it."""

    def run(self) -> list[nodes.Node]:
        """The rule's nodes."""
        rules, (id,) = default(), self.arguments
        if id in rules.prims or id in rules.classes:
            return self.noted(primitive(rules, id))
        if id in rules.clauses:
            return self.noted(clause(rules, id))
        below = [name for name in rules.clauses if fnmatchcase(name, id)]
        if "*" in id and below:
            found = (clause(rules, name) for name in below)
            return self.noted([node for nodes in found for node in nodes])
        raise self.error(f"no rule {id}")


class CaseDirective(Spliced):
    """`.. case:: name` shows a case; its permalink is on the page of its file."""

    def run(self) -> list[nodes.Node]:
        """The case's nodes."""
        (name,) = self.arguments
        found = [case for case in cases() if case.name == name]
        if not found:
            raise self.error(f"no case {name}")
        return [shown(found[0], canonical=False)]


class CasesDirective(Spliced):
    """`.. cases:: file 0 9` shows the cases of a file from one place to another."""

    required_arguments = 3

    def run(self) -> list[nodes.Node]:
        """The cases' nodes."""
        file, first, last = self.arguments
        found = []
        mine = [case for case in cases() if case.file == file]
        for case in mine[int(first) : int(last)]:
            self.note("case", case.name)
            found.append(shown(case, canonical=True))
        return list(found)


class CaseFiles(SphinxDirective):
    """`.. case-files::` lists the files of cases, and their pages."""

    def run(self) -> list[nodes.Node]:
        """A line for each file."""
        found: list[nodes.Node] = []
        for file, listed in pages().items():
            links: list[nodes.Node] = []
            for n, (name, _) in enumerate(listed, 1):
                to = to_page(f"/cases/{name}", file if n == 1 else str(n))
                links += [text(" "), to]
            count = sum(len(group) for _, group in listed)
            found.append(line("case-file", *links[1:], text(f" · {count}")))
        return [box("case-files", *found)]


class RulesIndex(SphinxDirective):
    """`.. rules-index::` lists all ids from A to Z."""

    def run(self) -> list[nodes.Node]:
        """The list, a paragraph for each letter."""
        found: list[nodes.Node] = []
        for letter, group in groupby(sorted(ids()), key=lambda id: id[0]):
            links = separated(link("rule", id) for id in group)
            found.append(box("letter", line("word", text(letter)), line("ids", *links)))
        return [box("rules-index", *found)]


class Matrix(SphinxDirective):
    """`.. matrix:: a m` shows how the cases went that cite the rules from a to m."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """A line for each rule."""
        first, last = self.arguments
        found = [
            box("matrix-row", line("ids", link("rule", id)), marks(rows()[id]))
            for id in sorted(by_rule())
            if first <= id[0] <= last
        ]
        return [box("matrix", *found)]


class Lattice(SphinxDirective):
    """`.. lattice:: face` draws the promotion lattice of a face."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The drawing."""
        (face,) = self.arguments
        rows = {row["name"]: row for row in default().tables["lattice"]["face"]}
        if face not in rows:
            raise self.error(f"no face {face}")
        lattice = default().lattice
        kinds = {name: d.kind for name, d in lattice.dtypes.items()}
        svg = hasse.diagram(rows[face]["edges"], kinds, f"The promotion lattice {face}")
        return [drawing(svg)]


class Machine(SphinxDirective):
    """`.. machine::` draws the life of a trace in the cache."""

    def run(self) -> list[nodes.Node]:
        """The drawing, and what its words stand for."""
        return machine_nodes(default())


class Levels(SphinxDirective):
    """`.. levels::` shows what may be asked of a value, and where."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        return [levels_table(default())]


class Metavariables(SphinxDirective):
    """`.. metavariables::` lists the letters of inference rules."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        return [letters(default())]


class RuleTable(Spliced):
    """`.. rule-table:: table section` shows all rows of a section as one table."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """The table, a place for each of its rows."""
        try:
            return self.noted([row_table(default(), *self.arguments)])
        except KeyError:
            raise self.error(f"no section {' '.join(self.arguments)}") from None


class Primitives(SphinxDirective):
    """`.. primitives:: name ...` shows some primitives in short, a line for each."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Two tables."""
        return summary(default(), self.arguments[0].split())


class Nesting(SphinxDirective):
    """`.. nesting:: code` draws traces in one another, and what they make of the code.

    A line for each trace, from the outside in: its name, what it does, and here.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The drawing."""
        lines = ([p.strip() for p in row.split("|")] for row in self.content)
        found = [nesting.Layer(str(n), *parts) for n, parts in enumerate(lines, 1)]
        return [drawing(nesting.diagram(found, self.arguments[0]))]


class Contracts(SphinxDirective):
    """`.. contracts:: package ...` draws layers, and the way through them of its list.

    Each item of the list begins with the dotted name of the box that it is about.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The drawing and the list."""
        path = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, path)
        steps: dict[str, list[int]] = {}
        for n, item in enumerate(path.findall(nodes.list_item), 1):
            steps.setdefault(next(item.findall(nodes.literal)).astext(), []).append(n)
        places = {package.name: self.place(package) for package in packages()}
        notes = layers.Notes(steps, places)
        try:
            svg = layers.diagram(self.arguments[0].split(), notes)
        except ValueError as error:
            raise self.error(str(error)) from None
        return [drawing(svg), *path.children]

    def place(self, package: Package) -> tuple[str, str]:
        """The address of a package's map, and its first sentence."""
        page = self.env.app.builder.get_relative_uri(self.env.docname, package.page)
        return f"{page}#{package.anchor()}", first_sentence(package.text)


DIRECTIVES: dict[str, type[SphinxDirective]] = {
    "rule": RuleDirective,
    "case": CaseDirective,
    "cases": CasesDirective,
    "case-files": CaseFiles,
    "contracts": Contracts,
    "rules-index": RulesIndex,
    "lattice": Lattice,
    "levels": Levels,
    "machine": Machine,
    "matrix": Matrix,
    "nesting": Nesting,
    "primitives": Primitives,
    "rule-table": RuleTable,
    "metavariables": Metavariables,
}


def setup(app: Sphinx) -> None:
    """Register the directives."""
    for name, directive in DIRECTIVES.items():
        app.add_directive(name, directive)
