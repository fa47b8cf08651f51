"""Recorded files stand in one folder, compressed where nobody reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from recorded import FOLDER, Record

TESTS = Path(__file__).parent
LISTED = re.findall(r"^\| `(\S+)` \|(.*)$", (FOLDER / "README.md").read_text(), re.M)
# Beyond this many bytes a file of data is recorded, or written by hand as these are.
MUCH = 20_000
BY_HAND = {"against_jax/known.toml", "array_api/special.txt"}


def test_each_file_has_a_writer_and_a_reader() -> None:
    found = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert found == {name for name, _ in LISTED}
    for _, said in LISTED:
        reader = re.findall(r"`((?:tests|docs)/\S+)`", said.rpartition(" | ")[2])
        assert reader and all((TESTS.parent / path).exists() for path in reader)


def test_what_is_long_is_compressed_or_read_in_reviews() -> None:
    long = {p.name for p in FOLDER.iterdir() if p.stat().st_size > MUCH}
    plain = {name for name in long if not name.endswith(".xz")}
    assert plain == {name for name, said in LISTED if "read in reviews" in said}


def test_no_long_file_of_data_is_elsewhere() -> None:
    found = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*")
        if path.suffix in (".txt", ".json", ".toml", ".bin", ".jaxpr")
        and path.parent != FOLDER
        and path.stat().st_size > MUCH
    }
    assert found == BY_HAND


@pytest.mark.parametrize("name", [name for name, _ in LISTED])
def test_a_record_is_read(name: str) -> None:
    assert len(Record(name).read_text()) > 100


def test_what_is_written_is_the_same_each_time(tmp_path: Path) -> None:
    one, other = Record("one.txt.xz", tmp_path), Record("other.txt.xz", tmp_path)
    for record in (one, other):
        record.write_text("kept\n" * 100)
        assert record.read_text() == "kept\n" * 100
    assert one.path.read_bytes() == other.path.read_bytes()


def test_a_file_that_says_the_same_is_left(tmp_path: Path) -> None:
    record = Record("one.txt.xz", tmp_path)
    record.write_text("kept")
    before = record.path.stat().st_mtime_ns
    record.write_text("kept")
    assert record.path.stat().st_mtime_ns == before
    record.write_text("other")
    assert record.read_text() == "other"
