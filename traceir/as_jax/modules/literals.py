"""Python numbers with a dtype, in other implementations."""


class TypedInt(int):
    """An integer with a dtype, in other implementations; none is made here."""


class TypedFloat(float):
    """A floating number with a dtype, in other implementations; none is made here."""


class TypedComplex(complex):
    """A complex number with a dtype, in other implementations; none is made here."""
