"""Make docs/images/report.png: `python docs/render_report.py`.

Chromium shows the report of the shipped walker: its first section, and the reward terms
in the dark theme.
"""

import base64
import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.report import write_report
from tests.tools.browser import Browser

RUN = ROOT / "tasks/velocity/trained/Velocity-Go1-Flat"
IMAGE = ROOT / "docs/images/report.png"
WIDTH, HEIGHT = 944, 1200
SCALE = 0.82
"""Device pixels per CSS pixel."""


def main() -> None:
    """Write the picture of the report."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(RUN, Path(folder) / RUN.parent.name / RUN.name)
        browser = Browser(write_report(copy).as_uri(), width=WIDTH, height=HEIGHT)
        try:
            halves = [shot(browser, "light", "body"), shot(browser, "dark", "#rewards")]
        finally:
            browser.close()
    whole = Image.new("RGB", (2 * WIDTH, HEIGHT))
    for index, half in enumerate(halves):
        whole.paste(half, (index * WIDTH, 0))
    whole.quantize(256).save(IMAGE, optimize=True)


def shot(browser: Browser, scheme: str, place: str) -> Image.Image:
    """Take a screenshot of the page, starting at an element."""
    size = {"width": round(WIDTH / SCALE), "height": round(HEIGHT / SCALE)}
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        **size,
        deviceScaleFactor=SCALE,
        mobile=False,
    )
    browser.call("Emulation.setScrollbarsHidden", hidden=True)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.call("Emulation.setEmulatedMedia", features=[feature])
    browser.wait("document.querySelectorAll('path.line').length > 0")
    browser.run(f"document.querySelector('{place}').scrollIntoView()")
    found = browser.call("Page.captureScreenshot", format="png")
    return Image.open(io.BytesIO(base64.b64decode(found["data"])))


if __name__ == "__main__":
    main()
