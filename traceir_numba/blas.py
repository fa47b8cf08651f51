"""Large matrix products in loops by the BLAS that SciPy has, without Python.

Serves: choice.dot-order
"""

from __future__ import annotations

from traceir_numba import engine
from traceir_numba.libraries import GEMM, provided

# LLVM's type and BLAS's letter of the dtypes that BLAS has products of.
KINDS = {"float32": ("float", "s"), "float64": ("double", "d")}


def product_text(symbol: str, dtype: str) -> str | None:
    """LLVM text of a function that does as `functions.product`, if BLAS can."""
    if dtype not in KINDS:
        return None
    kind, letter = KINDS[dtype]
    product = f"{GEMM}{letter}"
    if not provided(product):
        return None
    # BLAS stores columns: what it takes for the product's transpose is the product.
    counts = {
        "m": "columns",
        "n": "rows",
        "k": "inner",
        "lda": "ld_y",
        "ldb": "ld_x",
        "ldc": "columns",
    }
    lines = [
        "%t_x = icmp ne i64 %x_turned, 0",
        "%t_y = icmp ne i64 %y_turned, 0",
        "%ld_x = select i1 %t_x, i64 %rows, i64 %inner",
        "%ld_y = select i1 %t_y, i64 %inner, i64 %columns",
        f"%letter_x = select i1 %t_x, i8 {ord('T')}, i8 {ord('N')}",
        f"%letter_y = select i1 %t_y, i8 {ord('T')}, i8 {ord('N')}",
    ]
    for name, value in (("a", "y"), ("b", "x")):
        lines += [
            f"%trans_{name} = alloca i8",
            f"store i8 %letter_{value}, ptr %trans_{name}",
        ]
    for name, value in counts.items():
        lines += [
            # BLAS wants strides of at least one even where there is nothing.
            f"%least_{name} = call i64 @llvm.umax.i64(i64 %{value}, i64 1)"
            if name.startswith("ld")
            else f"%least_{name} = add i64 %{value}, 0",
            f"%short_{name} = trunc i64 %least_{name} to i32",
            f"%{name} = alloca i32",
            f"store i32 %short_{name}, ptr %{name}",
        ]
    for name, value in (("alpha", "1.0"), ("beta", "0.0")):
        lines += [f"%{name} = alloca {kind}", f"store {kind} {value}, ptr %{name}"]
    for name, row, column in (
        ("x", "rows", "inner"),
        ("y", "inner", "columns"),
        ("z", "rows", "columns"),
    ):
        lines.append(f"%size_{name} = mul i64 %{row}, %{column}")
    head = "\n  ".join(lines)
    offsets = "\n  ".join(
        f"%start_{n} = mul i64 %b, %size_{n}\n"
        f"  %at_{n} = getelementptr {kind}, ptr %{n}, i64 %start_{n}"
        for n in "xyz"
    )
    first = ["trans_a", "trans_b", "m", "n", "k", "alpha"]
    args = [*first, "at_y", "lda", "at_x", "ldb", "beta", "at_z", "ldc"]
    given = ", ".join(f"ptr %{a}" for a in args)
    pointers = ", ".join(f"ptr %{n}" for n in "xyz")
    sizes = ", ".join(
        f"i64 %{n}"
        for n in ("batch", "rows", "inner", "columns", "x_turned", "y_turned")
    )
    return f"""target triple = "{engine.triple()}"
declare i64 @llvm.umax.i64(i64, i64)
declare void @{product}({", ".join(["ptr"] * len(args))})
define void @{symbol}({pointers}, {sizes}) {{
entry:
  {head}
  %some = icmp sgt i64 %batch, 0
  br i1 %some, label %loop, label %end
loop:
  %b = phi i64 [0, %entry], [%next, %loop]
  {offsets}
  call void @{product}({given})
  %next = add i64 %b, 1
  %more = icmp slt i64 %next, %batch
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
