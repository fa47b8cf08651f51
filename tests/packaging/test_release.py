"""A release has one version and one address, and its links lead somewhere."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = configparser.ConfigParser(interpolation=None)
SETTINGS.read(ROOT / "setup.cfg")
METADATA = SETTINGS["metadata"]
HOME = METADATA["url"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TEXTS = [
    *ROOT.glob("*.md"),
    ROOT / "setup.cfg",
    ROOT / "CITATION.cff",
    ROOT / "docs" / "index.rst",
    *(ROOT / ".github").rglob("*.yml"),
]


def read(*parts: str) -> str:
    """The text of a file of the checkout."""
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def test_one_version_and_one_day() -> None:
    version = METADATA["version"]
    assert f"\nversion: {version}\n" in read("CITATION.cff")
    found = re.findall(r"^## \[([\d.]+)\] - (\S+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert found[0][0] == version
    assert f"\ndate-released: {found[0][1]}\n" in read("CITATION.cff")
    assert f"/releases/tag/v{version}\n" in read("CHANGELOG.md")


def test_one_address() -> None:
    urls = dict(
        line.split(" = ") for line in METADATA["project_urls"].strip().split("\n")
    )
    assert urls.keys() >= {"Documentation", "Changelog", "Issues", "Source"}
    site = urls.pop("Documentation")
    assert all(url.startswith(HOME) for url in urls.values())
    host = re.compile(r"https://\w+\.(?:github|githubusercontent)\.\w+/[\w./-]*")
    for path in TEXTS:
        for link in host.findall(path.read_text(encoding="utf-8")):
            own = HOME.partition("github.com/")[2]
            assert link.startswith(site) or f"/{own}/" in link, (path.name, link)


def test_links_into_the_repository_lead_somewhere() -> None:
    raw = HOME.replace("github.com", "raw.githubusercontent.com")
    link = re.compile(rf"(?:{HOME}/(?:blob|tree)|{raw})/main/([\w./-]*)")
    found = [
        (path.name, inner)
        for path in TEXTS
        for inner in link.findall(path.read_text(encoding="utf-8"))
    ]
    assert found
    assert [one for one in found if not (ROOT / one[1]).exists()] == []


def test_versions_of_python_are_those_that_are_tried() -> None:
    versions = re.findall(r"Python :: (3\.\d+)", METADATA["classifiers"])
    tried = re.findall(r'"(3\.\d+)"', read(".github", "workflows", "ci.yml"))
    assert versions == tried
    assert SETTINGS["options"]["python_requires"] == f">={versions[0]}"


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_forms_ask_for_something(form: Path) -> None:
    text = form.read_text(encoding="utf-8")
    wanted = ("name", "about", "url") if form.stem == "config" else ("id", "label")
    assert all(re.search(rf"^ +(- )?{key}: \S", text, re.MULTILINE) for key in wanted)
    ids = re.findall(r"^ +id: (\S+)$", text, re.MULTILINE)
    assert len(ids) == len(set(ids))
