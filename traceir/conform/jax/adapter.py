"""The implementation: JAX checks our programs and runs them.

Nothing else of the project imports JAX, and this module does so when it is imported.
Serves: every table
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import jax
from jax._src import core

from traceir.conform.casefiles.outcomes import Outcome
from traceir.conform.casefiles.sessions import Session
from traceir.conform.casefiles.width import is_wide
from traceir.conform.jax import keys
from traceir.conform.jax.programs import Translation, axis_sizes, typed
from traceir.conform.jax.system import JaxSystem
from traceir.conform.judging.messages import Messages, read_messages
from traceir.conform.judging.run import Rejected, Unsupported
from traceir.conform.judging.witness import Arrays
from traceir.conform.systems.jitted import Jitted
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr

# What JAX raises on purpose. Anything else that it raises is a crash.
REJECTIONS = (TypeError, ValueError, IndexError, OverflowError, NotImplementedError)
CHOICES: Mapping[str, str] = {
    "choice.contraction": "fused",
    "choice.sum-order": "fixed",
    "choice.dot-order": "library",
    "choice.factor-order": "library",
    "choice.subnormal": "flush",
    "choice.zero-extremum": "either",
    "choice.nan-payload": "any",
}


@contextmanager
def rejections() -> Iterator[None]:
    """Turns exceptions that JAX raises on purpose into `Rejected`."""
    try:
        yield
    except REJECTIONS as error:
        kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        known = isinstance(error, core.JaxprTypeError)
        name = "JaxprTypeError" if known else kind.__name__
        raise Rejected(name, str(error).partition("\n")[0]) from None


@dataclass(frozen=True)
class Jax:
    """JAX on the CPU, each program under one `jax.jit`."""

    name: str = "jax"
    version: str = jax.__version__
    choices: Mapping[str, str] = field(default_factory=lambda: CHOICES)
    messages: Messages = field(default_factory=lambda: read_messages("jax"))
    # Programs are read by this project's parser, which JAX has no counterpart of.
    reads: bool = False

    def type(self, program: ClosedJaxpr) -> Sequence[ShapedArray]:
        """The types that JAX infers, after its own check of the whole program."""
        axes = core.extend_axis_env_nd(axis_sizes(program.eqns).items())
        with (
            jax.enable_x64(is_wide(program)),
            rejections(),
            axes,
            keys.layout([program]),
        ):
            theirs = Translation().jaxpr(typed(program))
            core.check_jaxpr(theirs)
            structs = [
                [
                    jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type)
                    for a in avals
                ]
                for avals in ([v.aval for v in theirs.constvars], theirs.in_avals)
            ]
            traced = jax.make_jaxpr(
                lambda consts, args: core.eval_jaxpr(theirs, consts, *args)
            )(*structs)
        return [keys.aval(a) for a in traced.out_avals]

    def eval(self, program: ClosedJaxpr, args: Arrays) -> Arrays:
        """The results of the compiled program."""
        with jax.enable_x64(is_wide(program)), rejections(), keys.layout([program]):
            theirs = Translation().program(program)
            given = [keys.array(a) for a in args]
            results = jax.jit(core.jaxpr_as_fun(theirs))(*given)
            return [keys.kept(r) for r in results]

    def text(self, program: ClosedJaxpr, full: bool) -> str:
        """The program as JAX prints it; it has no text that leaves nothing out."""
        if full:
            raise Unsupported("no full text")
        with jax.enable_x64(is_wide(program)):
            return str(Translation().program(program))

    def session(self, session: Session) -> Sequence[Outcome]:
        """The outcomes of `jax.jit`, one for each call."""
        written = [f.closed for f in session.functions.values()]
        programs = [program for program in written if program is not None]
        with jax.enable_x64(False), keys.layout(programs):
            return Jitted(session, JaxSystem()).run()
