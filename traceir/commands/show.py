"""`traceir show`: the jaxpr, source or assembly of a function in a file."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from ast import literal_eval
from collections.abc import Callable, Sequence
from typing import Any

from traceir.commands.scripts import Unusable, function, tell
from traceir.errors import TraceirError
from traceir.jit import JitFunction, ShapeDtypeStruct
from traceir.jit.backends import default_backend
from traceir.jit.cache.options import Options
from traceir.text.words import short_dtypes

VIEWS = {
    "jaxpr": "the program that was traced; this is what no option means",
    "source": "the source that the backend generates",
    "llvm": "LLVM's text of it",
    "asm": "the processor's instructions",
    "speed": "kernels, memory and threads, as `explain` tells them",
}
_TYPE = re.compile(r"([a-z]\w*)\[([\d, ]*)\]")
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def command(arguments: Sequence[str], prog: str) -> int:
    """Print views of a function; returns the exit status."""
    options = _parser(prog).parse_intermixed_args(arguments)
    asked = [view for view in VIEWS if getattr(options, view)] or ["jaxpr"]
    try:
        found = jitted(function(options.target), options.jax)
        args, kwargs = given(found, options.arguments)
        texts = [text(found, view, args, kwargs) for view in asked]
    except (Unusable, TraceirError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        tell(error, options.target.rpartition(":")[0])
        return 1
    for view, shown in zip(asked, texts, strict=True):
        head = f"{view}\n{'-' * len(view)}\n" if len(asked) > 1 else ""
        print(f"{head}{shown.strip()}\n" if head else shown.strip())
    return 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog,
        description="Show what becomes of a function for arguments of some types.",
        epilog="An argument is a type, as in f64[1000] or int32[3,4], or a value of"
        " Python's, as in 2.5 or '(3, 4)'; NAME= may stand before it.",
    )
    parser.add_argument("target", metavar="FILE:FUNCTION", help="or MODULE:FUNCTION")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    for view, says in VIEWS.items():
        parser.add_argument(f"--{view}", action="store_true", help=says)
    says = "trace with JAX's types (32 bits), as `traceir.jit` does"
    parser.add_argument("--jax", action="store_true", help=says)
    return parser


def jitted(found: Callable[..., Any], jax: bool = False) -> JitFunction[..., Any]:
    """A function under a decorator: its own, or else the drop-in one."""
    if isinstance(found, JitFunction):
        return found
    plain = getattr(found, "py_func", found)  # what Numba's decorators keep
    options = Options(face="numpy", x64=True, numpy_out=True, backend=default_backend())
    return JitFunction(plain, None, None, Options() if jax else options)


def given(
    found: JitFunction[..., Any], texts: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that texts mean; raises Unusable unless they fit the function."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        if named := _NAMED.fullmatch(text):
            kwargs[named[1]] = argument(named[2])
        else:
            args.append(argument(text))
    try:
        signature = inspect.signature(found)
    except ValueError:  # a builtin without one
        return args, kwargs
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        wants = f"{found.__name__}{signature}: {error}"
        raise Unusable(f"{wants}; give f64[1000], or a value, for each") from None
    return args, kwargs


def argument(text: str) -> Any:
    """A type or a value of Python's, as it is written on a command line.

    >>> argument("f64[3, 4]"), argument("(1, 2)")
    (ShapeDtypeStruct(shape=(3, 4), dtype=float64), (1, 2))
    """
    if found := _TYPE.fullmatch(text.strip()):
        known = short_dtypes()
        shape = [int(extent) for extent in found[2].split(",") if extent.strip()]
        try:
            return ShapeDtypeStruct(shape, known.get(found[1], found[1]))
        except TypeError:
            raise Unusable(f"{text!r}: dtypes are {', '.join(known)}") from None
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        raise Unusable(f"{text!r} is neither a type, as f64[3], nor a value") from None


def text(found: JitFunction[..., Any], view: str, args: Any, kwargs: Any) -> str:
    """The text of a view of a function for these arguments."""
    match view:
        case "jaxpr":
            return str(found.trace(*args, **kwargs).jaxpr)
        case "source":
            return found.source(*args, **kwargs)
        case "speed":
            return found.explain(*args, **kwargs, what=view)
    return found.lower(*args, **kwargs).compile().as_text(view)
