"""Random sites with everything that goes wrong on real ones: `generated(seed)` always gives the same site.

Every site has a host of its own, so that one database can hold any number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from benchmarks.loop.graph_sites import MAX_REDIRECTS, REASONS, WORDS, GraphSite, html, page

_UNKNOWN = ("violin", "saffron", "glacier", "parliament", "orchid", "comet")

_ELSEWHERE = (
    "https://elsewhere.example/bridge", "http://127.0.0.1/steel", "http://10.0.0.7/river", "http://[::1]/span",
    "http://169.254.169.254/latest/meta-data/", "//elsewhere.example/longest-span", "mailto:toll@site.example",
    "javascript:void(0)", "data:text/html,bridge", "ftp://elsewhere.example/arch", "https://user:word@elsewhere.example/",
    "http://[::1", "https://exa mple/", "//", "?", "#top", "http://0x7f.1/tower",
)  # fmt: skip


def generated(seed: int) -> GraphSite:
    """The site of this number: 3 to 12 linked pages and some of the oddities, never the same choice of them."""
    random = Random(f"graph site {seed}")
    site = GraphSite(f"graph-{seed}.example")
    paths = ["/", *(f"/{random.choice(WORDS)}-{number}" for number in range(random.randint(2, 11)))]
    links: dict[str, list[str]] = {path: random.choices(paths, k=random.randint(0, 6)) for path in paths}
    for oddity in random.sample(_ODDITIES, k=random.randint(1, len(_ODDITIES))):
        for target in oddity(site, random, paths):
            links[random.choice(paths)].append(target)
    for path in paths:
        site.pages[path] = page(random, path, links[path])
    for path in [*site.refused, *site.redirects, *site.slow, *site.hanging]:
        if path != "/":  # a page that is refused or moved is not there
            site.pages.pop(path, None)
    return site


def question(random: Random) -> str:
    """Something to ask these sites: in their own words, or about what none of them knows."""
    words = random.sample(random.choice((WORDS, WORDS, _UNKNOWN)), k=random.randint(1, 4))
    return f"{random.choice(('What is the', 'How to', 'Compare'))} {' '.join(words)}?"


def _dead(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    for status in REASONS:
        site.refused[f"/refused-{status}-bridge"] = status
    site.refused.update({path: random.choice((404, 500)) for path in paths[1:] if random.random() < 0.15})
    return [*site.refused, "/not-there/span"]


def _slow(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    site.slow.update(f"/slow-{word}" for word in random.sample(WORDS, k=3))
    return sorted(site.slow)


def _hanging(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    site.hanging.update(f"/hanging-{word}" for word in random.sample(WORDS, k=2))
    return sorted(site.hanging)


def _moved(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """Chains up to one redirect too many, loops, redirects to another host and to private addresses."""
    length = random.randint(1, MAX_REDIRECTS + 2)
    chain = [f"/moved-{step}-span" for step in range(length)]
    site.redirects.update(zip(chain, [*chain[1:], random.choice(paths)], strict=True))
    site.redirects.update({"/round-a": "/round-b", "/round-b": "/round-a", "/self-bridge": "/self-bridge"})
    site.redirects["/away-bridge"] = random.choice(
        ("https://elsewhere.example/bridge", f"https://www.{site.host}/span")
    )
    site.redirects["/inside-steel"] = random.choice(("http://127.0.0.1/steel", "http://[fd00::1]/", "ftp://x.example/"))
    return [*chain[:2], "/round-a", "/round-b", "/self-bridge", "/away-bridge", "/inside-steel"]


def _many_to_one(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """Many URLs that all lead to one page."""
    aliases = [f"/{random.choice(WORDS)}-alias-{letter}" for letter in "abcdefghijklmnopqrstuvwx"]
    site.redirects.update(dict.fromkeys(aliases, random.choice(paths)))
    return aliases


def _traps(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    return [
        "/calendar/1",
        f"/list?{random.choice(WORDS)}=span",
        "/deep/",
        "/steel/steel/steel/steel/",
        f"/{'x' * 2_100}",
    ]


def _without_text(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    bodies = {
        "/empty-span": "",
        "/blank-bridge": "<html><body> \n&nbsp;<p></p></body></html>",
        "/picture-tower": "<html><head><title>tower</title></head><body><img src='/tower.png' alt=''></body></html>",
        "/missing-record": html("Page not found", "<h1>404</h1><p>The page you asked for does not exist.</p>"),
        "/script-queue": html("queue", "<noscript>You need to enable JavaScript to run this app.</noscript>"),
        "/only-links": html("longest span", "".join(f'<a href="{path}">{path}</a> ' for path in paths)),
        "/cut-off": "<html><head><title>arch</title><body><p>granite <a href='/",
        "/one-word": html("tide", "<p>tide</p>"),
    }
    site.pages.update(bodies)
    return list(bodies)


def _duplicates(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """One page under many URLs: with and without a canonical link, as a directory and as its index file."""
    copy = page(random, "/same/", random.choices(paths, k=3))
    spellings = ["/same/", "/same/index.html", "/same/?utm_source=x", "/same/?print=1", "/copy-of-span", "/SAME/"]
    site.pages.update(dict.fromkeys(spellings, copy))
    named = page(random, "/named", ["/"], f'<link rel="canonical" href="{site.root}/named">')
    site.pages.update(dict.fromkeys(["/named", "/named/", "/named?session=7", "/named/index.html"], named))
    bare = site.host.removeprefix("www.")
    site.pages["/www-bridge"] = page(random, "/", ["/"], f'<link rel="canonical" href="https://www.{bare}/www-bridge">')
    return [*spellings, "/named", "/named/", "/named?session=7", "/named/index.html", "/www-bridge"]


def _elsewhere(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    based = page(random, "/based", ["bridge", "/span"], '<base href="https://elsewhere.example/base/">')
    site.pages["/based-bridge"] = based
    ports = [
        f"https://{site.host}:8443/span",
        f"http://{site.host}/",
        f"https://{site.host}.:443/",
        f"https://www.{site.host}/",
    ]
    return [*_ELSEWHERE, *ports, f"https://www.{site.host}/", "/based-bridge"]


def _hub(site: GraphSite, random: Random, paths: list[str]) -> list[str]:
    """A page that links to hundreds of others, of which few are there."""
    leaves = [f"/leaf/{random.choice(WORDS)}/{random.choice(WORDS)}-{leaf}" for leaf in range(random.randint(100, 400))]
    for leaf in leaves[:: random.randint(1, 40)]:
        site.pages[leaf] = page(random, leaf, ["/", "/hub"])
    site.pages["/hub"] = page(random, "/hub", leaves)
    return ["/hub"]


_ODDITIES: tuple[Callable[[GraphSite, Random, list[str]], list[str]], ...] = (
    _dead, _slow, _hanging, _moved, _many_to_one, _traps, _without_text, _duplicates, _elsewhere, _hub,
)  # fmt: skip
