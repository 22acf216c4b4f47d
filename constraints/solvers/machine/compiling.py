"""How kernels are compiled: each once, by the steps of numba that they need, and linked into what Python calls.

It takes inner parts of numba (0.68): all kernels in 90 s of a processor, 480 s without them (`warm-up` with an empty
folder). Where one of them is missing `OF_KERNELS` and `OF_ENTRANCES` are empty, and numba compiles as it would, with
the same results but for products in sums (`fusing.py`).
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from . import fusing
from .lanes import is_in_lanes


class _Numba(NamedTuple):
    """The parts of numba that are taken."""

    base: Any
    codegen: Any
    compiler: Any
    compiler_lock: Any
    compiler_machinery: Any
    typed_passes: Any
    functions: Any
    untyped_passes: Any


def _numba() -> _Numba:
    return _Numba(
        *map(
            importlib.import_module,
            (
                "numba.core.base",
                "numba.core.codegen",
                "numba.core.compiler",
                "numba.core.compiler_lock",
                "numba.core.compiler_machinery",
                "numba.core.typed_passes",
                "numba.core.types.functions",
                "numba.core.untyped_passes",
            ),
        )
    )


_OF_KERNELS = "into_kernel"
_STEPS_BEFORE = "TranslateByteCode", "FixupArgs", "IRProcessing", "GenericRewrites", "ReconstructSSA"
_STEPS_OF_TYPES = "NopythonTypeInference", "PreLowerStripPhis", "IRLegalization"
_STEPS_AFTER = "NativeLowering", "NoPythonBackend"


def _kernel_library(codegen: Any) -> Any:
    """Numba's library of machine code, for kernels: it has none.

    Numba would optimise each kernel with all that it calls, make it machine code, and do both again for whoever calls
    it. Here it is done once, in the entrance, with all kernels in it.
    """
    library, external = codegen.JITCodeLibrary, codegen.ll.Linkage.external

    class KernelLibrary(library):
        """The code of a kernel: neither linked, nor optimised, nor made machine code."""

        def finalize(self) -> None:
            """Its functions, for whoever calls it."""
            self._finalize_dynamic_globals()
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == external:
                    function.linkage = "linkonce_odr"
            self._shared_module, self._finalized = self._final_module, True

        @property
        def codegen(self) -> Any:
            """Who is told the environment of a function that Python calls: nobody."""
            return self

        def set_env(self, name: str, environment: Any) -> None:
            """As of code that was made: a kernel has no use for an environment."""

    return KernelLibrary


def _entrance_library(codegen: Any) -> Any:
    """Numba's library of machine code, for entrances."""
    library = codegen.JITCodeLibrary
    for name in ("_optimize_final_module", "_finalize_dynamic_globals", "serialize_using_object_code"):
        getattr(library, name)  # what is overridden, and what is called

    class EntranceLibrary(library):
        """Machine code, with each kernel in it once."""

        def finalize(self) -> None:
            """Link what it calls, and what that calls, but for what others call where it is.

            Who calls comes before who is called: LLVM leaves out a function that nobody has asked for yet.
            """
            found: dict[Any, None] = {}

            def visit(one: Any) -> None:
                for called in one._linking_libraries:
                    if called not in found and called not in _WHERE_THEY_ARE:
                        visit(called)
                found[one] = None

            visit(self)
            self._linking_libraries = list(found)[-2::-1]
            library.finalize(self)

        def serialize_using_object_code(self) -> Any:
            """Machine code, and the names in it, by which it is found: the rest is for linking, which nobody does."""
            name, kind, (code, _) = library.serialize_using_object_code(self)
            module = self._final_module
            made = [one for group in (module.functions, module.global_variables) for one in group]
            lines = [f'@"{one.name}" = global i8 0' for one in made if not one.is_declaration]
            return name, kind, (code, codegen.ll.parse_assembly("\n".join(lines)).as_bitcode())

    return EntranceLibrary


def _into(numba: _Numba, library: Any, name: str, named: bool = False) -> Any:
    """A step of numba that says what the code is put into, and whether others find it by the name of its function."""
    machinery = numba.compiler_machinery

    @machinery.register_pass(mutates_CFG=False, analysis_only=True)
    class Into(machinery.AnalysisPass):
        """Says what the code is put into."""

        _name = name

        def __init__(self) -> None:
            machinery.AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            if name != _OF_KERNELS:
                state.library.enable_object_caching()
            if named:
                state.func_id.unique_id = 0
            return False

    return Into


def _compiler(numba: _Numba, where: Callable[[Any], Any]) -> Any:
    """Numba's compiler with the steps that kernels need; `where` gives the one that says what code is put into."""
    machinery = numba.compiler_machinery
    steps = [getattr(numba.untyped_passes, name) for name in _STEPS_BEFORE]
    if fusing.has_fused():
        steps.insert(1, fusing.step(machinery))
    steps += [getattr(numba.typed_passes, name) for name in _STEPS_OF_TYPES]
    last = [getattr(numba.typed_passes, name) for name in _STEPS_AFTER]

    class KernelCompiler(numba.compiler.CompilerBase):
        """Numba's steps for what kernels are written in: numbers, pointers, loops, calls of each other."""

        def define_pipelines(self) -> list[Any]:
            made = machinery.PassManager("kernel")
            for step in (*steps, where(self.state), *last):
                made.add_pass(step, step.__name__)
            made.finalize()
            return [made]

    return KernelCompiler


def _compilers(numba: _Numba) -> tuple[Any, Any]:
    """Numba's compiler, as kernels take it, and as entrances."""
    of_entrances = _entrance_library(numba.codegen)
    into_kernel = _into(numba, _kernel_library(numba.codegen), _OF_KERNELS)
    into_entrance = _into(numba, of_entrances, "into_entrance")
    into_shared = _into(numba, of_entrances, "into_shared", named=True)

    def where(state: Any) -> Any:
        if state.flags.no_cpython_wrapper:
            return into_kernel if any(map(is_in_lanes, state.args)) else into_shared
        return into_entrance

    return _compiler(numba, lambda state: into_kernel), _compiler(numba, where)


def _made() -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        numba = _numba()
        _asked_of(numba)
        return tuple({"pipeline_class": one} for one in _compilers(numba))  # pyright: ignore[reportReturnType]
    except (ImportError, AttributeError):
        return {}, {}


def _asked_of(numba: _Numba) -> tuple[Any, Any, Any, Any, Any]:
    """Whom numba asks which types an operation gives, and how; how large a type of LLVM is; its compiler's lock."""
    function, target = numba.functions.BaseFunction, numba.base.BaseContext
    lock = numba.compiler_lock.global_compiler_lock
    return function, function.get_call_type, target, target.get_abi_sizeof, lock


_WHERE_THEY_ARE: set[Any] = set()
"""Libraries of kernels that others call where they are."""
OF_KERNELS, OF_ENTRANCES = _made()
"""What `numba.njit` is told of how a kernel is compiled, and what Python or kernels of another entrance call."""


def is_called_where_it_is(library: Any) -> None:
    """Have entrances call the code of a library, in place of a copy of it."""
    _WHERE_THEY_ARE.add(library)


@contextmanager
def remembering() -> Generator[None]:
    """While kernels are compiled: ask once which types an operation gives and how large a type is; collect no garbage.

    Numba tries some ten rules for each sum and each index, twice: with what it knows of constants, and without. It
    has LLVM read a module for each variable, to know its size.
    """
    if not OF_KERNELS:
        yield
        return
    function, ask, target, measure, lock = _asked_of(_numba())
    answers: dict[Any, Any] = {}
    sizes: dict[Any, int] = {}

    def remembered(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        if keywords:
            return ask(self, context, arguments, keywords)
        question = self, tuple(arguments)
        if question not in answers:
            answers[question] = ask(self, context, arguments, keywords)
        return answers[question]

    def size_of(self: Any, kind: Any) -> int:
        if kind not in sizes:
            sizes[kind] = measure(self, kind)
        return sizes[kind]

    collecting = gc.isenabled()
    with lock:
        gc.disable()
        function.get_call_type, target.get_abi_sizeof = remembered, size_of
        try:
            yield
        finally:
            function.get_call_type, target.get_abi_sizeof = ask, measure
            if collecting:
                gc.enable()
