"""`.. example:: name` shows a program of docs/examples, its picture and its time."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from _ext.pieces import code, line, raw, text

ROOT = Path(__file__).parents[2]
SIZE = 9.0, 4.2  # inches
IMAGES = "_images/examples"


class Example(SphinxDirective):
    """`.. example:: name` runs a program while its page is read."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The picture, the time and the source."""
        (name,) = self.arguments
        module = import_module(f"examples.{name}")
        path = Path(str(module.__file__))
        self.env.note_dependency(str(path))
        source = path.read_text(encoding="utf-8")
        block = nodes.literal_block(source, source, language="python")
        drawn: list[nodes.Node] = []
        if not self.config.brief:
            drawn = [figure(module, self.env), stages(module, self.env)]
        return [*drawn, *timing(name), block]


def figure(module: ModuleType, env: BuildEnvironment) -> nodes.raw:
    """The drawing of an example's results, as a file beside the site's other images."""
    name = str(module.__name__).rpartition(".")[2]
    (beside(env) / f"{name}.png").write_bytes(picture(module))
    about = escape(module.draw.__doc__.strip())
    return raw(
        f'<figure class="example"><img alt="{about}" src="../{IMAGES}/{name}.png">'
        f"<figcaption>{about}</figcaption></figure>"
    )


def beside(env: BuildEnvironment) -> Path:
    """The folder of the examples' pictures and texts."""
    folder = Path(env.app.outdir) / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stages(module: ModuleType, env: BuildEnvironment) -> nodes.raw:
    """Links to what becomes of an example: its program, source and instructions."""
    name = str(module.__name__).rpartition(".")[2]
    traced = module.solve.trace(*module.problem())
    lowered = traced.lower()
    texts = {
        "the program": str(traced.jaxpr),
        "the generated source": lowered.as_text(),
        "its instructions, for the processor that built this site": (
            lowered.compile().as_text("asm")
        ),
    }
    found = []
    for kind, (words, shown) in zip(
        ("jaxpr", "source", "asm"), texts.items(), strict=True
    ):
        (beside(env) / f"{name}-{kind}.txt").write_text(shown, encoding="utf-8")
        target = f"../{IMAGES}/{name}-{kind}.txt"
        lines = f"{shown.count(chr(10)) + 1:,} lines"
        found.append(f'<a href="{target}">{words}</a> ({lines})')
    return raw(f'<p class="stages">What becomes of it: {"; ".join(found)}.</p>')


class Gallery(SphinxDirective):
    """`.. gallery:: name ...` leads to examples by their pictures."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """A picture for each."""
        page = self.env.docname
        up = "../" * page.count("/")
        found = []
        for name in self.arguments[0].split():
            uri = self.env.app.builder.get_relative_uri(page, f"examples/{name}")
            title = escape(titles()[name])
            source = f"{up}{IMAGES}/{name}.png"
            found.append(
                f'<a href="{uri}"><img alt="" loading="lazy" src="{source}">{title}</a>'
            )
        return [raw(f'<div class="gallery">{"".join(found)}</div>')]


@cache
def titles() -> dict[str, str]:
    """The titles of the examples' pages."""
    folder = ROOT / "docs" / "examples"
    return {path.stem: path.read_text().split("\n")[0] for path in folder.glob("*.rst")}


def picture(module: ModuleType) -> bytes:
    """The picture of an example as PNG."""
    from matplotlib.figure import Figure

    arguments = module.problem()
    drawn = Figure(figsize=SIZE, layout="constrained")
    module.draw(drawn, arguments, module.solve(*arguments))
    out = BytesIO()
    drawn.savefig(out, format="png", dpi=110)
    return out.getvalue()


@cache
def rows() -> dict[str, dict[str, Any]]:
    """The measured rows of the examples, each with the most threads."""
    path = ROOT / "benchmarks" / "results.json"
    found = json.loads(path.read_text())["rows"]
    mine = [row for row in found if row["group"] == "examples"]
    return {row["name"]: row for row in sorted(mine, key=lambda row: row["threads"])}


def timing(name: str) -> list[nodes.Node]:
    """The time of a call of `solve`, beside JAX's, if it was measured."""
    row = rows().get(name.replace("_", " "))
    if row is None:
        return []
    milliseconds, ratio = 1e3 * row["times"]["traceir"][1], row["ratios"]["JAX"][1]
    words = f" takes {milliseconds:.3g} ms with {row['threads']} threads, and "
    after = f" takes {ratio:.2g} times as long; "
    to = addnodes.pending_xref(
        "", text("how this was measured"), refdomain="std", reftype="doc"
    )
    to.attributes.update(reftarget="/benchmarks", refexplicit=True, refwarn=True)
    parts = code("solve"), text(words), code("jax.jit"), text(after), to, text(".")
    return [line("time", *parts)]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("example", Example)
    app.add_directive("gallery", Gallery)
