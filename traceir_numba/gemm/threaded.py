"""Products within compiled loops, on several threads without Python.

A routine runs in machine code, where Python's threads cannot be asked; so a large
product starts threads of the system's, which end with it. That takes 30 us.
"""

from __future__ import annotations

from textwrap import dedent, indent

from traceir_numba import cost_model
from traceir_numba.runtime.external_symbols import provided

# No more threads than this, whatever is asked for: there is a list of them.
MOST = 16
NEEDS = ("traceir_thread_create", "traceir_thread_join", "traceir_threads")


def can_share() -> bool:
    """True if the system's threads can be started."""
    return all(map(provided, NEEDS))


def shared_text(symbol: str, run: str, product: str, pointers: int, sizes: int) -> str:
    """LLVM text of a function as `product`, which gives each thread some rows.

    After the pointers come the first and last row, the first and last column, then
    rows, columns and terms.
    """
    count = pointers + sizes
    kinds = ["ptr"] * pointers + ["i64"] * sizes
    low, high, left, right, inner = (pointers + k for k in (0, 1, 2, 3, 6))
    taken = [
        f"%at_{k} = getelementptr i64, ptr %given, i64 {k}\n"
        f"%v{k} = load {kind}, ptr %at_{k}"
        for k, kind in enumerate(kinds)
    ]
    changed = {low: "%first", high: "%last"}
    put = [
        f"%to_{k} = getelementptr i64, ptr %own, i64 {k}\n"
        f"store {kind} {changed.get(k, f'%v{k}')}, ptr %to_{k}"
        for k, kind in enumerate(kinds)
    ]
    all_ = ", ".join(f"{kind} %v{k}" for k, kind in enumerate(kinds))
    begin = all_.replace(f"%v{high}", "%end_own")
    named = {
        "taken": indent("\n".join(taken), "  ").strip(),
        "put": indent("\n".join(put), "  ").strip(),
        "all": all_,
        "begin": begin,
        "symbol": symbol,
        "run": run,
        "product": product,
        "count": count,
        "most": MOST,
        "shared": cost_model.ROUTINE_MATMUL_WORK,
        "low": f"%v{low}",
        "high": f"%v{high}",
        "inner": f"%v{inner}",
        "left": f"%v{left}",
        "right": f"%v{right}",
        "memory": MOST * count,
        "types": ", ".join(kinds),
    }
    return dedent(TEXT).format(**named)


# The number of threads is read where a function would be: code finds data that way.
TEXT = """
declare void @{product}({types})
declare i32 @traceir_thread_create(ptr, ptr, ptr, ptr)
declare i32 @traceir_thread_join(i64, ptr)
declare void @traceir_threads()
define ptr @{run}(ptr %given) nounwind {{
  {taken}
  call void @{product}({all})
  ret ptr null
}}
define void @{symbol}({all}) nounwind {{
entry:
  %arguments = alloca [{memory} x i64]
  %threads = alloca [{most} x i64]
  %wanted = load i64, ptr @traceir_threads
  %lines = sub i64 {high}, {low}
  %wide = sub i64 {right}, {left}
  %results = mul i64 %lines, %wide
  %work = mul i64 %results, {inner}
  %large = icmp sge i64 %work, {shared}
  %several = icmp sgt i64 %wanted, 1
  %both = and i1 %large, %several
  br i1 %both, label %split, label %alone
alone:
  call void @{product}({all})
  ret void
split:
  %few = icmp slt i64 %wanted, {most}
  %parts = select i1 %few, i64 %wanted, i64 {most}
  %up = add i64 %lines, %parts
  %up_less = sub i64 %up, 1
  %even = sdiv i64 %up_less, %parts
  %even_up = add i64 %even, 7
  %step = and i64 %even_up, -8
  br label %next
next:
  %t = phi i64 [1, %split], [%t_next, %made]
  %far = mul i64 %t, %step
  %first = add i64 {low}, %far
  %some = icmp slt i64 %first, {high}
  br i1 %some, label %make, label %begin
make:
  %beyond = add i64 %first, %step
  %inside = icmp slt i64 %beyond, {high}
  %last = select i1 %inside, i64 %beyond, i64 {high}
  %from = mul i64 %t, {count}
  %own = getelementptr i64, ptr %arguments, i64 %from
  {put}
  %thread = getelementptr i64, ptr %threads, i64 %t
  %code = call i32 @traceir_thread_create(ptr %thread, ptr null, ptr @{run}, ptr %own)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %here, label %made
here:
  call ptr @{run}(ptr %own)
  store i64 0, ptr %thread
  br label %made
made:
  %t_next = add i64 %t, 1
  br label %next
begin:
  %until = add i64 {low}, %step
  %shorter = icmp slt i64 %until, {high}
  %end_own = select i1 %shorter, i64 %until, i64 {high}
  call void @{product}({begin})
  br label %wait
wait:
  %k = phi i64 [1, %begin], [%k_next, %waited]
  %left_over = icmp slt i64 %k, %t
  br i1 %left_over, label %join, label %end
join:
  %place = getelementptr i64, ptr %threads, i64 %k
  %id = load i64, ptr %place
  %none = icmp eq i64 %id, 0
  br i1 %none, label %waited, label %started
started:
  call i32 @traceir_thread_join(i64 %id, ptr null)
  br label %waited
waited:
  %k_next = add i64 %k, 1
  br label %wait
end:
  ret void
}}
"""
