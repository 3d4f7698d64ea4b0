"""After `forget --scrub` no file below the home holds a word that only the removed page had, whoever stored it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.dagster.corpus_runs import KEY
from tests.dagster.small_warc import write_site

pytestmark = [pytest.mark.slow, pytest.mark.alone]

SITE_URL = f"https://{KEY}/"
PLANTED = f"{SITE_URL}quinquinalia"
# in the text, a heading, the title, the address, a table, the description, the mark-up, an old text
WORDS = ("zanthoxylin", "headword", "titulary", "quinquinalia", "cellular77", "describent", "jsonldian", "formerly9")


def planted_page(word: str) -> str:
    markup = {"@context": "https://schema.org", "@type": "Article", "headline": "Of jsonldian", "url": PLANTED}
    return (
        '<html><head><title>On titulary tea</title><meta name="description" content="A describent of tea">'
        f'<script type="application/ld+json">{json.dumps(markup)}</script></head><body><main><h1>On titulary tea</h1>'
        f"<p>The tea that is brewed in cellars holds {word} and is drunk by many people in winter.</p>"
        "<h2>Rare headword</h2><table><tr><th>Kind</th><th>Degrees</th></tr><tr><td>cellular77</td><td>80</td></tr>"
        f'</table><p>More is on the <a href="/">page of tea</a>.</p></main></body></html>'
    )


def site(folder: Path, name: str, word: str) -> Path:
    pages = {
        SITE_URL: "<html><head><title>Tea</title></head><body><main><h1>Tea</h1><p>Tea is made with hot water, and"
        " drunk hot.</p><p>Read of <a href='/green'>green tea</a>.</p></main></body></html>",
        f"{SITE_URL}green": "<html><head><title>Green tea</title></head><body><main><h1>Green tea</h1><p>Green tea is"
        " brewed at eighty degrees, for two minutes.</p></main></body></html>",
        PLANTED: planted_page(word),
    }
    return write_site(folder / name, pages)


class Home:
    """A corpus with Dagster's instance in it, used by commands as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"
        self.work = folder / "work"
        self.work.mkdir()

    def run(self, *command: str, warc: Path, code: int = 0) -> str:
        environment = {
            **{"WEBRAG_HOME": str(self.folder), "WEBRAG_WARC": str(warc), "WEBRAG_READER": "none"},
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        done = subprocess.run(
            command, cwd=self.work, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def webrag(self, *arguments: str, warc: Path, code: int = 0) -> str:
        return self.run(sys.executable, "-m", "webrag", *arguments, warc=warc, code=code)

    def holding(self, *words: str) -> dict[str, set[str]]:
        """The planted words, with the files whose bytes have them."""
        wanted = [(word, re.compile(re.escape(word).encode(), re.IGNORECASE)) for word in words]
        found: dict[str, set[str]] = {word: set() for word in words}
        for file in self.folder.rglob("*"):
            if file.is_file():
                content = file.read_bytes()
                for word, pattern in wanted:
                    if pattern.search(content) or word in file.name:
                        found[word].add(str(file.relative_to(self.folder)))
        return found


@contextmanager
def user_of(folder: Path) -> Iterator[None]:
    """Another process that uses the corpus."""
    script = (
        "import sys; from pathlib import Path; from webrag_core.store.embedded import embedded_url;"
        " embedded_url(Path(sys.argv[1])); print('up', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield
        process.communicate()


_RUNS = """
import sys
from webrag_dagster.instance import use_instance
use_instance()
import dagster as dg
from tests.dagster.corpus_runs import KEY
from webrag_dagster.definitions import definitions
with dg.DagsterInstance.get() as instance:
    load = definitions()
    instance.add_dynamic_partitions("webrag_source", [KEY])
    for job, key, config in (
        ("refresh", KEY, {}),
        ("ask", None, {"question": "What does the tea that is brewed in cellars hold?", "urls": []}),
        ("answer", None, {"question": "What does the tea hold?", "urls": [sys.argv[1]]}),
    ):
        done = load.resolve_job_def(job).execute_in_process(
            instance=instance, partition_key=key, run_config=config, raise_on_error=False
        )
        assert done.success, job
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Path]:
    """A home in which every path that stores text of a page was gone, and the archive it reads."""
    folder = tmp_path_factory.mktemp("scrub")
    folder.chmod(0o755)
    home = Home(folder)
    before, warc = site(folder, "before.warc.gz", "formerly9"), site(folder, "site.warc.gz", "zanthoxylin")
    home.webrag("ingest", SITE_URL, f"{SITE_URL}green", PLANTED, warc=before)
    home.webrag("source", "add", SITE_URL, warc=before)
    home.webrag("ingest", PLANTED, warc=warc)
    home.webrag("search", "zanthoxylin", warc=warc)
    home.webrag("ask", "What does the tea that is brewed in cellars hold?", warc=warc)
    home.webrag("answer", PLANTED, "What does the tea that is brewed in cellars hold?", warc=warc)
    home.run(sys.executable, "-c", _RUNS, PLANTED, warc=warc)
    return home, warc


def test_no_file_of_the_home_holds_a_planted_word(filled: tuple[Home, Path]) -> None:
    home, warc = filled
    assert all(home.holding(*WORDS).values())
    places = " ".join(sorted(set().union(*home.holding(*WORDS).values())))
    assert "dagster/" in places
    assert "pg_wal/" in places
    with user_of(home.folder):
        refused = home.webrag("forget", PLANTED, "--yes", "--scrub", warc=warc, code=1)
    assert "nothing was removed" in refused
    printed = home.webrag("forget", PLANTED, "--yes", "--scrub", warc=warc)
    assert "tables and the log of the database are written anew" in printed
    left = {word: files for word, files in home.holding(*WORDS).items() if files}
    assert left == {}, printed
    home.webrag("verify", warc=warc)
    assert "eighty degrees" in home.webrag("search", "green tea degrees", warc=warc)
