"""The maps of the packages: their docstrings, read without importing them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.pieces import linked

ROOT = Path(__file__).parents[2]
TOPS = ("traceir", "traceir_numba")
BULLET = re.compile(r"^- (`\w+`(?:, `\w+`)*): (.+)$", re.MULTILINE)
HEAD = re.compile(r'r?""".*?"""', re.DOTALL)
START = re.compile(r"Start\s+reading\s+at\s+`([\w.]+)`")


@dataclass(frozen=True)
class Package:
    """A package: its dotted name, its folder and its docstring."""

    name: str
    folder: Path
    text: str

    def listed(self) -> list[str]:
        """The modules and subpackages that the map names, in its order."""
        return [n for head, _ in BULLET.findall(self.text) for n in _names(head)]

    def lines(self) -> Mapping[str, str]:
        """The line of each module and subpackage that has one to itself."""
        found = [(_names(head), line) for head, line in BULLET.findall(self.text)]
        return {names[0]: line for names, line in found if len(names) == 1}

    def present(self) -> list[str]:
        """The modules and subpackages that are there, `__main__` and the like aside."""
        modules = [path.stem for path in self.folder.glob("[!_]*.py")]
        return sorted(modules + [path.parent.name for path in _inits(self.folder, 1)])

    def starts(self) -> list[str]:
        """The dotted names at which the map tells readers to start."""
        return START.findall(self.text)

    def anchor(self) -> str:
        """The id of the package's section on the site."""
        return nodes.make_id(f"package-{self.name}")

    @property
    def page(self) -> str:
        """The page that its map is on."""
        is_library = self.name.partition(".")[0] == TOPS[0]
        return "packages" if is_library else "packages_backend"

    def prose(self) -> str:
        """The docstring without its examples."""
        parts = self.text.split("\n\n")
        return "\n\n".join(part for part in parts if not part.startswith(">>>"))


def packages() -> Iterator[Package]:
    """All packages of the project, each after the one that it is in."""
    for top in TOPS:
        for path in sorted([ROOT / top / "__init__.py", *_inits(ROOT / top)]):
            name = ".".join(path.parent.relative_to(ROOT).parts)
            yield Package(name, path.parent, docstring(path))


def docstring(path: Path) -> str:
    """The docstring of a module, or nothing."""
    text = path.read_text(encoding="utf-8")
    found = HEAD.match(text)
    return ast.get_docstring(ast.parse(found[0])) or "" if found else ""


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, on one line, without its full stop.

    >>> first_sentence("Sums of `x.y`: two. Serves: order.sum")
    'Sums of `x.y`: two'
    """
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"\.(?=\s|$)", paragraph, maxsplit=1)[0]


def _names(head: str) -> list[str]:
    return re.findall(r"\w+", head)


def _inits(folder: Path, depth: int | None = None) -> Iterator[Path]:
    return folder.glob("*/__init__.py" if depth else "*/**/__init__.py")


class Packages(SphinxDirective):
    """`.. packages::` shows the map of each package whose map is on this page, in a
    section of its own."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """A section for each package."""
        page = self.env.docname
        return [self.section(one) for one in packages() if one.page == page]

    def section(self, package: Package) -> nodes.section:
        """The map of a package under its name."""
        title = nodes.title("", package.name)
        found = nodes.section("", title, ids=[package.anchor()])
        self.state.document.note_explicit_target(found)
        rows = linked(package.prose().splitlines())
        init = str(package.folder / "__init__.py")
        self.state.nested_parse(StringList(rows, init), self.content_offset, found)
        for item in found.findall(nodes.list_item):
            link_packages(item, package)
        return found


def link_packages(item: nodes.list_item, package: Package) -> None:
    """Make the names of subpackages at the beginning of a line lead to their maps."""
    for name in list(item.findall(nodes.literal)):
        folder = package.folder / name.astext()
        if name.astext().isidentifier() and (folder / "__init__.py").is_file():
            inner = Package(f"{package.name}.{name.astext()}", folder, "")
            name.replace_self(
                nodes.reference(
                    "", "", name.deepcopy(), refid=inner.anchor(), internal=True
                )
            )


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("packages", Packages)
