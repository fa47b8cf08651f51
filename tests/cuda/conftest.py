"""Kernels of this folder run in Numba's simulator, unless a device is asked for.

`TRACEIR_GPU=1` leaves the choice to the environment: `make gpu-check` sets it.
"""

from __future__ import annotations

import os
import sys

if os.environ.get("TRACEIR_GPU") != "1":
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    if "numba" in sys.modules:  # which has read the environment by now
        sys.modules["numba"].config.ENABLE_CUDASIM = 1
elif os.environ.get("NUMBA_ENABLE_CUDASIM", "0") in ("", "0"):
    collect_ignore = ["test_blocks.py"]  # which is about the simulator
