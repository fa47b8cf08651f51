"""Kernels as PTX and as a device's machine code, without a device.

PTX needs the package that compiles and NVIDIA's NVVM library; machine code needs its
program `ptxas` besides. Nothing is run. Serves: backend.device

It says how many registers the kernels of a program take.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_point
from traceir_numba.cuda.runtime import device
from traceir_numba.cuda.source import arguments_of, module_of
from traceir_numba.loops.program import BufferProgram

# The compute capability that is compiled for, unless another one is asked for.
CAPABILITY = (9, 0)

USED = re.compile(r"Used (\d+) registers")
SPILLED = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources of a kernel's machine code: registers of a thread, bytes of a
    block.

    `spilled` are the bytes of a thread's values that found no register.
    """

    registers: int
    shared: int
    spilled: int


@entry_point
def ptx(
    program: BufferProgram, capability: tuple[int, int] = CAPABILITY
) -> dict[str, str]:
    """The PTX of every kernel of a program, by name; no device is needed.

    Raises RuntimeError (backend.device) where NVVM, or the package that compiles, is
    missing, or where Numba runs its simulator.
    """
    dialect = compiler()
    space: dict[str, Any] = {}
    exec(module_of(program), space)
    found = {}
    for name, arguments in arguments_of(program).items():
        signature = tuple(_type(argument) for argument in arguments)
        function = space[name].py_func
        try:
            with _capability(dialect, capability):
                text, _ = dialect.compile_ptx(function, signature, cc=capability)
        except Exception as error:
            if "nvvm" not in type(error).__name__.lower() + str(error).lower():
                raise
            (reason, *_) = str(error).strip().splitlines()
            raise rules.error("backend.device", got=f"no NVVM: {reason}") from error
        found[name] = text.decode() if isinstance(text, bytes) else str(text)
    return found


@entry_point
def machine_code(text: str, capability: tuple[int, int] = CAPABILITY) -> Usage:
    """The report of `ptxas` on the machine code of some PTX.

    Raises RuntimeError (backend.device) where there is no `ptxas`, or it fails.
    """
    program = ptxas()
    if program is None:
        raise rules.error("backend.device", got="no ptxas on the path or in CUDA_HOME")
    major, minor = capability
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(text)
        target = [f"-arch=sm_{major}{minor}", "-v", "-o", str(Path(folder) / "out")]
        command = [program, *target, str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise rules.error("backend.device", got=f"ptxas: {done.stderr.strip()}")
    spilled = SPILLED.findall(done.stderr)
    return Usage(
        max((int(n) for n in USED.findall(done.stderr)), default=0),
        max((int(n) for n in SHARED.findall(done.stderr)), default=0),
        sum(int(stores) + int(loads) for stores, loads in spilled),
    )


def ptxas() -> str | None:
    """The path of NVIDIA's assembler: of a toolkit, on the path, or of its package."""
    places = [str(folder / "bin") for folder in _folders()]
    places.append(os.environ.get("PATH", os.defpath))
    return shutil.which("ptxas", path=os.pathsep.join(places))


def _folders() -> Iterator[Path]:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home:
        yield Path(home)
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found else ():
        yield Path(place) / "cuda_nvcc"


def compiler() -> Any:
    """The package that compiles; a device is not asked for."""
    if device.is_simulated():
        raise rules.error("backend.device", got="the simulator compiles nothing")
    name = device.MODULES[-1]  # for which sources are written
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise rules.error("backend.device", got=f"{name}: {error}") from None


@contextmanager
def _capability(dialect: Any, capability: tuple[int, int]) -> Iterator[None]:
    """Answer for the device that Numba asks where a kernel calls a function."""
    module: Any = importlib.import_module(f"{dialect.__name__}.dispatcher")
    before = module.get_current_device
    module.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        module.get_current_device = before


def _type(argument: str) -> Any:
    """The type of a kernel's argument: of an array's memory, or an integer."""
    import numba

    dtype = argument.removesuffix("*")
    kind = getattr(numba, dtype)
    return kind[::1] if argument.endswith("*") else kind
