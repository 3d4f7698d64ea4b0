"""`webrag graph related|under|linked|at|works|check`: what stored pages say about each other, with quotes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from webrag_core.cli.database import on_database
from webrag_core.cli.output import Json, complain, print_elements, print_json, print_line, write_file
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from webrag_core.indexing.graph.model import EdgeKind
    from webrag_core.retrieval.graph.models import GraphEdge, GraphNode, KeyAnswer
    from webrag_core.store.database import Database

Answer = TypeVar("Answer")
Keys = Annotated[
    list[str],
    typer.Argument(help="A URL, SOURCE:NAME (python:asyncio.Queue.get), a name or its end (Queue.get), or a term."),
]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only edges of this kind (mentions, …); repeatable.")]

graph_app = typer.Typer(no_args_is_help=True, help="What stored pages say about each other; fetches nothing.")
_TITLES: dict[str, str] = {
    "contains": "contained",
    "defines": "documented",
    "mentions": "mentioned",
    "links_to": "linked",
    "see_also": "recommended (see also)",
    "deprecates": "deprecated",
    "replaces": "replaced",
    "cites": "cited",
    "modifies": "modified",
    "typed": "described in mark-up",
    "same_as": "the same as",
}
_LONGEST_QUOTE = 500


@graph_app.command("related")
def related(
    keys: Keys,
    depth: Annotated[int, typer.Option(min=1, max=2, help="Steps from the keys.")] = 2,
    kind: Kinds = None,
    of: Annotated[list[str] | None, typer.Option(help="Only page, symbol, term, …; repeatable.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=200, help="Maximum results.")] = 10,
    outside: Annotated[bool, typer.Option("--outside", help="Pages that are not stored, too.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Draw them, with every quote, as a page that loads nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show pages, symbols and terms near the keys, with the chain of edges that leads to each."""
    from webrag_core.retrieval.graph.tasks import RELATED_KINDS, expand_related

    kinds = _kinds(kind) or RELATED_KINDS
    nodes = _chosen("--of", of, "NodeKind")
    result = _read(lambda c: expand_related(c, keys, depth=depth, kinds=kinds, of=nodes, k=k, stored=not outside))  # type: ignore[arg-type]
    if html is not None:
        from webrag_core.retrieval.graph.picture import render_picture

        write_file(html, render_picture(result))
    if as_json:
        print_json(result)
    else:
        _print_keys(result.keys)
        for item in result.items:
            print_line(f"{_name(item.node)}  {item.score:.3f}", style="bold cyan")
            for edge in item.chain:
                _print_edge(edge, whole=True)
    raise typer.Exit(_exit_code(result.keys))


@graph_app.command("under")
def under(
    keys: Keys,
    up: Annotated[bool, typer.Option("--up", help="What contains the keys instead.")] = False,
    depth: Annotated[int, typer.Option(min=1, max=6, help="Levels.")] = 6,
    as_json: Json = False,
) -> None:
    """Show what the keys contain: sections of a page, symbols of a section, members of a class."""
    from webrag_core.retrieval.graph.tasks import hierarchy

    results = _read(lambda c: hierarchy(c, keys, direction="up" if up else "down", depth=depth))
    if as_json:
        print_json({"results": [result.model_dump(mode="json") for result in results]})
    else:
        for result in results:
            _print_keys([result.key])
            for item in result.items:
                print_line(f"{'  ' * item.depth}{item.node.kind} {item.node.label or item.node.key}")
            if not result.complete:
                print_line("(and more)", style="dim")
            elif result.key.status == "found" and not result.items:
                print_line("Nothing contains it." if up else "It contains nothing.", style="dim")
    raise typer.Exit(_exit_code([result.key for result in results]))


@graph_app.command("linked")
def linked(
    keys: Keys,
    out: Annotated[bool, typer.Option("--out", help="What the keys mention and link to themselves.")] = False,
    kind: Kinds = None,
    source: Annotated[list[str] | None, typer.Option(help="Only what this source says; repeatable.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Maximum edges of each kind.")] = 10,
    as_json: Json = False,
) -> None:
    """Show where the keys are documented, deprecated, mentioned, recommended and linked, each with its sentence."""
    from webrag_core.retrieval.graph.tasks import LINKED_KINDS, linked_items

    kinds = _kinds(kind) or LINKED_KINDS
    direction: Literal["in", "out"] = "out" if out else "in"
    results = _read(lambda c: linked_items(c, keys, kinds=kinds, direction=direction, sources=source, k=k))
    if as_json:
        print_json({"results": [result.model_dump(mode="json") for result in results]})
    else:
        for result in results:
            _print_keys([result.key])
            _print_by_kind(result.items, result.more, outwards=out)
            if result.key.node is not None and result.key.node.kind in ("symbol", "term") and not out:
                silent = [name for name in ("defines", "mentions", "deprecates") if name in kinds]
                silent = [_TITLES[name] for name in silent if all(edge.kind != name for edge in result.items)]
                if silent:
                    print_line(f"Nowhere {' or '.join(silent)}.", style="dim")
    raise typer.Exit(_exit_code([result.key for result in results]))


@graph_app.command("at")
def at(
    keys: Keys,
    date: Annotated[str, typer.Option("--date", help="2024, 2024-05, 2024-05-17, a time (UTC) or now.")],
    kind: Kinds = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Maximum edges of each kind.")] = 20,
    as_json: Json = False,
) -> None:
    """Show what held of the keys on a date, quoted from the text of that time."""
    from webrag_core.history.as_of import AsOf
    from webrag_core.retrieval.graph.past import AT_KINDS, version_at
    from webrag_core.showing.past import CERTAINTIES

    moment = AsOf.parse(date, "--date")
    if moment.in_future:
        raise InvalidInputError(f"--date: {moment.text} lies in the future")
    kinds = _kinds(kind) or AT_KINDS
    results = _read(lambda c: version_at(c, keys, moment.end, begin=moment.start, kinds=kinds, k=k))
    if as_json:
        print_json({"at": moment.text, "results": [result.model_dump(mode="json") for result in results]})
    else:
        for result in results:
            _print_keys([result.key])
            for page in result.pages:
                version = "no text" if page.version is None else f"version {page.version}"
                print_line(f"{page.url}  {CERTAINTIES[page.certainty]}, {version}")
            _print_by_kind(result.items, [], outwards=False)
            if result.key.status == "found" and not result.items:
                print_line(f"Nothing that is kept says anything of it on {moment.text}.", style="dim")
    raise typer.Exit(_exit_code([result.key for result in results]))


@graph_app.command("works")
def works(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Stored pages.")], as_json: Json = False
) -> None:
    """Show the versions of a page that stand beside it at other addresses: /3.11/, /3.13/, /stable/."""
    from webrag_core.acquisition.urls import canonicalise
    from webrag_core.cli.addresses import with_scheme
    from webrag_core.corpus.works import Work, load_works
    from webrag_core.showing.past import versions_beside

    for url in urls:
        if "://" not in url and "/" not in url and ":" in url:
            raise InvalidInputError(f"{url} is no address: versions are those of pages")

    async def work(database: Database) -> dict[str, list[Work]]:
        return {url: await load_works(database, url) for url in map(canonicalise, map(with_scheme, urls))}

    by_page = on_database(work)
    if as_json:
        print_json({"works": {url: [asdict(row) for row in listed] for url, listed in by_page.items()}})
    else:
        for url, listed in by_page.items():
            for row in listed:
                print_elements([versions_beside(row.key, row.members, url)])
            if not listed:
                complain(f"{url}: no version of it at another address is stored", style="yellow")
    raise typer.Exit(0 if any(by_page.values()) else 1)


@graph_app.command("check")
def check(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Write edges that differ or are missing.")] = False,
    as_json: Json = False,
) -> None:
    """Extract the edges of every page again and compare them with those that are stored."""
    from webrag_core.indexing.graph.check import check_graph
    from webrag_core.store.database import Database

    async def work() -> int:
        async with await Database.open(load_settings()) as database:
            with progress(None, "check") as advance:
                report = await check_graph(database, rebuild=rebuild, advance=advance)
        if as_json:
            print_json(asdict(report))
        else:
            for url in report.different:
                complain(f"{url}: its edges differ from its text", style="red")
            print_line(
                f"{report.pages} pages, {report.edges} edges, {len(report.different)} pages differ,"
                f" {len(report.missing)} without edges of this extraction, {len(report.rebuilt)} made again;"
                f" digest {report.digest[:16]}"
            )
            if len(report.missing) > len(report.rebuilt):
                print_line("`webrag graph check --rebuild` makes the missing ones; so does refreshing the pages.")
        left = {*report.different, *report.missing} - set(report.rebuilt)
        return 1 if left else 0

    raise typer.Exit(asyncio.run(work()))


def _read(task: Callable[[AsyncConnection], Awaitable[Answer]]) -> Answer:
    async def work(database: Database) -> Answer:
        async with database.snapshot() as connection:
            return await task(connection)

    return on_database(work)


def _kinds(names: list[str] | None) -> list[EdgeKind] | None:
    return _chosen("--kind", names, "EdgeKind")  # type: ignore[return-value]


def _chosen(option: str, names: list[str] | None, closed_list: str) -> list[str] | None:
    """The names, all of them of a closed list. Raises InvalidInputError."""
    from typing import get_args

    from webrag_core.indexing.graph import model

    known = get_args(getattr(model, closed_list))
    for name in names or ():
        if name not in known:
            raise InvalidInputError(f"{option} {name!r} is none of {', '.join(known)}")
    return names


def _exit_code(keys: Sequence[KeyAnswer]) -> int:
    return 0 if any(key.status == "found" for key in keys) else 1


def _print_keys(keys: Sequence[KeyAnswer]) -> None:
    for key in keys:
        if key.node is not None:
            print_line(f"{_name(key.node)}", style="bold")
        elif key.status == "unknown_key":
            complain(f"{key.asked}: nothing stored has or ends in this name", style="yellow")
        else:
            complain(f"{key.asked} may mean:", style="yellow")
            for node in key.candidates:
                complain(f"  {node.kind}:{node.key}")


def _name(node: GraphNode) -> str:
    return f"{node.label}  ({node.kind} {node.key})" if node.label else f"({node.kind} {node.key})"


def _print_by_kind(edges: Sequence[GraphEdge], more: Sequence[str], *, outwards: bool) -> None:
    for kind, group in groupby(edges, key=lambda edge: edge.kind):
        listed = list(group)
        further = ", the strongest" if kind in more else ""
        title = kind.replace("_", " ") if outwards else _TITLES[kind]
        print_line(f"{title} ({len(listed)}{further})", style="bold cyan")
        for edge in listed:
            _print_edge(edge, whole=outwards)


def _print_edge(edge: GraphEdge, *, whole: bool) -> None:
    from webrag_core.retrieval.graph.wording import proof, relation

    where = " § ".join(part for part in (edge.title, edge.section) if part)
    related = f"{edge.src.label or edge.src.key} {relation(edge)} {edge.dst.label or edge.dst.key}: "
    named = whole or edge.kind in ("replaces", "contains", "same_as", "typed")
    doubt = "" if edge.origin == "explicit" else f" ({edge.origin})"
    print_line(f"  {related if named else ''}{where}{doubt}")
    if edge.statement is None or edge.quote is not None:
        quote = "the text is no longer kept" if edge.quote is None else " ".join(edge.quote.split())
        cut = "…" if len(quote) > _LONGEST_QUOTE else ""
        print_line(f"    │ {quote[:_LONGEST_QUOTE]}{cut}")
    if edge.statement is not None:
        print_line(f"    {proof(edge)}: {' '.join(edge.statement.split())}")
    span = "" if edge.char_start is None else f", characters {edge.char_start}–{edge.char_end}"
    print_line(f"    {edge.url} version {edge.version}{span}", style="dim")
