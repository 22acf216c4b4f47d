"""For type checkers only: Pinocchio is compiled and ships no stubs, so every name of it is Any here."""

from typing import Any

def __getattr__(name: str) -> Any: ...
