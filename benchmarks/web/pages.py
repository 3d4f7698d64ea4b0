"""What the page to ask on costs a person: time until something is seen, weight, requests, barriers.

The corpus is a frozen site, indexed by the product's own command (or `--home`, indexed already); server and browser are
the installed `webrag serve` and Chromium. Every question of the goldens is typed and asked among what is stored; the
first is not counted. Times are ms by the browser's clock from the click: `progress` until the first word of what is
done is on the screen, `sentence` until the first proved sentence is (of the questions that have an answer), `answer`
until the whole answer stands beside its page. `bytes` and `foreign` are of each page, everything that it loads
included; `barriers` are violations of axe-core's rules that are serious or critical, at 1400 and 360 pixels, light
and dark.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.mcp.search import index
from benchmarks.security.foreign_site import CHROMIUM, FLAGS
from evals.walks.goldens import DEFAULT_GOLDEN, DEFAULT_SITE, load_goldens

TARGETS = {
    "progress_p50_ms": 200.0,
    "sentence_p50_ms": 1_000.0,
    "bytes_max": 150_000.0,
    "foreign": 0.0,
    "barriers": 0.0,
}
_PAGES = ("/", "/answers", "{answer}", "/pages/1", "/search?q=read+a+file", "/sources", "/graph")
_WINDOWS = ((1400, "light"), (1400, "dark"), (360, "light"), (360, "dark"))
# set before the page's own script: when the first step, the first sentence and the answer were drawn
_WATCH = """
const note = (name) => { sessionStorage[name] ||= performance.timeOrigin + performance.now(); };
new MutationObserver(() => {
  if (document.querySelector("#state, #verdict")) requestAnimationFrame(() => note("progress"));
  if (document.querySelector("ol.answer li")) requestAnimationFrame(() => note("sentence"));
  if (document.querySelector(".beside")) requestAnimationFrame(() => note("answer"));
}).observe(document, { childList: true, subtree: true });
"""


def ask(browser: Browser, base: str, question: str) -> tuple[dict[str, float], str]:
    """Type a question and press the button. Returns ms until each stage, and the path of the answer."""
    page = browser.new_context(base_url=base, viewport={"width": 1400, "height": 900}).new_page()
    page.add_init_script(_WATCH)
    page.goto("/")
    page.fill("#question", question)
    clicked = page.evaluate("sessionStorage.clear(); performance.timeOrigin + performance.now()")
    page.click("button:text-is('Ask')", no_wait_after=True)
    page.wait_for_url("**/answers/*")
    page.wait_for_function("sessionStorage.answer")
    stages = page.evaluate("({...sessionStorage})")
    path = page.evaluate("location.pathname")
    page.context.close()
    return {name: float(moment) - clicked for name, moment in stages.items()}, path


def weigh(page: Page, path: str, base: str) -> dict[str, int]:
    """Bytes of a page with all that it loads (its cache is empty), and requests to other hosts."""
    sizes: list[int] = []
    foreign: list[str] = []

    def add(response: Any) -> None:
        sizes.append(len(response.body()))
        if not response.url.startswith(base):
            foreign.append(response.url)

    page.on("response", add)
    page.goto(path)
    page.wait_for_load_state("networkidle")
    page.remove_listener("response", add)
    return {"bytes": sum(sizes), "foreign": len(foreign)}


def barriers(browser: Browser, base: str, paths: list[str]) -> list[str]:
    """Each serious or critical violation, with its page and window."""
    lines = []
    for width, scheme in _WINDOWS:
        context = browser.new_context(
            base_url=base,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        for path in paths:
            page.goto(path)
            lines += [
                f"{path} at {width} px, {scheme}: {rule['id']}: {rule['help']}"
                for rule in Axe().run(page).response["violations"]
                if rule["impact"] in ("serious", "critical")
            ]
        context.close()
    return lines


def measure(home: Path, site: Path, questions: list[str]) -> dict[str, Any]:
    """All figures."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("webrag")), "serve", "--port", str(port)]
    ours = {"WEBRAG_HOME": str(home), "WEBRAG_WARC": str(site), "WEBRAG_SERVE_OPEN": "1"}
    server = subprocess.Popen(command, env={**os.environ, **ours})
    base = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(base)
        with (
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
        ):
            runs = [ask(browser, base, question) for question in questions][1:]
            answer = next(path for stages, path in runs if "sentence" in stages)
            paths = [path.format(answer=answer) for path in _PAGES]
            weights = {path: weigh(browser.new_page(base_url=base), path, base) for path in paths}
            lines = barriers(browser, base, paths)
    finally:
        server.terminate()
        server.wait()
    figures: dict[str, Any] = {"questions": len(runs), "load": os.getloadavg()[0]}
    for stage in ("progress", "sentence", "answer"):
        times = [stages[stage] for stages, _ in runs if stage in stages]
        figures[f"{stage}_p50_ms"], figures[f"{stage}_p95_ms"] = (float(np.percentile(times, q)) for q in (50, 95))
        figures[f"{stage}_count"] = len(times)
    figures["bytes"] = {path: weight["bytes"] for path, weight in weights.items()}
    figures["bytes_max"] = max(figures["bytes"].values())
    figures["foreign"] = sum(weight["foreign"] for weight in weights.values())
    figures["barriers"] = len(lines)
    return figures | {"lines": lines}


def wait_until_healthy(base: str) -> None:
    """Wait until a server answers. Raises SystemExit when it does not start."""
    for _ in range(600):
        try:
            with urlopen(f"{base}/health") as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


def main() -> None:
    """Print the figures beside their targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="a corpus that holds the site already")
    parser.add_argument("--questions", type=int, default=40)
    arguments = parser.parse_args()
    questions = [golden.query for golden in load_goldens(DEFAULT_GOLDEN)][: arguments.questions]
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.home or Path(folder)
        if arguments.home is None:
            index(home, DEFAULT_SITE)
        figures = measure(home, DEFAULT_SITE, questions)
    for line in figures.pop("lines"):
        print(line)
    print(json.dumps(figures, indent=2))
    for name, most in TARGETS.items():
        print(
            f"{name}: {figures[name]:g} (target: at most {most:g}) {'reached' if figures[name] <= most else 'MISSED'}"
        )


if __name__ == "__main__":
    main()
