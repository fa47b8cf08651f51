"""The version of the package; setup.cfg has it too."""

VERSION = "0.1.0"
