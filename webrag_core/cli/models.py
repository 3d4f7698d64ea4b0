"""`webrag model …`: change the embedding model without a gap, and read passages with the small encoder.

The new model is the one that EMBEDDING_* names.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from webrag_core.cli.output import Json, print_json, print_line, print_table, tokens_charged
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError

model_app = typer.Typer(
    no_args_is_help=True,
    help="Embedding models side by side: list, build, switch; and the vectors of the small encoder.",
)


@model_app.command("list")
def list_all(as_json: Json = False) -> None:
    """List the models with their state, vectors and missing vectors."""
    from webrag_core.indexing.model_switch import list_models
    from webrag_core.store.database import Database

    async def work() -> None:
        async with await Database.open(load_settings()) as database:
            models = await list_models(database)
        if as_json:
            print_json({"models": [asdict(model) for model in models]})
            return
        print_table(
            ("id", "provider", "name", "dimensions", "state", "vectors", "missing", "tokens charged"),
            [
                (
                    *(m.id, m.identity.provider, m.identity.name, m.identity.dimensions),
                    *(m.state, m.vectors, m.missing, m.tokens),
                )
                for m in models
            ],
        )

    asyncio.run(work())


@model_app.command()
def build(as_json: Json = False) -> None:
    """Embed the corpus with the configured model. Searches keep using the live model meanwhile."""
    from webrag_core.indexing.model_switch import build_model, list_models
    from webrag_core.providers.embedder import make_embedder
    from webrag_core.store.breakers import Breakers
    from webrag_core.store.database import Database

    async def work() -> None:
        settings = load_settings()
        async with await Database.open(settings) as database:
            embedder = make_embedder(settings, Breakers.for_settings(database, settings))
            try:
                total = next((model.vectors for model in await list_models(database) if model.state == "live"), 0)
                with progress(total, "embed") as advance:

                    def done(count: int) -> None:
                        for _ in range(count):
                            advance("")

                    report = await build_model(
                        database,
                        embedder,
                        batch_size=settings.embedding_batch_size,
                        workers=settings.embedding_max_workers,
                        advance=done,
                    )
            finally:
                await embedder.aclose()
        if as_json:
            print_json(asdict(report))
        else:
            print_line(
                f"{report.vectors} vectors, {report.embedded} texts embedded{tokens_charged(report.tokens)};"
                " `webrag model switch` makes it live"
            )

    asyncio.run(work())


@model_app.command()
def switch(as_json: Json = False) -> None:
    """Make the configured model live, if it is complete. Switching back works the same way."""
    from webrag_core.indexing.model_switch import switch_model
    from webrag_core.providers.embedder import identity_of
    from webrag_core.store.database import Database

    async def work() -> None:
        settings = load_settings()
        identity = identity_of(settings)
        async with await Database.open(settings) as database:
            model_id = await switch_model(database, identity)
        if as_json:
            print_json({"live": {"id": model_id, **asdict(identity)}})
        else:
            print_line(f"live: {identity.name} ({identity.dimensions} dimensions)")

    asyncio.run(work())


@model_app.command()
def windows(
    sources: Annotated[list[str] | None, typer.Argument(help="Sources; all when none is named.")] = None,
    as_json: Json = False,
) -> None:
    """Read stored passages with the small encoder, so that searches find them by meaning too.

    It takes processor time: `webrag status` says how much. What is made stays when it is stopped.
    """
    from webrag_core.indexing.window_vectors import make_windows, window_status
    from webrag_core.store.database import Database

    settings = load_settings()
    if not settings.retrieval_windows:
        raise InvalidInputError("RETRIEVAL_WINDOWS is off: window vectors are neither made nor used")

    async def work() -> None:
        async with await Database.open(settings) as database:
            keys = sources or None
            async with database.connection() as connection:
                status = await window_status(connection, keys)
            unknown = sorted(set(sources or ()) - {source.source for source in status.sources})
            if unknown:
                raise InvalidInputError(f"nothing to read in {', '.join(unknown)}; `webrag source list` shows sources")
            with progress(status.missing, "read") as advance:

                def done(count: int) -> None:
                    for _ in range(count):
                        advance("")

                report = await make_windows(database, keys, advance=done)
        if as_json:
            print_json(asdict(report))
        else:
            print_line(
                f"{report.made} window vectors made in {report.cpu_seconds:.0f} s of processor time,"
                f" {report.missing} missing"
            )

    asyncio.run(work())
