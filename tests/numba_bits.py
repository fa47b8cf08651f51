"""Numba's results for generated functions, so that it need not compile them again.

`records/numba-bits.json` has digests of results under digests of sources and operands.
Numba is asked where a source has none there or other bits come out, and always in
`make soak`.
`python tests/numba_bits.py` writes the file anew, with what the tests look up.
"""

from __future__ import annotations

import json
import os
from functools import cache
from hashlib import sha256

import pytest
from recorded import Record
from soak import SOAK
from with_numba import Arrays, canonical, driver, numbas, ours, same

from traceir_numba.device_functions import DeviceFunction, closure

RECORD = Record("numba-bits.json")
TESTS = "tests/backend/test_lowering.py"
# What was looked up, or given by Numba, in this process.
asked: dict[str, str] = {}


@cache
def record() -> dict[str, str]:
    """The digests of results by those of sources."""
    found: dict[str, str] = json.loads(RECORD.read_text())
    return found


def as_numba(f: DeviceFunction, arrays: Arrays, n: int) -> bool:
    """True if the backend's code of a function has the bits of Numba's code."""
    got, key = ours(f, arrays, n), digest(source(f), arrays)
    if not SOAK and record().get(key) == digest("", got):
        asked[key] = record()[key]
        return True
    want = numbas(f, arrays, n)
    asked[key] = digest("", want)
    return same(got, want)


def source(f: DeviceFunction) -> str:
    """All that is compiled for a function."""
    over = driver(f)
    parts = [g.text for g in closure([f.name], read=True)]
    return "\n".join([*parts, over.text, repr(over.args)])


def digest(text: str, arrays: Arrays) -> str:
    """A digest of a text and of arrays, in which all NaN are one."""
    found = sha256(text.encode())
    for array in arrays:
        found.update(f"{array.dtype} {array.shape}".encode() + canonical(array))
    return found.hexdigest()[:20]


def main() -> None:
    """Run the tests, and keep what they have looked up."""
    os.environ["HYPOTHESIS_PROFILE"] = "soak"  # in which all functions are tried
    # `soak` has imported Hypothesis before pytest could look at its assertions.
    pytest.main([TESTS, "-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"])
    text = json.dumps(asked, indent=0, sort_keys=True)
    RECORD.write_text(f"{text}\n")


if __name__ == "__main__":
    # What the tests note is in the module that they import.
    import numba_bits

    numba_bits.main()
