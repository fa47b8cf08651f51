"""Python functions on scalars and pointers to LLVM text, by Numba's front end alone.

Numba types and lowers; what it does for general functions (wrappers, reference counts,
exceptions, a second optimiser run) is left out, which makes a compile three times
faster. Functions get the C calling convention: `void k(float*, int64_t, …)`. All that
depends on Numba's internals stands in this module.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import callconv, compiler, funcdesc, lowering
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.registry import cpu_target
from numba.core.typing import signature
from numba.extending import intrinsic


def lower(
    function: Callable[..., Any], symbol: str, args: Sequence[Any], result: Any
) -> str:
    """LLVM text that defines `symbol` as a function; `result` is a Numba type.

    Raises Numba's own errors: callers wrap them.
    """
    with global_compiler_lock:
        typing_context, context = _contexts()
        pipeline = _Pipeline(
            typing_context, context, None, tuple(args), result, _flags(), {}
        )
        pipeline.state.metadata["symbol"] = symbol
        pipeline.compile_extra(function)
        return _widened(str(pipeline.state.metadata["module"]))


def _widened(text: str) -> str:
    """The same with vectors as wide as the machine's, where LLVM would use half."""
    if not llvm.get_host_cpu_features().get("avx512f"):
        return text
    width = ' "prefer-vector-width"="512"'
    return re.sub(r"^(define .*\))$", rf"\1{width}", text, flags=re.MULTILINE)


def external(symbol: str, args: Sequence[Any], result: Any) -> Any:
    """What a function's globals hold for another function that is known by symbol."""
    return types.ExternalFunction(symbol, signature(result, *args))


def lanes(dtype: Any, count: int) -> Any:
    """An intrinsic that gives accumulators on the stack, aligned for vectors."""
    pointer = types.CPointer(dtype)

    @intrinsic  # type: ignore[untyped-decorator]
    def accumulators(_typing: Any) -> Any:
        def generate(context: Any, builder: Any, _sig: Any, _args: Any) -> Any:
            element = context.get_data_type(dtype)
            # Numba's own helper would also clear it, at a price.
            with builder.goto_entry_block():
                memory = builder.alloca(ir.ArrayType(element, count))
            memory.align = 64
            return builder.bitcast(memory, element.as_pointer())

        return pointer(), generate

    return accumulators


def bitcast(operand: Any, result: Any) -> Any:
    """An intrinsic that reads the bits of a number as those of another type."""

    @intrinsic  # type: ignore[untyped-decorator]
    def as_bits(_typing: Any, _x: Any) -> Any:
        def generate(context: Any, builder: Any, _sig: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(result))

        return result(operand), generate

    return as_bits


@intrinsic  # type: ignore[untyped-decorator]
def row_of(_typing: Any, pointer: Any, _offset: Any) -> Any:
    """The pointer to what begins `offset` elements further."""

    def generate(_context: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.int64), generate


# -- the contexts -------------------------------------------------------------------


class _CallConv(callconv.BaseCallConv):  # type: ignore[misc]
    """C's convention: arguments and the result by value, no status."""

    def _make_call_helper(self, builder: Any) -> None:
        return None

    def get_function_type(self, restype: Any, argtypes: Any) -> Any:
        args = list(self._get_arg_packer(argtypes).argument_types)
        return ir.FunctionType(self._result(restype), args)

    def _result(self, restype: Any) -> Any:
        if restype == types.none:
            return ir.VoidType()
        return self.context.data_model_manager[restype].get_return_type()

    def decorate_function(
        self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = False
    ) -> None:
        self._get_arg_packer(fe_argtypes).assign_names(fn.args, list(args))
        for arg in fn.args:
            if isinstance(arg.type, ir.PointerType):
                # No output overlaps anything else: the program allocates it.
                arg.add_attribute("noalias")

    def get_arguments(self, func: Any) -> Any:
        return func.args

    def return_value(self, builder: Any, retval: Any) -> None:
        if isinstance(builder.function.function_type.return_type, ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(retval)

    def return_native_none(self, builder: Any) -> None:
        builder.ret_void()

    def return_user_exc(self, builder: Any, *args: Any, **kwargs: Any) -> None:
        # Numba writes these for a zero step of `range`: the step is always 1.
        builder.unreachable()


class _TypingMemo:
    """Signatures of functions on scalars, found once: typing is half of a compile."""

    _memo: dict[Any, Any]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        key = func, args
        found = None if kws else self._memo.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)  # type: ignore[misc]
            if not kws and all(
                isinstance(a, types.Number | types.Boolean) for a in args
            ):
                self._memo[key] = found
        return found


_made: list[tuple[Any, Any]] = []


def _contexts() -> tuple[Any, Any]:
    """The CPU target's typing and lowering contexts with our convention."""
    if not _made:
        base_typing = cpu_target.typing_context
        base = cpu_target.target_context
        base_typing.refresh()
        base.refresh()
        typing_context = copy.copy(base_typing)
        typing_context.__class__ = type(
            "KernelTyping", (_TypingMemo, type(base_typing)), {}
        )
        typing_context._memo = {}
        context = copy.copy(base)
        context.__class__ = type(
            "KernelContext", (type(base),), {"call_conv": property(_CallConv)}
        )
        context.typing_context = typing_context
        context.cached_internal_func = {}
        _made.append((typing_context, context))
    return _made[0]


def _flags() -> Any:
    flags = compiler.Flags()
    flags.error_model = "numpy"
    flags.enable_pyobject = False
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.nrt = False
    return flags


# -- the pipeline -------------------------------------------------------------------


class _Lower(lowering.Lower):  # type: ignore[misc]
    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """As Numba's, without trying implementations for constants first."""
        function = self.context.typing_context.resolve_value_type(op)
        sig = self.fndesc.calltypes[expr]
        operands = [
            self.context.cast(
                self.builder, self.loadvar(v.name), self.typeof(v.name), wanted
            )
            for v, wanted in zip((expr.lhs, expr.rhs), sig.args, strict=True)
        ]
        found = self.context.get_function(function, sig)(self.builder, operands)
        return self.context.cast(self.builder, found, sig.return_type, resty)

    def _lower_call_ExternalFunction(self, fnty: Any, expr: Any, sig: Any) -> Any:
        """As Numba's, which leaves a truth in the form that is passed."""
        found = super()._lower_call_ExternalFunction(fnty, expr, sig)
        if sig.return_type == types.boolean:
            model = self.context.data_model_manager[types.boolean]
            return model.from_return(self.builder, found)
        return found


class _Library:
    """Where Numba's lowering leaves the module that it has built."""

    def __init__(self, codegen: Any) -> None:
        self.name = "kernel"
        self.codegen = codegen
        self.module: Any = None

    def create_ir_module(self, name: str) -> Any:
        return self.codegen._create_empty_module(name)

    def add_ir_module(self, module: Any) -> None:
        self.module = module

    def add_linking_library(self, library: Any) -> None:
        """The runtime library, which nothing here needs."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerOnly(LoweringPass):  # type: ignore[misc]
    _name = "traceir_lower_only"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        context, symbol = state.targetctx, state.metadata["symbol"]

        def mangler(name: str, argtypes: Any, **kwargs: Any) -> str:
            return f"env.{symbol}" if "NumbaEnv" in name else str(symbol)

        descriptor = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=mangler,
            inline=False,
            noalias=True,
            abi_tags=[],
        )
        library = _Library(context.codegen())
        with context.push_code_library(library):
            _Lower(
                context, library, descriptor, state.func_ir, metadata=state.metadata
            ).lower()
        state.metadata["module"] = library.module
        state.cr = library
        return True


class _Pipeline(compiler.CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        passes = PassManager("traceir")
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.IRProcessing,
            typed.NopythonTypeInference,
            _LowerOnly,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]
