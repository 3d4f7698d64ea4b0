"""`webrag history|citations|answers`: what pages said, what changed, and whether quotes still stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from webrag_core.cli.addresses import with_scheme
from webrag_core.cli.conversations import conversation, conversations
from webrag_core.cli.database import on_database
from webrag_core.cli.files import HtmlFile, MarkdownFile, Proof, write_readable
from webrag_core.cli.gaps import gaps
from webrag_core.cli.output import (
    Json,
    Time,
    check_time,
    console,
    print_elements,
    print_json,
    print_line,
    print_table,
    print_wrapped,
    write_file,
)
from webrag_core.cli.references import references
from webrag_core.cli.shares import share, shares, unshare
from webrag_core.cli.status_report import reason_words
from webrag_core.errors import InvalidInputError
from webrag_core.page_text import one_line, visible

if TYPE_CHECKING:
    from webrag_core.history.anchoring import State
    from webrag_core.history.answers import StoredAnswer
    from webrag_core.history.citations import CitationState
    from webrag_core.history.compare import PageComparison
    from webrag_core.orchestration.answers import StoredRun
    from webrag_core.store.database import Database

_SHORT_CHARS = 200

answers_app = typer.Typer(no_args_is_help=True, help="Past answers, with the state of each quote today.")


def add_history_commands(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(history)
    app.command()(citations)
    answers_app.command()(conversations)
    answers_app.command()(conversation)
    answers_app.command()(gaps)
    answers_app.command()(references)
    for command in (share, shares, unshare):
        answers_app.command()(command)
    app.add_typer(answers_app, name="answers")


def history(
    target: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="A page, or a law by its URN:NIR, ELI or Akoma Ntoso IRI; with --changes also a source."
        ),
    ],
    at: Annotated[
        str | None, typer.Option(help="What the page said then: 2024, 2024-05, 2024-05-17, a time (UTC) or now.")
    ] = None,
    time: Time = "seen",
    diff: Annotated[
        tuple[str, str] | None, typer.Option(help="What changed between two versions: numbers or dates.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the comparison as a page: of --diff, else of the last two versions.")
    ] = None,
    changes: Annotated[bool, typer.Option("--changes", help="List the changes of the page or of a source.")] = False,
    since: Annotated[str | None, typer.Option(help="With --changes: first seen then or later.")] = None,
    until: Annotated[str | None, typer.Option(help="With --changes: first seen then or earlier.")] = None,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="Count what each version leaves out of what the page showed, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what a page said when, and what changed. Fetch nothing."""
    from webrag_core.acquisition.legal_identifiers import parse_legal_identifier
    from webrag_core.history import pages
    from webrag_core.history.as_of import AsOf
    from webrag_core.history.diff_page import render_page
    from webrag_core.history.legal import page_of_law, part_of
    from webrag_core.showing.past import history_view, page_at_view

    law = parse_legal_identifier(target)
    if law is not None and law.day is not None and at is not None:
        raise InvalidInputError(f"the identifier means the version of {law.day}: leave out --at, or the day")
    check_time(time, at if law is None or law.day is None else law.day)
    if sum((at is not None, diff is not None or html is not None, changes, left_out)) > 1:
        raise InvalidInputError("--at, --diff or --html, --changes, and --left-out exclude each other")
    if (since is not None or until is not None) and not changes:
        raise InvalidInputError("--since and --until need --changes")
    if changes:
        _list_changes(target, since, until, as_json=as_json)
        return
    as_of = None if at is None else AsOf.parse(at)

    async def work(database: Database) -> None:
        page_of_it: str | None = None
        if law is not None:
            async with database.connection() as connection:
                if not ("://" in target and await pages.is_stored(connection, target)):
                    page_of_it = await page_of_law(connection, law)
        identifier = None if page_of_it is None else law
        url = page_of_it or with_scheme(target)
        moment, axis = as_of, time
        if identifier is not None and identifier.day is not None:
            moment, axis = AsOf.parse(identifier.day.isoformat()), "valid"
        if diff is not None or html is not None:
            from webrag_core.application.reading import Compare

            before, after = diff or (None, None)
            comparison = await Compare.of(url=url, before=before, after=after).read(database)
            if html is not None:
                write_file(html, render_page(comparison))
            _print_comparison(comparison, html, as_json=as_json)
            return
        if left_out:
            await _show_left_out(database, url, as_json=as_json)
            return
        story = await pages.versions(database, url)
        if moment is not None or (identifier is not None and identifier.part is not None):
            page = await pages.page_at(database, url, moment or AsOf.now(), axis)
            part = None if identifier is None else identifier.part
            if part is not None and page.version_id is not None and page.text is not None:
                async with database.connection() as connection:
                    start, end = await part_of(connection, page.version_id, page.text, part)
                page.text = page.text[start:end]
                page.note = f"{page.note}; {part} stands at characters {start} to {end}"
            if as_json:
                print_json(story.model_dump(mode="json") | page.model_dump(mode="json"))
            else:
                print_elements(page_at_view(page))
        elif as_json:
            print_json(story)
        else:
            print_elements(history_view(story))

    on_database(work)


def _list_changes(target: str, since: str | None, until: str | None, *, as_json: bool) -> None:
    """Print the changes of a page or a source."""
    from webrag_core.application.reading import Changes

    place = target if "://" in target or "/" not in target else with_scheme(target)
    wanted = Changes.of(target=place, since=since, until=until)
    wanted.check()
    listed = on_database(wanted.every)
    if as_json:
        print_json({"changes": [change.model_dump(mode="json") for change in listed.changes]})
    else:
        from webrag_core.showing.past import changes_view

        print_elements(changes_view(listed.changes))


def citations(
    answer: Annotated[int | None, typer.Option(help="Only those of this answer.")] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that are not valid any more.")] = False,
    as_json: Json = False,
) -> None:
    """Show whether quotes of past answers still stand. Fetch nothing."""
    from webrag_core.application.reading import Citations
    from webrag_core.showing.past import state_counts

    wanted = Citations.of(answers=None if answer is None else (answer,), changed=changed)
    shown: list[dict[str, object]] = []

    async def counted(database: Database) -> Counter[State]:
        counts: Counter[State] = Counter()
        async for citation in wanted.each(database):
            counts[citation.state] += 1
            if not wanted.shows(citation):
                continue
            if as_json:
                shown.append(citation.model_dump(mode="json"))
            else:
                _print_citation(citation)
        return counts

    counts = on_database(counted)
    if as_json:
        print_json({"citations": shown})
    else:
        print_line(f"{counts.total()} citations: {state_counts(counts)}")


@answers_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(help="Maximum answers to show, the newest first: 1 to 200.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only answers with a lower number: the page before.")] = None,
    every_run: Annotated[
        bool, typer.Option("--all", help="Also the runs that gathered evidence for `ask`, and those that failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List past answers. `probability`: that the evidence is complete, or that the sentences are the whole answer."""
    from webrag_core.application.reading import ListAnswers

    answers = on_database(ListAnswers.of(limit=limit, before=before, every_run=every_run).read).answers
    if as_json:
        print_json({"answers": [answer.model_dump(mode="json") for answer in answers]})
        return
    if console().is_terminal:
        _print_answers(answers)
        return
    print_table(
        ("answer", "kind", "asked", "probability", "quotes", "question", "start page"),
        (
            (
                answer.answer_id,
                answer.kind,
                f"{answer.started_at:%Y-%m-%d %H:%M}",
                answer.percent(),
                answer.citations,
                answer.query,
                answer.seed_url or "what is stored",
            )
            for answer in answers
        ),
    )


@answers_app.command("show")
def show_command(
    number: Annotated[int, typer.Argument(help="Number of the answer.")],
    show_all: Annotated[
        bool, typer.Option("--all", help="Print all of the nearest passages, and the quotes that still stand.")
    ] = False,
    proof: Proof = False,
    html: HtmlFile = None,
    markdown: MarkdownFile = None,
    as_json: Json = False,
) -> None:
    """Show a past answer with its quotes, as they were, and what became of them."""
    from webrag_core.application.reading import OpenAnswer
    from webrag_core.cli.ask import print_prose
    from webrag_core.orchestration.answers import load_stored_run
    from webrag_core.showing.past import state_counts

    async def work(database: Database) -> None:
        reply = await OpenAnswer(number=number).read(database)
        opened, prose = reply.opened, reply.answer
        async with database.connection() as connection:
            walk = await load_stored_run(connection, number) if opened.answer.kind == "evidence" else None
        write_readable(prose or opened, html, markdown)
        today = state_counts(Counter(citation.state for citation in opened.citations))
        if as_json:
            print_json(prose or opened)
            return
        if prose is not None:
            print_prose(prose, show_all=show_all, proof=proof)
            print_line(f"Its quotes today: {today}", style="bold")
            if prose.trace_id is not None:
                print_line(f"Trace {prose.trace_id}", style="dim")
            for citation in opened.citations:
                if show_all or citation.state != "valid":
                    _print_citation(citation)
            return
        answer = opened.answer
        print_line(_verdict(answer, walk), style="bold")
        print_line(f"Question: {answer.query}", style="bold")
        print_line(
            f"Answer {answer.answer_id}, asked {answer.started_at:%Y-%m-%d %H:%M}, start page {answer.seed_url or '–'}"
        )
        if answer.trace_id is not None:
            print_line(f"Trace {answer.trace_id}", style="dim")
        if opened.citations:
            print_line(f"Its quotes today: {today}", style="bold")
        for citation in opened.citations:
            _print_citation(citation, whole=True)

    on_database(work)


def _print_answers(answers: Sequence[StoredAnswer]) -> None:
    """Two lines for each: a table of them needs a wider terminal than most are."""
    for answer in answers:
        print_wrapped(
            " " * 12,
            Text(one_line(answer.query), style="bold"),
            first=f"{answer.answer_id:>4}  {answer.percent():>4}  ",
        )
        about = (
            answer.kind,
            f"{answer.citations} quote{'' if answer.citations == 1 else 's'}",
            f"{answer.started_at:%Y-%m-%d %H:%M}",
            answer.seed_url or "what is stored",
        )
        print_line(" " * 12 + ", ".join(about), style="dim")


def _verdict(answer: StoredAnswer, walk: StoredRun | None) -> str:
    """The verdict of a run as it was given; before it was kept, by its rounds, else its probability alone."""
    from webrag_core.orchestration.verdict import status_of

    if answer.reason or answer.probability is None:
        return f"Failed: {reason_words(answer.reason)}" if answer.reason else f"No result: {answer.state}"
    if answer.status is not None:
        return f"{answer.status.replace('_', ' ').capitalize()}: confidence {answer.percent()}"
    estimate = f"estimated completeness {answer.percent()}"
    best = walk.rounds[-1].signals.get("best_raw_score") if walk and walk.rounds else None
    if best is None:
        return estimate.capitalize()
    status = status_of(answer.probability, float(best), answer.citations)
    return "Not found" if status == "not_found" else f"{status.capitalize()}: {estimate}"


async def _show_left_out(database: Database, url: str, *, as_json: bool) -> None:
    from webrag_core.acquisition.urls import canonicalise
    from webrag_core.history.left_out import left_out_of, left_out_words

    page = canonicalise(url)
    async with database.connection() as connection:
        versions = await left_out_of(connection, page)
    if not versions:
        raise InvalidInputError(f"{page} is not stored")
    if as_json:
        print_json({"url": page, "versions": [version.model_dump(mode="json") for version in versions]})
        return
    rows = []
    for version in versions:
        words = "not counted" if version.left_out is None else left_out_words(version.left_out) or "nothing"
        rows.append(
            (
                version.version,
                f"{version.fetched_at:%Y-%m-%d %H:%M}",
                "all text" if version.all_text else "content",
                words,
            )
        )
    print_table(("version", "fetched", "kept", "left out (characters)"), rows)


def _print_comparison(comparison: PageComparison, html: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json(comparison)
        return
    from webrag_core.showing.elements import Code
    from webrag_core.showing.past import comparison_view

    # what is written to a file is not printed, too
    print_elements([part for part in comparison_view(comparison) if html is None or not isinstance(part, Code)])
    if html is not None:
        print_line(f"Written to {html}")


def _print_citation(state: CitationState, *, whole: bool = False) -> None:
    from webrag_core.showing.past import state_line

    styles = {"valid": "green", "moved": "cyan", "changed": "yellow", "gone": "red", "broken": "red"}
    print_line(f"[{state.answer_id}.{state.number}] {state_line(state)}", style=styles[state.state])
    print_line(f"    {state.url} version {state.cited_version}")
    for line in state.quote.splitlines() if whole else [_shortened(state.quote)]:
        print_wrapped("    │ ", Text(visible(line)))
    if state.state in ("moved", "changed") and state.now_url is not None:
        print_line(f"    now {state.now_url} version {state.now_version}, characters {state.now_start}–{state.now_end}")
    if state.state in ("moved", "changed") and state.current_version is not None:
        print_line(
            f"    compare: webrag history {state.url} --diff {state.cited_version} {state.current_version}", style="dim"
        )


def _shortened(quote: str) -> str:
    words = one_line(quote)
    return words if len(words) <= _SHORT_CHARS else f"{words[:_SHORT_CHARS].rsplit(' ', 1)[0]} …"
