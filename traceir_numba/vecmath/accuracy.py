"""The greatest errors that were found. Serves: `accuracy.ulp`.

In units in the last place of the exact result: functions of one float32 over all 2**32
arguments, the others over 2**26 random ones. `make ulp` measures them again.
"""

from __future__ import annotations

ULP: dict[str, float] = {
    "exp_f32": 0.9976,
    "log_f32": 0.9008,
    "sin_f32": 0.6271,
    "cos_f32": 0.6271,
    "tanh_f32": 2.4,
    "log1p_f32": 1.6,
    "expm1_f32": 1.5,
    "pow_f32": 0.56,
    "exp_f64": 0.76,
    "log_f64": 0.85,
    "sin_f64": 0.86,
    "cos_f64": 0.86,
    "tanh_f64": 2.6,
    "log1p_f64": 1.4,
    "expm1_f64": 1.8,
    "pow_f64": 0.77,
}
