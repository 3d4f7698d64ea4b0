"""`webrag answers share|shares|unshare`: links that show one answer to whoever has them."""

from __future__ import annotations

from typing import Annotated

import typer

from webrag_core.cli.database import changed, on_database
from webrag_core.cli.output import Json, print_json, print_line, print_table
from webrag_core.config import load_settings


def share(
    answer: Annotated[int, typer.Argument(help="Number of the answer.")],
    days: Annotated[float, typer.Option(help="Days until the link ends; 366 at most.")] = 30.0,
    as_json: Json = False,
) -> None:
    """Make a link that shows this answer with its quotes, and nothing else, to whoever has it."""
    from webrag_core.application.sharing import ShareAnswer
    from webrag_core.cli.running_server import find_server
    from webrag_core.cli.serve import address

    link = changed(ShareAnswer.of(answer=answer, days=days).change)
    if as_json:
        print_json(link)
        return
    server = find_server()
    print_line(f"{address(load_settings()) if server is None else f'http://{server.authority}'}{link.path}")
    print_line(
        f"Link {link.share.share_id} is shown this once, and ends on {link.share.expires_at:%Y-%m-%d};"
        f" `webrag answers unshare {link.share.share_id}` revokes it. `webrag serve` shows what it leads to."
    )


def shares(
    answer: Annotated[int | None, typer.Option(help="Only of this answer.")] = None, as_json: Json = False
) -> None:
    """List the links that are in force."""
    from webrag_core.application.sharing import ListShares

    listed = on_database(ListShares.of(answer=answer).read)
    if as_json:
        print_json(listed)
        return
    if not listed.shares:
        print_line("No link is in force")
        return
    print_table(
        ("link", "answer", "made", "ends"),
        [
            (each.share_id, each.answer_id, f"{each.created_at:%Y-%m-%d %H:%M}", f"{each.expires_at:%Y-%m-%d %H:%M}")
            for each in listed.shares
        ],
    )


def unshare(
    number: Annotated[int, typer.Argument(metavar="LINK", help="Number of the link.")], as_json: Json = False
) -> None:
    """Revoke a link: it shows nothing any more."""
    from webrag_core.application.sharing import RevokeShare

    gone = changed(RevokeShare.of(number=number).change)
    if as_json:
        print_json(gone)
    else:
        print_line(f"Link {gone.share_id} to answer {gone.answer_id} shows nothing any more")
