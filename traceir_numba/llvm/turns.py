"""Turns of a loop shared by the threads of a team, from within machine code.

Serves: staged.turns

A routine runs in machine code, and so does the function of a part of a loop's turns.
Where threads of the team look for work they get parts at once. Else the first parts run
in the thread that has come there, and by the time that they took it is told whether the
rest is worth waking others.

Memory that a part needs for itself belongs to the routine where the routine's thread
runs it, or else to the call of some parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from textwrap import dedent

from traceir_numba import cost_model
from traceir_numba.llvm import optimize, safepoints, thread_team
from traceir_numba.runtime.external_symbols import OBJECTS, provided

NEEDS = (*thread_team.NEEDS, "traceir_malloc", "traceir_free", "traceir_no_memory")
# Words before the pointers that parts are given: the flag that ends them, how many
# turns there are, and how many a part has.
_HEAD = 3
_STOPPED, _NO_MEMORY = -1, -2
_ALIGNED = 64


def can_share() -> bool:
    """True if machine code can have threads."""
    return all(map(provided, NEEDS))


def part_symbol(symbol: str) -> str:
    """The symbol of the function that runs the turns of one part."""
    return f"{symbol}_part"


def no_memory() -> None:
    """Raise MemoryError for threads that could not have memory of their own."""
    raise MemoryError("no memory for the threads of a loop")


OBJECTS["traceir_no_memory"] = no_memory


@cache
def load() -> optimize.MachineCode:
    """The safepoint of parts, for its holders."""
    uses = [safepoints.load()]
    return optimize.link([STOPPABLE], [safepoints.STOPPED.symbol], uses=uses)


STOPPABLE = f"""
declare i64 @{safepoints.SYMBOL}(i64)
define i64 @{safepoints.STOPPED.symbol}(i64 %last, ptr %flag) nounwind {{
  %stopped = load volatile i64, ptr %flag
  %stop = icmp ne i64 %stopped, 0
  br i1 %stop, label %end, label %look
end:
  ret i64 -1
look:
  %found = call i64 @{safepoints.SYMBOL}(i64 %last)
  ret i64 %found
}}
"""


# The same in a program without Python, which has one thread: nothing calls these.
ALONE = f"""
define i32 @traceir_clock(i32 %clock, ptr %time) {{
  ret i32 0
}}
define i32 @traceir_lock() {{
  ret i32 0
}}
define void @traceir_unlock(i32 %state) {{
  ret void
}}
define ptr @traceir_call(ptr %function, ptr %format, ...) {{
  ret ptr null
}}
define void @traceir_drop(ptr %object) {{
  ret void
}}
define void @traceir_no_memory() {{
  ret void
}}
define void @traceir_team() {{
  ret void
}}
define i64 @{thread_team.SHARE}(ptr %run, ptr %given, i64 %first, i64 %end,
    i64 %looked) {{
  ret i64 0
}}
"""


def shared_text(symbol: str, pointers: int, private: Sequence[int]) -> str:
    """LLVM text of a function that runs the parts of a loop, and of one that runs some
    of them in one of several threads.

    The function of one part takes a flag, pointers, of which the last ones are to
    `private` bytes, the number of the part, its first turn, and the one after its last.
    """
    names = [f"%p{k}" for k in range(pointers)]
    first = pointers - len(private)
    offsets = [sum(_aligned(b) for b in private[:k]) for k in range(len(private))]
    total = sum(map(_aligned, private))
    loads, stores, own = [], [], []
    for k, name in enumerate(names):
        stores += [
            f"%to{k} = getelementptr i64, ptr %given, i64 {_HEAD + k}",
            f"store ptr {name}, ptr %to{k}",
        ]
        if k < first:
            loads += [
                f"%at{k} = getelementptr i64, ptr %given, i64 {_HEAD + k}",
                f"{name} = load ptr, ptr %at{k}",
            ]
        else:
            at = offsets[k - first]
            own.append(f"{name} = getelementptr i8, ptr %memory, i64 {at}")
    allocate = (
        f"call ptr @traceir_malloc(i64 {total})"
        if total
        else "bitcast ptr %given to ptr"
    )
    return dedent(TEXT).format(
        symbol=symbol,
        part=part_symbol(symbol),
        types="".join("ptr, " for _ in names),
        passed="".join(f"ptr {name}, " for name in names),
        words=_HEAD + pointers,
        stores="\n  ".join(stores),
        loads="\n  ".join(loads),
        own="\n  ".join(own),
        allocate=allocate,
        free="call void @traceir_free(ptr %memory)" if total else "",
        read_start=safepoints.read_clock("started"),
        read_now=safepoints.read_clock("now"),
        spinning=thread_team.place("spinning"),
        share=thread_team.SHARE,
        safepoint=safepoints.SYMBOL,
        worth=cost_model.SHARED_TURNS_TIME,
        no_memory=_NO_MEMORY,
        stopped=_STOPPED,
    )


def _aligned(count: int) -> int:
    return -(-count // _ALIGNED) * _ALIGNED


TEXT = """
@format_{symbol} = private constant [1 x i8] c"\\00"
declare i32 @traceir_clock(i32, ptr)
declare i32 @traceir_lock()
declare void @traceir_unlock(i32)
declare ptr @traceir_call(ptr, ptr, ...)
declare void @traceir_drop(ptr)
declare void @traceir_no_memory()
declare void @traceir_threads()
declare void @traceir_team()
declare i64 @{share}(ptr, ptr, i64, i64, i64)
declare i64 @{safepoint}(i64)
declare ptr @traceir_malloc(i64)
declare void @traceir_free(ptr)
define void @{symbol}_run(ptr %given, i64 %first, i64 %end) nounwind {{
entry:
  {loads}
  %at_count = getelementptr i64, ptr %given, i64 1
  %at_size = getelementptr i64, ptr %given, i64 2
  %count = load i64, ptr %at_count
  %size = load i64, ptr %at_size
  %memory = {allocate}
  %none = icmp eq ptr %memory, null
  br i1 %none, label %poor, label %begin
poor:
  store volatile i64 {no_memory}, ptr %given
  ret void
begin:
  {own}
  br label %next
next:
  %k = phi i64 [%first, %begin], [%k_next, %done]
  %flag = load volatile i64, ptr %given
  %fine = icmp eq i64 %flag, 0
  %some = icmp slt i64 %k, %end
  %go = and i1 %fine, %some
  br i1 %go, label %turns, label %over
turns:
  %lo = mul i64 %k, %size
  %beyond = add i64 %lo, %size
  %shorter = icmp slt i64 %beyond, %count
  %hi = select i1 %shorter, i64 %beyond, i64 %count
  %result = call i64 @{part}(ptr %given, {passed}i64 %k, i64 %lo, i64 %hi)
  %stops = icmp ne i64 %result, 0
  br i1 %stops, label %stop, label %done
stop:
  store volatile i64 {stopped}, ptr %given
  br label %done
done:
  %k_next = add i64 %k, 1
  br label %next
over:
  {free}
  ret void
}}
define i64 @{symbol}({passed}i64 %count, i64 %size, i64 %parts) nounwind {{
entry:
  %given = alloca [{words} x i64]
  %time = alloca [2 x i64]
  store i64 0, ptr %given
  %to_count = getelementptr i64, ptr %given, i64 1
  store i64 %count, ptr %to_count
  %to_size = getelementptr i64, ptr %given, i64 2
  store i64 %size, ptr %to_size
  {stores}
  %threads = load i64, ptr @traceir_threads
  %several = icmp sgt i64 %threads, 1
  %many = icmp sgt i64 %parts, 1
  %both = and i1 %several, %many
  br i1 %both, label %team, label %begin
team:
  %ready = load atomic i64, ptr {spinning} monotonic, align 8
  %now_shared = icmp sgt i64 %ready, 0
  br i1 %now_shared, label %share, label %clock
clock:
  {read_start}
  br label %begin
begin:
  %from = phi i64 [0, %entry], [0, %clock], [%first_left, %share]
  %since = phi i64 [0, %entry], [%started, %clock], [0, %share]
  %first_look = phi i64 [-1, %entry], [1, %clock], [-1, %share]
  br label %next
next:
  %k = phi i64 [%from, %begin], [%k_next, %later]
  %look = phi i64 [%first_look, %begin], [%look_next, %later]
  %asked = phi i64 [0, %begin], [%asked_next, %later]
  %some = icmp slt i64 %k, %parts
  br i1 %some, label %turns, label %end
turns:
  %lo = mul i64 %k, %size
  %beyond = add i64 %lo, %size
  %shorter = icmp slt i64 %beyond, %count
  %hi = select i1 %shorter, i64 %beyond, i64 %count
  %result = call i64 @{part}(ptr %given, {passed}i64 %k, i64 %lo, i64 %hi)
  %k_next = add i64 %k, 1
  %stops = icmp ne i64 %result, 0
  br i1 %stops, label %stop, label %poll
poll:
  %asked_next = call i64 @{safepoint}(i64 %asked)
  %raised = icmp slt i64 %asked_next, 0
  br i1 %raised, label %stop, label %told
told:
  %looks = icmp eq i64 %k_next, %look
  br i1 %looks, label %measure, label %later
measure:
  {read_now}
  %took = sub i64 %now, %since
  %left = sub i64 %parts, %k_next
  %all = mul i64 %took, %left
  %worth = mul i64 %k_next, {worth}
  %pays = icmp sgt i64 %all, %worth
  br i1 %pays, label %share, label %wait
wait:
  %twice = mul i64 %look, 2
  br label %later
later:
  %look_next = phi i64 [%look, %told], [%twice, %wait]
  br label %next
share:
  %first_left = phi i64 [0, %team], [%k_next, %measure]
  %found = call i64 @{share}(ptr @{symbol}_run, ptr %given, i64 %first_left, i64 %parts,
    i64 0)
  %busy = icmp eq i64 %found, 0
  br i1 %busy, label %begin, label %shared
shared:
  %raised_there = icmp slt i64 %found, 0
  br i1 %raised_there, label %stop, label %flags
flags:
  %flag = load volatile i64, ptr %given
  %poor = icmp eq i64 %flag, {no_memory}
  br i1 %poor, label %refuse, label %check
refuse:
  %state = call i32 @traceir_lock()
  %null = call ptr (ptr, ptr, ...) @traceir_call(ptr @traceir_no_memory,
    ptr @format_{symbol})
  call void @traceir_unlock(i32 %state)
  br label %stop
check:
  %ended = icmp ne i64 %flag, 0
  br i1 %ended, label %stop, label %end
stop:
  ret i64 -1
end:
  ret i64 0
}}
"""
