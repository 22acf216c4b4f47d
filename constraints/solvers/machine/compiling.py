"""How kernels are compiled: each once, by the steps of numba that they need, and linked into what Python calls.

It takes inner parts of numba (0.68). Where one of them is missing `OF_KERNELS` and `OF_ENTRANCES` are empty, and numba
compiles as it would, with the same results.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .lanes import is_in_lanes

_PARTS = (
    "codegen",
    "compiler",
    "compiler_lock",
    "compiler_machinery",
    "typed_passes",
    "types.functions",
    "untyped_passes",
)
_STEPS_BEFORE = "TranslateByteCode", "FixupArgs", "IRProcessing", "GenericRewrites", "ReconstructSSA"
_STEPS_OF_TYPES = "NopythonTypeInference", "PreLowerStripPhis", "IRLegalization"
_STEPS_AFTER = "NativeLowering", "NoPythonBackend"


def _libraries(codegen: Any) -> tuple[Any, Any]:
    """Numba's library of machine code, as kernels have it, and as entrances.

    Numba would optimise each kernel with all that it calls, make it machine code, and do both again for whoever calls
    it. Here it is done once, in the entrance, with all kernels in it.
    """
    library = codegen.JITCodeLibrary
    for name in ("_optimize_final_module", "_finalize_dynamic_globals", "serialize_using_object_code"):
        getattr(library, name)  # what is overridden, and what is called
    external = codegen.ll.Linkage.external

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

    return KernelLibrary, EntranceLibrary


def _compilers(parts: dict[str, Any]) -> tuple[Any, Any]:
    """Numba's compiler, as kernels take it, and as entrances."""
    machinery, of_kernels, of_entrances = parts["compiler_machinery"], *_libraries(parts["codegen"])
    steps = [getattr(parts["untyped_passes"], name) for name in _STEPS_BEFORE]
    steps += [getattr(parts["typed_passes"], name) for name in _STEPS_OF_TYPES]
    last = [getattr(parts["typed_passes"], name) for name in _STEPS_AFTER]

    def into(library: Any, name: str, named: bool) -> Any:
        @machinery.register_pass(mutates_CFG=False, analysis_only=True)
        class Into(machinery.AnalysisPass):
            """Says what the code is put into."""

            _name = name

            def __init__(self) -> None:
                machinery.AnalysisPass.__init__(self)

            def run_pass(self, state: Any) -> bool:
                state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
                if library is of_entrances:
                    state.library.enable_object_caching()
                if named:
                    state.func_id.unique_id = 0
                return False

        return Into

    into_kernel = into(of_kernels, "into_kernel", False)
    into_entrance = into(of_entrances, "into_entrance", False)
    into_shared = into(of_entrances, "into_shared", True)

    def compiler(where: Callable[[Any], Any]) -> Any:
        class KernelCompiler(parts["compiler"].CompilerBase):
            """Numba's steps for what kernels are written in: numbers, pointers, loops, calls of each other."""

            def define_pipelines(self) -> list[Any]:
                made = machinery.PassManager("kernel")
                for step in (*steps, where(self.state), *last):
                    made.add_pass(step, step.__name__)
                made.finalize()
                return [made]

        return KernelCompiler

    def where(state: Any) -> Any:
        if state.flags.no_cpython_wrapper:
            return into_kernel if any(map(is_in_lanes, state.args)) else into_shared
        return into_entrance

    return compiler(lambda state: into_kernel), compiler(where)


def _made() -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        parts = {name: importlib.import_module(f"numba.core.{name}") for name in _PARTS}
        _asked_of(parts)
        return tuple({"pipeline_class": one} for one in _compilers(parts))  # pyright: ignore[reportReturnType]
    except (ImportError, AttributeError):
        return {}, {}


def _asked_of(parts: dict[str, Any]) -> tuple[Any, Any]:
    """What numba asks which types an operation gives, and its lock."""
    function = parts["types.functions"].BaseFunction
    return function, (function.get_call_type, parts["compiler_lock"].global_compiler_lock)


_WHERE_THEY_ARE: set[Any] = set()
"""Libraries of kernels that others call where they are."""
OF_KERNELS, OF_ENTRANCES = _made()
"""What `numba.njit` is told of how a kernel is compiled, and what Python or kernels of another entrance call."""


def is_called_where_it_is(library: Any) -> None:
    """Have entrances call the code of a library, in place of a copy of it."""
    _WHERE_THEY_ARE.add(library)


@contextmanager
def remembering() -> Iterator[None]:
    """While kernels are compiled: ask once which types an operation gives, and look for no garbage.

    Numba tries some ten rules for each sum and each index, twice: with what it knows of constants, and without.
    """
    if not OF_KERNELS:
        yield
        return
    parts = {name: importlib.import_module(f"numba.core.{name}") for name in ("types.functions", "compiler_lock")}
    function, (ask, lock) = _asked_of(parts)
    answers: dict[Any, Any] = {}

    def remembered(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        if keywords:
            return ask(self, context, arguments, keywords)
        question = self, tuple(arguments)
        if question not in answers:
            answers[question] = ask(self, context, arguments, keywords)
        return answers[question]

    collecting = gc.isenabled()
    with lock:
        gc.disable()
        function.get_call_type = remembered
        try:
            yield
        finally:
            function.get_call_type = ask
            if collecting:
                gc.enable()
