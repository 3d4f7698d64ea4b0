"""`webrag tokens …`: tokens that read some sources alone, for people and programs that may see no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.database import on_database
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.config import load_settings
from webrag_core.source_tokens import SourceTokens

if TYPE_CHECKING:
    from webrag_core.store.database import Database

token_app = typer.Typer(
    no_args_is_help=True, help="Tokens of `webrag serve` that read some sources alone: add, list, remove."
)


@token_app.command()
def add(
    name: Annotated[str, typer.Argument(help="What the list calls it: who has it, or what for.")],
    source: Annotated[list[str], typer.Option(help="Stored source that it reads, by key or host; repeat for more.")],
    as_json: Json = False,
) -> None:
    """Make a token that reads these sources, with the sections below them, and nothing else. It is shown this once."""
    from webrag_core.corpus.sources import find_sources, source_name

    async def known(database: Database) -> list[str]:
        async with database.connection() as connection:
            for each in source:
                await find_sources(connection, each)
        return list(dict.fromkeys(map(source_name, source)))

    sources = on_database(known)
    token = SourceTokens(load_settings().webrag_home).add(name, sources)
    if as_json:
        print_json({"name": name, "sources": sources, "token": token})
        return
    print_line(token)
    print_line(
        f"It reads {', '.join(sources)}, and is shown this once; `webrag tokens remove` revokes it. Servers that run"
        " with this home take it at once."
    )


@token_app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, by name."""
    tokens = SourceTokens(load_settings().webrag_home).listed()
    if as_json:
        print_json({"tokens": [token.model_dump(mode="json", exclude={"sha256"}) for token in tokens]})
    elif not tokens:
        print_line("There are no tokens of some sources")
    else:
        print_table(
            ("name", "reads", "made"),
            [(token.name, ", ".join(token.sources), f"{token.made_at:%Y-%m-%d %H:%M}") for token in tokens],
        )


@token_app.command()
def remove(name: Annotated[str, typer.Argument(help="Its name.")], as_json: Json = False) -> None:
    """Revoke a token: with the next request it opens nothing, and the sessions that it opened are over."""
    removed = SourceTokens(load_settings().webrag_home).remove(name)
    if as_json:
        print_json({"removed": removed.name, "sources": list(removed.sources)})
    else:
        print_line(f"Token {removed.name} opens nothing any more")
