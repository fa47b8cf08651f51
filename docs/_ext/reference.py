"""The API's pages: one for each function and class, and lists by what they are about.

`.. reference:: traceir.numpy` in a page of `docs/api` lists what a module has of both,
in the groups that its packages and modules are, each with its first sentence; with
names below it, these alone. Before Sphinx looks for pages, one is written for each.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.util.docutils import SphinxDirective

from _ext import signatures
from _ext.packages import docstring, first_sentence
from _ext.pieces import line, table, text
from _ext.pieces import to_page as to_document
from traceir.numpy.arrays.dtypes import ScalarType

ROOT = Path(__file__).parents[2]
API = ROOT / "docs" / "api"
BLOCK = re.compile(
    r"^\.\. reference:: (\S+)\n(?:   :[\w-]+:.*\n)*((?:\n|   \S+\n)*)", re.MULTILINE
)
START = re.compile(r"\s*Start\s+reading\s+at\s+`[\w.]+`[^.\n]*\.")
PAGE = """\
:orphan:

{title}
{rule}

.. crumbs:: api/{home} {module}

.. auto{kind}:: {name}
{options}
.. about:: {name}
"""
# A group that is as long as this is listed by its modules.
LONG = 12
# What has a page in brief builds.
BRIEF = {"TreeDef", "cumsum", "grad", "jit", "norm", "scan", "sin", "where"}


@dataclass(frozen=True)
class Entry:
    """A function or a class with a page: its public name, and the page of its list."""

    name: str
    home: str

    @property
    def value(self) -> Any:
        """The function or the class."""
        module, _, name = self.name.rpartition(".")
        return getattr(import_module(module), name)

    @property
    def kind(self) -> str:
        """The kind of object that it is to Sphinx."""
        if not inspect.isclass(self.value):
            return "function"
        return "exception" if issubclass(self.value, BaseException) else "class"

    @property
    def options(self) -> str:
        """The directive's options: of a class all members that are no classes."""
        if self.kind == "function":
            return ""
        apart = [n for n, v in vars(self.value).items() if inspect.isclass(v)]
        shown = f"   :exclude-members: {', '.join(apart)}\n" if apart else ""
        return f"   :members:\n{shown}"

    @property
    def page(self) -> str:
        """The name of its page, below `api`."""
        module, _, name = self.name.rpartition(".")
        folder = module.removeprefix("traceir.").replace(".", "/")
        return f"{folder}/{name}"

    @property
    def title(self) -> str:
        """The name as pages and results of searches have it."""
        return self.name.removeprefix("traceir.")

    @property
    def file(self) -> Path:
        """The file that defines it."""
        return Path(inspect.getsourcefile(inspect.unwrap(self.value)) or "")

    @property
    def sentence(self) -> str:
        """The first sentence about it."""
        return first_sentence(self.value.__doc__ or "")


def public(module: str) -> Iterator[str]:
    """The functions and classes of a module that have a page here, from A to Z."""
    found = import_module(module)
    names = (n for n, v in vars(found).items() if _own(v, module) and n[0] != "_")
    for name in sorted(getattr(found, "__all__", names), key=str.lower):
        value = getattr(found, name)
        own = callable(value) and value.__module__.startswith("traceir")
        own = own and not isinstance(value, ScalarType)  # which pages list as data
        if own and (
            inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value))
        ):
            yield f"{module}.{name}"


def _own(value: object, module: str) -> bool:
    return getattr(value, "__module__", None) == module


@cache
def entries() -> dict[str, Entry]:
    """All functions and classes that have a page, by their names."""
    found: dict[str, Entry] = {}
    for path in sorted(API.glob("*.rst")):
        for module, names in BLOCK.findall(path.read_text(encoding="utf-8")):
            for name in names.split() or public(module):
                assert name not in found, f"{name} is listed twice"
                found[name] = Entry(name, path.stem)
    return found


@cache
def modules() -> set[str]:
    """The modules that pages list."""
    texts = (path.read_text(encoding="utf-8") for path in API.glob("*.rst"))
    return {module for text in texts for module, _ in BLOCK.findall(text)}


def has_page(entry: Entry, brief: bool) -> bool:
    """True if an entry has its page: each one, and in brief builds some."""
    return not brief or entry.name.rpartition(".")[2] in BRIEF


def write_pages(app: Sphinx) -> None:
    """A page for each function and class, below `api`; old ones go."""
    if app.srcdir != app.confdir:
        return
    wanted = {}
    for entry in (e for e in entries().values() if has_page(e, app.config.brief)):
        module = entry.name.rpartition(".")[0]
        rule = "=" * len(entry.title)
        wanted[API / f"{entry.page}.rst"] = PAGE.format(
            title=entry.title,
            rule=rule,
            kind=entry.kind,
            name=entry.name,
            options=entry.options,
            home=entry.home,
            module=module,
        )
    for path in API.glob("*/**/*.rst"):
        if path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")


class Reference(SphinxDirective):
    """`.. reference:: module` lists what it has, or what is named."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """A list for each group."""
        named = [name for row in self.content for name in row.split()]
        chosen = [entries()[n] for n in named or public(self.arguments[0])]
        if named:
            return [self.listed(chosen)]
        found: list[nodes.Node] = []
        for title, group in grouped(chosen).items():
            if title:
                found.append(nodes.rubric("", title))
            found.append(self.listed(group))
        return found

    def listed(self, group: list[Entry]) -> nodes.Node:
        """Each name, and its sentence."""
        rows = [([self.named(e)], self.inline(e.sentence)) for e in group]
        return table(("", ""), rows, "functions")

    def named(self, entry: Entry) -> nodes.Node:
        """A link to an entry's page; without one, the entry's place is here."""
        if has_page(entry, self.config.brief):
            return to_page(entry)
        place = nodes.literal("", entry.name.rpartition(".")[2], ids=[entry.name])
        self.state.document.note_explicit_target(place)
        domain = self.env.domains["py"]
        assert isinstance(domain, PythonDomain)
        domain.note_object(entry.name, entry.kind, entry.name)
        return place

    def inline(self, words: str) -> list[nodes.Node]:
        """A sentence with its code."""
        found, _ = self.state.inline_text(words, self.lineno)
        return found


def to_page(entry: Entry) -> nodes.Node:
    """A link to the page of a function or a class."""
    inner = nodes.literal("", entry.name.rpartition(".")[2])
    return addnodes.pending_xref(
        "",
        inner,
        refdomain="py",
        reftype={"function": "func", "class": "class"}.get(entry.kind, "exc"),
        reftarget=entry.name,
        refwarn=True,
        refexplicit=True,
    )


def grouped(chosen: list[Entry]) -> dict[str, list[Entry]]:
    """Entries by the package that defines them, long packages by their modules."""
    packages: dict[Path, list[Entry]] = {}
    for entry in chosen:
        packages.setdefault(entry.file.parent, []).append(entry)
    found: dict[str, list[Entry]] = {}
    for folder, members in sorted(packages.items()):
        long = len(members) > LONG
        for entry in sorted(members, key=lambda e: str(e.file) if long else ""):
            file = entry.file if long else folder / "__init__.py"
            found.setdefault(first_sentence(docstring_of(file)), []).append(entry)
    return {"": chosen} if len(found) == 1 else found


@cache
def docstring_of(path: Path) -> str:
    """The docstring of a module, read once."""
    return docstring(path)


class Crumbs(SphinxDirective):
    """`.. crumbs:: page words` leads back to the page that lists this one."""

    required_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A line above the page's content."""
        page, words = self.arguments
        return [line("crumbs", to_document(f"/{page}", words), text(" ›"))]


class About(SphinxDirective):
    """`.. about:: name` shows what an entry takes, its errors and its neighbours."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Tables below the docstring."""
        entry = entries()[self.arguments[0]]
        found: list[nodes.Node] = []
        for title, rows in (
            ("Parameters", signatures.parameters(entry.value)),
            ("Errors", signatures.errors(entry.value.__doc__ or "")),
        ):
            if rows:
                wide = len(rows[0])
                found += [nodes.rubric("", title), table([""] * wide, rows, "about")]
        near = [e for e in entries().values() if e != entry and _near(e, entry)]
        if near:
            links: list[nodes.Node] = []
            for other in near:
                links += [text(" "), to_page(other)]
            found += [nodes.rubric("", "Near it"), line("near", *links)]
        return found


def _near(one: Entry, other: Entry) -> bool:
    """True if two entries of a public module are defined in the same file."""
    same = one.name.rpartition(".")[0] == other.name.rpartition(".")[0]
    return same and _file(one.name) == _file(other.name)


@cache
def _file(name: str) -> Path:
    return entries()[name].file


def qualify(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Have a docstring's examples say whose the functions are that they call.

    Of a module that is listed, the map of its files is for readers of the source.
    """
    function = f"traceir.numpy.{name.rpartition('.')[2]}"
    if name in entries():
        lines[:] = signatures.qualified(lines, name)
    elif function in entries() and obj.__doc__ == entries()[function].value.__doc__:
        lines[:] = signatures.qualified(lines, function)  # a method that is its twin
    elif what == "module" and name in modules():
        text = START.sub("", "\n".join(lines))
        parts = [part for part in text.split("\n\n") if not part.startswith("- ")]
        lines[:] = "\n\n".join(parts).split("\n")


def setup(app: Sphinx) -> None:
    """Write the pages before they are looked for, and register the directives."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", qualify, priority=400)
    app.add_directive("reference", Reference)
    app.add_directive("crumbs", Crumbs)
    app.add_directive("about", About)
