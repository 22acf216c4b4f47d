"""Solvers: a projector puts configurations onto the constraints of a problem."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use
from ..keywords import answer as _answer
from .engine import Engine as Engine
from .newton.engine import NewtonEngine as NewtonEngine
from .newton.linear_step import DampedCholesky as DampedCholesky, LinearStep as LinearStep
from .options import Options as Options, not_an_argument as _not_an_argument
from .projection.batch import BatchInterrupted as BatchInterrupted, ProjectionBatch as ProjectionBatch
from .projection.projection import Projection as Projection
from .projection.projector import Projector as Projector, project as project
from .projection.reach import reach as reach, reach_batch as reach_batch
from .status import Status as Status, Step as Step
from .step_control import (
    Backtracking as Backtracking,
    ConstantStep as ConstantStep,
    ErrorNormBased as ErrorNormBased,
    FixedSequence as FixedSequence,
    FullSteps as FullSteps,
    StepControl as StepControl,
    StepState as StepState,
)

if TYPE_CHECKING:
    from .compiled.engine import CompiledEngine as CompiledEngine, why_not as why_not
    from .diagnosis import (
        Diagnosis as Diagnosis,
        Sensitivity as Sensitivity,
        SensitivityError as SensitivityError,
        diagnose as diagnose,
    )
    from .newton.least_change import LeastChange as LeastChange
    from .newton.sparse_kkt import SparseKKT as SparseKKT

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "compiled.engine": "CompiledEngine why_not",
        "diagnosis": "Diagnosis Sensitivity SensitivityError diagnose",
        "newton.least_change": "LeastChange",
        "newton.sparse_kkt": "SparseKKT",
    },
)

_answer(__name__, _not_an_argument)
