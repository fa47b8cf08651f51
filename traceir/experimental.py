"""The names that JAX has in its module `experimental`. Serves: callback.ordered"""

from traceir.base.tracebacks import publish as _publish
from traceir.tracing.callbacks import io_callback

__all__ = ["io_callback"]

_publish(globals())
