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
    "tanh_f32": Worst(1.4908, (0.0038936426863074303,), 2**32),
    "log1p_f32": Worst(1.4228, (0.4142483174800873,), 70_409_300),
    "expm1_f32": Worst(1.4086, (17.02846336364746,), 70_409_300),
    "pow_f32": Worst(0.5549, (2.396160840988159, -42.95744705200195), 2_000_000),
    "exp_f64": Worst(0.7456, (-708.599971067664,), 2_000_000),
    "log_f64": Worst(0.7841, (1.4024881669249245,), 2_000_000),
    "sin_f64": Worst(0.8254, (-8.874788730628724e100,), 2_000_000),
    "cos_f64": Worst(0.8729, (-2.3550125382810965,), 2_000_000),
    "tanh_f64": Worst(1.7191, (0.002985128091038668,), 2_000_000),
    "log1p_f64": Worst(1.2915, (0.4489424743081845,), 2_000_000),
    "expm1_f64": Worst(1.5499, (-0.00691019617566659,), 2_000_000),
    "pow_f64": Worst(0.7486, (1.0000003222498197, -2198288057.8039565), 2_000_000),
    "exp2_f32": Worst(0.8933, (-126.49958038330078,), 2**32),
    "exp2_f64": Worst(0.7405, (-1022.6197417263418,), 2_000_000),
    "logistic_f32": Worst(0.9878, (-49.51933670043945,), 20_355_296),
    "logistic_f64": Worst(0.7471, (-709.0455266919082,), 2_000_000),
    "sinh_f32": Worst(1.2957, (-1.1757200956344604,), 20_355_296),
    "sinh_f64": Worst(1.4334, (-1.1754308762185204,), 2_000_000),
    "cosh_f32": Worst(1.5910, (8.194045066833496,), 20_355_296),
    "cosh_f64": Worst(1.3743, (18.550926400525213,), 2_000_000),
    "asinh_f32": Worst(0.5000, (1.1183232863502563e+38,), 20_355_296),
    "asinh_f64": Worst(1.6184, (-0.25210673586039767,), 2_000_000),
    "acosh_f32": Worst(0.5000, (1.1183232863502563e+38,), 20_355_296),
    "acosh_f64": Worst(1.4871, (1.0294098010414268,), 2_000_000),
    "atanh_f32": Worst(0.5000, (-0.0007586015854030848,), 20_355_296),
    "atanh_f64": Worst(1.4683, (0.007758714222438991,), 2_000_000),
    "cbrt_f32": Worst(0.5034, (5.96916891260289e+18,), 20_355_296),
    "cbrt_f64": Worst(0.5005, (-0.08008222417245581,), 2_000_000),
}

ULP: dict[str, float] = {name: worst.ulp for name, worst in WORST.items()}
