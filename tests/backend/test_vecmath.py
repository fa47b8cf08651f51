"""The real functions of kernels: accuracy, special values, vectors, their source."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest
from soak import sample
from ulp import further, gammas, minimax, scan
from ulp.exact import EXACT, exact
from ulp.measure import DEFINITIONS, error_f64, loop, truth, values, worst
from ulp.samples import any_number, samples

from traceir_numba import vecmath
from traceir_numba.vecmath import ULP, WORST
from traceir_numba.vecmath.registry import MODULES

F64 = [name for name in scan.NAMES if name.endswith("f64")]
UNARY = [name for name in scan.NAMES if len(vecmath.FUNCTIONS[name].args) == 1]
UNARY_F32 = [name for name in UNARY if name.endswith("f32")]
BINARY_F32 = [name for name in scan.NAMES if name not in (*UNARY, *F64)]
FITS = minimax.FITS | further.FITS | gammas.FITS
# Those whose bound is 4 units.
SPECIAL_FUNCTIONS = ("erf", "erfc", "erf_inv")
CALLED = [f"{n}_{t}" for n in ("exp", "log", "sin", "cos") for t in ("f32", "f64")]


def bound(name: str) -> float:
    """The bound of a test: the recorded error, which itself has at most four digits."""
    return ULP[name] + 1e-4


# -- accuracy -------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(ULP))
def test_recorded_operands_have_the_recorded_error(name: str) -> None:
    worst_one = WORST[name]
    dtype = np.float32 if name.endswith("f32") else np.float64
    error, _ = scan.errors(name, tuple(np.array([v], dtype) for v in worst_one.at))
    assert worst_one.ulp - 1.001e-4 <= error <= worst_one.ulp
    assert worst_one.ulp <= (4 if name[:-4] in SPECIAL_FUNCTIONS else 2)


@pytest.mark.parametrize("name", UNARY_F32)
def test_float32_is_as_accurate_as_the_table_says(name: str) -> None:
    # Every 2,047th argument of all: as this is odd, all low bits occur.
    found = scan.scan(name, 2047)
    assert found.tried > 2_000_000
    assert found.ulp <= bound(name), found.at


@pytest.mark.parametrize("name", BINARY_F32)
def test_float32_pairs_are_as_accurate_as_the_table_says(name: str) -> None:
    x, y = samples(name, 500_000, seed=7)
    error, place = worst(values(name, x, y), truth(name)(x, y))
    assert error <= bound(name), (x[place], y[place])


@pytest.mark.parametrize("name", F64)
def test_float64_is_as_accurate_as_the_table_says(name: str) -> None:
    operands = samples(name, 1500, seed=3)
    got = values(name, *operands).tolist()
    columns = zip(got, *(x.tolist() for x in operands))
    errors = [(error_f64(name, *column), column) for column in columns]
    assert max(errors) <= (bound(name),)


@pytest.mark.parametrize("name", F64)
def test_pairs_are_the_truth_for_float64(name: str) -> None:
    base, operands = name[:-4], samples(name, 300, seed=5)
    high, low, scale = (found.tolist() for found in exact(base, *operands))
    definition = DEFINITIONS.get(base) or getattr(mpmath, base)
    with mpmath.workprec(1250 if base in ("sin", "cos", "tan") else 300):
        for h, rest, k, *column in zip(
            high, low, scale, *map(np.ndarray.tolist, operands)
        ):
            want = definition(*map(mpmath.mpf, column))
            found = (mpmath.mpf(h) + mpmath.mpf(rest)) * mpmath.mpf(2) ** k
            if abs(k) < 3000:  # and not only far out of every range
                near = abs(found - want) <= abs(want) * mpmath.mpf(2) ** -90
                assert near or found == want, column


def test_every_function_has_a_truth() -> None:
    assert {name[:-4] for name in F64} <= EXACT.keys()


@pytest.mark.parametrize("name", UNARY_F32)
def test_float64_is_the_truth_for_float32(name: str) -> None:
    # Two opinions about each of these arguments: NumPy's and our own.
    x = np.arange(0, 1 << 32, 70_001).astype(np.uint32).view(np.float32)
    longer = x[~np.isnan(x)].astype(np.float64)
    ours, theirs = values(f"{name[:-4]}_f64", longer), truth(name)(longer)
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= 6 * np.spacing(np.abs(theirs))
    assert (near | same_values(ours, theirs)).all()


def nearest_to_quarter_turns() -> list[float]:
    """For each exponent the float64 that is nearest to a multiple of pi / 2."""
    found = []
    with mpmath.workprec(2600):
        for exponent in range(-53, 971):
            rest = mpmath.mpf(2) ** exponent * 2 / mpmath.pi
            before, denominator = 0, 1
            while True:
                rest = 1 / (rest - mpmath.floor(rest))
                following = int(mpmath.floor(rest)) * denominator + before
                if following >= 1 << 53:
                    break
                before, denominator = denominator, following
            found.append(math.ldexp(denominator, exponent))
    return found


@pytest.mark.parametrize("name", ["sin_f64", "cos_f64", "tan_f64"])
def test_arguments_nearest_to_a_zero_or_extremum(name: str) -> None:
    x = nearest_to_quarter_turns()
    got = values(name, np.array(x)).tolist()
    assert min(map(abs, got)) < 1e-18
    assert max(error_f64(name, g, v) for g, v in zip(got, x)) <= bound(name)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_results_that_are_known_exactly(kind: str) -> None:
    dtype = np.float32 if kind == "f32" else np.float64
    whole = np.arange(-20, 20).astype(dtype)
    x = any_number(np.random.default_rng(1), 1000, dtype)
    one, two = np.ones_like(x), np.full_like(whole, 2)
    assert values(f"exp_{kind}", np.zeros(1, dtype)) == 1
    assert values(f"cos_{kind}", np.zeros(1, dtype)) == 1
    assert values(f"log_{kind}", np.ones(1, dtype)) == 0
    assert np.array_equal(values(f"pow_{kind}", x, one), x)
    powers = (2.0 ** whole.astype(np.float64)).astype(dtype)
    assert np.array_equal(values(f"pow_{kind}", two, whole), powers)
    assert np.array_equal(values(f"pow_{kind}", whole, two), whole * whole)


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_symmetry(kind: str) -> None:
    odd = dict.fromkeys(("sin", "tan", "asin", "atan", "erf", "erf_inv", "cbrt"), -1)
    odd |= dict.fromkeys(("tanh", "sinh", "asinh", "atanh"), -1)
    for base, sign in (odd | {"cos": 1, "cosh": 1}).items():
        name = f"{base}_{kind}"
        (x,) = samples(name, 40_000, seed=9)
        assert np.array_equal(values(name, x), sign * values(name, -x))


# -- special values -------------------------------------------------------------------

INF, NAN = math.inf, math.nan
AT = (0.0, -0.0, INF, -INF, NAN)
SPECIAL = {
    "exp": (1, 1, INF, 0.0, NAN),
    "expm1": (0.0, -0.0, INF, -1, NAN),
    "log": (-INF, -INF, INF, NAN, NAN),
    "log1p": (0.0, -0.0, INF, NAN, NAN),
    "sin": (0.0, -0.0, NAN, NAN, NAN),
    "cos": (1, 1, NAN, NAN, NAN),
    "tanh": (0.0, -0.0, 1, -1, NAN),
    "exp2": (1, 1, INF, 0.0, NAN),
    "logistic": (0.5, 0.5, 1, 0.0, NAN),
    "sinh": (0.0, -0.0, INF, -INF, NAN),
    "cosh": (1, 1, INF, INF, NAN),
    "asinh": (0.0, -0.0, INF, -INF, NAN),
    "acosh": (NAN, NAN, INF, NAN, NAN),
    "atanh": (0.0, -0.0, NAN, NAN, NAN),
    "cbrt": (0.0, -0.0, INF, -INF, NAN),
    "tan": (0.0, -0.0, NAN, NAN, NAN),
    "asin": (0.0, -0.0, NAN, NAN, NAN),
    "acos": (math.pi / 2, math.pi / 2, NAN, NAN, NAN),
    "atan": (0.0, -0.0, math.pi / 2, -math.pi / 2, NAN),
    "erf": (0.0, -0.0, 1, -1, NAN),
    "erfc": (1, 1, 0.0, 2, NAN),
    "erf_inv": (0.0, -0.0, NAN, NAN, NAN),
    "bessel_i0e": (1, 1, 0.0, 0.0, NAN),
    "bessel_i1e": (0.0, -0.0, 0.0, -0.0, NAN),
}
# At 0 they are as their operand.
AS_SINE = ("sin", "tanh", "sinh", "asinh", "atanh", "log1p", "expm1")
AS_SINE += ("tan", "asin", "atan")
FURTHER = {
    "exp": {1e38: INF, -1e38: 0.0},
    "expm1": {1e38: INF, -1e38: -1},
    "log": {1: 0.0, -1: NAN, -1e-30: NAN, -1e38: NAN},
    "log1p": {-1: -INF, -2: NAN, -1e38: NAN},
    "tanh": {1e38: 1, -1e38: -1},
    "exp2": {1e38: INF, -1e38: 0.0, -1: 0.5, 10: 1024},
    "logistic": {1e38: 1, -1e38: 0.0},
    "sinh": {1e38: INF, -1e38: -INF},
    "cosh": {1e38: INF, -1e38: INF},
    "acosh": {1: 0.0, 0.5: NAN, -2: NAN, -1e38: NAN},
    "atanh": {1: INF, -1: -INF, 2: NAN, -1e38: NAN},
    "cbrt": {8: 2, -27: -3},
    "asin": {1: math.pi / 2, -1: -math.pi / 2, 1.5: NAN, -1e38: NAN},
    "acos": {1: 0.0, -1: math.pi, 1.5: NAN, -1e38: NAN},
    "atan": {1e38: math.pi / 2, -1e38: -math.pi / 2},
    "erf": {1e38: 1, -1e38: -1},
    "erfc": {1e38: 0.0, -1e38: 2},
    "erf_inv": {1: INF, -1: -INF, 1.5: NAN, -1e38: NAN},
}


def same_values(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """True where elements are equal, the signs of zeros included."""
    equal = (got == want) & (np.signbit(got) == np.signbit(want))
    return equal | (np.isnan(got) & np.isnan(want))


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal elements, the signs of zeros included."""
    return bool(same_values(got, want).all())


@pytest.mark.parametrize("name", UNARY)
def test_special_values(name: str) -> None:
    base, _, kind = name.rpartition("_")
    dtype = np.float32 if kind == "f32" else np.float64
    further = FURTHER.get(base, {})
    x = np.array([*AT, *further], dtype)
    want = np.array([*SPECIAL[base], *further.values()], dtype)
    assert same(values(name, x), want)
    # In the vector body and in the scalar rest alike.
    assert same(values(name, np.tile(x, 7)), np.tile(want, 7))


@pytest.mark.parametrize("name", UNARY)
def test_numbers_below_the_normal_ones(name: str) -> None:
    base, _, kind = name.rpartition("_")
    dtype = np.float32 if kind == "f32" else np.float64
    tiny = np.finfo(dtype).smallest_subnormal * np.array([1, 2, 3, 1000], dtype)
    got = values(name, tiny)
    if base in AS_SINE:
        assert np.array_equal(got, tiny)
    else:
        assert np.allclose(got, truth(name)(tiny), rtol=1e-6, equal_nan=True)


def test_results_below_the_normal_ones_are_rounded_once() -> None:
    x = np.linspace(-104, -87, 5000, dtype=np.float32)
    got = values("exp_f32", x)
    assert np.count_nonzero((got > 0) & (got < 1.1754944e-38)) > 4000
    assert worst(got, np.exp(x.astype(np.float64)))[0] <= bound("exp_f32")


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_special_values_of_powers(kind: str) -> None:
    dtype = np.float32 if kind == "f32" else np.float64
    most = float(np.finfo(dtype).max)
    least = float(np.finfo(dtype).smallest_subnormal)
    odd = float(2 ** np.finfo(dtype).nmant + 1)
    sizes = [0.0, INF, 1.0, 2.0, 3.0, 0.5, 2.5, least, most, odd, odd - 1, 1e30]
    numbers = np.array([*sizes, *(-s for s in sizes), NAN], dtype)
    x, y = (a.ravel().copy() for a in np.meshgrid(numbers, numbers))
    got, want = values(f"pow_{kind}", x, y), truth(f"pow_{kind}")(x, y)
    with np.errstate(all="ignore"):
        want = want.astype(dtype)
        finite = np.isfinite(want) & (want != 0)
        close = np.abs(got[finite] - want[finite]) <= np.spacing(np.abs(want[finite]))
    assert close.all()
    assert same(got[~finite], want[~finite])


# -- vectors --------------------------------------------------------------------------


@pytest.mark.parametrize("name", scan.NAMES)
def test_the_rest_of_a_loop_has_the_same_bits(name: str) -> None:
    operands = samples(name, 256, seed=11)
    whole = values(name, *operands).tobytes()
    size = operands[0].itemsize
    for start in (0, 1, 77):
        for n in range(1, 41):
            part = values(name, *(x[start : start + n].copy() for x in operands))
            assert part.tobytes() == whole[start * size : (start + n) * size]


# Reading a table at several indices pays for itself only where it is one instruction.
WIDE = bool(llvm.get_host_cpu_features().get("avx2"))
VECTORS = scan.NAMES if WIDE else ("exp_f32", "log_f32", "tanh_f32")
PACKED = {
    "x86_64": r"\bv?mulp[sd]\s.*%[xyz]mm",
    "AMD64": r"\bv?mulp[sd]\s.*%[xyz]mm",
    "aarch64": r"\bfmul\s+v\d+\.(4s|2d)",
    "arm64": r"\bfmul(\.(4s|2d)|\s+v\d+\.(4s|2d))",
}


@pytest.mark.parametrize("name", VECTORS)
def test_loops_are_vectors(name: str) -> None:
    code = loop(name)
    assert re.search(r"fmul <\d+ x (float|double)>", code.llvm)
    pattern = PACKED.get(platform.machine())
    if pattern is not None:
        assert re.search(pattern, code.assembly)


@pytest.mark.parametrize("name", CALLED)
def test_loops_call_nothing(name: str) -> None:
    text = loop(name).llvm
    body = text[text.index("define") :].split("\n}")[0]
    calls = re.findall(r"\bcall\b.*", body)
    assert [call for call in calls if "@llvm." not in call] == []


# -- the source -----------------------------------------------------------------------


HEADER = """
import math
import numpy as np
from numba import float32 as f32, float64 as f64, int32 as i32, int64 as i64, njit
from numba.extending import intrinsic
function = njit(**JIT_OPTIONS)
"""


@pytest.mark.parametrize("name", list(vecmath.FUNCTIONS))
def test_the_source_is_whole(name: str) -> None:
    space: dict[str, Any] = {"JIT_OPTIONS": {}}
    exec(HEADER + vecmath.source([name], decorator=""), space)
    for constant in vecmath.FUNCTIONS[name].constants:
        given, made = vecmath.VALUES[constant], space[constant]
        if constant == "fma":
            continue
        assert np.array_equal(given, made, equal_nan=True)
        assert np.asarray(given).dtype == np.asarray(made).dtype


def rounded_once(x: Any, y: Any, z: Any) -> Any:
    """x * y + z as `fma` gives it, by rational numbers."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if not exact:
        return x * y + z  # for the sign
    if isinstance(x, np.float32):
        with mpmath.workprec(24):
            return np.float32(mpmath.mpf(exact.numerator) / exact.denominator)
    return exact.numerator / exact.denominator


@pytest.mark.parametrize("name", scan.NAMES)
def test_python_itself_gives_the_same_bits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in MODULES:
        monkeypatch.setattr(module, "fma", rounded_once)
    plain: Callable[..., Any] = next(
        vars(module)[name] for module in MODULES if name in vars(module)
    )
    operands = samples(name, 60, seed=13)
    with np.errstate(all="ignore"):
        results = [plain(*column) for column in zip(*operands)]
    assert np.array(results, operands[0].dtype).tobytes() == (
        values(name, *operands).tobytes()
    )


def test_tables_hold_what_they_say() -> None:
    with mpmath.workprec(300):
        for j in range(64):
            power = mpmath.mpf(2) ** (mpmath.mpf(j) / 64)
            head, rest = (
                mpmath.mpf(float(vecmath.VALUES[n][j]))
                for n in ("POWER64", "POWER64_REST")
            )
            assert abs(head + rest - power) < mpmath.mpf(2) ** -104
        for j in range(128):
            c, head, rest = (
                mpmath.mpf(float(vecmath.VALUES[n][j]))
                for n in ("RECIPROCAL", "LOGARITHM", "LOGARITHM_REST")
            )
            assert abs(head + rest + mpmath.log(c)) < mpmath.mpf(2) ** -94
            assert head * 2**42 == int(head * 2**42)


@pytest.mark.parametrize("name", sample(FITS, 5))
def test_polynomials_have_the_least_greatest_error(name: str) -> None:
    found = minimax.coefficients(FITS[name])
    if FITS[name].bits == 24:
        numbers = [v for v in vecmath.VALUES.values() if isinstance(v, np.float32)]
        assert {np.float32(c) for c in found} <= set(numbers)
    else:
        text = "".join(f.text for f in vecmath.FUNCTIONS.values())
        assert [c for c in found if repr(abs(c)) not in text] == []
