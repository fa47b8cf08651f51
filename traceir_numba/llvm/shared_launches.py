"""Launches within routines whose ranges the threads of a team share.

A routine runs in machine code, where Python's threads cannot be asked. In place of a
kernel that computes much it calls a function that gives the team parts of the kernel's
range. Where the range is short, or another thread has the team, the kernel runs as it
is; nothing of this shows in the bits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from textwrap import dedent, indent
from typing import NamedTuple

from traceir_numba import cost_model
from traceir_numba.llvm import thread_team
from traceir_numba.llvm.symbols import Callee

# Words before the kernel's arguments in what parts are given: the flag that would end
# them, the elements of one, the first, and the one after the last.
_HEAD = 4
# A thread that looked for signals at this time does not look again: the routine does.
_NEVER = 2**63 - 1


class SharedLaunch(NamedTuple):
    """A function that a routine calls in the place of a kernel, and its LLVM text."""

    callee: Callee
    text: str


def launch(kernel: Callee, sizes: Sequence[str], least: int) -> SharedLaunch:
    """A function as a kernel, which shares ranges from a length on.

    The kernel takes pointers, then integers of these names: `lo` and `hi` are its
    range, and where it folds blocks, the `last` call joins what they have left.
    """
    symbol = f"{kernel.symbol}_shared_{least}"
    kinds = ["ptr" if kind[-1] == "*" else "i64" for kind in kernel.args]
    pointers = len(kinds) - len(sizes)
    at = {name: f"%v{pointers + k}" for k, name in enumerate(sizes)}
    stores, loads = [], []
    for k, kind in enumerate(kinds):
        word = f"getelementptr i64, ptr %given, i64 {_HEAD + k}"
        stores += [f"%to{k} = {word}", f"store {kind} %v{k}, ptr %to{k}"]
        loads += [f"%at{k} = {word}", f"%v{k} = load {kind}, ptr %at{k}"]
    names = [f"%v{k}" for k in range(len(kinds))]
    own = {at["lo"]: "%from", at["hi"]: "%to", at.get("last"): "0"}
    part = [own.get(name, name) for name in names]
    end = [at["hi"] if name == at["lo"] else name for name in names]
    join = f"call void @{kernel.symbol}({_typed(kinds, end)})"
    text = dedent(TEXT).format(
        symbol=symbol,
        kernel=kernel.symbol,
        types=", ".join(kinds),
        every=_typed(kinds, names),
        part=_typed(kinds, part),
        join=join if "last" in at else "",
        stores=indent("\n".join(stores), "  ").strip(),
        loads=indent("\n".join(loads), "  ").strip(),
        words=_HEAD + len(kinds),
        low=at["lo"],
        high=at["hi"],
        least=least,
        grain=cost_model.PIECE_GRAIN,
        long=cost_model.PIECE_GRAIN * cost_model.ROUNDED_GRAINS,
        share=thread_team.SHARE,
        never=_NEVER,
    )
    return SharedLaunch(Callee(symbol, kernel.args, None), text)


def _typed(kinds: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(map(" ".join, zip(kinds, values, strict=True)))


def with_launches(text: str, launches: Collection[SharedLaunch]) -> str:
    """LLVM text of a routine with what it calls in the place of kernels."""
    if not launches:
        return text
    for one in launches:
        text = (
            re.sub(rf"(?m)^declare .*@{one.callee.symbol}\(.*\n", "", text) + one.text
        )
    declared = dict.fromkeys(re.findall(r"(?m)^declare .*$", text))
    rest = re.sub(r"(?m)^declare .*\n", "", text)
    return "\n".join([*declared, rest])


TEXT = """
declare void @{kernel}({types})
declare void @traceir_threads()
declare i64 @{share}(ptr, ptr, i64, i64, i64)
define linkonce_odr void @{symbol}_run(ptr %given, i64 %first, i64 %end) nounwind {{
  {loads}
  %at_grain = getelementptr i64, ptr %given, i64 1
  %at_low = getelementptr i64, ptr %given, i64 2
  %at_high = getelementptr i64, ptr %given, i64 3
  %grain = load i64, ptr %at_grain
  %low = load i64, ptr %at_low
  %high = load i64, ptr %at_high
  %past = mul i64 %first, %grain
  %beyond = mul i64 %end, %grain
  %from = add i64 %low, %past
  %last = add i64 %low, %beyond
  %shorter = icmp slt i64 %last, %high
  %to = select i1 %shorter, i64 %last, i64 %high
  call void @{kernel}({part})
  ret void
}}
define linkonce_odr void @{symbol}({every}) nounwind {{
entry:
  %given = alloca [{words} x i64]
  %length = sub i64 {high}, {low}
  %threads = load i64, ptr @traceir_threads
  %much = icmp sge i64 %length, {least}
  %several = icmp sgt i64 %threads, 1
  %both = and i1 %much, %several
  br i1 %both, label %split, label %alone
split:
  %long = icmp sge i64 %length, {long}
  %grain = select i1 %long, i64 {grain}, i64 1
  %up = add i64 %length, %grain
  %up_less = sub i64 %up, 1
  %parts = sdiv i64 %up_less, %grain
  store i64 0, ptr %given
  %to_grain = getelementptr i64, ptr %given, i64 1
  %to_low = getelementptr i64, ptr %given, i64 2
  %to_high = getelementptr i64, ptr %given, i64 3
  store i64 %grain, ptr %to_grain
  store i64 {low}, ptr %to_low
  store i64 {high}, ptr %to_high
  {stores}
  %found = call i64 @{share}(ptr @{symbol}_run, ptr %given, i64 0, i64 %parts,
    i64 {never})
  %shared = icmp eq i64 %found, 1
  br i1 %shared, label %join, label %alone
join:
  {join}
  br label %done
alone:
  call void @{kernel}({every})
  br label %done
done:
  ret void
}}
"""
