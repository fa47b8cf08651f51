"""JAX's public names beside those here: there, or absent for a reason; no stubs.

Cites face.missing
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
from _ext.coverage_jax import ABSENT, gaps, modules, present, theirs, value
from rule_errors import raises_rule

import traceir
from traceir.lax.checks.attribute_hints import absent, coverage
from traceir.numpy.arrays.dtypes import ScalarType

MODULES = list(modules())
# What they wait for has happened when they are called, as their docstrings say.
NOTHING_TO_DO = {
    "Array.copy_to_host_async",  # the memory is the host's
    "jax.effects_barrier",
}


@pytest.mark.parametrize("module", MODULES)
def test_a_name_is_there_or_has_a_reason(module: str) -> None:
    missing = sorted(set(theirs()[module]) - set(present(module)))
    assert missing == sorted(absent(module))


@pytest.mark.parametrize("module", MODULES)
def test_parameters_are_those_of_jax_or_have_a_reason(module: str) -> None:
    found = dict(gaps(module))
    assert sorted(found) == sorted(absent(module, "parameters")), found


def test_modules_are_attributes_after_one_import() -> None:
    """As of JAX's; `experimental` and what it has are imported by name there, too."""
    apart = {"jax", "experimental", "example_libraries", *absent("jax")}
    names = [m for m in MODULES if m.partition(".")[0] not in apart]
    code = (
        "import operator, sys, traceir\n"
        "for name in sys.argv[1:]: operator.attrgetter(name)(traceir)"
    )
    subprocess.run([sys.executable, "-c", code, *names], check=True)


def test_a_reason_is_a_sentence_and_names_stand_once() -> None:
    for module, kinds in coverage()["jax"].items():
        assert module in MODULES and kinds.keys() <= {"absent", "parameters"}
        for kind in kinds.values():
            names = [name for row in kind.values() for name in row]
            assert len(names) == len(set(names))
            assert [why for why in kind if not re.fullmatch(r"[A-Z`].*\.", why)] == []


def functions() -> Iterator[tuple[str, Any]]:
    """The functions here that have one of JAX's names."""
    for module in MODULES:
        for name in present(module):
            found = inspect.unwrap(value(module, name))
            if inspect.isfunction(found) and found.__module__.startswith("traceir"):
                yield f"{module}.{name}", found


def is_stub(function: Any) -> bool:
    """True if a function's text is a docstring, and an error that it always raises."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except OSError:  # it is made by code, for a flag
        return False
    tree = ast.parse(text).body[0]
    body = tree.body if isinstance(tree, ast.FunctionDef) else [tree]
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    rest = body[1:] if is_text else body
    return not rest or isinstance(rest[0], ast.Raise | ast.Pass)


def test_nothing_that_is_there_is_a_stub() -> None:
    def later() -> None:
        """A stub."""
        raise NotImplementedError

    known = list(functions())
    assert len(known) > 1000 and is_stub(later)
    stubs = {name for name, function in known if is_stub(function)}
    assert stubs == NOTHING_TO_DO


# Methods that a class of a library's own defines; without it, their rule is missing.
RULES = {
    "core.Trace": "process_primitive process_custom_jvp_call process_custom_vjp_call",
    "experimental.hijax.HiPrimitive": "abstract_eval to_lojax jvp transpose",
    "experimental.hijax.VJPHiPrimitive": """check expand vjp_fwd
        vjp_bwd_retval jvp batch_dim_rule""",
}
# Methods that a class has to say that there is nothing to do, or that it refuses.
REFUSED = {
    "core.AbstractValue.__setattr__",  # types never change
    "jax.Array.__hash__",
    "jax.Array.__new__",
    "jax.Device.memory_stats",  # the memory is the process's own
    "jax.set_mesh.__enter__",  # it is set when it is made
    "stages.Wrapped._refused",  # the way in which each call refuses its arguments
}
# Classes without methods: what libraries derive from, or ask for by `isinstance`.
NAMED = {
    "dtypes.extended": "a kind of dtypes, for `issubdtype`",
    "dtypes.prng_key": "a kind of dtypes, for `issubdtype`",
    "example_libraries.optimizers.OptimizerState": "a state, which has fields",
    "experimental.hijax.AbstractValue": "a base of libraries' types, no value's here",
    "experimental.hijax.AvalMutableQDD": "fields, for libraries' rules",
    "experimental.hijax.AvalQDD": "fields, for libraries' rules",
    "experimental.hijax.HiType": "a base of libraries' types, no value's here",
    "experimental.hijax.MutableHiType": "a base of libraries' types, no value's here",
    "experimental.hijax.aval_method": "a function, for libraries' types",
    "experimental.hijax.aval_property": "a function, for libraries' types",
    "extend.core.DropVar": "a variable that nothing reads",
    "extend.core.Effect": "a base of libraries' effects, none of a program here",
    "extend.core.TraceTag": "what tells traces apart",
    "profiler.StepTraceAnnotation": "an annotation of a name",
}


def classes() -> Iterator[tuple[str, type]]:
    """The classes here that have one of JAX's names, each by its first, less errors
    and names of dtypes."""
    seen: set[type] = set()
    for module in MODULES:
        for name in present(module):
            found = value(module, name)
            own = inspect.isclass(found) and found.__module__.startswith("traceir")
            if own and found not in seen and not isinstance(found, ScalarType):
                seen.add(found)
                if not issubclass(found, Exception):
                    yield f"{module}.{name}", found


def methods_of(kind: type) -> dict[str, Any]:
    """The functions that a class itself defines, those of properties included."""
    found = {
        name: getattr(value, "fget", None) or getattr(value, "__func__", value)
        for name, value in vars(kind).items()
    }
    return {name: f for name, f in found.items() if inspect.isfunction(f)}


def test_no_method_that_is_there_is_a_stub() -> None:
    stubs = {
        f"{name}.{method}"
        for name, kind in classes()
        for method, function in methods_of(kind).items()
        if is_stub(function)
    }
    rules = {f"{kind}.{rule}" for kind, rest in RULES.items() for rule in rest.split()}
    assert stubs == rules | REFUSED


def test_a_class_without_methods_is_one_that_is_named() -> None:
    hollow = {
        name
        for name, kind in classes()
        if not issubclass(kind, Enum) and methods_of(kind).keys() <= {"__init__"}
    }
    assert hollow == NAMED.keys()


def test_an_error_tells_the_reason() -> None:
    with raises_rule("face.missing", AttributeError, "one kind of memory"):
        _ = traceir.memory
    with raises_rule("face.missing", AttributeError, "blocks of 4 or 8 bits"):
        _ = traceir.nn.scaled_matmul
    assert value("jax", "memory") is ABSENT
