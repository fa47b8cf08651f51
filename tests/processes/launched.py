"""Starts programs under MPI, and looks at what is left of them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What nobody can run without, as tests say it.
MISSING = (
    "mpirun (Debian: openmpi-bin, libopenmpi-dev)"
    if shutil.which("mpirun") is None
    else "mpi4py (the extra `mpi`)"
    if importlib.util.find_spec("mpi4py") is None
    else ""
)
MPI = not MISSING
OPTIONS = ("--allow-run-as-root", "--oversubscribe")


def start(processes: int, *command: str, where: Path) -> subprocess.Popen[str]:
    """A program in so many processes; `where` has the files that MPI makes."""
    paths = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TMPDIR": str(where),
        "TRACEIR_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        ["mpirun", *OPTIONS, "-n", str(processes), sys.executable, *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(run: subprocess.Popen[str], seconds: float) -> tuple[int, str, str]:
    """The exit status of a program, and what it has said, within a time."""
    try:
        out, err = run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        run.kill()
        raise
    return run.returncode, out, err


def left(where: Path) -> list[str]:
    """Files that a run has left, and processes that have it for their directory."""
    files = [str(path) for path in where.rglob("*") if path.is_file()]
    shared = [str(path) for path in Path("/dev/shm").glob("*vader*")]
    return files + shared + list(_processes(str(where)))


def _processes(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has gone, or is somebody else's
            continue
        if f"TMPDIR={mark}".encode() in words:
            found.append(f"process {path.parent.name}")
    return found
