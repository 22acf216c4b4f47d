"""Chromium without a window, driven by selenium, for tests with the mark `browser`."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
"""Names of the program, the first that is found."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--use-angle=swiftshader",  # WebGL on the processor
    "--enable-unsafe-swiftshader",
)


@cache
def lacking() -> str:
    """Why no browser can be driven here and how to change that; empty where one can."""
    if find_spec("selenium") is None:
        return 'no selenium: pip install "lie-constraints[browser]"'
    if not any(map(shutil.which, CHROMIUM)) or not shutil.which("chromedriver"):
        return "no chromium with its driver: apt-get install chromium chromium-driver"
    return ""


needs_browser = pytest.mark.skipif(bool(lacking()), reason=lacking() or "a browser is here")
"""Leaves a test out where no browser can be driven, and says how to get one."""


@contextmanager
def browser(width: int = 1000, height: int = 750, *flags: str) -> Iterator[Any]:
    """A selenium driver of a chromium that starts with nothing and keeps nothing; it is closed in the end.

    Its console is read by `console`, what it asked the network for by `requested`.

    Args:
        width, height: of the page [pixels].
        flags: more of them for chromium.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = webdriver.ChromeOptions()
        options.binary_location = next(filter(None, map(shutil.which, CHROMIUM)))
        for flag in (*FLAGS, f"--user-data-dir={home}", f"--window-size={width},{height}", *flags):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.set_page_load_timeout(60)
            resize(driver, width, height)
            yield driver
        finally:
            driver.quit()


def resize(driver: Any, width: int, height: int = 750) -> None:
    """Give the page a size [pixels], narrower than a window could be too."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(driver: Any, scheme: str) -> None:
    """Let pages see that a person wants the scheme "light" or "dark"."""
    wish = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)


def wait(said: str, ready: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What `ready` returns as soon as that is true; a failed test that says what was waited for otherwise."""
    end = time.monotonic() + seconds
    while not (found := ready()):
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds:g} s in vain for: {said}")
        time.sleep(0.05)
    return found


def picture(driver: Any, path: Path | None = None) -> np.ndarray:
    """What is seen (height, width, 3) as bytes; also written to a PNG."""
    from PIL import Image

    seen = driver.get_screenshot_as_png()
    if path is not None:
        path.write_bytes(seen)
    return np.asarray(Image.open(io.BytesIO(seen)).convert("RGB"))


def console(driver: Any) -> list[str]:
    """Errors in the console of the page since it was last read."""
    return [str(line["message"]) for line in driver.get_log("browser") if line["level"] == "SEVERE"]


def requested(driver: Any) -> list[str]:
    """Addresses that were asked for since this was last read.

    Left out is what is inside a page (data:, blob:), and what chromium asks for pages of its own, as its new tab does
    at the start (chrome:, chrome-untrusted:); no other page can ask for these.
    """
    import json

    events = [json.loads(line["message"])["message"] for line in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    urls += [event["params"]["url"] for event in events if event["method"] == "Network.webSocketCreated"]
    return [url for url in urls if not url.startswith(("data:", "blob:", "chrome:", "chrome-untrusted:"))]
