"""What a task is about, in words, for people who read a plan."""

from __future__ import annotations

from webrag_core.routing import plan


def task_words(params: plan.Params) -> str:
    """One line without the question itself, which stands above it."""
    match params:
        case plan.CorpusSearch():
            return f"search {_scope(params.sources, params.below)}{_dates(params)}"
        case plan.PagesWalk():
            return f"read {_list(params.urls)} and follow links"
        case plan.GraphLinked():
            kinds = f" ({', '.join(kind.replace('_', ' ') for kind in params.kinds)})" if params.kinds else ""
            return f"{'what speaks of' if params.direction == 'in' else 'what is said by'} {_list(params.keys)}{kinds}"
        case plan.GraphRelated():
            return f"what is near {_list(params.keys)}"
        case plan.GraphHierarchy():
            return f"what {'is in' if params.direction == 'down' else 'holds'} {_list(params.keys)}"
        case plan.GraphAt():
            return f"what was said of {_list(params.keys)} at {params.at}"
        case plan.HistorySearch():
            return f"search {_scope(params.sources, params.below)}, as of {params.at}"
        case plan.HistoryPage():
            return f"{params.url} as of {params.at}"
        case plan.HistoryVersions():
            return f"the last change of {params.url}"
        case plan.HistoryChanges():
            return f"what changed on {_list(params.targets)}{_limits(params.since, params.until)}"
        case plan.HistoryCitations():
            return f"whether the quotes of answer {params.answer} still stand"
        case plan.TablesLookup():
            return f"cells of tables in {_scope(params.sources, params.below)}"
        case plan.ApiFetch():
            return f"documents {_list(params.identifiers)}{f' as of {params.at}' if params.at else ''}"


def _dates(params: plan.CorpusSearch) -> str:
    years = f" in {', '.join(map(str, params.years))}" if params.years else ""
    limits = _limits(params.since, params.until)
    return f", pages dated{years}{limits}" if years or limits else ""


def _limits(since: str | None, until: str | None) -> str:
    return (f" since {since}" if since else "") + (f" until {until}" if until else "")


def _list(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _scope(sources: list[str], below: list[str]) -> str:
    return _list([*sources, *below]) or "everything stored"
