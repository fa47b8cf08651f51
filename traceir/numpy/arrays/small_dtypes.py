"""Dtypes of eight bits and fewer, by the names that ml_dtypes has.

They are names for programs that ask for them; arrays here have none of them.
"""

import ml_dtypes

NAMES: tuple[str, ...] = (
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
)
NAMES += ("float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz")
NAMES += ("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu")
NAMES += ("int1", "int2", "int4", "uint1", "uint2", "uint4")

globals().update({name: getattr(ml_dtypes, name) for name in NAMES})
