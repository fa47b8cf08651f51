"""`.. example:: name` shows a program of docs/examples, its picture and its time."""

from __future__ import annotations

import json
from base64 import b64encode
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
from sphinx.util.docutils import SphinxDirective

from _ext.pieces import code, line, raw, text

ROOT = Path(__file__).parents[2]
SIZE = 9.0, 4.2  # inches


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
        return [figure(module), *timing(name), block]


def figure(module: ModuleType) -> nodes.raw:
    """The drawing of an example's results, within the page itself."""
    drawn = b64encode(picture(module)).decode()
    about = escape(module.draw.__doc__.strip())
    return raw(
        f'<figure class="example"><img alt="{about}" src="data:image/png;base64,'
        f'{drawn}"><figcaption>{about}</figcaption></figure>'
    )


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
