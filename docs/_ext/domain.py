"""Rules and cases as objects of the site: where each stands, and links to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.nodes import Element
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.domains import Domain, ObjType
from sphinx.environment import BuildEnvironment
from sphinx.roles import XRefRole
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

from traceir.rules import default

logger = logging.getLogger(__name__)
# A rule's permalink is its id; a case may share a name with a rule.
PREFIX = {"rule": "", "case": "case-"}


class ShortRole(XRefRole):
    """A role whose name needs no domain before it: `:rule:`, `:case:`."""

    def process_link(
        self,
        env: BuildEnvironment,
        refnode: Element,
        has_explicit_title: bool,
        title: str,
        target: str,
    ) -> tuple[str, str]:
        """Make the link one of this domain."""
        refnode["refdomain"] = Specification.name
        return title, target


class Specification(Domain):
    """Rules and cases by id, each defined in one place."""

    name = "tir"
    label = "Specification"
    object_types: ClassVar[dict[str, ObjType]] = {
        kind: ObjType(kind, kind) for kind in PREFIX
    }
    initial_data: ClassVar[dict[str, Any]] = {kind: {} for kind in PREFIX}
    dangling_warnings: ClassVar[dict[str, str]] = {
        kind: f"no {kind} %(target)s" for kind in PREFIX
    }

    def note(self, kind: str, id: str, place: nodes.Node | None = None) -> None:
        """Say that the page being read defines a rule or a case."""
        known = self.data[kind].setdefault(id, self.env.docname)
        if known != self.env.docname:
            logger.warning("%s %s is also in %s", kind, id, known, location=place)

    def clear_doc(self, docname: str) -> None:
        """Forget what a page defined."""
        for known in self.data.values():
            if isinstance(known, dict):
                for id in [id for id, where in known.items() if where == docname]:
                    del known[id]

    def merge_domaindata(self, docnames: Iterable[str], otherdata: Any) -> None:
        """Take over what another process has read."""
        for kind in PREFIX:
            self.data[kind].update(otherdata[kind])

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> nodes.reference | None:
        """The link to a rule or a case, or None."""
        place = self.data[typ].get(target)
        if place is None:
            return None
        anchor = PREFIX[typ] + target
        return make_refnode(builder, fromdocname, place, anchor, contnode)

    def resolve_any_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> list[tuple[str, nodes.reference]]:
        """The links of a target of unknown kind."""
        found = []
        for kind in PREFIX:
            link = self.resolve_xref(
                env, fromdocname, builder, kind, target, node, contnode
            )
            if link is not None:
                found.append((f"tir:{kind}", link))
        return found

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """The objects for the search and the inventory."""
        for kind, prefix in PREFIX.items():
            for id, place in self.data[kind].items():
                yield id, id, kind, place, prefix + id, 1


def ids() -> set[str]:
    """Every id that the site must have a place for."""
    rules = default()
    classes = rules.classes
    return {*rules.clauses, *rules.prims, *classes}


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each id that no page defines."""
    known = env.domains["tir"].data["rule"]
    for id in sorted(ids() - known.keys()):
        logger.warning("no page has the rule %s", id)


def setup(app: Sphinx) -> None:
    """Register the domain and its roles."""
    app.add_domain(Specification)
    for kind in PREFIX:
        app.add_role(kind, ShortRole(warn_dangling=True))
    app.connect("env-check-consistency", check)
