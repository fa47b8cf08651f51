"""ir."""

from traceir.base.moved_modules import attributes_of

# A module had this name.
__getattr__ = attributes_of("traceir.ir.jaxpr")
