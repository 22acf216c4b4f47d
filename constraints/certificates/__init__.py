"""Certificates: proofs that an exact solution is near a configuration, and that a path does not jump."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .along import certify_path as certify_path
    from .certificate import Certificate as Certificate, CertificateStatus as CertificateStatus
    from .path_search import PathLimits as PathLimits
    from .search import certify as certify

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "along": "certify_path",
        "certificate": "Certificate CertificateStatus",
        "path_search": "PathLimits",
        "search": "certify",
    },
)
