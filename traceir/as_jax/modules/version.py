"""The version of JAX that this library follows."""

from traceir.base.version import JAX_VERSION

__version__ = JAX_VERSION
__version_info__ = tuple(map(int, JAX_VERSION.split(".")))
