"""Innermost loops of a kernel's LLVM text as loops over vectors.

What generated source becomes is clean: a straight body over a counter, whose arrays lie
side by side. Each instruction of such a body has one of vectors, so LLVM need not find
out that it may, nor make three bodies of it: for many vectors, for one, and for single
numbers. Every second element, or third, is taken out of vectors of all; what several
vectors have in common is read once. Short bodies are there twice, for rounds of some
vectors and for what is left, under a mask; long ones once, with a mask.

Left to LLVM are loops that carry numbers, choices that must not be computed on both
sides, longer strides, those of results, and loops that do little else than read at
places that values tell.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from traceir.base.fast_dataclass import dataclass
from traceir_numba.llvm.vectors.functions import VectorModule
from traceir_numba.llvm.vectors.ir_text import (
    COMPARE,
    LINE,
    SIZES,
    LeftAlone,
    function_text,
    matched,
    spread,
)
from traceir_numba.llvm.vectors.lanes import Lanes
from traceir_numba.llvm.vectors.reads import ANYWHERE
from traceir_numba.llvm.vectors.shared import share
from traceir_numba.llvm.vectors.vector_loop import MOST, VectorLoop

# Instructions of kernels that are compiled together, up to which loops may be written
# out twice: time to compile against time to run.
SHORT_LINES = 300
# Instructions of a loop, those of its calls included, up to which it is written out
# twice where the kernel does not say that it should be.
ROUND_LINES = 80
# The vectors of a round: the processor computes on some while it waits for others. Few
# in a body that has so few instructions to each read and store that it waits for
# memory, and in one so long, or of numbers so wide, that registers have no room for
# more; half as many where those would read and store more vectors than registers hold.
ROUND_VECTORS, FEW_VECTORS = 8, 4
COMPUTED_LINES, LONGEST_LINES = 10, 100
READ_VECTORS = 24
# The bits of registers from which on nearly every read of a whole one is one of two
# lines of memory, so that elements that several vectors have in common are read once.
# Processors that have them read and store parts of vectors, too.
WIDE_BITS = 512
# The part of a loop's instructions, one of so many, from which on those of float64 say
# how many numbers a vector has.
DOUBLED = 6
# Instructions to each element that is read at a place that values tell, from which on
# vectors of our own gain more than LLVM's reads one by one do.
FAR_LINES = 100
# Shorter vectors in whose place there is one with a mask; two where the body is long.
MASKED_PARTS = 3
# Instructions up to which vectors of a loop of a known length are written one after the
# other, so that arrays of the kernel are registers: those of all, those of one.
STRAIGHT_LINES, SHORTEST_LINES = 240, 16
_INTERLEAVED = '"llvm.loop.interleave.count"'
MEMORY = frozenset(("getelementptr", "load", "store"))
_ARRAY = re.compile(r"^(%\S+) = alloca \[", re.M)
_PHI = re.compile(r"i64 \[(\S+), %(\S+)\], \[(\S+), %(\S+)\]")


def widened(
    texts: Sequence[str], inlined: Sequence[str], bits: int
) -> tuple[str | None, tuple[str, ...]]:
    """Kernels with loops over vectors of so many bits, one text; and those that are
    left to LLVM.

    `inlined` are the texts of the functions of numbers that they call.
    """
    sources = {}
    for text in inlined:
        for symbol in re.findall(r"^define \S+ @(\S+?)\(", text, re.M):
            sources[symbol] = text
    lines = sum(text.count("\n") for text in texts)
    module = VectorModule(sources, lines <= SHORT_LINES)
    found, left = [], []
    for text in texts:
        try:
            found.append(_kernel(text, module, bits))
        except LeftAlone:
            left.append(text)
    if not found:
        return None, tuple(texts)
    if left:  # whose functions are in this module
        wide, others = widened([t for t in texts if t not in left], inlined, bits)
        return wide, (*left, *others)
    return "\n".join([*module.declared, *module.texts(), *found]), ()


def _kernel(text: str, module: VectorModule, bits: int) -> str:
    source = function_text(text)
    result, symbol, args, attributes = source.head
    blocks = dict(source.blocks)
    order = {label: k for k, label in enumerate(blocks)}
    done: list[int] = []
    told = any(_INTERLEAVED in line for line in source.around)
    arrays = frozenset(_ARRAY.findall(text))
    for label, lines in source.blocks.items():
        last = lines[-1].split(", !")[0]
        target = last.removeprefix("br label %") if last.startswith("br label") else ""
        if order.get(target, len(order)) > order[label]:
            continue
        if order[label] - order[target] == 1:
            _loop(target, label, blocks, module, bits, told, arrays)
            done.append(order[label])
        elif not any(order[target] < k < order[label] for k in done):
            raise LeftAlone(label)  # a loop of several blocks, none of which is a loop
    if not done:
        raise LeftAlone(text)
    head = f"define {result} @{symbol}({args}) nounwind {attributes}{{"
    module.declared.update(
        dict.fromkeys(x for x in source.around if x.startswith(("@", "declare")))
    )
    body = [line for name, lines in blocks.items() for line in (f"{name}:", *lines)]
    if not module.sources.keys().isdisjoint(re.findall(r"@(\w+)\(", "\n".join(body))):
        raise LeftAlone(symbol)  # calls of functions of numbers, outside of loops
    return "\n".join([head, *body, "}"])


def _loop(
    head: str,
    body: str,
    blocks: dict[str, list[str]],
    module: VectorModule,
    bits: int,
    told: bool,
    arrays: frozenset[str],
) -> None:
    """Put a loop over vectors of so many bits in place of two blocks; `told` to take
    some of them in a round. `arrays` are the kernel's own.
    """
    lines = blocks[head]
    if len(lines) != 3:
        raise LeftAlone(head)
    counter, _, rest = matched(LINE, lines[0])
    low, _, following, back = matched(_PHI, rest)
    test, _, compared = matched(LINE, lines[1])
    how, kind, x, high = matched(COMPARE, compared)
    *inside, step, _ = blocks[body]
    if (how, kind, x) != ("slt", "i64", counter) or back != body:
        raise LeftAlone(head)
    if step != f"{following} = add nsw i64 {counter}, 1":
        raise LeftAlone(step)
    fork = re.fullmatch(rf"br i1 {test}, label %{body}, label %(\S+)", lines[2])
    if fork is None:
        raise LeftAlone(lines[2])
    for name, others in blocks.items():
        if name not in (head, body) and any(
            f"%{where}]" in line for line in others for where in (head, body)
        ):
            raise LeftAlone(name)
    called = module.called(inside)
    if not arrays and {matched(LINE, line)[1] for line in inside} <= MEMORY:
        raise LeftAlone(head)  # LLVM knows a copy
    short = module.short and (told or len(called) <= ROUND_LINES)
    memory = re.findall(r"(?:load|store) (\w+)", "\n".join(inside))
    room = max([32, *(SIZES.get(kind, 64) for kind in memory)])
    doubles = sum(" double " in x for x in called) if room < 64 else 0
    doubled = short and DOUBLED * doubles > len(called)
    lanes = many = bits // (64 if doubled else room)
    if short:
        computes = COMPUTED_LINES * len(memory) < len(called)
        few = doubles or not computes or len(called) > LONGEST_LINES * 32 // room
        many = lanes * (FEW_VECTORS if few else ROUND_VECTORS)
        if few and FEW_VECTORS * len(memory) > READ_VECTORS:
            many //= 2
    loop = _Rounds(
        *(module, inside, counter, low, high),
        *(head, body, fork[1], len(called)),
        arrays,
        bits,
    )
    length = loop.length
    if length is not None:
        vectors, own = length // lanes, len(called)
        fits = vectors <= FEW_VECTORS or own <= SHORTEST_LINES
        fits = fits and vectors * own <= STRAIGHT_LINES
        if arrays or (fits and 2 * length > lanes):
            whole = fits or vectors < FEW_VECTORS
            text = loop.straight(lanes, int(low)) if whole else loop.known(lanes)
            blocks[head] = text
            del blocks[body]
            return
        if length < 2 * many:
            raise LeftAlone(head)  # LLVM makes vectors of the loop around it
    blocks[head] = [
        f"{test} = icmp slt i64 {low}, {high}",
        f"br i1 {test}, label %{head}_p, label %{fork[1]}",
        f"{head}_p:",
    ]
    if many > lanes:
        blocks[head] += loop.whole(many)
    blocks[head] += loop.masked(lanes, many > lanes)
    del blocks[body]


@dataclass(frozen=True, slots=True)
class _Rounds:
    """A loop of two blocks, and where it goes when it is done."""

    module: VectorModule
    lines: list[str]
    counter: str
    low: str
    high: str
    head: str
    body: str
    done: str
    cost: int
    arrays: frozenset[str]
    bits: int

    def lanes(self, count: int, mask: str | None) -> tuple[Lanes, VectorLoop]:
        """The instructions of a round of so many lanes."""
        loop = VectorLoop(self.counter, mask, "" if mask else MOST)
        return self.made(count, loop), loop

    def made(self, count: int, loop: VectorLoop, own: Container[str] = ()) -> Lanes:
        """The instructions of a loop over vectors of so many lanes; it may use arrays
        that are the kernel's `own`."""
        loop.own = own
        loop.inside.add(self.counter)
        loop.steps[self.counter] = 1
        made = Lanes(self.module, count, loop)
        made.vectors[self.counter] = made.vector(self.counter) + made.apart
        made.lines_of(self.lines)
        if self.bits >= WIDE_BITS:
            share(made.out, made.whole, count, self.bits)
        far = sum(step == ANYWHERE for *_, step in loop.places.values())
        if far * FAR_LINES > self.cost:
            raise LeftAlone(self.head)  # most of it is reading one by one
        for base, index in loop.written:
            for other, at in loop.read | loop.written:
                # Arguments and arrays of the kernel do not overlap; others may.
                if other[:2] != "%a" and other not in own:
                    raise LeftAlone(other)
                # No round reads what another writes.
                if (
                    other == base
                    and made.key(at) != made.key(index)
                    and not self.are_apart(made, at, index)
                ):
                    raise LeftAlone(base)
        return made

    def are_apart(self, made: Lanes, *indices: str) -> bool:
        """True if two indices are so far apart that no rounds have one in common."""
        if self.length is None:
            return False
        places = [made.offsets.get(one, (one, 0)) for one in indices]
        return (
            all(one == self.counter for one, _ in places)
            and abs(places[0][1] - places[1][1]) >= self.length
        )

    @property
    def length(self) -> int | None:
        """The count of numbers, if that is known."""
        if "%" in (self.low[0], self.high[0]):
            return None
        return int(self.high) - int(self.low)

    def known(self, lanes: int) -> list[str]:
        """Rounds of a few vectors, and then what is left of a known number."""
        assert self.length is not None
        count = lanes * FEW_VECTORS
        end = int(self.low) + self.length // count * count
        loop = VectorLoop(self.counter, None, MOST)
        made = self.made(count, loop, self.arrays)
        c = f"{self.counter}.m"
        return [
            *loop.before,
            f"br label %{self.head}_p",
            f"{self.head}_p:",
            f"br label %{self.body}_m",
            f"{self.body}_m:",
            f"{c} = phi i64 [{self.low}, %{self.head}_p], [{c}.next, %{self.body}_m]",
            *_numbers(made, self.counter, c),
            *made.out,
            f"{c}.next = add nsw i64 {c}, {count}",
            f"{c}.more = icmp slt i64 {c}.next, {end}",
            f"br i1 {c}.more, label %{self.body}_m, label %{self.head}_r",
            f"{self.head}_r:",
            *self.straight(lanes, end, loop.same),
        ]

    def straight(self, count: int, start: int, known: Container[str] = ()) -> list[str]:
        """Vectors of so many numbers, and shorter ones, one after the other, from one
        on; what is computed before the loop is `known` in part.

        A vector has a mask where several would have to take its place.
        """
        before: dict[str, None] = {}
        out: list[str] = []
        at, end = start, int(self.high)
        while at < end:
            rest, mask = end - at, None
            fewest = 2 if self.cost > ROUND_LINES else MASKED_PARTS
            masked = rest.bit_count() >= fewest and self.bits >= WIDE_BITS
            while count >= 2 * rest or (count > rest and not masked):
                count //= 2
            if count > rest:
                each = ", ".join(f"i1 {int(k < rest)}" for k in range(count))
                mask = f"<{each}>"
            loop = VectorLoop(self.counter, mask, f".p{at}")
            made = self.made(count, loop, self.arrays)
            before.update((line, None) for line in loop.before if line not in known)
            c = f"{self.counter}{loop.suffix}"
            first = [f"{c} = add i64 {at}, 0"]
            out += [*first, *_numbers(made, self.counter, c), *made.out]
            at += count
        return [*before, *out, f"br label %{self.done}"]

    def whole(self, count: int) -> list[str]:
        """Rounds as long as there are numbers for all lanes."""
        made, loop = self.lanes(count, None)
        c = f"{self.counter}.m"
        return [
            *loop.before,
            f"{c}.all = sub i64 {self.high}, {self.low}",
            f"{c}.whole = and i64 {c}.all, {-count}",
            f"{c}.end = add i64 {self.low}, {c}.whole",
            f"{c}.some = icmp slt i64 {self.low}, {c}.end",
            f"br i1 {c}.some, label %{self.body}_m, label %{self.head}_r",
            f"{self.body}_m:",
            f"{c} = phi i64 [{self.low}, %{self.head}_p], [{c}.next, %{self.body}_m]",
            *_numbers(made, self.counter, c),
            *made.out,
            f"{c}.next = add nsw i64 {c}, {count}",
            f"{c}.more = icmp slt i64 {c}.next, {c}.end",
            f"br i1 {c}.more, label %{self.body}_m, label %{self.head}_r",
            f"{self.head}_r:",
            f"{c}.rest = icmp slt i64 {c}.end, {self.high}",
            f"br i1 {c}.rest, label %{self.head}_q, label %{self.done}",
            f"{self.head}_q:",
        ]

    def masked(self, count: int, rest: bool) -> list[str]:
        """Rounds of as many lanes as there are numbers left: all, or the rest."""
        c = self.counter
        made, loop = self.lanes(count, f"{c}.mask")
        self.module.declared["declare i64 @llvm.smin.i64(i64, i64)"] = None
        before, start, i32 = f"{self.head}_p", self.low, made.type("i32")
        own = loop.before
        if rest:
            before, start = f"{self.head}_q", f"{c}.m.end"
            own = [line for line in own if line not in set(loop.same)]
        each = ", ".join(f"i32 {k}" for k in range(count))
        return [
            *own,
            f"br label %{self.body}_l",
            f"{self.body}_l:",
            f"{c} = phi i64 [{start}, %{before}], [{c}.next, %{self.body}_l]",
            f"{c}.rest = sub i64 {self.high}, {c}",
            f"{c}.least = call i64 @llvm.smin.i64(i64 {c}.rest, i64 {count})",
            f"{c}.count = trunc i64 {c}.least to i32",
            *spread(f"{c}.counts", i32, f"i32 {c}.count", count),
            f"{c}.mask = icmp ugt {i32} {c}.counts, <{each}>",
            *_numbers(made, c, c),
            *made.out,
            f"{c}.next = add nsw i64 {c}, {count}",
            f"{c}.more = icmp slt i64 {c}.next, {self.high}",
            f"br i1 {c}.more, label %{self.body}_l, label %{self.done}",
        ]


def _numbers(made: Lanes, counter: str, first: str) -> list[str]:
    """The counter's vector: the first number of a round, and those that follow."""
    t, name = made.type("i64"), made.vector(counter) + made.apart
    each = ", ".join(f"i64 {k}" for k in range(made.lanes))
    return [
        *spread(f"{name}.all", t, f"i64 {first}", made.lanes),
        f"{name} = add {t} {name}.all, <{each}>",
    ]
