"""`webrag model …`: change the embedding model without a gap. The new model is the one that EMBEDDING_* names."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import typer

from webrag_core.cli.output import Json, print_json, print_line, print_table, tokens_charged
from webrag_core.cli.progress import progress
from webrag_core.config import load_settings

model_app = typer.Typer(no_args_is_help=True, help="Embedding models side by side: list, build, switch.")


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
