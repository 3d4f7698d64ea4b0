"""Warnings that stand in a result. A log has them, too, for servers; a command that prints the result keeps them out of
the log on its terminal, so that they are said once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class Caution(str):
    """A warning as people read it, which knows the address that it is `about`; None for one about no single page or
    file. In JSON it is its text."""

    about: str | None

    def __new__(cls, text: str, about: str | None = None) -> Self:
        """`text` is the whole warning, its address included."""
        caution = super().__new__(cls, text)
        caution.about = about
        return caution

    @classmethod
    def on(cls, url: str, message: str) -> Self:
        """About the page or file at `url`, which stands before the message."""
        return cls(f"{url}: {message}", url)

    @property
    def message(self) -> str:
        """The text without the address."""
        return str(self) if self.about is None else self.removeprefix(f"{self.about}: ")

    @property
    def stored(self) -> str | dict[str, str]:
        """As an element of a JSON column: what removes a page finds its warnings by `about`."""
        return str(self) if self.about is None else {"about": self.about, "text": self.message}

    @classmethod
    def load(cls, value: object) -> Self:
        """What `stored` gave, or a text: of JSON, or of rows that were written before warnings knew their address.

        Raises ValueError for anything else.
        """
        match value:
            case cls():
                return value
            case str():
                return cls(value)
            case Mapping() if isinstance(about := value.get("about"), str) and isinstance(value.get("text"), str):
                return cls.on(about, value["text"])
        raise ValueError("a warning is a text")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A string in JSON; `load` reads it."""
        as_text = core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema())
        return core_schema.no_info_plain_validator_function(cls.load, serialization=as_text)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Of a string."""
        return handler(core_schema.str_schema())


def log_warning(logger: logging.Logger, warning: str) -> None:
    """Log a warning that the result says as well."""
    logger.warning("%s", warning, extra={"in_result": True})


def is_in_result(record: logging.LogRecord) -> bool:
    """Whether the result says what is logged."""
    return getattr(record, "in_result", False)
