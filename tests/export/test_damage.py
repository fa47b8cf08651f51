"""Files that are not as they were written: refused in a sentence, nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from exported import run, selu

import traceir_numba
from traceir.errors import TraceirError
from traceir_numba.aot import seals

X = np.ones(5, "float32")
SITE = Path(np.__file__).parents[1]
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files of all forms: `selu`, in source `text`, and those of another export."""
    found: Files = {}
    for k, x in enumerate((X, X[:3])):
        folder = tmp_path_factory.mktemp("module")
        text = folder / "text.py"
        made = [
            *traceir_numba.export(selu, x, path=folder / "selu.py"),
            *traceir_numba.export(selu, x, path=folder / "selu.o", form="object"),
            *traceir_numba.export({"selu": (selu, x)}, path=text, form="source"),
        ]
        found |= {f"{path.name}{k or ''}": path.read_bytes() for path in made}
    return found


def cuts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The data cut at every 64th byte, and without its last one."""
    for k in (*range(0, len(data), 64), len(data) - 1):
        yield f"cut at {k}", data[:k]


def flips(data: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    """The data with one bit changed, at some places."""
    random = np.random.default_rng(0)
    places = random.choice(len(data), count, replace=False)
    for k, bit in zip(places, random.integers(0, 8, count), strict=True):
        changed = bytes([data[k] ^ (1 << bit)])
        yield f"bit {bit} of {k}", data[:k] + changed + data[k + 1 :]


# Loads modules from their damaged texts, or beside a damaged library, one after the
# other in one process: a crash would end it.
LOADS = """
import json
from pathlib import Path
import numpy as np
folder, text = Path(sys.argv[1]), Path(sys.argv[1], "selu.py")
whole = compile(text.read_bytes(), "selu.py", "exec")
said = {}
for part in sorted(folder.glob("damaged.*")):
    kind = part.suffix[1:]
    target = text if kind.startswith("py") else text.with_name("selu_code.so")
    before = target.read_bytes()
    part.replace(target)
    module = {"__file__": str(text), "__name__": "selu"}
    try:
        exec(target.read_bytes() if target == text else whole, module)
    except Exception as error:
        said[kind] = f"{type(error).__name__}: {error}"
    else:
        said[kind] = f"{[n for n in module if n in ('selu', '_load', '_library')]}"
    target.write_bytes(before)
print(json.dumps(said))
"""


def loaded(files: Files, damaged: dict[str, bytes], folder: Path) -> dict[str, str]:
    """The message of importing the module with each damaged file, by its name."""
    for name in ("selu.py", "selu_code.so"):
        (folder / name).write_bytes(files[name])
    for name, data in damaged.items():
        (folder / f"damaged.{name}").write_bytes(data)
    done = run(LOADS, folder, SITE, given=[str(folder)])
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout)
    assert said.keys() == damaged.keys()
    return said


# By what is done to the files: the sentence.
TEXT = "it is not as it was written"
CODE = "selu_code.so is not the one that was written with it; export it again"


def test_a_module_without_its_library_as_it_was_does_not_load(
    files: Files, tmp_path: Path
) -> None:
    data = files["selu_code.so"]
    parts = [part for _, part in (*cuts(data), *flips(data, 200))]
    said = loaded(files, {f"so{k}": part for k, part in enumerate(parts)}, tmp_path)
    assert set(said.values()) == {f"ImportError: selu.py: {CODE}"}


OTHERS: dict[str, tuple[Callable[[Files], bytes], str]] = {
    "py-cut": (lambda f: f["selu.py"].partition(b"\ndef _load")[0], TEXT),
    "py-altered": (lambda f: f["selu.py"].replace(b"(5,)", b"(6,)"), TEXT),
    "py-more": (lambda f: f["selu.py"] + b"# more\n", TEXT),
    "py-other": (lambda f: f["selu.py1"], CODE),
    "so-other": (lambda f: f["selu_code.so1"], CODE),
}


def test_files_that_are_not_those_of_one_export_do_not_load(
    files: Files, tmp_path: Path
) -> None:
    changed = {name: change(files) for name, (change, _) in OTHERS.items()}
    said = loaded(files, changed, tmp_path)
    for name, (_, sentence) in OTHERS.items():
        assert said[name] == f"ImportError: selu.py: {sentence}", name
    (tmp_path / "selu_code.so").unlink()
    done = run("import selu", tmp_path, SITE)
    assert "ImportError: selu.py: selu_code.so is not beside it; " in done.stderr


# What Python itself refuses before it runs anything, and what a damaged check does.
ERRORS = re.compile("(Syntax|Indentation|Name|Type|Attribute|ModuleNotFound|Import|OS)")


def test_a_module_of_another_text_has_no_functions(
    files: Files, tmp_path: Path
) -> None:
    data = files["selu.py"]
    kinds = [*cuts(data), *flips(data, 200)]
    parts = {f"py{k}": part for k, (_, part) in enumerate(kinds)}
    said = loaded(files, parts, tmp_path)
    whole = data.index(b"as it was written") + 20
    for k, (what, part) in enumerate(kinds):
        # Cut before its check, a text is a module with nothing in it.
        empty = len(part) < whole and said[f"py{k}"] == "[]"
        assert empty or ERRORS.match(said[f"py{k}"]), f"{what}: {said[f'py{k}']}"
    refused = [s for s in said.values() if s.endswith(TEXT)]
    assert len(refused) > 100


FORMS = {
    "python": ("selu.py", ["selu_code.so"]),
    "object": ("selu.h", ["selu.o", "libselu.a", "libselu.so"]),
    "source": ("text.py", []),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_damage_is_seen_by_who_asks(
    form: str, files: Files, tmp_path: Path
) -> None:
    first, others = FORMS[form]
    others = [name for name in others if name in files]
    for name in (first, *others):
        (tmp_path / name).write_bytes(files[name])
    found = traceir_numba.verify(tmp_path / first)
    assert [path.name for path in found] == [first, *others]
    for name in (first, *others):
        for what, data in [*cuts(files[name]), *flips(files[name], 200)]:
            (tmp_path / name).write_bytes(data)
            with pytest.raises(ValueError) as caught:
                traceir_numba.verify(tmp_path / first)
            assert getattr(caught.value, "rule", "") == "artefact.whole", what
        if name != first:
            (tmp_path / name).unlink()
            with pytest.raises(ValueError, match=f"{name}, which belongs to {first}"):
                traceir_numba.verify(tmp_path / first)
            (tmp_path / name).write_bytes(files[f"{name}1"])
            with pytest.raises(ValueError, match=f"{name}, which belongs to {first}"):
                traceir_numba.verify(tmp_path / first)
        (tmp_path / name).write_bytes(files[name])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", [0, seals.FORMAT + 1])
def test_other_formats_are_refused(
    form: str, version: int, files: Files, tmp_path: Path
) -> None:
    name, _ = FORMS[form]
    text = files[name].rpartition(b"sha256 ")[0].decode()
    other = re.sub(r"(FORMAT(?: =)?) 1\n", rf"\1 {version}\n", text)
    assert other != text
    end = " */" if form == "object" else ""
    (tmp_path / name).write_text(seals.sealed(other, begin="", end=end))
    with pytest.raises(ValueError, match=f"of format {version}") as caught:
        traceir_numba.verify(tmp_path / name)
    assert isinstance(caught.value, TraceirError)
    assert caught.value.rule == "artefact.version"


def resealed(text: bytes, old: str, new: str) -> bytes:
    """A text in which something was replaced before it was sealed."""
    before = text.rpartition(b"sha256 ")[0].decode()
    assert old in before
    return seals.sealed(before.replace(old, new), begin="").encode()


# By what is done to the text of a source: what importing it says.
TEXTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut after a function": (
        lambda text: text.partition(b"\n\n\ndef ")[0],
        "it is not as it was written",
    ),
    "altered": (
        lambda text: text.replace(b"(5,)", b"(6,)"),
        "it is not as it was written",
    ),
    "an older Numba": (
        lambda text: resealed(text, "(0, 67)", "(99, 0)"),
        "it needs Numba 0.67 or later, and this is ",
    ),
    "other numbers": (
        lambda text: resealed(text, "byteorder !=", "byteorder =="),
        "its numbers are [a-z]+-endian",
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_source_checks_itself(what: str, files: Files, tmp_path: Path) -> None:
    damage, sentence = TEXTS[what]
    path = tmp_path / "text.py"
    path.write_bytes(damage(files["text.py"]))
    with pytest.raises(ImportError, match=f"text.py: .*{sentence}"):
        exec(path.read_bytes(), {"__file__": str(path), "__name__": "text"})
