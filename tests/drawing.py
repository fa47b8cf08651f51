"""Keeps the examples that Hypothesis draws free of which modules are loaded.

Hypothesis takes numbers and strings for its examples from the source of whatever local
module is loaded, and no setting says otherwise. So a derandomized test draws other
examples beside other tests, or in another process: it fails in one clone and not in the
next. `tests/test_drawing.py` fails where this no longer has an effect. pytest takes it
with `-p drawing`, too.
"""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

# Hypothesis asks each instance; its own list of constants is drawn from still.
HypothesisProvider._local_constants = Constants()
