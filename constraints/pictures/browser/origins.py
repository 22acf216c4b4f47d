"""Which pages may connect to a view: its own, and those that its user names."""

from __future__ import annotations

import importlib
import ipaddress
import logging
import re
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from liegroups.arguments import as_tuple

from ...errors import OptionError

_log = logging.getLogger(__package__)
_ORIGIN = re.compile(r"https?://[^/\s*@?#]+")
_PATCHING = threading.Lock()


def as_origins(origins: Any) -> tuple[str, ...]:
    """Origins of pages, "https://hub.example.org" or "http://localhost:8888".

    Raises:
        OptionError: something that is none.
    """
    found = as_tuple(origins, "origins of a view", "origins of pages")
    for origin in found:
        if not isinstance(origin, str) or not _ORIGIN.fullmatch(origin):
            expected = "scheme, host and port of a page, such as 'https://hub.example.org' or 'http://localhost:8888'"
            raise OptionError(f"origins of a view: expected {expected}, got {origin!r}")
    return tuple(origin.lower() for origin in found)


def may_connect(origin: str | None, host: str | None, origins: tuple[str, ...] = ()) -> bool:
    """Whether a page of an origin may connect.

    Its own page comes from where it connects to. That is believed where the host is an address or a name of this
    machine: another name may be somebody's who lets it lead here (DNS rebinding).

    Args:
        origin: what the browser says of the page; other pages cannot change it. None where it says nothing.
        host: what the browser was told to connect to.
        origins: more that are allowed.
    """
    if origin is None or host is None:
        return False
    said = origin.lower()
    return said in origins or (said == f"http://{host.lower()}" and _is_here(host))


def _is_here(host: str) -> bool:
    """Whether a host is an address, or a name of this machine."""
    name = re.sub(r":\d+$", "", host).lower()
    return is_address(name.strip("[]")) or name in ("localhost", socket.gethostname().lower())


def is_address(name: str) -> bool:
    """Whether a name of a host is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def warn_of_others(address: str) -> None:
    """Say who can see a view that is served at an address of other machines."""
    if address == "localhost" or (is_address(address) and ipaddress.ip_address(address).is_loopback):
        return
    _log.warning(
        "the view is served at %s: whoever reaches this machine there can see the robot and move it on the page; the "
        "default, address='127.0.0.1', is for this machine alone (from another one: ssh -L 8080:localhost:8080)",
        address,
    )


@contextmanager
def checked_origins(origins: tuple[str, ...]) -> Generator[None]:
    """What viser serves meanwhile lets only those pages connect that may.

    It has no argument for this: what it starts its server with is replaced while it does.

    Args:
        origins: more that are allowed, beside the page of the view.

    Raises:
        RuntimeError: viser has started no server in this way; then the view is not to be used.
    """
    server: Any = importlib.import_module("websockets.asyncio.server")
    used = list[Any]()
    with _PATCHING:
        serve = server.serve

        def guarded(handler: Any, *arguments: Any, **options: Any) -> Any:
            if str(getattr(handler, "__module__", "")).partition(".")[0] != "viser":
                return serve(handler, *arguments, **options)
            used.append(handler)
            options["process_request"] = _refusing(options.get("process_request"), origins)
            return serve(handler, *arguments, **options)

        server.serve = guarded
        try:
            yield
        finally:
            server.serve = serve
    if not used:
        raise RuntimeError("this version of viser starts its server otherwise: origins of pages cannot be checked")


def _refusing(answer: Callable[[Any, Any], Any] | None, origins: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """What answers requests, for those that may connect; files of the page have no secret, and are for all."""

    def checked(connection: Any, request: Any) -> Any:
        headers = request.headers
        origin, host = headers.get("Origin"), headers.get("Host")
        if "Upgrade" in headers and not may_connect(origin, host, origins):
            _log.warning(
                "a page of %s was refused: it is not the page of the view; origins=[...] allows others",
                "no origin" if origin is None else ascii(origin[:100]),
            )
            return connection.respond(HTTPStatus.FORBIDDEN, "the origin of this page is not allowed\n")
        return None if answer is None else answer(connection, request)

    return checked


def refuse_sharing(server: Any) -> None:
    """Let no page have the view shown to the internet, which viser does for each page that asks."""

    def refused(*_: Any, **__: Any) -> None:
        _log.warning("a page asked to share the view by way of a server in the internet: refused")

    server.request_share_url = refused
