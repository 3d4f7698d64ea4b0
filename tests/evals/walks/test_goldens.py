"""The golden queries hold what they claim, and the check sees it when they do not."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evals.sites import build_postgresql
from evals.sites.packing import page_url, write_warc
from evals.walks.check_goldens import (
    DraftGolden,
    RecordedGolden,
    filled,
    overlap_of,
    problems_of,
    quote_problems,
    recorded_goldens,
    style_problems,
)
from evals.walks.site_map import SiteMap, SitePage, key_of, read_site
from evals.walks.suites import own_suites
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.errors import InvalidInputError

pytestmark = pytest.mark.slow

BASE = "https://doc.rust-lang.org/"


@pytest.fixture(scope="module")
def rust_site() -> SiteMap:
    return asyncio.run(read_site(own_suites()["rust-1.63"].warc))


@pytest.fixture(scope="module")
def rust_goldens() -> dict[str, RecordedGolden]:
    return {golden.id: golden for golden in recorded_goldens(own_suites()["rust-1.63"].golden)}


def test_a_sample_of_the_rust_goldens_holds(rust_site: SiteMap, rust_goldens: dict[str, RecordedGolden]) -> None:
    """`make bench-goldens` checks all claims of all sites."""
    sample = dict(list(rust_goldens.items())[::5])
    assert {name: problems for name, golden in sample.items() if (problems := problems_of(golden, rust_site))} == {}


def test_every_golden_has_the_form_of_its_style_and_every_suite_questions_without_an_answer() -> None:
    for suite in own_suites().values():
        goldens = recorded_goldens(suite.golden)
        assert {golden.id: found for golden in goldens if (found := style_problems(golden))} == {}
        assert 3 <= sum(golden.kind == "unanswerable" for golden in goldens) <= 5
    assert sum(len(recorded_goldens(suite.golden)) for suite in own_suites().values()) >= 600


@pytest.mark.parametrize("name", ["debian-handbook-11", "tomcat-10.1"])
def test_the_goldens_of_short_questions_hold(name: str) -> None:
    suite = own_suites()[name]
    goldens = recorded_goldens(suite.golden)[::4]
    needs = [need for golden in goldens for need in zip(golden.gold_pages, golden.gold_quotes, strict=True)]
    site = asyncio.run(read_site(suite.warc, {key_of(url) for urls, _ in needs for url in urls}))
    found = [quote_problems([key_of(url) for url in urls], quotes, site) for urls, quotes in needs]
    assert [problem for problems in found for problem in problems] == []


@pytest.mark.parametrize("name", ["rust-1.63", "postgresql-15"])
def test_the_goldens_are_spread_over_kinds_and_little_copied(name: str) -> None:
    goldens = recorded_goldens(own_suites()[name].golden)
    assert len(goldens) >= 36
    kinds = [golden.kind for golden in goldens]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "on_seed": 8,
        "one_hop": 14,
        "two_hop": 8,
        "multi_page": 6,
        "unanswerable": 4,
    }
    overlaps = [golden.overlap for golden in goldens if golden.overlap is not None]
    assert 0.1 <= sum(overlaps) / len(overlaps) <= 0.18


def test_the_quotes_of_a_sample_of_the_python_goldens_hold() -> None:
    suite = own_suites()["python-3.11"]
    needs = [need for golden in recorded_goldens(suite.golden)[::3]
             for need in zip(golden.gold_pages, golden.gold_quotes, strict=True)]  # fmt: skip
    assert len(needs) > 10
    site = asyncio.run(read_site(suite.warc, {key_of(url) for urls, _ in needs for url in urls}))
    found = [quote_problems([key_of(url) for url in urls], quotes, site) for urls, quotes in needs]
    assert [problem for problems in found for problem in problems] == []


@pytest.mark.parametrize(
    ("item", "changes", "problem"),
    [
        ("rust-009", {"hops": 2}, "hops is 1, not 2"),
        ("rust-012", {"hops_content": None}, "hops_content is 1, not None"),
        ("rust-035", {"oracle_pages": 4}, "oracle_pages is 5, not 4"),
        ("rust-009", {"overlap": 0.5}, "overlap is 0.22, not 0.5"),
        ("rust-009", {"kind": "two_hop"}, "two_hop does not fit 1 needs, the farthest 1 links off"),
        ("rust-009", {"seed_url": f"{BASE}book/no-such.html"}, f"not in the archive: {BASE}book/no-such.html"),
        (
            "rust-009",
            {"gold_quotes": [["A yank deletes the code at once."]]},
            "on none of its pages: A yank deletes the code at once.",
        ),
        ("rust-002", {"gold_quotes": [["A closure."]]}, "too short a quote: A closure."),
        (
            "rust-022",
            {"gold_pages": [[f"{BASE}reference/"]], "gold_quotes": [["a new language release every six weeks"]]},
            f"{BASE}reference/introduction.html carries a quote but is not listed",
        ),
        (
            "rust-009",
            {"gold_pages": [[f"{BASE}book/ch14-02-publishing-to-crates-io.html", f"{BASE}nomicon/ffi.html"]]},
            f"{BASE}nomicon/ffi.html carries no quote",
        ),
        (
            "rust-009",
            {"query": "Who is publishing a crate to crates.io?"},
            f"the query copies the title of {BASE}book/ch14-02-publishing-to-crates-io.html",
        ),
    ],
)  # fmt: skip
def test_a_false_claim_is_found(
    rust_site: SiteMap, rust_goldens: dict[str, RecordedGolden], item: str, changes: dict[str, Any], problem: str
) -> None:
    changed = RecordedGolden.model_validate({**rust_goldens[item].model_dump(), **changes})
    assert problem in problems_of(changed, rust_site)


@pytest.mark.parametrize("item", ["rust-002", "rust-009", "rust-022", "rust-035", "rust-040"])
def test_a_draft_is_filled_from_text_and_links(
    rust_site: SiteMap, rust_goldens: dict[str, RecordedGolden], item: str
) -> None:
    golden = rust_goldens[item]
    whole = filled(DraftGolden.model_validate(golden.model_dump()), rust_site)
    assert [set(need) for need in whole.gold_pages] == [set(need) for need in golden.gold_pages]
    assert whole.model_dump(exclude={"gold_pages"}) == golden.model_dump(exclude={"gold_pages"})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"gold_quotes": [["A yank deletes the code at once."]]}, "on no page: A yank deletes the code at once."),
        ({"seed_url": f"{BASE}no-such.html"}, f"not in the archive: {BASE}no-such.html"),
    ],
)
def test_a_draft_that_the_site_does_not_bear_out_is_refused(
    rust_site: SiteMap, rust_goldens: dict[str, RecordedGolden], changes: dict[str, Any], problem: str
) -> None:
    draft = DraftGolden.model_validate({**rust_goldens["rust-009"].model_dump(), **changes})
    with pytest.raises(InvalidInputError, match=problem):
        filled(draft, rust_site)


@pytest.mark.parametrize(
    ("style", "query", "problems"),
    [
        ("keywords", "yank crate", []),
        ("keywords", "take back a release", ["keywords are one to three words"]),
        ("how_to", "How do I take back a release?", []),
        ("how_to", "Taking back a release?", ["a how-to starts with How and has at most 14 words"]),
        ("yes_no", "If I yank a release, does it vanish?", []),
        ("yes_no", "What does yanking do?", ["a yes-no question starts with its verb"]),
        ("numeric", "For how long is a release there?", ["no quote has a number"]),
        ("multi_part", "What is a release, and who may yank it?", ["a question of several parts has one need"]),
        ("navigational", "Publishing a Crate to Crates.io", []),
    ],
)
def test_a_question_has_the_form_of_its_style(
    rust_goldens: dict[str, RecordedGolden], style: str, query: str, problems: list[str]
) -> None:
    golden = rust_goldens["rust-009"].model_copy(update={"style": style, "query": query})
    assert style_problems(golden) == problems


def test_a_line_without_measurements_is_refused(tmp_path: Path) -> None:
    line = own_suites()["rust-1.63"].golden.read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "bare.jsonl").write_text(line.replace('"overlap"', '"overlapping"'))
    with pytest.raises(InvalidInputError, match="overlap"):
        recorded_goldens(tmp_path / "bare.jsonl")


def site_of(**links: str) -> SiteMap:
    """A site of one-letter pages: a="bc" is a page a with links to b and c."""
    bare = {"body": b"", "title": "", "letters": "", "content_links": frozenset[str]()}
    return SiteMap({name: SitePage(url=name, links=frozenset(targets), **bare) for name, targets in links.items()})


def test_the_oracle_shares_the_pages_on_the_way() -> None:
    site = site_of(s="xy", x="ab", y="c", a="", b="d", c="", d="")
    assert site.oracle_pages("s", [["s"]]) == 1
    assert site.oracle_pages("s", [["a"], ["b"]]) == 4  # x leads to both
    assert site.oracle_pages("s", [["a"], ["b"], ["c"]]) == 6
    assert site.oracle_pages("s", [["d"], ["b"]]) == 4  # b lies on the way to d
    assert site.oracle_pages("s", [["c", "a"], ["d"]]) == 5  # of the alternatives the one on the way counts
    assert site.oracle_pages("a", [["s"]]) is None


def test_navigation_links_count_for_hops_but_not_for_content_hops(tmp_path: Path) -> None:
    html = '<html><body><nav><a href="b.html">B</a></nav><main>Text <a href="c/index.html#x">C</a></main></body></html>'
    for name in ("a.html", "b.html", "index.html"):
        (tmp_path / name).write_text(html if name == "a.html" else "<html><body>Nothing</body></html>")
    base = "https://docs.example/"
    files = [(f"{base}a.html", "a.html"), (f"{base}b.html", "b.html"), (f"{base}c/", "index.html")]
    write_warc(tmp_path / "site.warc.gz", [(url, tmp_path / name) for url, name in files])
    site = asyncio.run(read_site(tmp_path / "site.warc.gz"))
    start = key_of(f"{base}a.html")
    assert site.distances(start, content_only=False) == {start: 0, f"{base}b.html": 1, f"{base}c/": 1}
    assert site.distances(start, content_only=True) == {start: 0, f"{base}c/": 1}


def test_a_link_to_an_address_that_is_refused_is_no_link(tmp_path: Path) -> None:
    html = '<html><body><a href="https://name@docs.example/b.html">B</a><a href="/c.html">C</a></body></html>'
    (tmp_path / "a.html").write_text(html)
    write_warc(tmp_path / "site.warc.gz", [("https://docs.example/a.html", tmp_path / "a.html")])
    site = asyncio.run(read_site(tmp_path / "site.warc.gz"))
    assert [page.links for page in site.pages.values()] == [frozenset({"https://docs.example/c.html"})]


def test_a_page_that_declares_its_encoding_is_read(tmp_path: Path) -> None:
    html = '<?xml version="1.0" encoding="UTF-8"?>\n<html><head><title>Fünf</title></head><body>Größe</body></html>'
    (tmp_path / "a.html").write_text(html, encoding="utf-8")
    write_warc(tmp_path / "site.warc.gz", [("https://docs.example/a.html", tmp_path / "a.html")])
    site = asyncio.run(read_site(tmp_path / "site.warc.gz"))
    assert [(page.title, page.letters) for page in site.pages.values()] == [("Fünf", "grösse")]


def test_overlap_counts_longer_words_once() -> None:
    assert overlap_of("Does the yank delete code, or does it not?", [["A yank does not delete any code."]]) == 1.0
    assert overlap_of("Where is my cat, and where is the crate?", [["The crate is here."], ["It is there."]]) == 0.5
    assert overlap_of("Anything at all?", []) is None


def test_only_an_index_file_goes_by_its_directory() -> None:
    assert page_url(BASE, "index.html") == BASE
    assert page_url(BASE, "book/index.html") == f"{BASE}book/"
    assert page_url(BASE, "error-index.html") == f"{BASE}error-index.html"
    assert page_url(BASE, "book/genindex.html") == f"{BASE}book/genindex.html"


def test_packing_twice_gives_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><body>Same</body></html>")
    packed = [tmp_path / "one.warc.gz", tmp_path / "two.warc.gz"]
    for target in packed:
        write_warc(target, [(f"{BASE}a.html", tmp_path / "a.html")])
    assert packed[0].read_bytes() == packed[1].read_bytes()
    page = asyncio.run(WarcAcquirer(packed[0]).fetch(f"{BASE}a.html"))
    assert (page.media_type, page.body) == ("text/html", b"<html><body>Same</body></html>")
    assert {"etag", "last-modified"} <= page.headers.keys()


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb")
def test_the_manual_is_packed_whole_and_alike_each_time(tmp_path: Path) -> None:
    root = tmp_path / "tree" / "usr/share/doc/postgresql-doc-15"
    (root / "html").mkdir(parents=True)
    for name in ("html/index.html", "html/sql.html", "html/stylesheet.css", "copyright"):
        (root / name).write_text("<html><body>Text</body></html>")
    (tmp_path / "tree" / "DEBIAN").mkdir()
    control = "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@docs.example>\nDescription: a\n"
    (tmp_path / "tree" / "DEBIAN" / "control").write_text(control)
    package = tmp_path / "a.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", str(tmp_path / "tree"), str(package)]
    subprocess.run(command, check=True, capture_output=True)
    packed = [tmp_path / "one.warc.gz", tmp_path / "two.warc.gz"]
    assert [build_postgresql.pack(package, target) for target in packed] == [3, 3]
    assert packed[0].read_bytes() == packed[1].read_bytes()
    base = build_postgresql.BASE
    assert set(WarcAcquirer(packed[0]).page_urls()) == {base, f"{base}sql.html"}
