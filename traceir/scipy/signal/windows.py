"""Windows by their names in SciPy.

Serves: face.choice
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from traceir import rules

Window = Callable[..., np.ndarray]


def _cosines(k: np.ndarray, amplitudes: Any) -> np.ndarray:
    """Cosines of 0, 1, ... periods over the window, with these amplitudes."""
    angles = np.linspace(-np.pi, np.pi, len(k))
    found = np.zeros(len(k))
    for count, amplitude in enumerate(amplitudes):
        found += amplitude * np.cos(count * angles)
    return found


def _from_middle(k: np.ndarray) -> np.ndarray:
    """The distance of places from the middle of the window."""
    return np.abs(k - (len(k) - 1) / 2)


def _parzen(k: np.ndarray) -> np.ndarray:
    part = _from_middle(k) / (len(k) / 2)
    inner = 1 - 6 * part**2 + 6 * part**3
    return np.where(_from_middle(k) <= (len(k) - 1) / 4, inner, 2 * (1 - part) ** 3)


def _bohman(k: np.ndarray) -> np.ndarray:
    part = np.abs(np.linspace(-1, 1, len(k)))
    return (1 - part) * np.cos(np.pi * part) + np.sin(np.pi * part) / np.pi


def _barthann(k: np.ndarray) -> np.ndarray:
    part = np.abs(k / (len(k) - 1) - 0.5)
    return 0.62 - 0.48 * part + 0.38 * np.cos(2 * np.pi * part)


def _tukey(k: np.ndarray, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(len(k))
    slope = min(alpha, 1.0) * (len(k) - 1) / 2
    ends = np.minimum(k, len(k) - 1 - k)
    found: np.ndarray = 0.5 * (1 - np.cos(np.pi * np.minimum(ends / slope, 1)))
    return found


def _kaiser(k: np.ndarray, beta: float) -> np.ndarray:
    part = 2 * k / (len(k) - 1) - 1
    root = np.sqrt(np.maximum(1 - part**2, 0))
    return np.i0(beta * root) / np.i0(beta)


def _exponential(
    k: np.ndarray, center: float | None = None, tau: float = 1.0
) -> np.ndarray:
    middle = (len(k) - 1) / 2 if center is None else center
    return np.exp(-np.abs(k - middle) / tau)


def _triang(k: np.ndarray) -> np.ndarray:
    return 1 - _from_middle(k) / ((len(k) + len(k) % 2) / 2)


# Each by its places 0, 1, ... and its parameters; and its other names.
WINDOWS: Mapping[tuple[str, ...], Window] = {
    ("boxcar", "box", "ones", "rect", "rectangular"): lambda k: np.ones(len(k)),
    ("hann", "han"): lambda k: _cosines(k, (0.5, 0.5)),
    ("hamming", "hamm", "ham"): lambda k: _cosines(k, (0.54, 0.46)),
    ("blackman", "black", "blk"): lambda k: _cosines(k, (0.42, 0.5, 0.08)),
    ("nuttall", "nutl", "nut"): lambda k: _cosines(
        k, (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    ),
    ("blackmanharris", "blackharr", "bkh"): lambda k: _cosines(
        k, (0.35875, 0.48829, 0.14128, 0.01168)
    ),
    ("flattop", "flat", "flt"): lambda k: _cosines(
        k, (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368)
    ),
    ("general_cosine", "general cosine"): _cosines,
    ("general_hamming", "general hamming"): lambda k, alpha: _cosines(
        k, (alpha, 1 - alpha)
    ),
    ("triangle", "triang", "tri"): _triang,
    ("bartlett", "bart", "brt"): lambda k: 1 - _from_middle(k) / ((len(k) - 1) / 2),
    ("parzen", "parz", "par"): _parzen,
    ("bohman", "bman", "bmn"): _bohman,
    ("barthann", "brthan", "bth"): _barthann,
    ("cosine", "halfcosine"): lambda k: np.sin(np.pi / len(k) * (k + 0.5)),
    ("lanczos", "sinc"): lambda k: np.sinc(2 * k / (len(k) - 1) - 1),
    ("tukey", "tuk"): _tukey,
    ("kaiser", "ksr"): _kaiser,
    ("exponential", "poisson"): _exponential,
    ("gaussian", "gauss", "gss"): lambda k, std: np.exp(
        -0.5 * (_from_middle(k) / std) ** 2
    ),
    ("general_gaussian", "general gaussian", "general gauss", "ggs"): (
        lambda k, p, sig: np.exp(-0.5 * (_from_middle(k) / sig) ** (2 * p))
    ),
}
NAMED = {name: window for names, window in WINDOWS.items() for name in names}


def named_window(window: str | tuple[Any, ...], length: int) -> np.ndarray:
    """A window by its name, or by a tuple of its name and its parameters.

    Raises ValueError (face.choice).

    >>> named_window("hann", 4)
    array([0. , 0.5, 1. , 0.5])
    """
    name, *parameters = (window,) if isinstance(window, str) else window
    made = NAMED.get(name.removesuffix("_periodic")) if isinstance(name, str) else None
    if made is None:
        known = ", ".join(names[0] for names in WINDOWS)
        hint = f"there are {known}; give any other as an array"
        raise rules.error("face.choice", got=f"window={window!r}", hint=hint)
    if length <= 1:
        return np.ones(length)
    try:
        return made(np.arange(length + 1.0), *parameters)[:length]
    except TypeError:
        got = f"window={window!r}, with other parameters than {name} has"
        raise rules.error("face.choice", got=got) from None
