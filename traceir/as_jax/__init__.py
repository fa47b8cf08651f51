"""The stand-in for JAX: `import jax`, and this library answers.

Takes the names of modules that a program imports; gives this library's modules, the
same objects. Start reading at `finder.install`.

>>> import traceir
>>> traceir.as_jax.install  # doctest: +ELLIPSIS
<function install at ...>

- `callback_errors`: the error of a program whose callback raises, as JAX has it
- `custom_traces`: traces of users, which handle operations by a method of their own
- `distributions`: the metadata of JAX's packages, as `importlib.metadata` tells it
- `finder`: modules of JAX by their names, and `install`
- `mirrored`: private modules of JAX's by the public ones that have their names
- `modules`: modules that JAX has and that few programs name
- `node_registry`: types of nodes as libraries read them
- `private`: names of JAX's private modules that libraries import, as a published list
- `program_parts`: pieces of which libraries build programs
- `threefry_words`: functions of Threefry's keys as their two words, for keys of others
- `wrapped_functions`: a function with keyword arguments that it is always given
"""

from traceir.as_jax.finder import install, installed, standing_in

__all__ = ["install", "installed", "standing_in"]
