"""A source file with a mistake: it fails alone, as an entry of the catalog that says why; all others load."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import dagster as dg
import yaml  # type: ignore[import-untyped]
from pydantic import ValidationError

from webrag_dagster.dagster_private import ResolutionException

GROUP = "sources"
MISTAKE = "webrag/mistake"
"""Metadata key of what is wrong with a file: the file, and the reason."""
MISTAKES = (
    ValidationError,
    ResolutionException,
    ValueError,
    TypeError,
    OSError,
    RecursionError,
    yaml.YAMLError,
    dg.DagsterInvalidDefinitionError,
)
"""What a file raises: a bound of a number that is none raises TypeError, an owner that is none
DagsterInvalidDefinitionError, a line of nothing but brackets RecursionError."""
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class BrokenSource:
    """Stands for a source that its file does not describe. It has no freshness, and nothing is fetched of it."""

    error: Exception

    @property
    def reason(self) -> str:
        """What is wrong, in a line for each mistake."""
        # what a list of the file raises, Dagster wraps with a stack trace
        error = self.error.__context__ if isinstance(self.error, ResolutionException) else self.error
        if isinstance(error, ValidationError):
            result = error.errors(include_url=False, include_input=False)
            reason = "; ".join(
                f"{'.'.join(map(str, finding['loc'])) or 'file'}: {finding['msg']}" for finding in result
            )
        else:
            reason = str(self.error)
        return printable(reason)[:_MOST_CHARACTERS]

    def spec(self, asset_key: Sequence[str], file: str) -> dg.AssetSpec:
        """The entry of the catalog that says what is wrong."""
        warnings.warn(f"{file} declares no source: {self.reason}", stacklevel=3)
        return dg.AssetSpec(
            key=list(asset_key),
            group_name=GROUP,
            kinds={"yaml"},
            description=f"**The file {file} has a mistake**: {self.reason}. What was declared before stays as it was.",
            metadata={MISTAKE: dg.MetadataValue.json({"file": file, "reason": self.reason})},
            tags={"webrag/broken": ""},
        )


def printable(text: str) -> str:
    """`text`, with escapes for characters that no log and no database should get: those of control, halves of pairs."""
    return "".join(
        character if character.isprintable() or character == " " else ascii(character)[1:-1] for character in text
    )
