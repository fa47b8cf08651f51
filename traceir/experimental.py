"""What JAX has in a module of this name. Serves: callback.ordered"""

from traceir.tracing.callbacks import io_callback

__all__ = ["io_callback"]
