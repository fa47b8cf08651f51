"""Modules by the names that pickles of earlier versions have for them.

A pickle names the module of each function and class in it, as in `traceir.array`. A
module that has moved is found under its former name too: as a module whose attributes
are those of the present one, or, where a package has that name now, as attributes of
the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

# The former name and the present one of each module that pickles may name.
MOVED = dict(
    line.split()
    for line in """\
array arrays.array
avals ir.avals
callbacks tracing.callbacks
config base.config
devices arrays.devices
evaluate reference.interpreter
jit.make jit.make_jaxpr
jit.pickled jit.pickling
keys pytrees.key_path
lax.bits lax.elementwise.bits
lax.circular lax.elementwise.trigonometric
lax.complexes lax.elementwise.complexes
lax.composed lax.composites
lax.convolution lax.reductions.convolution
lax.cumulative lax.reductions.cumulative
lax.custom lax.structural.stop_gradient
lax.dynamic lax.structural.dynamic_slices
lax.folding lax.reductions.generic_reduce
lax.formats lax.elementwise.formats
lax.fourier lax.structural.fourier
lax.hyperbolic lax.elementwise.exponential
lax.indexing lax.structural.gather_scatter
lax.ordering lax.structural.sorting
lax.parallel lax.reductions.collectives
lax.placement lax.structural.sharding_constraints
lax.precision lax.checks.precision
lax.selection lax.elementwise.selection
lax.special lax.elementwise.special
lax.structure lax.structural.shapes
lax.systems lax.linalg.systems
lax.windows lax.reductions.windows
numpy.dtypes numpy.arrays.dtypes
numpy.files numpy.arrays.io
numpy.indexed numpy.assembly.index_tricks
numpy.spectra numpy.fft.transforms
numpy.ufuncs numpy.functional.ufuncs
place binding.device_put
registering pytrees.registry
report ir.unroll_report
scipy.canonical_forms scipy.linalg.canonical_forms
scipy.matrices scipy.linalg.special_matrices
scipy.matrix_functions scipy.linalg.matrix_functions
scipy.products scipy.linalg.products
scipy.schur_methods scipy.linalg.schur_methods
scipy.spectral scipy.signal.spectral
scipy.structured scipy.linalg.structured
scipy.trends scipy.signal.trends
trace tracing.trace
transforms.checkpoint transforms.control.checkpoint
transforms.convert transforms.custom.closure_convert
transforms.custom_jvp transforms.custom.custom_jvp
transforms.custom_vjp transforms.custom.custom_vjp
transforms.derivatives transforms.autodiff.jvp_vjp
transforms.gradients transforms.autodiff.gradients
transforms.linear transforms.autodiff.linear_transpose
transforms.pmap transforms.batching.pmap
transforms.vmap transforms.batching.vmap
treedef pytrees.treedef
typing ir.typecheck""".splitlines()
)


class MovedModule(ModuleType):
    """A module under a former name; the present one is imported when it is asked for.

    >>> import sys
    >>> from traceir.arrays.array import Array
    >>> sys.modules["traceir.array"].Array is Array
    True
    """

    def __init__(self, name: str, now: str) -> None:
        super().__init__(name, f"Moved to `{now}`.")
        self._find = attributes_of(now)

    def __getattr__(self, name: str) -> object:
        return self._find(name)


def attributes_of(module: str) -> Callable[[str], object]:
    """A module's `__getattr__` that gives the attributes of another module."""

    def find(name: str) -> object:
        if name.startswith("__"):  # what tools ask of every module
            raise AttributeError(name)
        return getattr(import_module(module), name)

    return find


def register() -> None:
    """Let former names of modules be imported."""
    for before, now in MOVED.items():
        before, now = f"traceir.{before}", f"traceir.{now}"
        sys.modules.setdefault(before, MovedModule(before, now))
