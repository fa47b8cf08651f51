"""Programs that leave the process: files of text and constants. Serves: export.*

>>> import traceir, traceir.numpy as jnp
>>> program = export(jnp.sin, traceir.ShapeDtypeStruct((2,), "float32"))
>>> deserialize(program.serialize())(jnp.zeros(2))
Array([0., 0.], dtype=float32)
"""

from traceir.exports.exported import Exported, deserialize
from traceir.exports.spelling import Export, export
from traceir.exports.trees import register_class

__all__ = ["Export", "Exported", "deserialize", "export", "register_class"]
