"""What stands in the form in which a person judges an answer."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import FormData

from webrag_core.application.operations import RecordFeedback
from webrag_core.errors import InvalidInputError
from webrag_core.feedback.models import LONGEST_QUOTE
from webrag_core.foreign_values import whole_number
from webrag_core.web.query import typed_url


@dataclass(frozen=True, slots=True)
class FeedbackDraft:
    """What stands in the form, as it was typed."""

    kind: str = ""
    sentence: str = ""
    text: str = ""
    better_url: str = ""
    quote: str = ""

    @classmethod
    def of(cls, form: FormData) -> FeedbackDraft:
        """Read a form. Files are not read; lines of a quote end as those of stored texts do."""
        fields = {name: form.get(name, "") for name in cls.__dataclass_fields__}
        texts = {name: value if isinstance(value, str) else "" for name, value in fields.items()}
        return cls(**{name: value.replace("\r\n", "\n").strip()[: 2 * LONGEST_QUOTE] for name, value in texts.items()})

    def wanted(self, answer: int) -> RecordFeedback:
        """The operation. Raises InvalidInputError, FetchError for an address that is none."""
        sentence = whole_number(self.sentence, 1, 2**31 - 1) if self.sentence else None
        if self.sentence and sentence is None:
            raise InvalidInputError("choose a sentence of this answer")
        is_better = self.kind in ("better_source", "missing")
        return RecordFeedback.of(
            answer=answer,
            kind=self.kind,
            sentence=sentence,
            text=self.text or None,
            better_url=typed_url(self.better_url) if self.better_url and is_better else None,
            quote=self.quote or None if is_better else None,
        )
