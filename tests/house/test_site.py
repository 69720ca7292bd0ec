"""`make docs` builds a complete site without warnings, and its search finds pages."""

import re
import subprocess
import sys
import zlib
from importlib import import_module
from pathlib import Path

import pytest

from tests.report.test_report import Listening
from tests.tools.architecture import ROOT
from tests.tools.browser import find_browser

sys.path.insert(0, str(ROOT / "docs"))

import tables
from tables import is_documented

pytestmark = pytest.mark.slow

# Packages for the command line and for other packages, without a reference page.
INTERNAL = {"mjlab.cli", "mjlab.doctor", "mjlab.report", "mjlab.workers"}
INTERNAL |= {"mjlab.export.runner", "mjlab.export.verify", "mjlab.export.web"}

FIRST_RESULT = {
    "checkpoint": "howto/resume_a_run.html",
    "terminal observation": "howto/gymnasium.html",
    "domain randomisation": "howto/domain_randomisation.html",
    "resume": "howto/resume_a_run.html",
    "action scale": "howto/terms/actions.html",
    "ONNX": "howto/export_a_policy.html",
    "latency": "howto/delays.html",
    "terrain curriculum": "howto/scene/terrain.html",
    "gravity compensation": "howto/scene/entities.html",
    "contact sensor": "howto/scene/sensors.html",
}
"""First result of the search for each query."""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("sphinx", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_site_loads_no_files_from_other_hosts(site):
    loaded = re.compile(
        r'<(?:img|script|link|video|source)\b[^>]*(?:src|href)="(?:\w+:|//)'
    )
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text("utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )[\"']?(\w+:)?//", style.read_text())


def test_every_public_class_and_function_is_in_the_reference(site):
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    documented = {
        line.split()[0] for line in zlib.decompress(inventory).decode().splitlines()
    }
    short = {name.rpartition(".")[2] for name in documented}
    missing = [
        f"{package}.{name}"
        for package in tables.packages()
        if package not in INTERNAL
        for name in tables.public_names(package)
        if name not in short and is_documented(getattr(import_module(package), name))
    ]
    assert missing == []


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_the_search_finds_the_right_page_first(site):
    browser = Listening("about:blank", width=1280, height=900)
    found = {}
    try:
        for query in FIRST_RESULT:
            url = f"{(site / 'search.html').as_uri()}?q={query.replace(' ', '+')}"
            browser.call("Page.navigate", url=url)
            browser.wait("document.querySelectorAll('#search-results li a').length > 1")
            link = "document.querySelector('#search-results li a').getAttribute('href')"
            found[query] = re.split("[?#]", browser.run(link))[0]
        schemes = {url.partition(":")[0] for url in browser.requested}
        assert schemes <= {"file", "data", "about"}
    finally:
        browser.close()
    assert found == FIRST_RESULT


@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_the_window(site, width):
    browser = Listening("about:blank", width=width, height=900)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    pages = ["index", "tutorials/first_training", "howto/coming_from_mjlab"]
    try:
        for page in [*pages, "reference/actuator"]:
            browser.call("Page.navigate", url=(site / f"{page}.html").as_uri())
            browser.wait(f"location.pathname.endsWith('/{page}.html')")
            browser.wait("document.readyState === 'complete'")
            overflow = "document.documentElement.scrollWidth - innerWidth"
            assert browser.run(overflow) <= 0, page
    finally:
        browser.close()
