"""Whether tests repeat what one of several like cases shows: `make soak`."""

from __future__ import annotations

import os

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
