"""Rows of the tables that no case can show, and the tests that show them instead."""

from __future__ import annotations

PLAIN = "tests/test_plain_composed.py"
# Rows that a case cannot show, and the tests that expect them instead.
ELSEWHERE = {
    # Faults of a backend, which the reference does not have.
    "backend.unsupported": "tests/backend/test_compile_counts.py",
    "backend.compile": "tests/backend/test_compile_counts.py",
    # Equations of a case come from no line of a program in Python.
    "jit.unrolled": "tests/test_growth.py",
    # How a program runs, which no case can see.
    "jit.explain": "tests/backend/test_speed.py",
    "backend.threads": "tests/backend/test_pool.py",
    "backend.device": "tests/cuda/test_arrays.py",
    "backend.memory": "tests/cuda/test_memory.py",
    "backend.foreign": "tests/cuda/test_foreign.py",
    # A case has no GPUs, nor a simulator of these.
    **dict.fromkeys(
        ("device.simulated", "mesh.platform", "sharding.devices"),
        "tests/cuda/test_meshes.py",
    ),
    # A case is run by one process.
    **dict.fromkeys(
        (
            *("process.mesh", "process.programs", "process.waited"),
            *("process.start", "array.addressable"),
        ),
        "tests/processes/test_processes.py",
    ),
    # A policy of a case has one list of names.
    "checkpoint.names": "tests/transforms/test_checkpoint_policies.py",
    # A case writes no files.
    **dict.fromkeys(
        (
            *("artefact.form", "artefact.name", "artefact.contents", "artefact.tree"),
            *("artefact.cpu", "artefact.linker"),
        ),
        "tests/export/test_refusals.py",
    ),
    **dict.fromkeys(
        ("artefact.whole", "artefact.version"), "tests/export/test_damage.py"
    ),
    # Nor has it files of other versions, or pickles.
    **dict.fromkeys(
        (
            *("export.file", "export.program", "export.version"),
            *("export.additions", "export.later"),
        ),
        "tests/exports/test_files.py",
    ),
    "export.pickled": "tests/exports/test_pickles.py",
    **dict.fromkeys(
        ("export.derivatives", "export.order"), "tests/exports/test_derivatives.py"
    ),
    "export.tree": "tests/exports/test_trees.py",
    # Devices that wait for one another forever would hold up other implementations.
    "shard_map.loop": "tests/shardings/test_gradients.py",
    # Calls of several threads at once have no order that a case could write.
    **dict.fromkeys(
        (
            *("cache.event.wait", "cache.event.trace-too"),
            *("cache.event.first-insert", "cache.event.raise-too"),
        ),
        "tests/test_threads.py",
    ),
    # A plain case calls a function with NumPy's arrays and without options.
    **dict.fromkeys(
        ("face.fallback", "update.argument", "update.refused"),
        "tests/test_plain_errors.py",
    ),
    # It is called with NumPy's usual settings of errors.
    "jit.raising": "tests/test_plain_by_value.py",
    # It makes no objects of classes of its own.
    "face.objects": "tests/test_plain_objects.py",
    # What a function sees, and nothing that it gives.
    "face.known": PLAIN,
    # Python, which judges plain cases, gives no such warning.
    "compat.generator": "tests/test_compat.py",
    # A case that is malformed is no case.
    "text.case": "tests/conform/test_cases.py",
    # Text gives a program the effects that it has.
    "program.effects": "tests/test_effects.py",
    # Helpers of tests, which are no part of the language of cases.
    "check.value": "tests/drift/test_transform_cases.py",
    "check.derivative": "tests/drift/test_transform_cases.py",
    # A lowering is a function of the API for libraries, which no case can write.
    "custom_primitive.types": "tests/as_jax/test_custom_primitives.py",
    # Host functions have no parameters without positions.
    # They take functions of functions, for which cases have no words.
    **dict.fromkeys(
        ("custom_solve.structure", "custom_solve.transpose", "custom_solve.value"),
        "tests/neighbours/test_solvers.py",
    ),
    # They are about cells, which no case has words for.
    **dict.fromkeys(
        (
            *("ref.cell", "ref.state", "ref.places", "ref.index", "ref.value"),
            *("ref.alias", "ref.returned", "ref.open", "ref.region"),
        ),
        "tests/test_references.py",
    ),
    **dict.fromkeys(
        (
            *("ref.body", "ref.derivative", "ref.differentiated", "ref.batched"),
            "ref.condition",
        ),
        "tests/test_reference_transforms.py",
    ),
    **dict.fromkeys(
        ("custom_vmap.structure", "custom_vmap.undefined", "custom_vmap.value"),
        "tests/transforms/test_custom_vmap.py",
    ),
    "custom.keyword": "tests/drift/test_transform_cases.py",
    # Text gives a constant the type of its variable.
    "program.constant-type": "tests/test_typing.py",
    # A host function of a case has no defaults; no case makes thousands of traces.
    "cache.default": "tests/test_facts.py",
    "cache.bound": "tests/backend/test_lifetime.py",
    # No two programs of a case are compared but as text.
    "program.equal": "tests/test_facts.py",
    # The functions have other equations without it, and other numbers.
    "random.rbg": "tests/draws/test_bit_generators.py",
    # No case asks for the names that equations stand in.
    **dict.fromkeys(
        ("program.names", "program.names-again", "program.names-text"),
        "tests/test_name_stacks.py",
    ),
    **dict.fromkeys(("export.layout", "export.head"), "tests/exports/test_files.py"),
}
# Rows of prose, which no table is read for, and the tests that show what they forbid
# and permit.
PROSE = {
    **dict.fromkeys(
        (
            *("staged.construct", "staged.jump", "staged.carry", "staged.arrays"),
            *("staged.unbound", "staged.source"),
        ),
        "tests/test_staged.py",
    ),
    **dict.fromkeys(("face.box", "face.ufunc"), PLAIN),
    "face.view": "tests/fuzz/test_plain_updates.py",
    "face.reach": "tests/test_plain_reached.py",
    "staged.raised": "tests/test_plain_exceptions.py",
    "staged.turns": "tests/test_plain_turns.py",
    "staged.turns.fold": "tests/test_plain_turns.py",
    "staged.turns.ordered": "tests/test_plain_turns.py",
    "staged.turns.proved": "tests/test_plain_turns.py",
    "staged.drawn": "tests/test_plain_draws.py",
    "staged.list": "tests/test_plain_lists.py",
    "python.numbers": "tests/test_plain_scalars.py",
    "python.print": "tests/test_plain_random_loops.py",
    **dict.fromkeys(
        ("accuracy.int-wrap", "accuracy.nan", "accuracy.overflow"),
        "tests/drift/test_choices.py",
    ),
    **dict.fromkeys(
        ("accuracy.complex", "accuracy.complex-limits"),
        "tests/complex/test_functions.py",
    ),
    "accuracy.beyond": "tests/test_narrow_dtypes.py",
    "derive.complex": "tests/complex/test_derivatives.py",
    **dict.fromkeys(
        ("text.lossless", "text.constants", "text.nan"),
        "tests/conform/test_full_text.py",
    ),
    **dict.fromkeys(
        (
            *("text.roundtrip", "text.inner-names", "text.left-out"),
            *("text.untyped", "text.undefined", "text.wrapped"),
            *("text.groups", "text.shared-name"),
        ),
        "tests/conform/test_text.py",
    ),
    "text.spelling": "tests/conform/test_jax_text.py",
    "accuracy.one-answer": "tests/fuzz/test_backend.py",
    **dict.fromkeys(
        (
            *("derive.jvp", "derive.template", "derive.broadcast", "derive.jit"),
            *("derive.jacobian", "derive.linearize", "derive.transpose"),
            *("derive.float0", "accuracy.batched"),
        ),
        "tests/drift/test_transform_cases.py",
    ),
    "export.same": "tests/exports/test_programs.py",
    "export.constants": "tests/exports/test_files.py",
    "level.capture": "tests/test_trace.py",
    "element.owned": "tests/test_array.py",
    **dict.fromkeys(
        ("element.negative", "element.order", "element.together"),
        "tests/test_index_arrays.py",
    ),
    "element.outside": "tests/test_indexing.py",
    "element.update": "tests/test_indexing.py",
    "function.operands": "tests/test_numpy_face.py",
    "function.composite": "tests/test_numpy_face.py",
    **dict.fromkeys(
        (
            *("effect.often", "effect.order", "effect.again", "effect.taken"),
            *("effect.derivative", "region.closed", "region.order", "region.tangents"),
            *("region.residuals", "region.backwards", "region.batched-choice"),
            *("region.batched-while", "cache.apart.elements", "cache.apart.reads"),
            *("cache.apart.names", "cache.apart.dict", "cache.apart.jit"),
            *("cache.apart.stage", "cache.owner", "derive.compose", "derive.zero"),
            *("derive.grad", "derive.checkpoint", "vmap.stack", "sharding.value"),
            *("accuracy.every-variable", "program.order"),
        ),
        "tests/test_facts.py",
    ),
    **dict.fromkeys(
        ("device.count", "sharding.parts"), "tests/transforms/test_devices.py"
    ),
    **dict.fromkeys(
        ("shard_map.value", "mesh.context"), "tests/transforms/test_shard_map.py"
    ),
    "shard_map.vma": "tests/shardings/test_gradients.py",
    "shard_map.transforms": "tests/shardings/test_texts.py",
    "checkpoint.saved": "tests/transforms/test_checkpoint_policies.py",
    "cache.strict.compared": "tests/test_jit_strict.py",
    "jit.donated": "tests/test_donation.py",
}
