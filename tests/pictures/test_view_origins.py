"""Who may connect to a view: its own page, and those that are named; nobody shares it; other machines are warned of."""

from __future__ import annotations

import base64
import logging
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from constraints.errors import OptionError
from constraints.models import sample_arm
from constraints.pictures import PageOptions, show
from constraints.pictures.browser.origins import may_connect, warn_of_others
from constraints.pictures.browser.view import View

viser = pytest.importorskip("viser", reason='no viser: pip install "lie-constraints[view]"')


@pytest.fixture(scope="module")
def view() -> Iterator[View]:
    with show(sample_arm(), page=PageOptions(port=0, origins=["https://hub.example.org"])) as found:
        yield found


def handshake(port: int, origin: str | None, host: str | None = None) -> bytes:
    """The first bytes that are answered to who wants to connect: the status, and what is sent behind it."""
    lines = [
        "GET / HTTP/1.1",
        f"Host: {host or f'127.0.0.1:{port}'}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}",
    ]
    if origin is not None:
        lines.append(f"Origin: {origin}")
    with socket.create_connection(("127.0.0.1", port), timeout=30.0) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = connection.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65536)
        return answer


def test_the_page_of_the_view_and_named_ones_connect(view: View, capsys: pytest.CaptureFixture[str]) -> None:
    port = view.port
    assert handshake(port, f"http://127.0.0.1:{port}").startswith(b"HTTP/1.1 101")
    assert handshake(port, f"http://localhost:{port}", f"localhost:{port}").startswith(b"HTTP/1.1 101")
    assert handshake(port, "http://localhost:9000", "localhost:9000").startswith(b"HTTP/1.1 101")  # ssh -L 9000:
    assert handshake(port, "https://hub.example.org").startswith(b"HTTP/1.1 101")
    time.sleep(0.2)
    assert capsys.readouterr().out == ""  # nothing is said of who comes


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", None),
        ("null", None),  # a file, a sandboxed frame
        (None, None),
        ("http://127.0.0.1:1", None),  # another program of this machine
        ("http://evil.example", "evil.example"),  # a name that was made to lead here
        ("https://hub.example.org.evil.example", None),
        ("http://hub.example.org", None),
    ],
)
def test_other_pages_are_refused_and_get_nothing(
    view: View, origin: str | None, host: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    answer = handshake(view.port, origin, host)
    assert answer.startswith(b"HTTP/1.1 403")
    assert answer.endswith(b"the origin of this page is not allowed\n")
    assert "was refused" in caplog.text


def test_files_of_the_page_are_not_for_other_sites_to_read(view: View) -> None:
    """No header lets another site read them, and what is shown is in none of them."""
    with socket.create_connection(("127.0.0.1", view.port), timeout=30.0) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\n\r\n")
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"access-control" not in answer.lower()
    assert b"shoulder" not in answer


def test_a_request_to_share_is_refused(
    view: View, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes from a page that is connected, and would have viser open a tunnel to a server in the internet."""
    from websockets.sync.client import connect

    tunnels = list[Any]()
    monkeypatch.setattr(viser._viser, "ViserTunnel", lambda *given: tunnels.append(given))
    packed: Any = pytest.importorskip("msgspec").msgpack
    origin: Any = f"http://127.0.0.1:{view.port}"
    protocol: Any = f"viser-v{viser.__version__}"
    with connect(f"ws://127.0.0.1:{view.port}", origin=origin, subprotocols=[protocol], max_size=None) as page:
        page.send(packed.encode({"type": "ShareUrlRequest"}))
        end = time.monotonic() + 20.0
        while "refused" not in caplog.text and time.monotonic() < end:
            time.sleep(0.02)
    assert "a page asked to share the view" in caplog.text
    assert not tunnels


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "myhost"])
def test_an_address_of_other_machines_is_warned_of(address: str, caplog: pytest.LogCaptureFixture) -> None:
    warn_of_others(address)
    assert f"served at {address}: whoever reaches this machine there can see the robot" in caplog.text


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.1.1", "::1", "localhost"])
def test_an_address_of_this_machine_is_not(address: str, caplog: pytest.LogCaptureFixture) -> None:
    warn_of_others(address)
    assert not caplog.text


def test_a_view_for_other_machines_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), show(sample_arm(), page=PageOptions(port=0, address="0.0.0.0")):
        assert "served at 0.0.0.0" in caplog.text


@pytest.mark.parametrize("origins", ["*", ["*"], ["hub.example.org"], ["https://hub.example.org/lab"], [3], ["null"]])
def test_what_is_no_origin_is_refused(origins: Any) -> None:
    with pytest.raises(Exception, match="origins of a view") as refused:
        show(sample_arm(), page=PageOptions(port=0, origins=origins))
    assert isinstance(refused.value, OptionError) or origins == "*"


def test_the_name_of_this_machine_is_its_own() -> None:
    name = socket.gethostname()
    assert may_connect(f"http://{name.lower()}:8080", f"{name}:8080")
    assert may_connect("http://[::1]:8080", "[::1]:8080")
    assert not may_connect("http://elsewhere:8080", "elsewhere:8080")
    assert not may_connect("http://127.0.0.1.evil.example:8080", "127.0.0.1.evil.example:8080")
