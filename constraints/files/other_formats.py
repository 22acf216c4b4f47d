"""What a file seems to be that is none of ours: by how it begins, and for YAML and CSV by its name."""

from __future__ import annotations

import os
import re

from ..robot.files.reading import without_comments

_FIRST_BYTES = {
    b"PK\x03\x04": "an npz or another zip archive",
    b"\x93NUMPY": "an array of numpy (npy)",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a picture (png)",
    b"\x89HDF": "an HDF5 file",
    b"\x80": "a pickle, or other bytes",
}
_ELEMENTS = {
    "robot": "a URDF or SRDF, which describes a robot, not constraints",
    "mujoco": "an MJCF model, which `python -m constraints assemble` reads",
    "sdf": "an SDF model, which `python -m constraints assemble` reads",
}
_ENDINGS = {".yaml": "a YAML file", ".yml": "a YAML file", ".csv": "a CSV table", ".py": "a Python script"}


def seems_to_be(content: bytes, name: str) -> str:
    """What a file that is no JSON seems to be, with its article; empty where nothing tells.

    Args:
        content: its bytes.
        name: its path.
    """
    for first, what in _FIRST_BYTES.items():
        if content.startswith(first):
            return what
    text = without_comments(content).lstrip(b"\xef\xbb\xbf \t\r\n")
    element = re.match(rb"(?:<[?!][^>]*>\s*)*<([A-Za-z_][\w.:-]*)", text)
    if element:
        tag = element[1].decode("ascii", "replace")
        return _ELEMENTS.get(tag, f"XML (<{tag}>)")
    return _ENDINGS.get(os.path.splitext(name)[1].lower(), "")
