"""Dates mean the same in every time zone, and whatever language the process speaks."""

from __future__ import annotations

import ast
import calendar
import importlib.util
import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from types import ModuleType

import pytest

from tests.conftest import REPOSITORY, in_time_zone
from webrag_core.answering.compose.timeline import moment_of
from webrag_core.corpus.stated_dates import read_statements
from webrag_core.history.as_of import AsOf
from webrag_core.retrieval.dates import moment
from webrag_core.routing.question_dates import as_of, since_of, until_of

pytestmark = pytest.mark.slow

GERMAN = ("", "Januar", "Februar", "März", "April", "Mai", "Juni", *(f"{number}. Monat" for number in range(7, 13)))
BY_LOCALE = {"month_name", "month_abbr", "day_name", "day_abbr"}
DIRECTIVES = re.compile(r"%[-#]?[aAbBhpcxX]")


def by_locale(text: str) -> Iterator[str]:
    """Places that read or write names which depend on LC_TIME."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="calendar"), attr=name) if name in BY_LOCALE:
                yield f"{node.lineno}: {name}"
            case ast.ImportFrom(module="calendar", names=names) if BY_LOCALE & {one.name for one in names}:
                yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.FormattedValue(format_spec=ast.AST() as given) if DIRECTIVES.search(ast.unparse(given)):
                yield f"{node.lineno}: {ast.unparse(given)}"
            case ast.Call(func=ast.Attribute(attr="strftime" | "strptime")) if DIRECTIVES.search(ast.unparse(node)):
                yield f"{node.lineno}: {ast.unparse(node)}"


def test_nothing_reads_or_writes_names_of_the_process_language() -> None:
    files = [path for part in ("webrag_core", "webrag_dagster") for path in (REPOSITORY / part).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    texts = {path: text for path, text in texts.items() if "calendar" in text or "%" in text}
    assert {str(path): found for path, text in texts.items() if (found := list(by_locale(text)))} == {}
    assert len(list(by_locale("import calendar\ncalendar.month_name\nf'{x:%d %B}'\nx.strftime('%A')"))) == 3


def imported_anew(name: str, patch: pytest.MonkeyPatch) -> ModuleType:
    """A copy of a module as a process imports it that speaks German. The one that others use stays as it is."""
    patch.setattr(calendar, "month_name", GERMAN)
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_months_are_read_in_a_process_that_speaks_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    imported_anew("webrag_core.acquisition.written_dates", monkeypatch)
    asked = imported_anew("webrag_core.routing.question_dates", monkeypatch)
    timeline = imported_anew("webrag_core.answering.compose.timeline", monkeypatch)
    for month, name in ((1, "January"), (2, "February"), (3, "March"), (5, "May"), (10, "October"), (12, "December")):
        assert asked.since_of(f"What changed since {name} 2023?", date(2024, 1, 15)) == f"2023-{month:02}"
        assert timeline.moment_of(f"It was released in {name} 2023.").key == (2023, month, 0)


@in_time_zone
def test_days_are_the_same_in_every_time_zone() -> None:
    """Also at the ends of a year, where zones differ by a day, a month and a year."""
    today = date(2024, 1, 1)
    assert since_of("What changed since yesterday?", today) == "2023-12-31"
    assert since_of("What changed since March?", today) == "2023-03"
    assert until_of("What held until 31 December 2023?", today) == "2023-12-31"
    assert as_of("What was the fee on 31 December 2023?", today) == "2023-12-31"
    found = moment_of("Released on 31 December 2023.")
    assert found is not None
    assert found.key == (2023, 12, 31)
    assert moment("2023-12-31", "--at") == datetime(2023, 12, 31, tzinfo=UTC)
    assert moment("2023-12-31", "--at", end=True) == datetime(2024, 1, 1, tzinfo=UTC)
    assert moment("2023-12-31T23:30", "--at") == datetime(2023, 12, 31, 23, 30, tzinfo=UTC)
    at = AsOf.parse("2023")
    assert (at.start, at.end.date()) == (datetime(2023, 1, 1, tzinfo=UTC), date(2023, 12, 31))
    [stated] = read_statements("# Fees\n\nIn force from 1 January 2024\n")
    assert stated.start == date(2024, 1, 1)
