"""A failure that the UI shows as one sentence: its cause is known and no stack trace would add to it."""

from __future__ import annotations

import dagster as dg
from dagster._core.errors import DagsterUserCodeProcessError
from dagster_shared.error import SerializableErrorInfo


class ReadableFailure(dg.Failure, DagsterUserCodeProcessError):
    """Never to be retried. Dagster takes what it shows of an error from such a class, instead of the stack."""

    def __init__(self, description: str, metadata: dict[str, str]) -> None:
        Exception.__init__(self, description)
        plain = dg.Failure(description=description, metadata=metadata, allow_retries=False)
        self.description, self.metadata, self.allow_retries = plain.description, plain.metadata, plain.allow_retries
        self.user_code_process_error_infos = [SerializableErrorInfo(message=description, stack=[], cls_name=None)]
