"""Kernels whose threads take one point of the nest after another.

Serves: choice.sum-order, class.scatter
"""

from __future__ import annotations

from traceir_numba.codegen.body import index_text, pointer_name
from traceir_numba.cuda.codegen import collisions
from traceir_numba.cuda.codegen.writer import BLOCKS, THREADS, NestWriter


def write(w: NestWriter) -> None:
    """Points of the kept loops."""
    with w.over(w.kept, *THREADS):
        for number in range(len(w.nest.passes)):
            w.emitter.enter(number)
            _point(w)


def _point(w: NestWriter) -> None:
    """One pass at one point of the kept loops."""
    emitter, code = w.emitter, w.code
    if not w.reduced:
        emitter.body()
        return
    w.emitter.start()
    if w.nest.scan_direction:
        _prefix_scan(w)
        return
    with code.block(*(f"for i{d} in range(n{d}):" for d in w.reduced)):
        emitter.body()
        emitter.update(place="")
    emitter.results(a.names[-1] for a in emitter.reductions)
    emitter.epilogue()


def _prefix_scan(w: NestWriter) -> None:
    """Store the prefix at each element."""
    emitter, code, (d,) = w.emitter, w.code, w.reduced
    back = w.nest.scan_direction < 0
    with code.block(f"for {'step' if back else f'i{d}'} in range(n{d}):"):
        if back:
            code.add(f"i{d} = n{d} - 1 - step")
        emitter.body()
        emitter.update(place="")
        emitter.results(a.names[-1] for a in emitter.reductions)
        emitter.epilogue()


def write_squares(w: NestWriter) -> None:
    """Squares of two loops, at each point of the others."""
    code, form = w.code, w.form
    top, side = form.apart
    others = [d for d in range(w.nest.rank) if d not in form.apart]
    first, step = BLOCKS
    code.add(f"rows = (n{top} + {form.lanes - 1}) // {form.lanes}")
    code.add(f"groups = (n{side} + {form.wide - 1}) // {form.wide}")
    count = " * ".join([*(f"n{d}" for d in others), "rows * groups"])
    with code.block(f"for block in range({first}, {count}, {step}):"):
        code.add(f"base = block % groups * {form.wide}", "rest = block // groups")
        code.add(f"top = rest{' % rows' if others else ''} * {form.lanes}")
        if others:
            code.add("point = rest // rows")
            w.indices(others, "point")
        with w.within_block("element", str(form.lanes * form.wide)):
            code.add(f"i{side} = base + element % {form.wide}")
            code.add(f"i{top} = top + element // {form.wide}")
            with code.block(f"if (i{top} < n{top}) & (i{side} < n{side}):"):
                w.emitter.body()


# -- what is put where others may be put, too -----------------------------------------


def write_scatters(w: NestWriter) -> None:
    """Points of the loops that keep apart; at each the others, in their order."""
    form, code = w.form, w.code
    apart = list(form.apart)
    rest = [d for d in range(w.nest.rank) if d not in apart]
    first, step = THREADS
    loops = [f"for i{d} in range(n{d}):" for d in rest]
    if form.owners == 1:
        with w.over(apart, first, step), code.block(*loops):
            w.emitter.body()
        return
    # Neighbouring threads have the same places to look for, at neighbouring points.
    code.add(f"count = {w.count(apart)}")
    with code.block(f"for thread in range({first}, count * {form.owners}, {step}):"):
        code.add("owner = thread // count" if apart else "owner = thread")
        if apart:
            code.add("point = thread % count")
            w.indices(apart, "point")
        with code.block(*loops):
            _owned(w)


def _owned(w: NestWriter) -> None:
    """Put an element, if its place is one of the thread's own."""
    code, labels, form = w.code, w.emitter.body_labels, w.form
    body, (store,) = w.nest.body, w.nest.stores
    where = collisions.needed(w.nest, store)
    code.nodes(body, labels, where)
    found = code.found(store.access)
    # Of loops that keep apart the place is found by what is found.
    known = bool(form.apart and found)
    place = " + ".join(found) if known else index_text(store.access, found)
    with code.block(f"if ({place}) % {form.owners} == owner:"):
        code.nodes(body, labels, frozenset(range(len(body))) - where)
        code.stores((store,), labels)


def write_atomic(w: NestWriter) -> None:
    """Points of all loops, joined to memory in one atomic operation."""
    code, labels = w.code, w.emitter.body_labels
    (store,) = w.nest.stores
    joined = collisions.atomic(w.nest)
    assert joined is not None
    others = frozenset(range(len(w.nest.body))) - {joined.before, joined.result}
    with w.over(list(range(w.nest.rank)), *THREADS):
        code.nodes(w.nest.body, labels, others)
        memory = pointer_name(code.pointers[store.access.buffer])
        place = index_text(store.access, code.found(store.access))
        value = code.operand(joined.value, labels)
        line = f"cuda.atomic.{joined.operation}({memory}, {place}, {value})"
        if store.guard is None:
            code.add(line)
            return
        with code.block(f"if {code.operand(store.guard, labels)}:"):
            code.add(line)
