"""`webrag plan`: what `webrag ask` would do, without doing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from webrag_core.cli.ask import At, Budget, Form, Sources, Urls, question_of
from webrag_core.cli.output import Json, Time, print_json, print_line
from webrag_core.cli.wanted_evidence import Constraints, Intent, MaxAge, Since, Until, Years
from webrag_core.config import load_settings

if TYPE_CHECKING:
    from webrag_core.routing.plan import ExecutionPlan


def plan(
    question: Annotated[str, typer.Argument(help="The question.")],
    url: Urls = None,
    source: Sources = None,
    at: At = None,
    time: Time = "seen",
    since: Since = None,
    until: Until = None,
    year: Years = None,
    form: Form = None,
    budget: Budget = None,
    intent: Intent = None,
    constraint: Constraints = None,
    max_age: MaxAge = None,
    as_json: Json = False,
) -> None:
    """Show how `ask` would answer: agents, tasks, limits. Run nothing."""
    from webrag_core.application.services import Services
    from webrag_core.indexing.pipeline import Corpus
    from webrag_core.showing.plan_lines import limits_line, plan_lines
    from webrag_core.showing.wording import sentence_case

    wanted = question_of(question, url, source, at, time, budget, form, intent, constraint, max_age, since, until, year)

    async def work() -> ExecutionPlan:
        async with Corpus.open(load_settings()) as corpus:
            return await wanted.plan(Services.over(corpus))

    made = asyncio.run(work())
    if as_json:
        print_json(made)
        return
    print_line(made.question, style="bold")
    print_line(f"{sentence_case(made.rationale)}", style="dim")
    for line in plan_lines(made):
        print_line(f"  {line}")
    if len(made.parts) > 1:
        print_line(f"Parts: {' | '.join(made.parts)}")
    print_line(f"Made by {made.made_by}; {limits_line(made)}. Nothing was run.", style="dim")
    for warning in made.warnings:
        print_line(f"Warning: {warning}", style="yellow")
