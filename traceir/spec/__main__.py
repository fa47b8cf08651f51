"""`python -m traceir.spec`: the specification as data, written or checked.

Serves: every table
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from traceir.conform.casefiles.cases import load_cases
from traceir.rules import default, load
from traceir.spec.document import document, written
from traceir.spec.schema import schema


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status of the process."""
    parser = argparse.ArgumentParser(
        "python -m traceir.spec", description="The specification as data."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser("export", help="write the document, on stdout")
    export.add_argument("-o", "--output", metavar="FILE", help="write it there")
    text = "leave out the cases, and what is larger than the rest by far"
    export.add_argument("--without-cases", action="store_true", help=text)
    text = "a folder of tables in the place of the specification's"
    export.add_argument("--rules", metavar="FOLDER", help=text)
    text = "write the JSON Schema of the document"
    of_schema = commands.add_parser("schema", help=text)
    of_schema.add_argument("-o", "--output", metavar="FILE", help="write it there")
    options = parser.parse_args(arguments)
    found = (
        json.dumps(schema(), indent=1) + "\n"
        if options.command == "schema"
        else exported(options.rules, options.without_cases)
    )
    if options.output:
        Path(options.output).write_text(found, encoding="utf-8")
    else:
        sys.stdout.write(found)
    return 0


def exported(folder: str | None, without_cases: bool) -> str:
    """The document of the specification, or of a folder of tables."""
    rules = load(folder, lenient=True) if folder else default()
    return written(document(rules, [] if without_cases else load_cases()))


if __name__ == "__main__":
    sys.exit(main())
