"""Robots in a browser, by viser (extra `view`), imported on use."""

from ...keywords import answer as _answer
from .rendered import PhotoOptions as PhotoOptions, render as render
from .serving import PageOptions as PageOptions
from .view import show as show

_answer(__name__)
