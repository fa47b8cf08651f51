"""The site builds without a warning; every id is one place on it. Serves: every id"""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from html import unescape
from inspect import isclass, isfunction
from itertools import combinations
from os.path import dirname, normpath
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from _ext import output, signatures
from _ext.doctests import flags
from _ext.drawings import layers
from _ext.drawings.hasse import HEIGHT, WIDTH, Node, diagram, layout
from _ext.packages import packages
from _ext.reference import entries

import traceir
import traceir.test_util
import traceir_numba
from traceir.conform import load_cases
from traceir.numpy.arrays.dtypes import ScalarType
from traceir.rules import default

MODULES = (
    *("config", "errors", "fft", "lax", "linalg", "numpy", "operators", "rules"),
    *("exports", "scipy"),
)
ROOT = Path(__file__).parents[2]
# Classes whose instances are returned by functions, which have the examples.
MADE = {
    "ClosedJaxpr",
    "Eqn",
    "Jaxpr",
    "KeyEntry",
    "Literal",
    "SourceReport",
    "Tracer",
    "Var",
}
# Modules for those who work on the tables or judge an implementation, and one that
# takes a device.
APART = ("traceir.conform.", "traceir.rules.", "traceir_numba.cuda.")
FACES = {row["name"]: row["edges"] for row in default().tables["lattice"]["face"]}
KINDS = {name: d.kind for name, d in default().lattice.dtypes.items()}


TAG = re.compile(r"<(a|link|img|script)\b([^>]*)>|\bid=\"([^\"]+)\"")
ATTRIBUTE = re.compile(r"\b(id|href|src)=\"([^\"]*)\"")


class Page:
    """The anchors, the links and what is loaded by a page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.anchors: Counter[str] = Counter()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        for tag, inside, id in TAG.findall(text):
            given = {"id": id} if id else dict(ATTRIBUTE.findall(inside))
            self.note(tag, {name: unescape(value) for name, value in given.items()})

    def note(self, tag: str, given: Mapping[str, str]) -> None:
        """Note what an element defines, leads to or loads."""
        if id := given.get("id"):
            self.anchors[id] += 1
        if tag == "a" and (href := given.get("href")):
            self.links.add(href)
        source = given.get("href") if tag == "link" else given.get("src")
        if source:
            self.loaded.add(source)


def build(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Sphinx as `make docs` does, with other options."""
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "-E", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def pages(html: Path) -> Mapping[str, Page]:
    """The pages in a folder, by their paths."""
    return {
        str(path.relative_to(html)): Page(path.read_text(encoding="utf-8"))
        for path in html.rglob("*.html")
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Page]:
    """The pages of a fresh build, by their paths.

    In a plain theme: the site's own draws the tree of all pages on each of them, which
    takes as long as all else. It is brief: `docs/_ext` says what that leaves out.
    """
    out = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-b", "html", "-D", "html_theme=basic"]
    options += ["-D", "brief=1"]
    done = build(*options, "-d", str(out / "trees"), "docs", str(out / "html"))
    assert done.returncode == 0, done.stderr
    return pages(out / "html")


def test_every_id_is_one_anchor(site: Mapping[str, Page]) -> None:
    rules = default()
    found = Counter[str]()
    for name, page in site.items():
        if name.startswith(("spec/", "chapters/")):
            found.update(page.anchors)
    wanted = {*rules.clauses, *rules.prims, *rules.classes}
    assert {id: found[id] for id in wanted if found[id] != 1} == {}


def test_every_case_is_one_anchor(site: Mapping[str, Page]) -> None:
    found = sum((page.anchors for page in site.values()), Counter[str]())
    wanted = {f"case-{case.name}" for case in load_cases()}
    assert {id: found[id] for id in wanted if found[id] != 1} == {}


def test_every_link_within_the_site_leads_somewhere(site: Mapping[str, Page]) -> None:
    lost = []
    for name, page in site.items():
        for href in page.links:
            if re.match(r"\w+:", href):
                continue
            path, _, anchor = href.partition("#")
            there = site.get(normpath(dirname(name) + "/" + path).lstrip("/"))
            there = there if path else page
            if there is None or (anchor and unquote(anchor) not in there.anchors):
                lost.append((name, href))
    assert lost == []


@pytest.mark.parametrize("module", [traceir, traceir.numpy, traceir.lax, traceir_numba])
def test_every_public_name_has_a_place(
    site: Mapping[str, Page], module: ModuleType
) -> None:
    shown = {
        anchor.rpartition(".")[2]
        for name, page in site.items()
        if name.startswith("api/")
        for anchor in page.anchors
    }
    public = [n for n in module.__all__ if n not in MODULES]
    assert [name for name in public if name not in shown] == []


def test_a_function_has_a_page_with_what_one_needs(site: Mapping[str, Page]) -> None:
    page = site["api/numpy/cumsum.html"]
    assert "traceir.numpy.cumsum" in page.anchors
    text = re.sub(r"<[^>]+>", "", page.text)
    for words in ("Parameters", "default None", "Errors", "An axis is out of bounds"):
        assert words in text
    assert "jnp.cumsum(jnp.array([[1, 2], [3, 4]]))" in unescape(text)
    links = " ".join(page.links)
    assert "/blob/main/traceir/numpy/reductions/cumulative.py#L" in links
    assert "#face.axis" in links and "../numpy.html" in page.links
    assert '<meta name="description" content="Sums of all elements up to' in page.text


def test_examples_on_pages_run_with_the_names_that_they_say() -> None:
    docs = {name: entry.value.__doc__ or "" for name, entry in entries().items()}
    names = [name for name, text in docs.items() if ">>> " in text]
    for name in names[::97]:
        lines = (inspect.getdoc(entries()[name].value) or "").split("\n")
        text = "\n".join(signatures.qualified(lines, name))
        test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
        assert test.examples, name
        found: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags())
        runner.run(test, out=found.append)
        assert found == [], name


def test_functions_on_pages_have_examples() -> None:
    lacking = [
        name
        for name, entry in entries().items()
        if entry.kind == "function" and not name.startswith(APART)
        if ">>> " not in (entry.value.__doc__ or "")
    ]
    assert len(entries()) > 1000
    assert lacking == []


def test_no_page_is_long(site: Mapping[str, Page]) -> None:
    # With the site's own theme it is a warning while the site is built.
    most = max(site, key=lambda name: len(site[name].text))
    assert len(site[most].text) < output.MOST, most


def test_every_package_has_its_map(site: Mapping[str, Page]) -> None:
    wanted = {(f"{package.page}.html", package.anchor()) for package in packages()}
    found = {(page, anchor) for page in site for anchor in site[page].anchors}
    assert wanted - found == set()


def test_no_object_has_its_module_twice_in_its_name(site: Mapping[str, Page]) -> None:
    anchors = {anchor for page in site.values() for anchor in page.anchors}
    assert "traceir.numpy.bfloat16" in anchors
    assert [a for a in anchors if a.count("traceir.") > 1] == []


def is_own(value: object, module: ModuleType) -> bool:
    """True if a module defines a function or a class."""
    return getattr(value, "__module__", None) == module.__name__


@pytest.mark.parametrize(
    "module",
    [
        *(traceir, traceir.lax, traceir.numpy, traceir.tree, traceir.tree_util),
        *(traceir.debug, traceir.sharding, traceir.experimental, traceir.test_util),
    ],
    ids=lambda module: module.__name__,
)
def test_every_public_function_has_an_example(module: ModuleType) -> None:
    own = (n for n, v in vars(module).items() if is_own(v, module) and n[0] != "_")
    names = set(getattr(module, "__all__", own)) - MADE
    docs = {
        name: value.__doc__ or ""
        for name in names
        if (isfunction(value := getattr(module, name)) or isclass(value))
        and value.__module__.startswith("traceir")  # the rest is NumPy's
        and not isinstance(value, ScalarType)  # whose own docstring has one
    }
    assert docs
    assert [name for name, doc in docs.items() if ">>> " not in doc] == []


def elsewhere(found: Mapping[str, Page]) -> list[str]:
    """The resources that pages load from other sites."""
    loaded = {source for page in found.values() for source in page.loaded}
    return [s for s in loaded if re.match(r"(\w+:)?//", s)]


def test_pages_load_nothing_from_elsewhere(site: Mapping[str, Page]) -> None:
    assert elsewhere(site) == []


BROKEN = """\
Broken
======

:rule:`no.such` and :case:`no/such`

.. rule:: neither.this
.. case:: nor/this
.. lattice:: here

>>> 1 + 1
3
"""


def test_what_is_wrong_in_a_page_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "index.rst").write_text(BROKEN)
    done = build("-b", "html", "-c", "docs", str(tmp_path), str(tmp_path / "o"))
    for said in ("rule no.such", "case no/such", "no rule neither.this"):
        assert said in done.stderr
    for said in ("no case nor/this", "no face here", "an example differs", "Got:"):
        assert said in done.stderr
    assert "no page has the rule add" in done.stderr
    # It is in the site's own theme.
    found = pages(tmp_path / "o")
    assert any("furo" in source for source in found["index.html"].loaded)
    assert elsewhere(found) == []


@pytest.mark.parametrize("face", FACES)
def test_a_lattice_has_every_edge_and_crosses_no_node(face: str) -> None:
    edges = FACES[face]
    places = layout(edges, KINDS)
    assert places.keys() == edges.keys()
    svg = diagram(edges, KINDS, face)
    assert svg.count("<rect") == len(edges)
    assert svg.count("<line") == sum(map(len, edges.values()))
    for a, b in combinations(places.values(), 2):
        assert abs(a.x - b.x) >= WIDTH or abs(a.y - b.y) >= HEIGHT
    for low, targets in edges.items():
        for high in targets:
            assert places[high].y < places[low].y
            others = [n for n in places if n not in (low, high)]
            assert [
                n for n in others if meets(places[low], places[high], places[n])
            ] == []


def meets(low: Node, high: Node, node: Node) -> bool:
    """True if the line between two nodes' boxes runs through the box of a third."""
    start, end = low.y - HEIGHT / 2, high.y + HEIGHT / 2
    for step in range(-10, 11):
        share = (node.y + step * HEIGHT / 20 - start) / (end - start)
        across = low.x + share * (high.x - low.x)
        if 0 <= share <= 1 and abs(across - node.x) < WIDTH / 2:
            return True
    return False


def test_the_drawing_of_layers_has_every_module_once() -> None:
    libraries = ["traceir", "traceir_numba"]
    notes = layers.Notes({"traceir.jit": [1, 3]}, {"traceir.ir": ("ir.html", "<ir>")})
    svg = layers.diagram(libraries, notes)
    shown = Counter(re.findall(r'<text x="[^"]+" y="[^"]+">([^<]+)<', svg))
    there = Counter(
        path.stem
        for library in libraries
        for path in (ROOT / library).iterdir()
        if path.name not in ("__init__.py", "__pycache__")
        if path.is_dir() or path.suffix == ".py"
    )
    assert shown == there
    assert re.findall(r'class="step"[^>]+>(\d+)<', svg) == ["1", "3"]
    assert '<a href="ir.html"><title>&lt;ir&gt;</title>' in svg


def test_a_step_through_no_layer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no layer has traceir\.nowhere"):
        layers.diagram(["traceir"], layers.Notes({"traceir.nowhere": [1]}))


def test_the_path_through_the_layers_names_what_is_there() -> None:
    page = (ROOT / "docs" / "architecture.rst").read_text(encoding="utf-8")
    steps = re.findall(r"^   #\. (.+\n(?:      .+\n)*)", page, re.MULTILINE)
    named = set(re.findall(r"``(?:\w+\.)?(\w+)``", "".join(steps)))
    libraries = [ROOT / library for library in ("traceir", "traceir_numba")]
    rooms = {path.stem for library in libraries for path in library.iterdir()}
    texts = [
        path.read_text(encoding="utf-8")
        for library in libraries
        for path in library.rglob("*.py")
    ]
    defined = set(re.findall(r"\b(?:def|class) (\w+)", "\n".join(texts)))
    assert len(steps) > 15 and len(named) > 20
    assert named - defined - rooms == set()
