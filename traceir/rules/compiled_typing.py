"""The typing of one primitive as one Python function. Serves: every primitive's row"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from traceir.base.generated_code import FunctionWriter
from traceir.rules.applied import SCOPES
from traceir.rules.formulas.domains import DOMAINS
from traceir.rules.formulas.language import VOCABULARY, compile_formula, parse
from traceir.rules.rows import Clause, Prim
from traceir.rules.rules import Rules

# Operand types and sorted params -> result types, or None if any clause fails.
Typing = Callable[[Any, Any], Any]


def compile_typing(prim: Prim, rules: Rules, make: Callable[..., Any]) -> Typing:
    """A function that is fast where all is well and else says None.

    `make(shape, dtype, weak_type)` builds a type. The function may also raise whatever
    a formula raises on operands that a clause before it would have refused.
    """
    domains = {f"_in_{p.name}": DOMAINS[p.domain] for p in prim.params}
    scope = {"__builtins__": {}, **VOCABULARY, **rules.constants, **domains}
    scope |= {"_make": make, "tuple": tuple}
    writer = FunctionWriter(scope)
    for line in _lines(prim):
        writer.add(line)
    return writer.define(
        "typing", "def typing(_avals, _params):", f"typing: {prim.name}"
    )


def compile_scope(clauses: Iterable[Clause], at: str) -> Callable[..., bool]:
    """A function that is true if all clauses of `program.toml` that apply `at` a place
    hold there.

    Takes the values of the names of `SCOPES[at]`, in their order.
    """
    texts = [f"({c.holds})" for c in clauses if c.at == at and c.holds is not None]
    return compile_formula(parse(" and ".join(texts) or "True"), SCOPES[at])


def _read(prim: Prim) -> set[str]:
    """The names that typing reads; a part of `value` alone may need elements."""
    formulas = [clause.holds for clause in prim.clauses if clause.holds is not None]
    outs = prim.out if isinstance(prim.out, tuple) else ()
    formulas += [f for out in outs for f in (out.shape, out.dtype, out.weak_type)]
    formulas += [] if isinstance(prim.out, tuple) else [prim.out]
    found = {name for formula in formulas for name in formula.names}
    for name, part in reversed([*prim.let.items()]):
        if name in found:
            found |= part.names
    return found


def _lines(prim: Prim) -> Iterator[str]:
    """The lines of a primitive's typing: params, lets, clauses, results."""
    names = list(prim.inputs)
    if prim.variadic:
        names[-1] = f"*{names[-1]}"
    yield f"({' '.join(f'{n},' for n in names)}) = _avals"
    if prim.variadic:
        yield f"{prim.inputs[-1]} = tuple({prim.inputs[-1]})"
    pairs = " ".join(f"(_name_{p.name}, {p.name})," for p in prim.params)
    yield f"({pairs}) = _params"
    for param in prim.params:
        name = param.name
        yield f"if _name_{name} != {name!r} or not _in_{name}({name}): return None"
    read = _read(prim)
    for name, part in prim.let.items():
        if name in read:
            yield f"{name} = {part.text}"
    for clause in prim.clauses:
        if clause.holds is not None:
            yield f"if not ({clause.holds.text}): return None"
    if isinstance(prim.out, tuple):
        fields = (f"_make({o.shape}, {o.dtype}, {o.weak_type})," for o in prim.out)
        yield f"return ({' '.join(fields)})"
    else:
        yield f"return tuple({prim.out.text})"
