"""What a built package has besides its sources: data made of them, `store.prepared`."""

import os
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

PROGRAM = """
from traceir.rules import default
import traceir_numba.vecmath
default()
"""


class BuildWithPreparedData(build_py):
    """Copies the modules, then has them read and check the tables and functions."""

    def run(self) -> None:
        """Build; where an install is to be edited, its first process prepares."""
        super().run()
        if not self.editable_mode:
            prepare(os.path.abspath(self.build_lib))


def prepare(built: str) -> None:
    """Have the modules of a folder keep what they make, in that folder."""
    folder = os.path.join(built, "traceir", "prepared")
    shutil.rmtree(folder, ignore_errors=True)
    paths = filter(None, (built, os.environ.get("PYTHONPATH")))
    told = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRACEIR_CACHE": "1",
        "TRACEIR_CACHE_DIR": folder,
    }
    environment = {**os.environ, **told}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
    # All users read what one of them has installed.
    os.chmod(folder, 0o755)
    for entry in os.scandir(folder):
        if entry.name.endswith(".sources"):  # of these files, not of those installed
            os.unlink(entry)
        else:
            os.chmod(entry, 0o644)


setup(cmdclass={"build_py": BuildWithPreparedData})
