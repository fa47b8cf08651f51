"""A team of threads in machine code that takes the parts of a loop.

Serves: staged.turns

Python is asked once to start them. Between loops they look for another one for some
microseconds, then sleep. Each thread begins with a stretch of parts of its own, the
same one whenever a loop runs again, whose memory its cache may still have; who is done
takes parts of the others. How parts are shared never shows in the bits.

A job is open while its number stands in the team's memory. A thread that enters is
counted first and looks whether it still is open then; the owner closes it and waits
until nobody is counted, so what the job points to lasts as long as anyone reads it.
"""

from __future__ import annotations

import _thread
import ctypes
from contextlib import suppress

from traceir.base.fork_safety import in_child
from traceir_numba import cost_model
from traceir_numba.llvm import optimize, safepoints
from traceir_numba.llvm.trampoline import callable_of
from traceir_numba.runtime import mcjit
from traceir_numba.runtime.external_symbols import OBJECTS, TEAM, TEAM_SLOTS

SHARE, WORK = "traceir_team_share", "traceir_team_work"
NEEDS = (
    *("traceir_call", "traceir_drop", "traceir_engage", "traceir_threads"),
    *("traceir_team", "traceir_mutex_lock", "traceir_mutex_unlock", "traceir_yield"),
    *("traceir_cond_wait", "traceir_cond_broadcast", *safepoints.NEEDS),
)
# The words of the team's memory, each on a line of the cache of its own.
WORDS = {
    "owner": 0,
    "open": 16,
    "inside": 32,
    "spinning": 48,
    "asleep": 64,
    "number": 80,
    "workers": 96,
    "run": 112,
    "given": 113,
    "slots": 114,
    "chunk": 115,
    "mutex": 128,
    "condition": 144,
    "stretches": 160,
}
_STRETCH = 16  # words between the stretches of two threads


def engage(wanted: int) -> None:
    """Start threads until there are so many besides the owner, or as many as the
    system grants."""
    library = ctypes.CDLL(None)
    base, workers = ctypes.addressof(TEAM), WORDS["workers"]
    if not TEAM[workers]:
        library.pthread_mutex_init(ctypes.c_void_p(base + 8 * WORDS["mutex"]), None)
        library.pthread_cond_init(ctypes.c_void_p(base + 8 * WORDS["condition"]), None)
    work = callable_of(_pinned().addresses[WORK], 0, 1, True)
    with suppress(RuntimeError):  # no more are granted, or the process ends
        for slot in range(TEAM[workers] + 1, wanted + 1):
            _thread.start_new_thread(work, (slot,))
    TEAM[workers] = max(wanted, TEAM[workers])


OBJECTS["traceir_engage"] = engage


@in_child
def _forget() -> None:
    """Forget the threads: a child has none of them."""
    ctypes.memset(TEAM, 0, ctypes.sizeof(TEAM))


# Threads sleep in this code for as long as the process lives.
_code: list[optimize.MachineCode] = []


def _pinned() -> optimize.MachineCode:
    if not _code:
        _code.append(load())
    return _code[0]


# -- machine code ---------------------------------------------------------------------


def load() -> optimize.MachineCode:
    """The functions of owners and of the other threads, for their holders."""
    return optimize.link([_text()], [SHARE, WORK], uses=[safepoints.load()])


def _text() -> str:
    triple = mcjit.triple()
    wait = ""
    if triple.startswith(("x86", "i386", "i686")):
        wait = "call void @llvm.x86.sse2.pause()"
    elif triple.startswith(("aarch64", "arm64")):
        wait = "call void @llvm.aarch64.hint(i32 1)"
    return TEXT.format(
        **{f"at_{name}": place(name) for name in WORDS},
        wait=wait,
        declared=wait.replace("call", "declare").replace("i32 1", "i32"),
        read_clock=safepoints.read_clock("now"),
        share=SHARE,
        work=WORK,
        safepoint=safepoints.SYMBOL,
        most=TEAM_SLOTS,
        stretch=_STRETCH,
        spin=cost_model.SPINNING_TIME,
        pieces=cost_model.PIECES_PER_THREAD,
    )


def place(name: str) -> str:
    """The address of a word of the team's memory, as LLVM has it."""
    return f"getelementptr (i64, ptr @traceir_team, i64 {WORDS[name]})"


TEXT = """
{declared}
declare void @traceir_team()
declare void @traceir_threads()
declare void @traceir_engage()
declare i32 @traceir_clock(i32, ptr)
declare i32 @traceir_lock()
declare void @traceir_unlock(i32)
declare ptr @traceir_call(ptr, ptr, ...)
declare void @traceir_drop(ptr)
declare i32 @traceir_mutex_lock(ptr)
declare i32 @traceir_mutex_unlock(ptr)
declare i32 @traceir_cond_wait(ptr, ptr)
declare i32 @traceir_cond_broadcast(ptr)
declare i32 @traceir_yield()
declare i64 @{safepoint}(i64)
@traceir_team_format = private constant [2 x i8] c"L\\00"

define internal i64 @traceir_team_now() nounwind {{
  %time = alloca [2 x i64]
  {read_clock}
  ret i64 %now
}}

; Parts of the open job, those of the thread's own stretch first. An owner looks for
; signals; the result is less than 0 where one has raised.
define internal i64 @traceir_team_parts(i64 %slot, i64 %asked) nounwind {{
entry:
  %run = load ptr, ptr {at_run}
  %given = load ptr, ptr {at_given}
  %slots = load i64, ptr {at_slots}
  %chunk = load i64, ptr {at_chunk}
  %owns = icmp eq i64 %slot, 0
  br label %stretch
stretch:
  %d = phi i64 [0, %entry], [%d_next, %over]
  %asked_stretch = phi i64 [%asked, %entry], [%asked_part, %over]
  %left = icmp slt i64 %d, %slots
  br i1 %left, label %begin, label %end
begin:
  %beyond = add i64 %slot, %d
  %turned = sub i64 %beyond, %slots
  %inside = icmp slt i64 %beyond, %slots
  %own = select i1 %inside, i64 %beyond, i64 %turned
  %words = mul i64 %own, {stretch}
  %at_next = getelementptr i64, ptr {at_stretches}, i64 %words
  %at_end = getelementptr i64, ptr %at_next, i64 1
  %last = load i64, ptr %at_end
  br label %part
part:
  %asked_part = phi i64 [%asked_stretch, %begin], [%asked_next, %looked]
  %lo = atomicrmw add ptr %at_next, i64 %chunk monotonic
  %some = icmp slt i64 %lo, %last
  br i1 %some, label %turns, label %over
turns:
  %to = add i64 %lo, %chunk
  %shorter = icmp slt i64 %to, %last
  %hi = select i1 %shorter, i64 %to, i64 %last
  call void %run(ptr %given, i64 %lo, i64 %hi)
  %flag = load volatile i64, ptr %given
  %fine = icmp eq i64 %flag, 0
  br i1 %fine, label %further, label %end
further:
  br i1 %owns, label %look, label %looked
look:
  %found = call i64 @{safepoint}(i64 %asked_part)
  %raised = icmp slt i64 %found, 0
  br i1 %raised, label %raise, label %looked
raise:
  ret i64 -1
looked:
  %asked_next = phi i64 [%asked_part, %further], [%found, %look]
  br label %part
over:
  %d_next = add i64 %d, 1
  br label %stretch
end:
  %asked_last = phi i64 [%asked_stretch, %stretch], [%asked_part, %turns]
  ret i64 %asked_last
}}

; What the other threads do, for good.
define void @{work}(i64 %slot) nounwind {{
entry:
  br label %begin
begin:
  %last = phi i64 [0, %entry], [%last_left, %leave], [%last, %wake]
  atomicrmw add ptr {at_spinning}, i64 1 seq_cst
  %since = call i64 @traceir_team_now()
  br label %spin
spin:
  %n = phi i64 [0, %begin], [%n_next, %again]
  %job = load atomic i64, ptr {at_open} seq_cst, align 8
  %open = icmp ne i64 %job, 0
  %other = icmp ne i64 %job, %last
  %new = and i1 %open, %other
  br i1 %new, label %enter, label %idle
idle:
  {wait}
  %n_next = add i64 %n, 1
  %low = and i64 %n_next, 63
  %many = icmp eq i64 %low, 0
  br i1 %many, label %clock, label %again
clock:
  %now = call i64 @traceir_team_now()
  %took = sub i64 %now, %since
  %long = icmp sgt i64 %took, {spin}
  br i1 %long, label %sleep, label %again
again:
  br label %spin
sleep:
  atomicrmw sub ptr {at_spinning}, i64 1 seq_cst
  call i32 @traceir_mutex_lock(ptr {at_mutex})
  atomicrmw add ptr {at_asleep}, i64 1 seq_cst
  br label %look
look:
  %job_asleep = load atomic i64, ptr {at_open} seq_cst, align 8
  %open_asleep = icmp ne i64 %job_asleep, 0
  %other_asleep = icmp ne i64 %job_asleep, %last
  %new_asleep = and i1 %open_asleep, %other_asleep
  br i1 %new_asleep, label %wake, label %rest
rest:
  call i32 @traceir_cond_wait(ptr {at_condition}, ptr {at_mutex})
  br label %look
wake:
  atomicrmw sub ptr {at_asleep}, i64 1 seq_cst
  call i32 @traceir_mutex_unlock(ptr {at_mutex})
  br label %begin
enter:
  atomicrmw sub ptr {at_spinning}, i64 1 seq_cst
  atomicrmw add ptr {at_inside}, i64 1 seq_cst
  %job_inside = load atomic i64, ptr {at_open} seq_cst, align 8
  %still = icmp ne i64 %job_inside, 0
  br i1 %still, label %join, label %leave
join:
  %slots = load i64, ptr {at_slots}
  %wanted = icmp slt i64 %slot, %slots
  br i1 %wanted, label %take, label %leave
take:
  call i64 @traceir_team_parts(i64 %slot, i64 0)
  br label %leave
leave:
  %last_left = phi i64 [%last, %enter], [%job_inside, %join], [%job_inside, %take]
  atomicrmw sub ptr {at_inside}, i64 1 seq_cst
  br label %begin
}}

; Parts of a loop in all threads: 1 when they have been run, 0 if the team is busy, -1
; if something was raised. The first word of what is given ends the parts. The owner
; last `looked` for signals at that time, or never: 0.
define i64 @{share}(ptr %run, ptr %given, i64 %first, i64 %end, i64 %looked)
    nounwind {{
entry:
  %pair = cmpxchg ptr {at_owner}, i64 0, i64 1 seq_cst seq_cst
  %owned = extractvalue {{i64, i1}} %pair, 1
  br i1 %owned, label %count, label %busy
busy:
  ret i64 0
count:
  %threads = load i64, ptr @traceir_threads
  %few = icmp slt i64 %threads, {most}
  %slots = select i1 %few, i64 %threads, i64 {most}
  %wanted = sub i64 %slots, 1
  %workers = load i64, ptr {at_workers}
  %enough = icmp sge i64 %workers, %wanted
  br i1 %enough, label %divide, label %engage
engage:
  %state = call i32 @traceir_lock()
  %found = call ptr (ptr, ptr, ...) @traceir_call(ptr @traceir_engage,
    ptr @traceir_team_format, i64 %wanted)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %refused, label %engaged
refused:
  call void @traceir_unlock(i32 %state)
  store atomic i64 0, ptr {at_owner} seq_cst, align 8
  ret i64 -1
engaged:
  call void @traceir_drop(ptr %found)
  call void @traceir_unlock(i32 %state)
  br label %divide
divide:
  %parts = sub i64 %end, %first
  %pieces = mul i64 %slots, {pieces}
  %even = sdiv i64 %parts, %pieces
  %small = icmp slt i64 %even, 1
  %chunk = select i1 %small, i64 1, i64 %even
  store ptr %run, ptr {at_run}
  store ptr %given, ptr {at_given}
  store i64 %slots, ptr {at_slots}
  store i64 %chunk, ptr {at_chunk}
  br label %stretch
stretch:
  %s = phi i64 [0, %divide], [%s_next, %stretch]
  %s_next = add i64 %s, 1
  %low = mul i64 %s, %parts
  %high = mul i64 %s_next, %parts
  %from = sdiv i64 %low, %slots
  %to = sdiv i64 %high, %slots
  %lo = add i64 %first, %from
  %hi = add i64 %first, %to
  %words = mul i64 %s, {stretch}
  %at_next = getelementptr i64, ptr {at_stretches}, i64 %words
  %at_last = getelementptr i64, ptr %at_next, i64 1
  store i64 %lo, ptr %at_next
  store i64 %hi, ptr %at_last
  %others = icmp slt i64 %s_next, %slots
  br i1 %others, label %stretch, label %open
open:
  %before = load i64, ptr {at_number}
  %number = add i64 %before, 1
  store i64 %number, ptr {at_number}
  store atomic i64 %number, ptr {at_open} seq_cst, align 8
  %asleep = load atomic i64, ptr {at_asleep} seq_cst, align 8
  %some = icmp sgt i64 %asleep, 0
  br i1 %some, label %call, label %take
call:
  call i32 @traceir_mutex_lock(ptr {at_mutex})
  call i32 @traceir_cond_broadcast(ptr {at_condition})
  call i32 @traceir_mutex_unlock(ptr {at_mutex})
  br label %take
take:
  %asked = call i64 @traceir_team_parts(i64 0, i64 %looked)
  store atomic i64 0, ptr {at_open} seq_cst, align 8
  br label %wait
wait:
  %n = phi i64 [0, %take], [%n_next, %rest], [%n_next, %yield], [%n_next, %stop]
  %asked_now = phi i64 [%asked, %take], [%asked_now, %rest], [%found_now, %yield],
    [-1, %stop]
  %inside = load atomic i64, ptr {at_inside} seq_cst, align 8
  %none = icmp eq i64 %inside, 0
  br i1 %none, label %over, label %idle
idle:
  {wait}
  %n_next = add i64 %n, 1
  %rests = and i64 %n_next, 255
  %many = icmp eq i64 %rests, 0
  br i1 %many, label %poll, label %rest
rest:
  br label %wait
poll:
  call i32 @traceir_yield()
  %flag = load volatile i64, ptr %given
  %told = icmp ne i64 %flag, 0
  br i1 %told, label %rest, label %tell
tell:
  %stopped = icmp slt i64 %asked_now, 0
  br i1 %stopped, label %stop, label %ask
ask:
  %found_now = call i64 @{safepoint}(i64 %asked_now)
  %raised = icmp slt i64 %found_now, 0
  br i1 %raised, label %stop, label %yield
yield:
  br label %wait
stop:
  store volatile i64 -1, ptr %given
  br label %wait
over:
  store atomic i64 0, ptr {at_owner} seq_cst, align 8
  %fine = icmp sge i64 %asked_now, 0
  %result = select i1 %fine, i64 1, i64 -1
  ret i64 %result
}}
"""
