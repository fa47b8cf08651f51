"""Running sums, products and extrema. Serves: class.cumulative"""

from __future__ import annotations

from traceir.ir import Eqn
from traceir_numba.emitters.entry import Library, register


def _running(function: str) -> Library:
    def emit(eqn: Eqn, names: tuple[str, ...]) -> str:
        axis, x = eqn.param("axis"), names[0]
        dtype = eqn.outputs[0].aval.dtype.name.upper()
        if eqn.param("reverse"):
            turned = f"np.flip({x}, {axis})"
            return (
                f"np.flip(np.{function}.accumulate({turned}, {axis}, {dtype}), {axis})"
            )
        return f"np.{function}.accumulate({x}, {axis}, {dtype})"

    return Library(emit)


register("cumsum", _running("add"))
register("cumprod", _running("multiply"))
register("cummax", _running("maximum"))
register("cummin", _running("minimum"))
