"""What is said of a result: why it failed, which rows are redundant, how a solution moves with its parameters."""

from typing import TYPE_CHECKING

from ...exports import on_use as _on_use

if TYPE_CHECKING:
    from .diagnosis import Diagnosis as Diagnosis, diagnose as diagnose
    from .sensitivity import Sensitivity as Sensitivity, SensitivityError as SensitivityError

__getattr__, __dir__ = _on_use(
    __name__, {"diagnosis": "Diagnosis diagnose", "sensitivity": "Sensitivity SensitivityError"}
)
