"""A month of a site as an operator lives through it: `python -m benchmarks.platform.month`.

Each day of a script changes the site, or breaks it. Then the sensors tick, what they ask for runs, and alerts go to a
webhook here. All that the corpus knows of time is moved back by the days in between. A row for each day says what was
asked, what is stored that the site does not say, what is missing, and who was told. Every page, a section of each and
some questions are watched: each change of a text must be told once, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
from psycopg import AsyncConnection, sql

from benchmarks.platform.versioned_site import Day, VersionedSite, versioned_site
from benchmarks.platform.workplace import workplace
from webrag_core.config import load_settings
from webrag_core.corpus.sources import attach_source
from webrag_core.corpus.verification import VerificationCounts, verify_corpus
from webrag_core.store.database import Database
from webrag_core.watches.store import Compared, add_watch
from webrag_core.watches.subjects import Subject
from webrag_dagster.resources import CorpusResource

DAYS = Path(__file__).with_name("month_days.json")
PAGES = 30
QUESTIONS = ("p02", "p04", "p11", "p20")
"""Pages about which a watched question asks."""

_TIMES = (
    "SELECT c.table_name, array_agg(c.column_name::text ORDER BY c.column_name) FROM information_schema.columns c"
    " JOIN information_schema.tables t USING (table_schema, table_name) WHERE c.table_schema = current_schema()"
    " AND t.table_type = 'BASE TABLE' AND c.data_type = 'timestamp with time zone' AND c.is_generated = 'NEVER'"
    " GROUP BY 1 ORDER BY 1"
)
"""Every table that knows of time, and its columns that do."""


@dataclass(slots=True)
class DayResult:
    """What came of one day. `wrong`: stored texts that differ from the site; `missing`: pages of the site not stored;
    `violations`: names of broken invariants; `runs`: runs that succeeded and failed; `pages`: new, changed, unchanged,
    failed; `embedded`: texts; `news`: changes of watched texts and answers that were told, `false_news`: what was told
    without such a change, or twice."""

    day: int
    event: str
    requests: int = 0
    conditional: int = 0
    runs: list[int] = field(default_factory=lambda: [0, 0])
    pages: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    embedded: int = 0
    wrong: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    due: int = 0
    told: int = 0
    recovered_due: int = 0
    recovered: int = 0
    news: list[str] = field(default_factory=list)
    false_news: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """True when exactly what was due was told, and nothing is broken."""
        return (self.told, self.recovered, self.violations, self.false_news) == (self.due, self.recovered_due, [], [])


def load_days(path: Path = DAYS) -> list[Day]:
    """The days of a script, in order."""
    return [Day.model_validate(row) for row in json.loads(path.read_text(encoding="utf-8"))]


class Month:
    """Drives one source through a script of days. The environment names database, site and webhook."""

    def __init__(
        self,
        site: VersionedSite,
        definitions: dg.Definitions,
        instance: dg.DagsterInstance,
        alerts: list[dict[str, Any]],
    ) -> None:
        self.site, self.definitions, self.instance, self.alerts = site, definitions, instance, alerts
        self._cursor: str | None = None
        self.watched = WatchedSite(site)

    def run(self, days: Sequence[Day]) -> Iterator[DayResult]:
        """One result for each day."""
        before = days[0].day
        asyncio.run(self._attach())
        self._tell_of_checks()
        for day in days:
            asyncio.run(self._pass(timedelta(days=day.day - before)))
            before = day.day
            self.site.begin(day)
            yield self._live(day)

    def _live(self, day: Day) -> DayResult:
        from webrag_dagster.defs.refresh import refresh_due

        self.alerts.clear()
        result = DayResult(day.day, day.event, due=day.told, recovered_due=day.recovered)
        repository = self.definitions.get_repository_def()
        with dg.build_sensor_context(instance=self.instance, repository_def=repository) as context:
            ticked = refresh_due(context, corpus=CorpusResource())
            assert isinstance(ticked, Iterator)
            requests = [item for item in ticked if isinstance(item, dg.RunRequest)]
        for request in requests:
            self._execute(request, result)
        self._tell_of_checks()
        kinds = [str(alert["kind"]) for alert in self.alerts if "details" not in alert]
        result.recovered = kinds.count("recovered")
        result.told = len(kinds) - result.recovered
        result.requests, result.conditional = self.site.requests, self.site.conditional
        asyncio.run(self._compare(result))
        self._tell_of_watches(result)
        return result

    def _execute(self, request: dg.RunRequest, result: DayResult) -> None:
        from webrag_dagster.defs.alerts import alert_on_failed_runs

        done = self.definitions.resolve_job_def("refresh").execute_in_process(
            instance=self.instance,
            partition_key=request.partition_key,
            run_config=dict(request.run_config or {}),
            tags=dict(request.tags),
            resources={"corpus": CorpusResource()},
            raise_on_error=False,
        )
        result.runs[0 if done.success else 1] += 1
        for event in done.get_asset_materialization_events():
            metadata = event.materialization.metadata
            if event.asset_key == dg.AssetKey("documents"):
                kinds = ("new", "changed", "unchanged", "failed")
                result.pages = [int(str(metadata[f"pages_{kind}"].value)) for kind in kinds]
            if event.asset_key == dg.AssetKey("embeddings"):
                result.embedded += int(str(metadata["texts_embedded"].value))
        if not done.success:
            context = dg.build_run_status_sensor_context(
                sensor_name="alert_on_failed_runs",
                dagster_event=done.get_run_failure_event(),
                dagster_instance=self.instance,
                dagster_run=done.dagster_run,
                resources={"corpus": CorpusResource()},
            ).for_run_failure()
            alert_on_failed_runs(context)

    def _tell_of_checks(self) -> None:
        from webrag_dagster.defs.check_alerts import alert_on_checks

        with dg.build_sensor_context(instance=self.instance, cursor=self._cursor) as context:
            ticked = alert_on_checks(context, corpus=CorpusResource())
        assert isinstance(ticked, dg.SensorResult)
        self._cursor = ticked.cursor

    def _tell_of_watches(self, result: DayResult) -> None:
        from webrag_dagster.defs.watches import watches_due

        with dg.build_sensor_context(instance=self.instance) as context:
            request = watches_due(context, corpus=CorpusResource())
        if isinstance(request, dg.RunRequest):
            self.definitions.resolve_job_def("watch").execute_in_process(
                instance=self.instance,
                run_config=dict(request.run_config or {}),
                resources={"corpus": CorpusResource()},
            )
        for message in [details for alert in self.alerts for details in alert.get("details", [])]:
            name, was_due = self.watched.take(message)
            (result.news if was_due else result.false_news).append(name)

    async def _attach(self) -> None:
        async with await Database.open(load_settings()) as database, database.transaction() as connection:
            await attach_source(connection, self.site.home, 200)
            await connection.execute("UPDATE sources SET refresh_hours = 24 WHERE key = %s", (self.site.key,))
            for subject in self.watched.subjects():
                await add_watch(connection, subject, Compared())

    async def _pass(self, passed: timedelta) -> None:
        async with await Database.open(load_settings()) as database, database.transaction() as connection:
            for table_name, columns in await (await connection.execute(_TIMES)).fetchall():
                earlier = [sql.SQL("{0} = {0} - %(d)s").format(sql.Identifier(column)) for column in columns]
                statement = sql.SQL("UPDATE {} SET {}").format(sql.Identifier(table_name), sql.SQL(", ").join(earlier))
                await connection.execute(statement, {"d": passed})

    async def _compare(self, result: DayResult) -> None:
        truth = self.site.truth()
        async with await Database.open(load_settings()) as database:
            async with database.connection() as connection:
                stored = await _stored(connection)
            self.watched.observe(stored)
            results = [item async for item in verify_corpus(database, VerificationCounts())]
            result.violations = sorted(Counter(finding.rule for finding in results).elements())
        result.wrong = sorted(url for url, text in stored.items() if url in truth and truth[url] not in text)
        result.missing = sorted(truth.keys() - stored.keys())


async def _stored(connection: AsyncConnection) -> dict[str, str]:
    """The current text of every page."""
    cursor = await connection.execute(
        "SELECT d.canonical_url, v.markdown FROM documents d JOIN document_versions v ON v.id = d.current_version"
    )
    return {str(url): str(text) for url, text in await cursor.fetchall()}


class WatchedSite:
    """Watches of every page that the site has on its first day, of a section of each, and of a question about some; and
    what must be told of them: `due`, of which `news` is what was.

    Due is what became of the stored pages: another edition of a sentence, other links of the start page, a page that is
    gone or back. Whether the stored pages are right is another matter (`wrong`, `missing`).
    """

    def __init__(self, site: VersionedSite) -> None:
        self.due: Counter[str] = Counter()
        self.news: Counter[str] = Counter()
        self._site = site
        self._names = ["home", *site.editions]
        self._states: dict[str, str] = {}

    def subjects(self) -> Iterator[Subject]:
        """What is watched."""
        for name in self._names:
            url = self._site.home + ("" if name == "home" else name)
            yield Subject.of(page=url)
            if name != "home":  # its section names the pages that are new
                yield Subject.of(page=url, section=[f"{name} in detail"])
        for name in QUESTIONS:
            yield Subject.of(question=question(name), sources=[self._site.key])

    def observe(self, stored: Mapping[str, str]) -> None:
        """Note what changed in the stored pages (URL -> text) since the last time."""
        for name in self._names:
            path = "" if name == "home" else name
            text = stored.get(self._site.home + self._site.moved.get(path, path), stored.get(self._site.home + path))
            before, state = self._states.get(name), _state(name, text)
            if before is None and text is None:
                continue  # not read yet
            self._states[name] = state
            if before in (None, state):
                continue
            event = state if state == GONE else BACK if before == GONE else state
            kinds = ["page"] + (["section"] if event in (GONE, BACK) else [])
            kinds += ["question"] if name in QUESTIONS else []
            self.due.update(f"{kind} {name} {event}" for kind in kinds)

    def take(self, message: dict[str, Any]) -> tuple[str, bool]:
        """The name of a piece of news, and whether it was due and not told before."""
        name = self._name(message)
        self.news[name] += 1
        return name, self.news[name] <= self.due[name]

    def missed(self) -> list[str]:
        """What was due and is not told."""
        return sorted((self.due - self.news).elements())

    def _name(self, message: dict[str, Any]) -> str:
        watch, event = message["watch"], str(message["event"])
        if watch["kind"] == "question":
            name = next(page for page in QUESTIONS if question(page) == watch["question"])
            before, after = (_state(name, " ".join(message[side]["sentences"])) for side in ("before", "after"))
            return f"question {name} {BACK if before == GONE else after}"
        name = str(watch["url"]).removeprefix(self._site.home) or "home"
        if event == "changed":
            event = self._states.get(name, "") if name == "home" else _state(name, _after(message))
        return f"{watch['kind']} {name} {event}"


GONE, BACK = "gone", "back"


def _state(name: str, text: str | None) -> str:
    """The edition that a text of a page has; of the start page how many links; `GONE` without any."""
    if name == "home" and text is not None:
        return f"{text.count('See also')} links"
    editions = re.findall(rf"edition (\d+) of what is known of {re.escape(name)}\.", text or "")
    return str(editions[-1]) if editions else GONE


def _after(message: dict[str, Any]) -> str:
    return " ".join(str(difference["after"]) for difference in message["differences"])


def question(name: str) -> str:
    """Of a page of the site, which its sentence answers."""
    return f"Which edition is this of what is known of {name}?"


@contextmanager
def webhook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An address that takes alerts, and the list that they go to."""
    taken: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", taken
    finally:
        server.shutdown()
        server.server_close()


def environment(site: VersionedSite, hook: str) -> dict[str, str]:
    """Settings of a month: the live site, a short time limit, the webhook."""
    return {
        "WEBRAG_ALLOW_HOSTS": site.key,
        "WEBRAG_FETCH_TIMEOUT": "1.5",
        "ALERT_WEBHOOK": hook,
    }


def table(results: Sequence[DayResult]) -> str:
    """The days as Markdown."""
    rows = [
        "| day | event | requests (conditional) | new / changed / same / failed | texts embedded | wrong | missing"
        " | told (due) | recovered (due) | watched changes told | false |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        pages = "run failed" if result.runs[1] else " / ".join(map(str, result.pages))
        wrong, missing = ", ".join(map(_name, result.wrong)), ", ".join(map(_name, result.missing))
        rows.append(
            f"| {result.day} | {result.event} | {result.requests} ({result.conditional}) | {pages} | {result.embedded}"
            f" | {wrong or 0} | {missing or 0} | {result.told} ({result.due})"
            f" | {result.recovered} ({result.recovered_due}) | {len(result.news)} | {len(result.false_news)} |"
        )
    return "\n".join(rows)


def _name(url: str) -> str:
    return url.rpartition("/")[2] or "the start page"


def main() -> int:
    """Print the table or one JSON object; exit code 1 when an alert or news was missing, false or sent twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=Path, default=DAYS, help="script of days, as month_days.json")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    options = parser.parse_args()
    with workplace(), webhook() as (hook, alerts), versioned_site(PAGES) as site:
        os.environ.pop("WEBRAG_WARC", None)
        os.environ |= environment(site, hook)
        from webrag_dagster.definitions import definitions

        with dg.DagsterInstance.ephemeral() as instance:
            results = []
            month = Month(site, definitions(), instance, alerts)
            for day in month.run(load_days(options.days)):
                results.append(day)
                print(f"day {day.day}: {day.event}", file=sys.stderr)
    print(json.dumps([asdict(result) for result in results]) if options.json else table(results))
    missed = month.watched.missed()
    false = sum(len(result.false_news) for result in results)
    print(
        f"watched changes: {month.watched.due.total()} due, {len(missed)} missed, {false} false:"
        f" {', '.join([*missed, *(name for result in results for name in result.false_news)]) or 'none'}",
        file=sys.stderr,
    )
    return 0 if all(result.is_right for result in results) and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
