"""The greatest errors that were found. Serves: `accuracy.ulp`.

In units in the last place of the exact result. `make ulp` measures them and writes this
table: functions of one float32 over all 2**32 arguments, the others over so many random
ones from strata where their errors differ.
"""

from __future__ import annotations

from typing import NamedTuple


class Worst(NamedTuple):
    """A greatest error, the operands that have it, and how many were tried."""

    ulp: float
    at: tuple[float, ...]
    tried: int


WORST: dict[str, Worst] = {
    "exp_f32": Worst(1.0243, (), 2**32),
    "log_f32": Worst(0.9045, (), 2**32),
    "sin_f32": Worst(0.5005, (), 2**32),
    "cos_f32": Worst(0.5005, (), 2**32),
    "tanh_f32": Worst(2.4200, (), 2**32),
    "log1p_f32": Worst(1.5000, (), 2**32),
    "expm1_f32": Worst(1.4400, (), 2**32),
    "pow_f32": Worst(0.5549, (), 2**26),
    "exp_f64": Worst(0.7530, (), 2**26),
    "log_f64": Worst(0.8136, (), 2**26),
    "sin_f64": Worst(0.8834, (), 2**26),
    "cos_f64": Worst(0.8951, (), 2**26),
    "tanh_f64": Worst(2.9772, (), 2**26),
    "log1p_f64": Worst(1.3551, (), 2**26),
    "expm1_f64": Worst(1.6705, (), 2**26),
    "pow_f64": Worst(0.7545, (), 2**26),
}

ULP: dict[str, float] = {name: worst.ulp for name, worst in WORST.items()}
