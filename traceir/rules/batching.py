"""The column `batch`: how a primitive is batched.

Serves: table.batch
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from traceir.base.fast_dataclass import dataclass
from traceir.rules.derivatives import Cases, read_cases
from traceir.rules.formulas.language import Formula
from traceir.rules.formulas.names import FormulaNames
from traceir.rules.formulas.table_errors import problem
from traceir.rules.row_reader import RowReader

# The classes of primitives by how they are batched; each is one rule in code.
BATCH_CLASSES = (
    "pointwise",
    "aligned",
    "anywhere",
    "front",
    "together",
    "contraction",
    "constant",
    "collective",
    "region",
)
# Of these the row says what becomes of its params.
_MOVING = ("anywhere", "front", "together", "collective")
# Of these some operands may stay as they are, and templates may be applied.
_SHARING = ("anywhere", "front")
# What a formula of the column may name besides what the row's others can.
BATCH_NAMES = ("d", "size", "moved", "dims", "sanitize")


@dataclass(frozen=True, slots=True)
class Batch:
    """The batching of a primitive: its class, and what the class leaves to the row.

    `params` gives those that change, `dim` the batched dimension of the results; both
    see the batched dimension `d` of the operands, the axis's `size`, and whether an
    operand was `moved` to have its dimension there; `dims` is that of each operand,
    None if it has none, and `let` defines names for formulas of the column. `scalars`
    are the operands that may stay scalars beside others that are not, `shared` those
    that stay as they are if they are not batched, and have the dimension first if they
    are. `cases` are templates that are applied in place of the primitive, `empty` the
    operand that is the result where there are no examples.
    """

    rule: str
    params: Mapping[str, Formula]
    dim: Formula | None = None
    scalars: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    cases: Cases = ()
    empty: str = ""
    let: Mapping[str, Formula] = field(default_factory=dict)


def read_batch(
    row: RowReader,
    scope: FormulaNames,
    inputs: Sequence[str],
    variadic: bool,
    params: Sequence[str],
) -> Batch | None:
    """The column of a row, or None if it has none; RuleTableError (table.batch)."""
    if not row.has("batch"):
        return None
    found = row.get("batch", (str, Mapping))
    where = f"{row.where}: batch"
    part = RowReader({"rule": found} if isinstance(found, str) else found, where)
    rule = part.one_of("rule", BATCH_CLASSES)
    names = scope.plus(*BATCH_NAMES)
    named = part.get("let", Mapping, {})
    names = names.plus(*named)
    let = {k: names.formula(v, f"{where}: {k}") for k, v in named.items()}
    texts = part.get("params", Mapping, {})
    formulas = {k: names.formula(v, f"{where}: {k}") for k, v in texts.items()}
    several = {name: variadic and name == inputs[-1] for name in inputs}
    given = part.get("is", (str, list), None)
    cases = (
        () if given is None else read_cases(given, several, names.plus("out"), where)
    )
    batch = Batch(
        rule,
        formulas,
        part.maybe("dim", names),
        part.texts("scalars"),
        part.texts("shared"),
        cases,
        part.text("empty", ""),
        let,
    )
    part.done()
    operands = {*batch.scalars, *batch.shared, *filter(None, [batch.empty])}
    unknown = (set(formulas) - set(params)) | (operands - set(inputs))
    if unknown:
        raise problem("table.batch", where, ", ".join(sorted(unknown)))
    if (formulas or batch.dim) and rule not in _MOVING:
        raise problem("table.batch", where, f"formulas in the class {rule!r}")
    if (batch.shared or batch.cases or batch.empty) and rule not in _SHARING:
        raise problem("table.batch", where, f"shared operands in the class {rule!r}")
    if batch.scalars and rule != "aligned":
        raise problem("table.batch", where, f"scalars in the class {rule!r}")
    return batch
