"""The life of a trace in the jit cache as a TLA+ module: `make tla`.

The rows of `spec/rules/machine.toml` become operators over `v`, a record of what an
event finds. The world around them (threads, their traces, who waits) is that of
`tests/cache_life.py`, which searches the same states: `make tlc` has TLC count them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traceir.rules import Formula, default, spec_path
from traceir.rules.machine import Machine, Transition

FILE = "CacheLife"
COMPARE = {
    ast.Eq: "=",
    ast.NotEq: "#",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

HEAD = """\
----------------------------- MODULE CacheLife -----------------------------
(* The life of a trace in the jit cache, for threads that call functions      *)
(* which call one another, one key each. Written by `make tla` from           *)
(* spec/rules/machine.toml: change that, not this.                            *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Functions, Threads

VARIABLES
  shared,  \\* of each function: what all threads see of it
  traces,  \\* of each thread: its traces under way, from the outside in
  waits    \\* of each thread: the functions that it waits for, one at most

vars == <<shared, traces, waits>>

Has(s, x) == \\E k \\in DOMAIN s : s[k] = x
Last(s) == s[Len(s)]
Front(s) == SubSeq(s, 1, Len(s) - 1)

(* What an event finds: `v` has the machine's variables, the thread that acts *)
(* as `caller`, the number of its traces as `depth`, and as `captures` the    *)
(* tracers of the trace around it that a trace which ends has used.           *)
"""

WORLD = """\
(* The world. `around` are the traces that the event leaves in force. *)

Finds(f, t, around, captures) == [
  <SHARED>,
  here |-> around # <<>> /\\ f \\in Last(around).keeps,
  caller |-> t,
  depth |-> Len(around),
  captures |-> captures]

Alive(f) == ~shared[f].dead
Around(t, event) ==
  IF event \\in {"return", "raise"} THEN Front(traces[t]) ELSE traces[t]
Calls == {r \\in DOMAIN Rows : Rows[r].outcome = "traces"}

\\* The traces of a thread after a row, which may change what the last one keeps.
Held(around, f, here) ==
  IF around = <<>> THEN around
  ELSE [around EXCEPT ![Len(around)].keeps =
         IF here THEN @ \\cup {f} ELSE @ \\ {f}]

May(f, t, event) ==
  CASE event = "call" -> Alive(f) /\\ waits[t] \\in {{}, {f}}
    [] event = "clear" -> Alive(f) /\\ waits[t] = {}
    [] event \\in {"return", "raise"} ->
         /\\ waits[t] = {} /\\ traces[t] # <<>>
         /\\ Last(traces[t]).function = f
    [] OTHER -> FALSE

Captures(t, event) ==
  IF event = "return" /\\ Len(traces[t]) > 1 THEN {<<>>, <<"x">>} ELSE {<<>>}

Step(f, t, event, captures, r) ==
  LET around == Around(t, event)
      v == Finds(f, t, around, captures)
      w == After(r, v)
      held == Held(around, f, w.here)
  IN /\\ May(f, t, event)
     /\\ Applies(r, event, v)
     /\\ shared' = [shared EXCEPT ![f] = [<KEPT>]]
     /\\ traces' = [traces EXCEPT ![t] =
          IF r \\in Calls THEN Append(held, [function |-> f, keeps |-> {}]) ELSE held]
     /\\ waits' = [waits EXCEPT ![t] =
          IF Rows[r].outcome = "waits" THEN {f} ELSE {}]

Unused(f) == \\A t \\in Threads :
  /\\ f \\notin waits[t]
  /\\ \\A k \\in DOMAIN traces[t] : traces[t][k].function # f

Dies(f, r) ==
  LET t == CHOOSE t \\in Threads : TRUE
      v == Finds(f, t, traces[t], <<>>)
      w == After(r, v)
  IN /\\ Alive(f) /\\ Unused(f)
     /\\ Applies(r, "die", v)
     /\\ shared' = [shared EXCEPT ![f] = [<KEPT>]]
     /\\ UNCHANGED <<traces, waits>>

Init ==
  /\\ shared = [f \\in Functions |-> [<START>]]
  /\\ traces = [t \\in Threads |-> <<>>]
  /\\ waits = [t \\in Threads |-> {}]

Next ==
  \\/ \\E f \\in Functions, t \\in Threads, event \\in Events :
       \\E captures \\in Captures(t, event), r \\in DOMAIN Rows :
         Step(f, t, event, captures, r)
  \\/ \\E f \\in Functions, r \\in DOMAIN Rows : Dies(f, r)

Spec == Init /\\ [][Next]_vars

(* What holds in every state that can be reached. *)

Applying(event, v) == {r \\in DOMAIN Rows : Applies(r, event, v)}

\\* Each event that can happen has one row; what ends with a trace has one, too.
OneRow ==
  /\\ \\A f \\in Functions, t \\in Threads, event \\in Events :
       May(f, t, event) => \\A captures \\in Captures(t, event) :
         Cardinality(Applying(event, Finds(f, t, Around(t, event), captures))) = 1
  /\\ \\A t \\in Threads : traces[t] # <<>> =>
       \\A f \\in Last(traces[t]).keeps :
         LET v == Finds(f, t, traces[t], <<>>) IN
           /\\ Cardinality(Applying("leave", v)) = 1
           /\\ \\A r \\in Applying("leave", v) : ~After(r, v).here
  /\\ \\A f \\in Functions : Alive(f) /\\ Unused(f) =>
       \\A t \\in Threads :
         Cardinality(Applying("die", Finds(f, t, traces[t], <<>>))) = 1

\\* No thread traces a function within itself.
NoRecursion == \\A t \\in Threads : \\A j, k \\in DOMAIN traces[t] :
  traces[t][j].function = traces[t][k].function => j = k

\\* The makers of a function are the threads that trace it, each once.
MakersTrace == \\A f \\in Functions :
  /\\ \\A t \\in Threads : Has(shared[f].makers, t) <=>
       \\E k \\in DOMAIN traces[t] : traces[t][k].function = f
  /\\ \\A j, k \\in DOMAIN shared[f].makers :
       shared[f].makers[j] = shared[f].makers[k] => j = k

\\* Whoever waits is outside of all traces, and what it waits for can go on.
NoDeadlock == \\A t \\in Threads : \\A f \\in waits[t] :
  /\\ traces[t] = <<>>
  /\\ \\/ shared[f].makers = <<>>
     \\/ shared[f].kept
     \\/ \\E k \\in DOMAIN shared[f].makers : waits[shared[f].makers[k]] = {}

=============================================================================
"""

SETTINGS = """\
\\* Two functions, three threads: `make tlc`.
CONSTANTS
  Functions = {"f", "g"}
  Threads = {1, 2, 3}
SPECIFICATION Spec
INVARIANTS OneRow NoRecursion MakersTrace NoDeadlock
"""


def expression(node: Formula | ast.expr, bound: frozenset[str] = frozenset()) -> str:
    """A formula in TLA+, its names as fields of `v`; `bound` are those of a loop.

    >>> from traceir.rules import parse
    >>> print(expression(parse("len(makers) > 0 and caller not in makers")))
    ((Len(v.makers) > 0) /\\ (~Has(v.makers, v.caller)))
    >>> print(expression(parse("tuple(m for m in makers if m != caller)")))
    SelectSeq(v.makers, LAMBDA m : (m # v.caller))
    """
    match node:
        case Formula():
            return expression(node.node, bound)
        case ast.Constant(bool() as value):
            return str(value).upper()
        case ast.Constant(int() as value):
            return str(value)
        case ast.Name(name):
            return name if name in bound else f"v.{name}"
        case ast.Tuple(items):
            return f"<<{', '.join(expression(i, bound) for i in items)}>>"
        case ast.UnaryOp(ast.Not(), operand):
            return f"(~{expression(operand, bound)})"
        case ast.BoolOp(op, values):
            sign = r" /\ " if isinstance(op, ast.And) else r" \/ "
            return f"({sign.join(expression(value, bound) for value in values)})"
        case ast.BinOp(left, ast.Add(), ast.Tuple() as right):
            return f"({expression(left, bound)} \\o {expression(right, bound)})"
        case ast.Compare(left, [ast.In() | ast.NotIn() as op], [right]):
            found = f"Has({expression(right, bound)}, {expression(left, bound)})"
            return found if isinstance(op, ast.In) else f"(~{found})"
        case ast.Compare(left, [op], [right]) if type(op) in COMPARE:
            sign = COMPARE[type(op)]
            return f"({expression(left, bound)} {sign} {expression(right, bound)})"
        case ast.Call(ast.Name("len"), [argument]):
            return f"Len({expression(argument, bound)})"
        case ast.Call(ast.Name("tuple"), [ast.GeneratorExp(item, [loop])]):
            return _selected(item, loop, bound)
    raise ValueError(f"no TLA+ for the formula {ast.unparse(node)}")


def _selected(item: ast.expr, loop: ast.comprehension, bound: frozenset[str]) -> str:
    """The elements of a sequence for which a condition holds."""
    match item, loop:
        case ast.Name(name), ast.comprehension(ast.Name(same), whole, [test]) if (
            name == same
        ):
            test_ = expression(test, bound | {name})
            return f"SelectSeq({expression(whole, bound)}, LAMBDA {name} : {test_})"
    raise ValueError(f"no TLA+ for a tuple of {ast.unparse(item)}")


def module(machine: Machine) -> str:
    """The text of the module."""
    own = [name for name in machine.variables if name != "here"]
    shared = ",\n  ".join(f"{name} |-> shared[f].{name}" for name in own)
    kept = ", ".join(f"{name} |-> w.{name}" for name in own)
    start = ", ".join(
        f"{name} |-> {expression(machine.variables[name].start)}" for name in own
    )
    world = WORLD
    for mark, words in (("SHARED", shared), ("KEPT", kept), ("START", start)):
        world = world.replace(f"<{mark}>", words)
    return "\n".join([HEAD, *_rows(machine), world])


def _rows(machine: Machine) -> Iterator[str]:
    """The operators that the tables give."""
    first, *others = machine.states.values()
    choice = f'IF {expression(first.holds)} THEN "{first.name}"'
    for state in others:
        choice += f'\n  ELSE IF {expression(state.holds)} THEN "{state.name}"'
    yield f'State(v) ==\n  {choice}\n  ELSE "none"\n'
    for fact in machine.facts.values():
        yield f"\\* {fact.says}\nfact_{fact.name}(v) == {expression(fact.holds)}\n"
    for effect in machine.effects.values():
        to = f"[v EXCEPT !.{effect.sets} = {expression(effect.to)}]"
        yield f"\\* {effect.says}\neffect_{effect.name}(v) ==\n  {to}\n"
    rows = machine.transitions.values()
    listed = ",\n".join(map(_record, rows))
    yield f"Rows == <<\n{listed}\n>>\n"
    events = ", ".join(f'"{name}"' for name in machine.events)
    yield f"Events == {{{events}}}\n"
    whens = "\n    [] ".join(
        f"r = {n} -> {_condition(machine, row)}" for n, row in enumerate(rows, 1)
    )
    yield (
        "Applies(r, event, v) ==\n"
        "  /\\ Rows[r].event = event\n"
        "  /\\ State(v) \\in Rows[r].from\n"
        f"  /\\ CASE {whens}\n"
    )
    after = "\n    [] ".join(
        f"r = {n} -> {_after(row)}" for n, row in enumerate(rows, 1)
    )
    yield f"After(r, v) ==\n  CASE {after}\n"


def _record(row: Transition) -> str:
    sources = ", ".join(f'"{name}"' for name in row.sources)
    return (
        f'  [id |-> "{row.id}", event |-> "{row.event}",\n'
        f'   from |-> {{{sources}}}, outcome |-> "{row.outcome}"]'
    )


def _condition(machine: Machine, row: Transition) -> str:
    """The formula of facts of a row."""
    if row.when is None:
        return "TRUE"
    found = expression(row.when, frozenset(machine.facts))
    for name in sorted(row.when.names):
        found = re.sub(rf"\b{name}\b", f"fact_{name}(v)", found)
    return found


def _after(row: Transition) -> str:
    """The record after the effects of a row, the first innermost."""
    found = "v"
    for name in row.does:
        found = f"effect_{name}({found})"
    return found


def write() -> None:
    """Write the module and its settings beside the tables."""
    folder = spec_path() / "tla"
    folder.mkdir(exist_ok=True)
    (folder / f"{FILE}.tla").write_text(module(default().machine), encoding="utf-8")
    (folder / f"{FILE}.cfg").write_text(SETTINGS, encoding="utf-8")


if __name__ == "__main__":
    write()
