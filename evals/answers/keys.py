"""Answer keys: a question about a frozen site, and the facts that its answer must and must not state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from evals.answers.fact_matching import comparable, stands_in
from evals.jsonl import load_jsonl


def _with_letters(text: str) -> str:
    if not comparable(text).strip():
        raise ValueError("nothing can be looked for: no letter is left without marks and white space")
    return text


def _split_entry(entry: Any) -> Any:
    if isinstance(entry, str):
        return {"value": entry}
    if isinstance(entry, list) and entry:
        return {"value": entry[0], "labels": entry[1:]}
    return entry


def _as_list(pages: Any) -> Any:
    return [] if pages is None else [pages] if isinstance(pages, str) else pages


Wording = Annotated[str, AfterValidator(_with_letters)]
"""A literal that a text is searched for (`evals.answers.fact_matching`)."""


class Contrary(BaseModel, frozen=True, extra="forbid"):
    """What a look-alike would give: a value, and the names of what it does belong to. In a sentence that holds one of
    these `labels` it contradicts nothing."""

    value: Wording
    labels: tuple[Wording, ...] = ()


class AnswerKey(BaseModel):
    """A question, and how its answer is judged (`evals.answers.key_verdicts`).

    `must` are facts, each a list of wordings of which one suffices; `ordered`: in this order. Of a long list the first
    `or_first` suffice where the answer says that there are more. `named` must be said beside the facts. `must_not` is
    what other versions, models or entities would give. `page` is the path of each page that answers. A question that
    nothing stored answers has no facts; `unknown` is the name in it that is not stored.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field(min_length=1)
    site: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    question: str = Field(alias="q", min_length=1)
    answerable: bool
    must: tuple[Annotated[tuple[Wording, ...], Field(min_length=1)], ...] = ()
    must_not: tuple[Annotated[Contrary, BeforeValidator(_split_entry)], ...] = ()
    ordered: bool = False
    or_first: int | None = Field(default=None, ge=1)
    named: tuple[Wording, ...] = ()
    unknown: Wording | None = None
    page: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        if self.answerable != bool(self.must):
            raise ValueError("an answerable question needs facts in `must`, and any other has none")
        if self.answerable and self.unknown is not None:
            raise ValueError("`unknown` is of questions that nothing answers")
        if self.or_first is not None and self.or_first > len(self.must):
            raise ValueError(f"`or_first` is {self.or_first} of {len(self.must)} facts")
        for fact in self.must:
            for contrary in self.must_not:
                if not contrary.labels and all(stands_in(contrary.value, wording) for wording in fact):
                    raise ValueError(f"no answer can be right: {contrary.value!r} stands in every wording of a fact")
        return self


def load_keys(path: Path) -> list[AnswerKey]:
    """Read a JSONL file. Raises InvalidInputError naming the first line that is no answer key or repeats an id."""
    return load_jsonl(path, AnswerKey.model_validate, "an answer key", lambda key: key.id)
