"""Modules of JAX by their names, and `install`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from importlib.util import find_spec
from types import ModuleType

from traceir.as_jax import private
from traceir.as_jax.callback_errors import runtime_error
from traceir.as_jax.distributions import NAMES, distributions
from traceir.base import config
from traceir.base.version import JAX_VERSION
from traceir.tracing import callbacks

# Modules of this library that are not JAX's, though a name leads to them.
OWN: tuple[str, ...] = (
    "as_jax",
    "base",
    "rules",
    "exact",
    "ir",
    "text",
    "oracle",
    "reference",
)
OWN += ("arrays", "tracing", "binding", "eager", "sanitize", "transforms", "face")
OWN += ("exports", "store", "conform", "spec", "commands", "pytrees", "jit")
MODULES = "traceir.as_jax.modules"


class StandIn(ModuleType):
    """`jax` and `jaxlib`: the names of this library, and JAX's version."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "This library, where a program imports JAX.")
        self.__path__: list[str] = []
        self.__version__ = JAX_VERSION
        self.__version_info__ = tuple(map(int, JAX_VERSION.split(".")))

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # what tools ask of every module
            raise AttributeError(name)
        if self.__name__ == "jax" and (value := _public(name)) is not None:
            setattr(self, name, value)
            return value
        raise AttributeError(private.missing(f"{self.__name__}.{name}"))

    def __dir__(self) -> list[str]:
        import traceir

        own = [name for name in dir(traceir) if name not in OWN]
        return sorted({*own, *vars(self)})


def _public(name: str) -> object | None:
    """A name of JAX's first level: a module, or what this library has by that name."""
    import traceir

    if located(f"jax.{name}") is not None or private.is_private(f"jax.{name}"):
        return import_module(f"jax.{name}")
    found = getattr(traceir, name, None)
    return None if name in OWN and isinstance(found, ModuleType) else found


def located(name: str) -> str | None:
    """This library's module for one of JAX's; None if it has none.

    >>> located("jax.numpy.linalg"), located("jax.core"), located("jax.rules")
    ('traceir.numpy.linalg', 'traceir.as_jax.modules.core', None)
    """
    root, _, rest = name.partition(".")
    if root != "jax" or not rest or rest.split(".")[0] in OWN or "._" in name:
        return None
    for package in (MODULES, "traceir"):
        try:
            spec = find_spec(f"{package}.{rest}")
        except (ModuleNotFoundError, ValueError):  # a former name has no spec
            continue
        if spec is not None:
            return spec.name
    return None


class WholeModule(ModuleType):
    """A module whose `vars` are all its names: those, too, that nobody has asked for.

    Libraries wrap every function of `jax.numpy` that they find there.
    """

    @property
    def __dict__(self) -> dict[str, object]:  # type: ignore[override]  # of a module
        ModuleType.__setattr__(self, "__class__", ModuleType)  # once is enough
        for name in dir(self):
            getattr(self, name, None)
        return vars(self)


class SameModule(Loader):
    """Gives a module that is known by another name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself."""
        module = import_module(self.name)
        spec.loader_state = module.__spec__
        if type(module) is ModuleType and hasattr(module, "__getattr__"):
            module.__class__ = WholeModule
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put back what the import system has written over; nothing is run."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


class NewModule(Loader):
    """Gives a module that is made for its name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, whose names are found when they are asked for."""
        if spec.name == "jax":
            config.read_environment()
        return (StandIn if spec.name in NAMES else private.PrivateModule)(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code."""


class JaxFinder(DistributionFinder):
    """Answers for `jax`, for `jaxlib`, and for the modules in them."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec of one of JAX's modules; None for any other module.

        Raises:
            ModuleNotFoundError: It is one of JAX's, and this library has none.
        """
        if fullname.partition(".")[0] not in NAMES:
            return None
        if fullname in NAMES or private.is_private(fullname):
            return ModuleSpec(fullname, NewModule(), is_package=True)
        own = located(fullname)
        if own is None:
            raise ModuleNotFoundError(private.missing(fullname), name=fullname)
        return ModuleSpec(fullname, SameModule(own), is_package=True)

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterator[Distribution]:
        """The metadata that `importlib.metadata` asks for."""
        return distributions(None if context is None else context.name)


def installed() -> bool:
    """True if `import jax` leads here.

    >>> installed()
    False
    """
    return any(isinstance(finder, JaxFinder) for finder in sys.meta_path)


def install() -> None:
    """Have `import jax`, and imports of its modules, lead to this library.

    `jax.numpy` is `traceir.numpy` then, the same object, and so is every module that
    exists here. `jax.__version__` and the package's metadata tell the version of JAX
    that this library follows. A second call does nothing.

    Raises:
        ImportError: JAX has been imported already.

    A program calls it first of all, or is run by `python -m traceir run`:

    .. code-block:: python

        import traceir

        traceir.as_jax.install()
        import optax
    """
    if installed():
        return
    if "jax" in sys.modules:
        raise ImportError(
            "JAX itself has been imported: call traceir.as_jax.install() before "
            "anything imports `jax`, or run the program by `python -m traceir run`"
        )
    import ml_dtypes  # noqa: F401  # NumPy knows its dtypes by name from then on

    sys.meta_path.insert(0, JaxFinder())
    callbacks.RAISED.append(runtime_error)


@contextmanager
def standing_in() -> Iterator[None]:
    """Have `import jax` lead to this library inside the `with`: see `install`.

    >>> import sys
    >>> with standing_in():
    ...     import jax.numpy
    >>> jax.numpy.__name__, "jax" in sys.modules
    ('traceir.numpy', False)
    """
    if installed():
        yield
        return
    install()
    try:
        yield
    finally:
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, JaxFinder)]
        callbacks.RAISED.clear()
        for name in [n for n in sys.modules if n.partition(".")[0] in NAMES]:
            del sys.modules[name]
