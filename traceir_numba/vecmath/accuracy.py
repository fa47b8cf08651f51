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
    "exp_f32": Worst(1.0243, (-5.849122524261475,), 2**32),
    "log_f32": Worst(0.9045, (1.3982397317886353,), 2**32),
    "sin_f32": Worst(0.5006, (7.752873157162376e27,), 2**32),
    "cos_f32": Worst(0.5006, (-0.000732464250177145,), 70_409_300),
    "tanh_f32": Worst(1.7226, (0.5416921377182007,), 20_355_296),
    "log1p_f32": Worst(1.4228, (0.4142483174800873,), 70_409_300),
    "expm1_f32": Worst(1.4086, (17.02846336364746,), 70_409_300),
    "pow_f32": Worst(0.5549, (2.396160840988159, -42.95744705200195), 2_000_000),
    "exp_f64": Worst(0.7525, (-708.6154312214763,), 30_000_000),
    "log_f64": Worst(0.8058, (0.7067075960202065,), 30_000_000),
    "sin_f64": Worst(0.8254, (-8.874788730628724e100,), 2_000_000),
    "cos_f64": Worst(0.8729, (-2.3550125382810965,), 2_000_000),
    "tanh_f64": Worst(1.8004, (-0.5379657523882315,), 4_000_000),
    "log1p_f64": Worst(1.3507, (0.42086265408139695,), 30_000_000),
    "expm1_f64": Worst(1.7173, (-0.006914447843021993,), 30_000_000),
    "pow_f64": Worst(0.7486, (1.0000003222498197, -2198288057.8039565), 2_000_000),
    "exp2_f32": Worst(0.8933, (-126.49958038330078,), 2**32),
    "exp2_f64": Worst(0.7500, (-1022.5602630641491,), 30_000_000),
    "logistic_f32": Worst(1.6526, (-1.6811728477478027,), 20_355_296),
    "logistic_f64": Worst(1.6303, (-1.6907045482931515,), 4_000_000),
    "sinh_f32": Worst(1.3781, (4.643686294555664,), 2**32),
    "sinh_f64": Worst(1.4334, (-1.1754308762185204,), 30_000_000),
    "cosh_f32": Worst(1.7220, (8.79995346069336,), 2**32),
    "cosh_f64": Worst(1.4407, (18.533025891024863,), 30_000_000),
    "asinh_f32": Worst(0.5001, (0.0018791519105434418,), 2**32),
    "asinh_f64": Worst(1.7975, (0.2522295897757949,), 30_000_000),
    "acosh_f32": Worst(0.5001, (87.8565902709961,), 2**32),
    "acosh_f64": Worst(1.5081, (1.0311800495569607,), 30_000_000),
    "atanh_f32": Worst(0.5001, (0.0033844164572656155,), 2**32),
    "atanh_f64": Worst(1.5091, (-0.12146794973641772,), 30_000_000),
    "cbrt_f32": Worst(0.5034, (6.086038214944615e-38,), 2**32),
    "cbrt_f64": Worst(0.5005, (8.101198102392472e203,), 30_000_000),
    "tan_f32": Worst(0.5618, (4266549051392.0,), 2**32),
    "tan_f64": Worst(1.3475, (206.57639079774845,), 30_000_000),
    "asin_f64": Worst(1.7277, (0.8371694561756098,), 30_000_000),
}

ULP: dict[str, float] = {name: worst.ulp for name, worst in WORST.items()}
