"""Warnings at the user's line.

Serves: face.imaginary
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.exceptions import ComplexWarning

from traceir import rules
from traceir.base import config, source_info
from traceir.dtypes import kind_of
from traceir.tracing.trace import Unplanned, current_trace


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line; never in a trace whose program is only kept."""
    trace = current_trace()
    if trace is not None and trace.plain:
        raise Unplanned
    source_info.warn(text, category)


def warn_of_part(
    have: np.dtype, dtype: np.dtype, category: type[Warning] = ComplexWarning
) -> None:
    """Warn where a conversion of this dtype to another drops imaginary parts."""
    if loses_part(have, dtype):
        warn(
            f"a conversion from {have.name} to {dtype.name} drops imaginary parts; "
            "take `.real` before it to say that this is meant",
            category,
        )


def loses_part(have: np.dtype, dtype: np.dtype) -> bool:
    """True if the first dtype is complex and the second one real."""
    return have.kind == "c" and kind_of(dtype) in "iuf"


def refuse_part(values: Iterable[object], dtype: np.dtype) -> None:
    """Raise TypeError (face.imaginary) for a Python complex number in a real dtype."""
    if kind_of(dtype) in "iuf":
        for value in values:
            if type(value) is complex:
                raise rules.error("face.imaginary", got=f"{value} for {dtype.name}")


def warn_of_ranks(name: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Warn (UserWarning) of shapes of several ranks, where the context wants to know.

    Raises ValueError (face.rank) where it wants ranks to be equal.
    """
    how = config.local.context.numpy_rank_promotion
    if how == "allow" or len({len(s) for s in shapes}) < 2:
        return
    listed = " and ".join(map(str, shapes))
    if how == "raise":
        raise rules.error("face.rank", got=f"{name} of {listed}")
    warn(
        f"Following NumPy automatic rank promotion for {name} on shapes {listed}. Set "
        "the numpy_rank_promotion config option to 'allow' to disable this warning."
    )
