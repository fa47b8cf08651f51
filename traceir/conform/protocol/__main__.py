"""`python -m traceir.conform.protocol NAME [REQUEST ...]`: an adapter behind it.

Serves: every table
"""

from __future__ import annotations

import sys

from traceir.conform.protocol.server import serve

if __name__ == "__main__":
    serve(*sys.argv[1:])
