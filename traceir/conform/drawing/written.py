"""Drawn programs, written as cases to be kept. Serves: the form of `spec/cases.rst`"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traceir.conform.casefiles.values import TypedValue, show
from traceir.conform.drawing.strategies import DrawnApplication
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from traceir.ir.typecheck import infer
from traceir.text.printer import to_text


def as_case(
    name: str,
    program: ClosedJaxpr,
    args: Sequence[np.ndarray] = (),
    cites: Sequence[str] = (),
    reject: str | None = None,
) -> str:
    """The text of a case about a program, its arguments and the rule it violates.

    >>> from traceir.text import parse
    >>> program = parse("{ lambda ; a:f32[]. let b:f32[] = neg a in (b,) }")
    >>> print(as_case("neg/drawn", program, [np.float32(2)], ["neg.numeric"]))
    case neg/drawn
      cites  neg.numeric
      given  { lambda ; a:f32[]. let b:f32[] = neg a in (b,) }
      call   f32[]{2.0}
    """
    text = to_text(program, full=True).rstrip().replace("\n", "\n         ")
    lines = [f"case {name}", f"  cites  {' '.join(cites)}", f"  given  {text}"]
    arrays = [np.asarray(a) for a in args]
    values = [TypedValue(ShapedArray(a.shape, a.dtype), a) for a in arrays]
    lines += [f"  call   {show(values)}"] * bool(values)
    lines += [f"  reject {reject}"] * bool(reject)
    return "\n".join(lines)


def as_program(application: DrawnApplication) -> ClosedJaxpr:
    """The program of one equation, typed where it can be.

    >>> x = ShapedArray((2,), "float32")
    >>> as_program(DrawnApplication("neg", (x,), ())).out_avals
    (ShapedArray(float32[2]),)
    """
    it = application
    try:
        types = infer(it.primitive, it.avals, it.params)
    except TraceirError:  # a result of any type will do
        types = (ShapedArray((), "float32"),)
    inputs, outputs = tuple(map(Var, it.avals)), tuple(map(Var, types))
    eqn = Eqn(it.primitive, inputs, outputs, it.params)
    return ClosedJaxpr(Jaxpr((), inputs, (eqn,), outputs))
