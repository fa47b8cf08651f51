"""Programs that leave the process: files of text and constants. Serves: export.*

Takes a function and the types of its arguments; gives an `Exported`, which serializes
to bytes, and back. Start reading at `exported.trace`.

- `calls`: calls of functions with derivative rules, in the order of the text
- `constants`: constants as bytes: row-major, little-endian
- `container`: the container of a file: a head, text, and blocks of constants
- `derivatives`: derivative rules of exported functions, as programs
- `exported`: `Exported`: a program that can be called, traced and pickled
- `kept`: the writer and the reader of a program with its derivative rules
- `portable`: programs with no reference to this process's functions
- `program`: an exported program as data, and its conversion to a file
- `spelling`: `traceir.export`: callable, with the names of `jax.export`
- `trees`: tree structures as JSON, with classes by registered names

>>> import traceir, traceir.numpy as jnp
>>> program = export(jnp.sin, traceir.ShapeDtypeStruct((2,), "float32"))
>>> deserialize(program.serialize())(jnp.zeros(2))
Array([0., 0.], dtype=float32)
"""

from traceir.base.tracebacks import publish as _publish
from traceir.exports.exported import Exported, deserialize
from traceir.exports.spelling import Export, export
from traceir.exports.trees import register_class

__all__ = ["Export", "Exported", "deserialize", "export", "register_class"]

_publish(globals())
