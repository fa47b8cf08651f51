"""An adapter, whole: flat lists of Python's numbers, negated, added and multiplied."""

import operator
from typing import Any, ClassVar

import numpy as np

from traceir import ShapedArray
from traceir.conform import Rejected, Unsupported

FUNCTIONS = {"neg": operator.neg, "add": operator.add, "mul": operator.mul}


class Refused(TypeError):
    """An error that names the violated rule; other systems raise `Rejected`."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


class Lists:
    """It claims programs alone, so that `session` is never called."""

    name = "lists"
    profiles = ("core",)
    choices: ClassVar = {"choice.contraction": "none"}

    def walk(self, program: Any, inputs: Any, apply: Any) -> list[Any]:
        """Equation after equation, on types or on lists."""
        if program.jaxpr.constvars:
            raise Unsupported("constants")
        env = dict(zip(program.jaxpr.invars, inputs))
        for eqn in program.eqns:
            if eqn.primitive not in FUNCTIONS:
                raise Unsupported(eqn.primitive)
            env[eqn.outputs[0]] = apply(eqn.primitive, *self.read(env, eqn.inputs))
        return self.read(env, program.jaxpr.outvars)

    def read(self, env: Any, atoms: Any) -> list[Any]:
        """What the variables stand for."""
        if any(hasattr(a, "value") for a in atoms):
            raise Unsupported("literals")
        if not all(a in env for a in atoms):
            raise Refused("program.bound")
        return [env[a] for a in atoms]

    def type(self, program: Any) -> list[ShapedArray]:
        """The types of the results, or a rejection."""

        def typed(name: str, *avals: ShapedArray) -> ShapedArray:
            if any(aval.dtype != "float32" for aval in avals):
                raise Unsupported(f"{name} of other dtypes than float32")
            shapes = {aval.shape for aval in avals} - {()}
            if len(shapes) > 1 or len(avals) != (1 if name == "neg" else 2):
                raise Rejected("TypeError", "shapes or operands do not fit")
            weak = all(aval.weak_type for aval in avals)
            return ShapedArray(shapes.pop() if shapes else (), "float32", weak)

        return self.walk(program, program.in_avals, typed)

    def eval(self, program: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        """The results, rounded to float32 after each operation."""

        def compute(name: str, *lists: list[float]) -> list[float]:
            size = max(map(len, lists), key=lambda n: n != 1)
            rows = zip(*(x * size if len(x) == 1 else x for x in lists))
            return [float(np.float32(FUNCTIONS[name](*row))) for row in rows]

        if [arg.shape for arg in args] != [aval.shape for aval in program.in_avals]:
            raise Refused("eval.arguments")
        found = self.walk(program, [arg.reshape(-1).tolist() for arg in args], compute)
        avals = self.type(program)
        return [np.array(x, t.dtype).reshape(t.shape) for x, t in zip(found, avals)]
