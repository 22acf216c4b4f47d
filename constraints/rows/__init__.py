"""Constraints as rows: what each row asks for, implicit and explicit constraints, stacks, right-hand sides."""

from .comparison import Comparison as Comparison
