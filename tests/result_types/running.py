"""A library's outcomes of calls: types of results, or the class of an exception."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from result_types.calls import (
    DTYPE,
    DTYPES,
    FIXED,
    KEY,
    NUMBERS,
    PYTHON,
    SHAPES,
    WEAK,
    Call,
    Kinds,
)
from traceir.errors import CLASSES, TraceirError

SHORT = {name: short for short, name in DTYPES.items()}
MODULES = ["nn", "random", "scipy", "image", "ops", "lax", "nn.initializers"]
BESIDE = ("fft", "linalg", "ndimage", "signal", "special", "stats")
MODULES += [f"scipy.{name}" for name in BESIDE]


Operands = dict[str, Any]
Ask = Callable[[Call, Operands], Any]


class Library:
    """JAX, or traceir in its place."""

    def __init__(self, name: str) -> None:
        self.root = import_module(name)
        for module in MODULES:
            import_module(f"{name}.{module}")
        jnp = import_module(f"{name}.numpy")
        self.names: dict[str, Any] = {"jax": self.root, "jnp": jnp, "np": np}
        for module in ("lax", "nn", "random", "scipy", "image", "ops"):
            self.names[module] = import_module(f"{name}.{module}")
        lax = self.names["lax"]
        self.names["gdn"] = lax.GatherDimensionNumbers((), (0,), (0,))
        self.names["sdn"] = lax.ScatterDimensionNumbers((), (0,), (0,))

    def types(self, call: Call, kinds: Sequence[Kinds], way: str) -> list[str]:
        """The types of a call's results for operands of each of these kinds."""
        ask = self.derived if way == "grad" else self.ran
        if call.eager:
            with self.root.enable_x64(way != "x32"), quiet():
                given = (self.arrays(call, one) for one in kinds)
                return [outcome(ask, call, operands) for operands in given]
        found = self.traced(call, [(call, one) for one in kinds], ask, way != "x32")
        # How weak a derivative is depends in JAX on what is staged around it.
        return [f.replace("*", "") for f in found] if way == "grad" else found

    def mistaken(self, call: Call, mistakes: Sequence[Call], kinds: Kinds) -> list[str]:
        """The outcomes of wrong calls for the operands of a call."""
        rows = [(one, kinds) for one in mistakes]
        return self.traced(call, rows, self.ran, x64=False)

    def traced(
        self, call: Call, rows: Sequence[tuple[Call, Kinds]], ask: Ask, x64: bool
    ) -> list[str]:
        """The results of calls like `call` in one trace."""
        found: list[str] = []

        def trace(operands: dict[str, Any]) -> int:
            fixed = {n: operands[n] for n in (*FIXED, KEY) if n in operands}
            for one, kinds in rows:
                varied = zip(call.varied, kinds, strict=True)
                given = {n: self.given(operands, n, k) for n, k in varied}
                found.append(outcome(ask, one, {**fixed, **given}))
            return 0

        with self.root.enable_x64(x64), quiet():
            self.root.eval_shape(trace, self.specs(call, [k for _, k in rows], x64))
        return found

    def specs(self, call: Call, kinds: Sequence[Kinds], x64: bool) -> dict[str, Any]:
        """Types of all operands that a call needs."""
        struct, found = self.root.ShapeDtypeStruct, {}
        for name in call.names & {*FIXED}:
            shape, kind = FIXED[name]
            found[name] = struct(shape, self.dtype(kind))
        if KEY in call.names:
            found[KEY] = self.names["random"].key(0)
        for name, kind in {pair for one in kinds for pair in pairs(call, one)}:
            if name == DTYPE or kind in NUMBERS:
                continue
            if kind in WEAK:
                wide = np.dtype(WEAK[kind]).name
                dtype = wide if x64 else _narrow(wide)
                spec = struct(SHAPES[name], np.dtype(dtype), weak_type=True)
            else:
                spec = struct(SHAPES[name], self.dtype(kind))
            found[f"{name} {kind}"] = spec
        return found

    def dtype(self, kind: str) -> Any:
        """The dtype of a kind."""
        if kind == "bf16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(DTYPES[kind])

    def given(self, operands: dict[str, Any], name: str, kind: str) -> Any:
        """The operand of that name and kind."""
        if name == DTYPE:
            return PYTHON[kind] if kind in PYTHON else self.dtype(kind)
        return NUMBERS[kind] if kind in NUMBERS else operands[f"{name} {kind}"]

    def arrays(self, call: Call, kinds: Kinds) -> dict[str, Any]:
        """Arrays for a call that needs elements."""
        shapes = {n: (SHAPES[n], k) for n, k in pairs(call, kinds)}
        shapes |= {n: FIXED[n] for n in call.names & {*FIXED}}
        asarray = self.names["jnp"].asarray
        return {
            name: asarray(
                1 + np.arange(int(np.prod(shape))).reshape(shape), self.dtype(k)
            )
            for name, (shape, k) in shapes.items()
        }

    def ran(self, call: Call, operands: dict[str, Any]) -> Any:
        """The result of a call."""
        return eval(call.code, {**self.names, **operands})

    def derived(self, call: Call, operands: dict[str, Any]) -> Any:
        """The results of a call's forward and reverse derivatives."""
        varied = {n: operands.pop(n) for n in call.varied}

        def function(given: dict[str, Any]) -> Any:
            leaves = self.root.tree.leaves(self.ran(call, {**operands, **given}))
            arrays = [v for v in leaves if isinstance(v, self.root.Array)]
            floats = [v for v in arrays if v.dtype.kind in "fcV"]
            if not floats:
                raise ValueError("nothing to differentiate")
            return floats

        ones = self.root.tree.map(self.names["jnp"].ones_like, varied)
        tangents = self.root.jvp(function, (varied,), (ones,))[1]
        primals, pull = self.root.vjp(function, varied)
        cotangents = pull([self.names["jnp"].ones_like(p) for p in primals])
        return tangents, cotangents


def pairs(call: Call, kinds: Kinds) -> Iterator[tuple[str, str]]:
    """The varied operands, each with its kind."""
    return zip(call.varied, kinds, strict=True)


def _narrow(name: str) -> str:
    return {"int64": "int32", "float64": "float32", "complex128": "complex64"}[name]


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def outcome(run: Callable[..., Any], *args: Any) -> str:
    """The types of the results, or `!` and the classes of the exception."""
    try:
        return shown(run(*args))
    except Exception as error:
        return f"!{','.join(class_names(error))}"


def class_names(error: BaseException) -> Iterator[str]:
    """The classes of an exception that Python or traceir has, the nearest first."""
    for cls in type(error).__mro__:
        if cls is Exception:
            return
        known = hasattr(builtins, cls.__name__) or cls.__name__ in CLASSES
        if known or cls is TraceirError:
            yield cls.__name__


def shown(value: Any) -> str:
    """The types of results: `f32[3]`, weak ones with `*`, several in brackets."""
    if isinstance(value, dict):
        return shown([value[k] for k in sorted(value)])
    if isinstance(value, (tuple, list)):
        return f"({' '.join(map(shown, value))})"
    if not hasattr(value, "dtype") or isinstance(value, type):
        return type(value).__name__
    shape = ",".join(map(str, value.shape))
    name = "key" if "key" in str(value.dtype) else np.dtype(value.dtype).name
    weak = "*" if getattr(value, "weak_type", False) else ""
    host = "np." if isinstance(value, (np.ndarray, np.generic)) else ""
    return f"{host}{SHORT.get(name, name)}{weak}[{shape}]"
