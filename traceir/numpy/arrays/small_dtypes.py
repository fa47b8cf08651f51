"""Names of dtypes of ml_dtypes that no array has.

Some programs ask for them.
"""

import ml_dtypes

NAMES: tuple[str, ...] = ("float6_e2m3fn", "float6_e3m2fn", "int1", "uint1")

globals().update({name: getattr(ml_dtypes, name) for name in NAMES})
