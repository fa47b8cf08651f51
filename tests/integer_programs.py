"""Programs of all that there is of integers, and operands for them."""

from __future__ import annotations

import numpy as np

from traceir.ir.avals import short_dtype

WIDTHS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
BINARY = (
    *("add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor"),
    *("shift_left", "shift_right_logical", "shift_right_arithmetic"),
)
UNARY = ("neg", "sign", "not", "population_count", "clz")


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers, zeros, ends and small divisors among them."""
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    x, y = rng.integers(info.min, info.max, (2, 64), dtype=dtype, endpoint=True)
    y[:8] = 0
    y[8:16] = np.array(-1).astype(dtype)
    x[8:10] = info.min, info.max
    y[16:40] = rng.integers(1, 9, 24).astype(dtype)
    return x, y


def arithmetic(dtype: str) -> str:
    """Every operation of two numbers, and of one."""
    t = short_dtype(np.dtype(dtype))
    names = [f"v{k}" for k in range(len(BINARY + UNARY) + 2)]
    unary = (*UNARY, "abs") if np.iinfo(dtype).min else UNARY
    lines = [f"{v}:{t}[64] = {op} x y" for v, op in zip(names, BINARY)]
    names = names[len(BINARY) :]
    lines += [f"{v}:{t}[64] = {op} x" for v, op in zip(names, unary)]
    lines.append(f"s:{t}[] = reduce_sum[axes=(0,) out_sharding=None] x")
    lines.append(f"p:{t}[] = reduce_prod[axes=(0,)] x")
    results = ", ".join(line.partition(":")[0] for line in lines)
    body = "\n".join(lines)
    return f"{{ lambda ; x:{t}[64] y:{t}[64]. let\n{body}\nin ({results}) }}"


def conversion(dtype: str, floating: str) -> str:
    """To an integer and back, and to a truth."""
    t, f = (short_dtype(np.dtype(d)) for d in (dtype, floating))
    convert = "convert_element_type[new_dtype={} weak_type=False]"
    return f"""{{ lambda ; a:{f}[64] b:{t}[64]. let
        c:{t}[64] = {convert.format(dtype)} a
        d:{f}[64] = {convert.format(floating)} b
        e:bool[64] = {convert.format("bool")} a
      in (c, d, e) }}"""


def converted(dtype: str, floating: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers to be converted, some of which have no integer."""
    rng = np.random.default_rng(1)
    info = np.iinfo(dtype)
    a = (rng.standard_normal(64) * 10.0 ** rng.integers(-2, 30, 64)).astype(floating)
    a[:9] = np.nan, np.inf, -np.inf, -0.0, 0.5, -0.5, info.max, info.min, -1.5
    return a, operands(dtype)[0]
