"""The site: what its pages link to is there, and its search finds what is asked for.

The whole of it is built once, by the slow tests; pieces are made from a few lines.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.test_report import Listening
from tests.tools.architecture import ROOT
from tests.tools.browser import find_browser

sys.path.insert(0, str(ROOT / "docs"))

from generator import api, site
from generator.markdown import render
from generator.sources import modules

QUESTIONS = {
    "How do I resume a training?": "server.html",
    "train on several GPUs": "server.html#several-gpus",
    "write a reward term": "managers/",
    "export a policy to ONNX": "robot.html",
    "different objects in each world": "variants.html",
}
"""What is typed into the search, and the page that is among the first three found."""


def plain(link: str) -> str:
    return link


# --- Pieces ---------------------------------------------------------------------------


def test_headings_have_the_anchors_of_github_and_the_text_below_them():
    text = "# A `b_c` d!\n\nOne\ntwo.\n\n## A\n\n## A\n\n    code\n"
    found = render(text, plain).headings
    assert [(h.level, h.id, h.text) for h in found] == [
        (1, "a-b_c-d", "A b_c d!"),
        (2, "a", "A"),
        (2, "a-1", "A"),
    ]
    assert [h.below.split() for h in found] == [["One", "two."], [], ["code"]]


def test_links_and_pictures_get_the_address_of_the_site_and_notes_are_left_out():
    text = '<!-- made -->\n\n[a](b.md) ![c](d.png) <img src="e.png">\n'
    made = render(text, lambda link: f"to/{link}").html
    assert re.findall(r'(?:src|href)="([^"]+)"', made) == [
        "to/b.md",
        "to/d.png",
        "to/e.png",
    ]
    assert "made" not in made


def test_code_is_coloured_and_never_run():
    made = render("```python runnable\nx = '<script>'\n```\n", plain).html
    assert "<script>" not in made and "&lt;script&gt;" in made
    assert '<pre class="code python">' in made
    with pytest.raises(ValueError, match="No colours for a block of 'pyhton'"):
        render("```pyhton\n```\n", plain)


def test_the_reference_has_every_public_name_with_its_arguments():
    found = api.public_names()
    names = {one.name for one in found["mjlab.sim"]}
    import mjlab.sim

    own = {n for n, v in vars(mjlab.sim).items() if getattr(v, "__doc__", None)}
    assert names == {n for n in own if callable(vars(mjlab.sim)[n])}
    (one,) = (each for each in found["mjlab.runs"] if each.name == "Run")
    page = api.room_page("mjlab.runs", [one], plain).html
    assert 'id="Run.create"' in page
    assert "<dt><code>task</code></dt><dd>Task id.</dd>" in page.replace(
        "Task's", "Task&#x27;s"
    )
    assert "_write" not in re.sub("<[^>]+>", "", page)


def test_docstrings_that_look_like_tags_are_text():
    room = modules()["mjlab.settings"]
    node = room.tree.body[0]
    assert node is not None
    made = api._documented("Take `<name>` or <script>.\n\nArgs:\n    a: <b>.", plain)
    assert "<script>" not in made and "<b>." not in made
    assert "<code>&lt;name&gt;</code>" in made


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="x"></h1><a href="b.html#y">1</a><a href="#x">2</a><img src="no.png">'
        '<a href="#z">3</a><a href="b.html">4</a><a href="https://x.org/">5</a>'
    )
    (tmp_path / "b.html").write_text("<p>")
    assert site.dead_links(tmp_path) == [
        "a.html: b.html#y",
        "a.html: no.png",
        "a.html: #z",
    ]


def test_every_page_of_the_index_has_a_place_and_no_two_share_one():
    places = dict(site._places())
    assert len(set(places.values())) == len(places)
    groups = dict(site._groups())
    index = ROOT / "docs/README.md"
    assert places.keys() - groups.keys() == {site.HOME, index}


# --- Versions -------------------------------------------------------------------------


def plant(folder: Path, *pages: str) -> None:
    """Make a folder that looks like a site."""
    for page in (*pages, site.INDEX):
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text("<p>")


def test_versions_are_listed_with_their_pages_the_newest_release_first(tmp_path):
    for name in ("0.9.0", "next", "0.10.0"):
        plant(tmp_path / name, "index.html", "api/a.html")
    (tmp_path / "no_site").mkdir()
    assert site.write_versions(tmp_path) == ["0.10.0", "0.9.0", "next"]
    script = (tmp_path / site.VERSIONS).read_text()
    listed = json.loads(script.removeprefix("window.versions = ").rstrip(";\n"))
    assert list(listed) == ["0.10.0", "0.9.0", "next"]
    assert all(pages == ["api/a.html", "index.html"] for pages in listed.values())
    assert 'href="0.10.0/index.html"' in (tmp_path / "index.html").read_text()


def test_a_version_is_a_folder_and_no_release_but_this_one():
    import build

    build.check_name(build.release())
    build.check_name("next")
    for name in ("../x", "", "a b"):
        with pytest.raises(SystemExit, match="no name of a folder"):
            build.check_name(name)
    with pytest.raises(
        SystemExit, match=rf"this source is of version {build.release()}"
    ):
        build.check_name("99.0.0")
    assert build.version("next").startswith("next")


# --- The whole ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    code = f"import build, pathlib; build.build(pathlib.Path({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_whole_and_loads_nothing_from_outside(built):
    assert site.dead_links(built) == []
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 150
    loaded = re.compile(
        r'<(?:img|script|link|video|source)\b[^>]*(?:src|href)="(\w+:|//)'
    )
    for page in pages:
        text = page.read_text("utf-8")
        assert not loaded.search(text), page
        assert "default-src 'none'" in text
    styles = (built / "site.css").read_text()
    assert "url(" not in styles and "@import" not in styles
    index = (built / site.INDEX).read_text().removeprefix("window.sections = ")
    sections = json.loads(index.rstrip(";\n"))
    assert len(sections) > 1000
    named = {place.partition("#")[0] for _, _, place, _, _ in sections}
    assert "decisions/index.html" in named and "api/mjlab.envs.html" in named


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_the_search_finds_five_questions_on_a_disk_without_a_request(built):
    browser = Listening((built / "index.html").as_uri(), width=1300, height=900)
    try:
        browser.wait("document.readyState === 'complete'")
        where = browser.run(
            "(r => [r.x + 20, r.y + 10])"
            "(document.getElementById('query').getBoundingClientRect())"
        )
        found = {}
        for question in QUESTIONS:
            press = {"x": where[0], "y": where[1], "button": "left", "clickCount": 3}
            for kind in ("mousePressed", "mouseReleased"):
                browser.call("Input.dispatchMouseEvent", type=kind, **press)
            browser.call("Input.insertText", text=question)
            browser.wait("!!window.sections")
            links = "[...document.querySelectorAll('#found a')]"
            browser.wait(f"{links}.length > 2")
            places = f"{links}.slice(0, 3).map(a => a.getAttribute('href'))"
            found[question] = browser.run(places)
        missed = [
            question
            for question, page in QUESTIONS.items()
            if not any(place.startswith(page) for place in found[question])
        ]
        assert not missed, found
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter")
        browser.wait("location.pathname.endsWith('/variants.html')")
        browser.wait("document.readyState === 'complete'")
        assert browser.complaints == []
        assert {url.partition(":")[0] for url in browser.requested} <= {"file", "about"}
    finally:
        browser.close()


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
def test_a_reader_goes_to_the_same_page_of_another_version(tmp_path):
    code = (
        f"import build, pathlib; build.build(pathlib.Path({str(tmp_path)!r}), 'next')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "docs", check=True)
    plant(tmp_path / "0.0.1", "index.html", "managers/action.html")
    site.write_versions(tmp_path)
    assert site.dead_links(tmp_path / "next") == []
    browser = Listening((tmp_path / "next/managers/action.html").as_uri())
    choose = (
        "(s => { s.value = '0.0.1'; s.dispatchEvent(new Event('change')); })"
        "(document.querySelector('select.version'))"
    )
    try:
        browser.wait("!!document.querySelector('select.version')")
        shown = (
            "[...document.querySelectorAll('select.version option')].map(o => o.text)"
        )
        assert browser.run(shown) == ["0.0.1", "next"]
        assert browser.run("document.querySelector('select.version').value") == "next"
        browser.run(choose)
        browser.wait("location.pathname.endsWith('/0.0.1/managers/action.html')")
        # What the other version does not have leads to its first page.
        browser.call("Page.navigate", url=(tmp_path / "next/sweeps.html").as_uri())
        browser.wait("location.pathname.endsWith('/sweeps.html')")
        browser.wait("!!document.querySelector('select.version')")
        browser.run(choose)
        browser.wait("location.pathname.endsWith('/0.0.1/index.html')")
        assert browser.complaints == []
        assert {url.partition(":")[0] for url in browser.requested} <= {"file", "about"}
    finally:
        browser.close()


@pytest.mark.slow
@pytest.mark.skipif(find_browser() is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_pages_fit_their_window(built, width):
    browser = Listening("about:blank", width=width, height=900)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    names = ["index", "terms", "coming_from", "api/mjlab.rl", "configuration/learning"]
    try:
        for name in names:
            browser.call("Page.navigate", url=(built / f"{name}.html").as_uri())
            browser.wait(f"location.pathname.endsWith('/{name}.html')")
            browser.wait("document.readyState === 'complete'")
            wide = "document.documentElement.scrollWidth - innerWidth"
            assert browser.run(wide) <= 0, name
    finally:
        browser.close()
