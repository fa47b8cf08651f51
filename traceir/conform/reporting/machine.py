"""Reports for machines: JUnit's XML, and a badge. Serves: every table"""

from __future__ import annotations

import json
from collections import Counter
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from traceir.base.version import VERSION
from traceir.conform.casefiles.cases import load_cases
from traceir.conform.casefiles.profiles import PROFILES, profile_of
from traceir.conform.reporting.report import Report, clean, headline

# Elements of JUnit by the kind of a verdict; it has no word for what is known to fail.
_ELEMENTS = {
    "fail": "failure",
    "crashed": "error",
    "unsupported": "skipped",
    "deviation": "skipped",
}
# The widths of a badge: of a letter of Verdana's in the mean, and beside a text.
_LETTER, _MARGIN = 6.6, 10
_COLOURS = {"brightgreen": "#4c1", "green": "#97ca00", "red": "#e05d44"}


def to_junit(report: Report) -> str:
    """The verdicts as JUnit's XML: a suite for each profile.

    What is unsupported, or a recorded deviation, is skipped there, with its reason.
    """
    root = ElementTree.Element("testsuites", name=clean(headline(report)))
    for profile, counts in report.profiles:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=profile,
            tests=str(counts.total()),
            failures=str(counts["fail"]),
            errors=str(counts["crashed"]),
            skipped=str(counts["unsupported"] + counts["deviation"]),
        )
        for case, verdict in report.judged:
            if profile_of(case) != profile:
                continue
            place = {"file": case.file, "line": str(case.line)}
            names = {"classname": profile, "name": case.name}
            one = ElementTree.SubElement(suite, "testcase", {**names, **place})
            if verdict.kind in _ELEMENTS:
                kind, why = verdict.kind, clean(verdict.why)
                message = f"{kind}: {why.partition(chr(10))[0]}"
                found = ElementTree.SubElement(
                    one, _ELEMENTS[kind], type=kind, message=message
                )
                found.text = why
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def conforming(report: Report) -> list[str]:
    """The profiles of which every case of the suite passes, asked for or not."""
    sizes = Counter(map(profile_of, load_cases()))
    return [name for name, counts in report.profiles if counts["pass"] == sizes[name]]


def _message(report: Report) -> tuple[str, str]:
    """The message of a badge, and its colour."""
    counts = report.run.counts
    if not report.run.good:
        failed = counts["fail"] + counts["crashed"]
        return f"{failed:,} fail, {counts['pass']:,} pass", "red"
    whole = conforming(report)
    if not whole:
        return f"{counts['pass']:,} pass", "green"
    every = len(whole) == len(PROFILES)
    colour = "brightgreen" if every else "green"
    return f"{counts['pass']:,} pass, all of {', '.join(whole)}", colour


def to_badge(report: Report) -> str:
    """A badge as the JSON that https://shields.io draws (`endpoint`)."""
    message, colour = _message(report)
    label = f"traceir suite {VERSION}"
    data = {"schemaVersion": 1, "label": label, "message": message, "color": colour}
    return json.dumps(data) + "\n"


def to_svg(report: Report) -> str:
    """A badge as SVG: the suite, and how many cases pass."""
    message, colour = _message(report)
    label = f"traceir suite {VERSION}"
    left, right = (round(len(t) * _LETTER) + _MARGIN for t in (label, message))
    texts = ((label, left / 2), (message, left + right / 2))
    drawn = "".join(
        f'<text x="{x:g}" y="14">{escape(text)}</text>' for text, x in texts
    )
    whole, title = left + right, escape(f"{label}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20"'
        f' role="img" aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[colour]}"/>'
        '<g fill="#fff" text-anchor="middle" font-size="11"'
        f' font-family="Verdana,DejaVu Sans,sans-serif">{drawn}</g></svg>\n'
    )
