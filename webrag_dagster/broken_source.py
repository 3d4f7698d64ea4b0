"""A source file with a mistake: it fails alone, as an entry of the catalog that says why; all others load."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import dagster as dg
from pydantic import BaseModel, PrivateAttr, ValidationError, ValidatorFunctionWrapHandler, model_validator

from webrag_dagster.dagster_private import ResolutionException

GROUP = "sources"
MISTAKE = "webrag/mistake"
"""Metadata key of what is wrong with a file: the file, and the reason."""
MISTAKES = (ValidationError, ResolutionException, ValueError, TypeError)
"""What a file's attributes raise: a bound of a number that is none raises TypeError."""


@dataclass(frozen=True, slots=True)
class BrokenSource(dg.Component):
    """Stands for a source that its file does not describe. It has no freshness, and nothing is fetched of it."""

    error: Exception
    named: str | None = None
    """The file that has the mistake; None = that of the component."""

    @property
    def reason(self) -> str:
        """What is wrong, in a line for each mistake."""
        # what a list of the file raises, Dagster wraps with a stack trace
        error = self.error.__context__ if isinstance(self.error, ResolutionException) else self.error
        if isinstance(error, ValidationError):
            result = error.errors(include_url=False, include_input=False)
            return "; ".join(f"{'.'.join(map(str, finding['loc'])) or 'file'}: {finding['msg']}" for finding in result)
        return str(self.error)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """One external asset that says what is wrong."""
        return dg.Definitions(assets=[self.spec(asset_key_of(context), self.named or file_of(context))])

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


def file_of(context: dg.ComponentLoadContext) -> str:
    """The file's folder, relative to the one that holds the package, so that two machines say the same."""
    return context.path.relative_to(context.defs_module_path.parents[1]).as_posix()


def asset_key_of(context: dg.ComponentLoadContext) -> list[str]:
    """Named after the folder: two files for one section are the sensor's to refuse, not the whole location's."""
    return [GROUP, re.sub(r"\W+", "_", context.path.name)]


@cache
def forgiving(model: type[BaseModel]) -> type[BaseModel]:
    """A model with the same fields that keeps a mistake (`mistake_of`) instead of raising it.

    Its schema, by which files are checked and completed in an editor, is the same.
    """

    class Forgiving(model):  # type: ignore[misc, valid-type]
        _mistake: Exception | None = PrivateAttr(default=None)

        @model_validator(mode="wrap")
        @classmethod
        def _keep_mistake(cls, data: Any, validate: ValidatorFunctionWrapHandler) -> Any:
            try:
                return validate(data)
            except MISTAKES as error:
                broken = cls.model_construct()
                broken._mistake = error
                return broken

    Forgiving.__name__, Forgiving.__qualname__, Forgiving.__doc__ = model.__name__, model.__qualname__, model.__doc__
    return Forgiving


def mistake_of(attributes: BaseModel | None) -> Exception | None:
    """The mistake that a forgiving model kept; None where there is none."""
    result = getattr(attributes, "_mistake", None)
    return result if isinstance(result, MISTAKES) else None
