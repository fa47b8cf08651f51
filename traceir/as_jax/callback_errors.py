"""The error of a program whose callback raises, as JAX has it."""

from __future__ import annotations

from traceir.errors import JaxRuntimeError, TraceirError

_kinds: dict[type[Exception], type[JaxRuntimeError]] = {}


def _text(error: BaseException | None) -> str:
    return f"INTERNAL: a callback raised {type(error).__qualname__}: {error}"


def _kind(raised: type[Exception]) -> type[JaxRuntimeError]:
    """The class of errors that are JAX's and of the callback's own class.

    Raises TypeError for a class that no other class can share.
    """
    own = {
        "__str__": lambda self: _text(self.__cause__),
        "__module__": JaxRuntimeError.__module__,
    }
    if raised not in _kinds:
        _kinds[raised] = type("JaxRuntimeError", (raised, JaxRuntimeError), own)
    return _kinds[raised]


def runtime_error(error: Exception) -> Exception:
    """A `JaxRuntimeError` that is of an error's class, too, where there can be one.

    This library's own errors are what they are.

    >>> found = runtime_error(KeyError("weight"))
    >>> isinstance(found, JaxRuntimeError), isinstance(found, KeyError), found.args
    (True, True, ('weight',))
    """
    if isinstance(error, TraceirError | JaxRuntimeError):
        return error
    try:
        kind = _kind(type(error))
        found = kind.__new__(kind, *error.args)
    except TypeError:  # it is made of other arguments than it keeps
        return JaxRuntimeError(_text(error))
    found.args, found.__cause__ = error.args, error
    found.__dict__.update(error.__dict__)
    return found
