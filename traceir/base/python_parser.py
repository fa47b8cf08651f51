"""Python's parser, for one thread at a time.

CPython 3.11 and 3.12 count the depth of a syntax tree in a place that all threads
share, and raise SystemError where another thread has changed it meanwhile.
"""

from __future__ import annotations

import ast
import threading

from traceir.base.fork_safety import kept_over_forks

# Reentrant: a collection inside may run a user's code.
_lock = kept_over_forks(threading.RLock())
# A thread that parses without our lock may change the count: we try again.
_ATTEMPTS = 20


def parse_module(text: str) -> ast.Module:
    """The tree of statements; raises SyntaxError and ValueError as `ast.parse` does.

    >>> type(parse_module("a = b").body[0]).__name__
    'Assign'
    """
    tree = _parsed(text, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(text: str) -> ast.expr:
    """The tree of an expression; raises as `parse_module` does.

    >>> type(parse_expression("a + b")).__name__
    'BinOp'
    """
    tree = _parsed(text, "eval")
    assert isinstance(tree, ast.Expression)
    return tree.body


def _parsed(text: str, mode: str) -> ast.AST:
    with _lock:
        for attempt in range(_ATTEMPTS):
            try:
                tree: ast.AST = ast.parse(text, mode=mode)
                return tree
            except SystemError:
                if attempt == _ATTEMPTS - 1:
                    raise
    raise AssertionError("an attempt returns or raises")
