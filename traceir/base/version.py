"""The version of the package; setup.cfg has it too."""

VERSION = "0.1.0"
# The version of JAX that the package follows.
JAX_VERSION = "0.10.2"
