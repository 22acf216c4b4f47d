"""Certificates: proofs that an exact solution is near a configuration, and that a path does not jump."""

from typing import TYPE_CHECKING

from ..exports import on_use as _on_use

if TYPE_CHECKING:
    from .along import PathLimits as PathLimits, certify_path as certify_path
    from .certificate import Certificate as Certificate, CertificateStatus as CertificateStatus
    from .path_certificate import PathCertificate as PathCertificate
    from .search import certify as certify

__getattr__, __dir__ = _on_use(
    __name__,
    {
        "along": "PathLimits certify_path",
        "certificate": "Certificate CertificateStatus",
        "path_certificate": "PathCertificate",
        "search": "certify",
    },
)
