"""The dtype of tangents that carry nothing. Serves: derive.float0"""

import numpy as np

# The tangent of an integer or a boolean: it has a shape, and elements without bytes.
float0 = np.dtype([("float0", np.void, 0)])
