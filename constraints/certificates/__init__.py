"""Certificates: proofs that an exact solution is near a configuration, and how far around it is the only one."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .certificate import Certificate as Certificate, CertificateStatus as CertificateStatus
    from .refutation import Refutation as Refutation, RefutationStatus as RefutationStatus, refute as refute
    from .search import certify as certify
    from .searching import SearchLimits as SearchLimits
    from .solutions import (
        CompleteBy as CompleteBy,
        Solutions as Solutions,
        SolutionsStatus as SolutionsStatus,
        all_solutions as all_solutions,
    )

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "certificate": "Certificate CertificateStatus",
        "refutation": "Refutation RefutationStatus refute",
        "search": "certify",
        "searching": "SearchLimits",
        "solutions": "CompleteBy Solutions SolutionsStatus all_solutions",
    },
)
