"""`webrag answers references`: the pages that an answer quotes, for programs for references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from webrag_core.cli.database import on_database
from webrag_core.cli.output import check_writable, complain, print_line, write_file
from webrag_core.errors import InvalidInputError


def references(
    number: Annotated[int, typer.Argument(help="Number of the answer.")],
    form: Annotated[
        Literal["bib", "ris", "csl.json"],
        typer.Option("--as", help="BibLaTeX (bib), RIS (ris) or CSL-JSON (csl.json)."),
    ] = "bib",
    file: Annotated[Path | None, typer.Option("--file", help="Write them there; unset = to the terminal.")] = None,
) -> None:
    """Write the pages that an answer quotes, with the quotes, the day on which each was seen so, and archive links."""
    from webrag_core.application.reading import OpenAnswer
    from webrag_core.showing.references import WRITERS
    from webrag_core.showing.references import references as references_of

    if file is not None:
        check_writable(file)
    answer = on_database(OpenAnswer(number=number).read).answer
    if answer is None:
        raise InvalidInputError(f"answer {number} is not in prose: only those have references")
    write, _ = WRITERS[form]
    text = write(answer)
    if not references_of(answer):
        complain(f"answer {number} rests on no page: it has no references")
    if file is not None:
        write_file(file, text)
        complain(f"written: {file}")
        return
    for line in text.splitlines():
        print_line(line)
