"""Built-in mechanisms: samples that need no file."""

from .samples import sample_arm, sample_humanoid, sample_two_arms

__all__ = ["sample_arm", "sample_humanoid", "sample_two_arms"]
