"""Take the pictures that are named, else all: python -m docs_tools.screenshots [NAME …]"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from docs_tools.pages import DOCS
from docs_tools.screenshots.shots import MILLISECONDS, NEEDS, SHOTS, Shot
from docs_tools.screenshots.stage import Stage

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FINER = 2  # letters of a page that is drawn smaller than it is stand unevenly
_COLOURS = (
    256  # chosen so that rare ones stay, and moved to the middle of what they stand for: no difference to be seen
)
_SETTLED_MILLISECONDS = 1_500  # what moves in Dagster's UI has ended


def main() -> None:
    """Take the pictures; what others show is done before, without a picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*(shot.name for shot in SHOTS), []])
    parser.add_argument("--out", type=Path, default=DOCS / "images")
    options = parser.parse_args()
    pictures = set(options.names) or {shot.name for shot in SHOTS}
    done_before = {NEEDS[name] for name in pictures if name in NEEDS}
    chromium = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if chromium is None:
        raise SystemExit(f"there is no Chromium on the PATH: {', '.join(_BROWSERS)}")
    with ExitStack() as end, sync_playwright() as playwright:
        folder = Path(end.enter_context(tempfile.TemporaryDirectory(prefix="webrag-screenshots-")))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        stage = Stage(folder, end)
        for shot in SHOTS:
            if shot.name in pictures | done_before:
                take(shot, stage, browser, options.out if shot.name in pictures else folder)


def take(shot: Shot, stage: Stage, browser: Browser, folder: Path) -> None:
    """Take one picture: `pixels` wide, whatever the size of the page."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        device_scale_factor=_FINER * shot.pixels / shot.width,
        color_scheme=shot.scheme,
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    context.set_default_timeout(MILLISECONDS)
    with context:
        stage.page = context.new_page()
        shot.reach(stage)
        stage.page.wait_for_timeout(_SETTLED_MILLISECONDS)
        file = folder / f"{shot.name}.png"
        picture = Image.open(io.BytesIO(stage.page.screenshot(animations="disabled"))).convert("RGB")
        picture = picture.resize((shot.pixels, round(shot.pixels * shot.height / shot.width)), Image.Resampling.LANCZOS)
        picture.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3).save(file, optimize=True)
        print(f"{shot.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
