"""Other names of dtypes, kinds of dtypes and constants. Serves: face.dtype

Kinds are NumPy's abstract classes, for `issubdtype`. Some have no dtype here: there are
no texts and no objects in arrays.
"""

from __future__ import annotations

import numpy as np

from traceir.arrays.array import Array
from traceir.numpy.arrays.dtypes import (
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    int64,
    uint64,
)

ndarray = Array
euler_gamma = np.euler_gamma
generic = np.generic
number = np.number
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
complexfloating = np.complexfloating
flexible = np.flexible
character = np.character
object_ = np.object_
bool = bool_
single = float32
csingle = complex64
cdouble = complex128
double = float64
int_ = int64
uint = uint64
complex_ = complex128
float_ = float64
