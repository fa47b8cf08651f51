"""`traceir` and `python -m traceir`: help, `run`, `show`, `spec`; errors in a line.

`cache` is tested with the store, `conform` with the suite.
"""

from __future__ import annotations

import configparser
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceir import rules
from traceir.__main__ import COMMANDS, main
from traceir.base import config
from traceir.base.version import VERSION
from traceir.commands import spec

ROOT = Path(__file__).parents[1]
PROGRAM = '''
import sys

import numpy as np

import traceir as jax

def smooth(x, n=3):
    """A plain function."""
    return np.sin(x) * n

@jax.jit
def add_up(x, y=1.0):
    """A jitted function."""
    return x + y

if __name__ == "__main__":
    print("arguments:", *sys.argv[1:])
    add_up(1.0), add_up(2.0)
    if "boom" in sys.argv:
        1 / 0
    if "bye" in sys.argv:
        sys.exit("bye")
'''


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A user's file; what commands change of the process is put back."""
    monkeypatch.setattr(sys, "argv", ["traceir"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "users_program.py"
    file.write_text(PROGRAM)
    yield str(file)
    sys.modules.pop(file.stem, None)


def test_help_is_printed_and_has_a_line_for_each_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/traceir"])
    for words in (["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0
        told = capsys.readouterr()
        name = words[0] if words[0] in COMMANDS else ""
        assert told.out.startswith(f"usage: traceir {name}".rstrip())
        assert not told.err
        if not name:
            for name, (line, _) in COMMANDS.items():
                assert any(
                    shown.split(maxsplit=1) == [name, line]
                    for shown in told.out.splitlines()
                )
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"traceir {VERSION}\n")


def test_mistakes_end_with_2_and_say_what_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "show" in capsys.readouterr().err
    assert main(["shwo"]) == 2
    assert capsys.readouterr().err.endswith("did you mean `show`?\n")
    assert main(["xyzzy"]) == 2
    assert "`--help` lists" in capsys.readouterr().err


def test_the_entry_point_is_installed() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    line = settings["options.entry_points"]["console_scripts"].strip()
    name, target = line.split(" = ")
    module, function = target.split(":")
    assert name == "traceir"
    assert getattr(importlib.import_module(module), function) is main


def test_run_tells_what_was_traced(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", program, "--own", "a"]) == 0
    told = capsys.readouterr()
    assert told.out == "arguments: --own a\n"
    rows = {line.split()[0]: line.split() for line in told.err.splitlines()}
    assert rows["add_up"][:4] == ["add_up", "2", "1", "1"]
    assert main(["run", "--quiet", program]) == 0
    assert not capsys.readouterr().err
    assert main(["run", "--quiet", program, "bye"]) == 1
    assert capsys.readouterr().err == "bye\n"


def test_run_shows_the_users_frames_alone(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--quiet", program, "boom"]) == 1
    told = capsys.readouterr().err
    assert told.count("  File ") == 1 and "1 / 0" in told
    assert told.endswith("ZeroDivisionError: division by zero\n")


def test_run_sets_flags(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not config.current().debug_nans
    try:
        assert main(["run", "--quiet", "--set", "debug_nans=1", program]) == 0
        assert config.current().debug_nans
    finally:
        config.update("debug_nans", False)
    for mistake in ("nonsense=1", "debug_nans", "debug_nans=maybe"):
        with pytest.raises(SystemExit) as end:
            main(["run", "--set", mistake, program])
        assert end.value.code == 2
        assert "debug_nans" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "nowhere.py"])
    assert "there is no file nowhere.py" in capsys.readouterr().err


def test_show_stages(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:smooth", "f64[3]"]) == 0
    assert capsys.readouterr().out == (
        "{ lambda ; a:f64[3]. let b:f64[3] = sin a; c:f64[3] = mul b 3.0:f64[] in (c,) "
        "}\n"
    )
    words = [f"{program}:add_up", "1.0", "y=i32[2]", "--jaxpr", "--source"]
    assert main(["show", *words]) == 0
    told = capsys.readouterr().out
    assert told.startswith("jaxpr\n-----\n{ lambda ; a:f32[] b:i32[2]. let")
    assert "\nsource\n------\n" in told
    assert main(["show", "math:hypot", "--jax", "1.0", "2.0"]) == 1
    assert "level.concretize" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["{}:smoth", "f64[3]"], "has no 'smoth'; it has smooth"),
        (["{}:smooth"], "smooth(x, n=3): missing a required argument: 'x'"),
        (["{}:smooth", "f65[3]"], "dtypes are"),
        (["{}:smooth", "x y"], "neither a type"),
        (["{}", "1"], "is not FILE:FUNCTION"),
        (["no_such_module:f"], "there is no module no_such_module"),
        (["no/such.py:f"], "there is no file no/such.py"),
        (["math:pi"], "is no function"),
    ],
)
def test_show_explains_mistakes(
    words: list[str], says: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(program) for word in words]
    if "{}" in words[0]:
        words[0] = program
    assert main(["show", *words]) == 1
    told = capsys.readouterr()
    assert says in told.err and len(told.err.splitlines()) == 1 and not told.out


def test_spec_prints_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec"]) == 0
    count = f"{len(rules.default().clauses):,} rules"
    assert capsys.readouterr().out.startswith(count)
    assert main(["spec", "[compat.option]", "sin"]) == 0
    told = capsys.readouterr().out
    assert 'id = "compat.option"' in told and "\n[prim.sin]\n" in told
    assert main(["spec", "compat.*"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["spec", "compat.optoin"]) == 1
    assert "is it compat.option" in capsys.readouterr().err


def test_spec_finds_each_kind_of_row() -> None:
    tables = rules.default()
    kinds = {name.partition(".")[0]: name for name in tables.clauses}
    names = [*[*kinds.values()][::8], *[*tables.prims][::20]]
    assert [name for name in names if not spec.shown(name)] == []
