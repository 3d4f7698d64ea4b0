"""Audit a page that is open in a browser: by axe-core, and whether it fits the window."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SEVERE = ("serious", "critical")
COLOURS = ("color-contrast", "link-in-text-block")
"""Rules whose outcome depends on the colour scheme; all others find the same in the other one."""
_SCRIPT = Axe().axe_script


def problems(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """What keeps people from using the page, a line each: violations of axe's rules (all, or these) that are serious
    or critical, and content that is wider than the window (WCAG 2.2, 1.4.10)."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    lines = [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {node['html'][:200]}: {_reason(node)}"
        for rule in page.evaluate("options => axe.run(options)", options)["violations"]
        if rule["impact"] in SEVERE
        for node in rule["nodes"]
    ]
    width, window = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [*lines, *([f"the page is {width} px wide, the window {window} px"] if width > window else [])]


def _reason(node: dict[str, list[dict[str, str]]]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])
