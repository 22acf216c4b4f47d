"""Certificates: proofs that a solution is near, that there is none, that these are all; that a path does not jump."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .batch import certify as certify
    from .boxes.refutation import refute as refute
    from .boxes.searching import SearchLimits as SearchLimits
    from .boxes.solutions import CompleteBy as CompleteBy, all_solutions as all_solutions
    from .certificate import Certificate as Certificate, CertificateStatus as CertificateStatus
    from .paths.along import certify_path as certify_path
    from .paths.path_search import PathLimits as PathLimits

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "batch": "certify",
        "paths.along": "certify_path",
        "certificate": "Certificate CertificateStatus",
        "paths.path_search": "PathLimits",
        "boxes.refutation": "refute",
        "boxes.searching": "SearchLimits",
        "boxes.solutions": "CompleteBy all_solutions",
    },
)
