"""`python -m traceir.conform.protocol NAME`: an adapter behind the protocol.

Serves: every table
"""

from __future__ import annotations

import sys

from traceir.conform.protocol.server import serve

if __name__ == "__main__":
    serve(*sys.argv[1:2])
