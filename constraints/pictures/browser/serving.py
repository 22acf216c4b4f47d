"""Where a page of a browser is served."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from liegroups.arguments import as_flag, as_name
from liegroups.frozen import set_fields

from ...errors import OptionError
from ...exports import from_extra
from ...keywords import record_by_name
from ...ranges import whole_number
from .origins import as_origins, checked_origins, refuse_sharing, warn_of_others

FIRST_PORT = 8080
LAST_PORT = 65535


@final
@record_by_name
@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where a page of a browser is served, each option given by its name. Immutable.

    Attributes:
        port: by default the first one from 8080 that is free.
        address: of the network interface; by default only this machine can open the page. A warning is logged for
            others: whoever reaches them sees the robot, and can move it on the page.
        origins: other pages that may connect, such as "https://hub.example.org", where the view is seen through a
            proxy of notebooks or a forwarding service. Pages of other sites are refused.
        open_browser: open the page in the browser of this machine.

    Raises:
        OptionError: a port that is none, or an origin that is none.
        WrongObjectError: another invalid option.
    """

    port: int | None = None
    address: str = "127.0.0.1"
    origins: Iterable[str] = ()
    open_browser: bool = False

    def __post_init__(self) -> None:
        """Check types and ranges."""
        if self.port is not None:
            whole_number(self.port, "port of a view", 0, LAST_PORT)
        as_name(self.address, "address of a view")
        set_fields(self, origins=as_origins(self.origins))
        as_flag(self.open_browser, "open_browser")


def served(page: PageOptions) -> Any:
    """A server of viser at a port, or at the first one that is free, for its own page and those of some origins."""
    port, viser = page.port, from_extra("viser", "view")
    with quiet():
        with checked_origins(tuple(page.origins)):
            server = viser.ViserServer(page.address, FIRST_PORT if port is None else port, verbose=False)
        refuse_sharing(server)
        found = int(server.get_port())
        if port and found != port:  # viser takes the next one that is free
            server.stop()
            raise OptionError(f"port of a view: {port} is taken; PageOptions(port=None) takes one that is free")
    warn_of_others(page.address)
    return server


@contextmanager
def quiet() -> Generator[None]:
    """Without what viser prints."""
    console: Any = from_extra("rich", "view", "viser").get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
