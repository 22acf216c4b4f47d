"""Robots in a browser, by viser (extra `view`), imported on use."""

from ...keywords import answer as _answer
from .film import Film as Film
from .films import film_of as film_of
from .rendered import PhotoOptions as PhotoOptions, render as render
from .serving import PageOptions as PageOptions
from .view import View as View, show as show

_answer(__name__)
