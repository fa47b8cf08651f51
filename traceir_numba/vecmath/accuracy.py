"""The greatest errors that were found. Serves: `accuracy.ulp`.

In units in the last place of the exact result: functions of one float32 over all 2**32
arguments, the others over 2**26 random ones. `tests/ulp/scan.py` measures them again.
"""

from __future__ import annotations

ULP: dict[str, float] = {
    "exp_f32": 1.0243,
    "log_f32": 0.9045,
    "sin_f32": 0.5005,
    "cos_f32": 0.5005,
    "tanh_f32": 2.42,
    "log1p_f32": 1.5,
    "expm1_f32": 1.44,
    "pow_f32": 0.5549,
    "exp_f64": 0.7530,
    "log_f64": 0.8136,
    "sin_f64": 0.8834,
    "cos_f64": 0.8951,
    "tanh_f64": 2.9772,
    "log1p_f64": 1.3551,
    "expm1_f64": 1.6705,
    "pow_f64": 0.7545,
}
