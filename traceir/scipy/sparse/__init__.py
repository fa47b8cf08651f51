"""Systems of equations whose matrix need not be written out.

Takes a function that multiplies by a matrix; gives solutions. Start reading at
`linalg.cg`.

- `linalg`: iterative solutions of linear systems
"""

from traceir.scipy.sparse import linalg as linalg
