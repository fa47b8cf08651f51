"""Angles of points: every pair of special coordinates, and quotients out of range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from ulp.measure import values

INF, NAN = math.inf, math.nan


def points(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of zeros, infinities, NaN, the least and the greatest numbers."""
    info = np.finfo(dtype)
    sizes = [0.0, INF, 1.0, 2.5, float(info.max), float(info.tiny)]
    sizes.append(float(info.smallest_subnormal))
    numbers = np.array([*sizes, *(-s for s in sizes), NAN], dtype)
    y, x = (a.ravel().copy() for a in np.meshgrid(numbers, numbers))
    return y, x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_points(dtype: Any) -> None:
    y, x = points(dtype)
    name = "atan2_f32" if dtype == np.float32 else "atan2_f64"
    got, want = values(name, y, x), np.arctan2(y.astype(float), x.astype(float))
    want = want.astype(dtype)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    known = ~np.isnan(want)
    got, want = got[known], want[known]
    assert np.array_equal(np.signbit(got), np.signbit(want))
    assert np.array_equal(got == 0, want == 0)
    assert (np.abs(got - want) <= 2 * np.spacing(np.abs(want))).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_quotient_below_the_normal_numbers_is_rounded_once(dtype: Any) -> None:
    least = np.finfo(dtype).smallest_subnormal
    y = (np.arange(1, 400) * least).astype(dtype)
    for divisor in (3, 7, 24):
        x = np.full_like(y, divisor)
        name = "atan2_f32" if dtype == np.float32 else "atan2_f64"
        assert np.array_equal(values(name, y, x), y / x)
        assert np.array_equal(values(name, -y, x), -y / x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_halves_of_the_plane_mirror_each_other(dtype: Any) -> None:
    rng = np.random.default_rng(17)
    y, x = (rng.normal(size=4000).astype(dtype) for _ in range(2))
    name = "atan2_f32" if dtype == np.float32 else "atan2_f64"
    above = values(name, np.abs(y), x)
    assert np.array_equal(values(name, -np.abs(y), x), -above)
    assert ((above > dtype(math.pi / 2)) == (x < 0)).mean() > 0.999
