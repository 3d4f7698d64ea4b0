"""Figures over judged answers: counts of verdicts, shares with their intervals, calibration."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from evals.answers.answer_suite import AskedKey
from evals.answers.key_verdicts import Verdict
from evals.intervals import Interval, wilson
from webrag_core.reliability import Reliability, reliability_of

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
WRONG: tuple[Verdict, ...] = ("wrong", "wrong at low", "answered although unanswerable")
"""What misleads whoever reads it."""

Test = Callable[[AskedKey], bool]


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many; `of` may be 0, and nothing follows from that."""

    hits: int
    of: int

    @property
    def interval(self) -> Interval | None:
        """The share with its 95 % interval, None of nothing."""
        return wilson(self.hits, self.of) if self.of else None

    def __str__(self) -> str:
        return f"{self.hits} of {self.of}" + (f", {self.interval}" if self.of else "")

    def cells(self) -> dict[str, Any]:
        """As plain data."""
        interval = self.interval
        return {"hits": self.hits, "of": self.of, **({} if interval is None else dataclasses.asdict(interval))}


def verdicts(items: Sequence[AskedKey]) -> dict[str, int]:
    """How many items have each verdict, in the order of `VERDICTS`."""
    counts = Counter(item.judgement.verdict for item in items)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def shares(items: Sequence[AskedKey]) -> dict[str, Share]:
    """The shares of a report by name. Questions that ended with an error count as not right and as not refused."""
    return {name: _share(items, of, hit) for name, (of, hit) in _SHARES.items()}


def calibrations(items: Sequence[AskedKey]) -> dict[str, Reliability]:
    """How well confidence is kept: of what is answered, whether it is right; of what is shown as likely, whether the
    first passage holds the facts. What nothing stored answers is neither."""
    answered = [item for item in items if item.answer is not None and item.answer.claims]
    likely = [item for item in items if item.likely]
    return {
        "answered": _calibration(answered, _is("right")),
        "likely": _calibration(likely, lambda item: item.judgement.first_passage),
    }


def cells(items: Sequence[AskedKey]) -> dict[str, Any]:
    """All figures of some items as plain data."""
    return {
        "n": len(items),
        "verdicts": verdicts(items),
        "shares": {name: share.cells() for name, share in shares(items).items()},
        "calibration": {name: dataclasses.asdict(calibration) for name, calibration in calibrations(items).items()},
    }


def grouped(items: Sequence[AskedKey], key: Callable[[AskedKey], str]) -> dict[str, list[AskedKey]]:
    """The items by a name, in the order in which the names first appear."""
    groups: dict[str, list[AskedKey]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_kind(items: Sequence[AskedKey]) -> dict[str, Sequence[AskedKey]]:
    """The items by kind of question, in the order of the kinds' names."""
    return dict(sorted(grouped(items, lambda item: item.key.kind).items()))


def _is(*wanted: Verdict) -> Test:
    return lambda item: item.judgement.verdict in wanted


def _answerable(item: AskedKey) -> bool:
    return item.key.answerable


def _unanswerable(item: AskedKey) -> bool:
    return not item.key.answerable


def _likely(item: AskedKey) -> bool:
    return item.likely


def _right_or_shown(item: AskedKey) -> bool:
    return item.judgement.verdict == "right" or (item.likely and item.judgement.first_passage)


def _band(*bands: str) -> Test:
    return lambda item: item.band in bands


_RIGHT = _is("right")
_REFUSED = _is("refused though there")
_INVENTED = _is("answered although unanswerable")

_SHARES: Mapping[str, tuple[Test, Test]] = {
    "right, of answerable": (_answerable, _RIGHT),
    "right, or likely with the facts in the first passage, of answerable": (_answerable, _right_or_shown),
    "wrong, of all": (lambda item: True, _is(*WRONG)),
    "refused rightly, of unanswerable": (_unanswerable, _is("refused rightly")),
    "shown as likely, of unanswerable": (_unanswerable, _likely),
    "facts in the first passage, of likely": (_likely, lambda item: item.judgement.first_passage),
    "facts in the first passage, of refused though there": (_REFUSED, lambda item: item.judgement.first_passage),
    "facts in the first three passages, of refused though there": (_REFUSED, lambda item: item.judgement.passages),
    "first fact in the first sentence, of right": (_RIGHT, lambda item: item.judgement.first),
    "a look-alike's value beside its name, of right": (_RIGHT, lambda item: bool(item.judgement.labelled)),
    "not right, of band high": (_band("high"), lambda item: not _RIGHT(item)),
    "not right, of band medium": (_band("medium"), lambda item: not _RIGHT(item)),
    "band medium or high, of answered although unanswerable": (_INVENTED, _band("high", "medium")),
}
"""Name -> of which items, and which of them count."""

SUITE_SHARES = {
    "right, of answerable": "right",
    "right, or likely with the facts in the first passage, of answerable": "right or likely with the facts",
    "wrong, of all": "wrong",
    "refused rightly, of unanswerable": "refused rightly",
}
"""The shares by which sites are compared, and short names of them."""


def _share(items: Sequence[AskedKey], of: Test, hit: Test) -> Share:
    chosen = [item for item in items if of(item)]
    return Share(sum(hit(item) for item in chosen), len(chosen))


def _calibration(items: Sequence[AskedKey], right: Test) -> Reliability:
    return reliability_of([(item.answer.confidence, right(item)) for item in items if item.answer is not None])
