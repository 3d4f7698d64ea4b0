"""One trace id for everything that one call does: log lines, rows, fetches, model requests (W3C Trace Context).

Spans go to OpenTelemetry where it is installed and set up (the extra `trace`, an SDK of the user's choice); without,
they cost nothing. They carry numbers and short words: no query, no address, no SQL, no prompt.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_PROVIDER = "OTEL_PYTHON_TRACER_PROVIDER"  # has the API load an SDK by itself
_LENGTH = 55  # of a traceparent of version 00
_LONGEST = 512  # characters of a traceparent that are looked at


@dataclass(frozen=True, slots=True)
class _Trace:
    trace_id: str
    span_id: str


_current: ContextVar[_Trace | None] = ContextVar("webrag_trace", default=None)


@contextmanager
def traced(parent: str | None = None) -> Iterator[str]:
    """Everything within the block has one trace id, which is given: that of the trace that goes on, else that of
    `parent` (a `traceparent` header or a bare id; anything else is ignored), else a new one."""
    trace = _current.get()
    if trace is not None:
        yield trace.trace_id
        return
    trace = _read(parent) or _of_opentelemetry() or _Trace(secrets.token_hex(16), secrets.token_hex(8))
    token = _current.set(trace)
    try:
        yield trace.trace_id
    finally:
        _current.reset(token)


def current_trace_id() -> str | None:
    """32 hexadecimal digits; None outside of `traced`."""
    trace = _current.get()
    return None if trace is None else trace.trace_id


def traceparent() -> str | None:
    """The header for what belongs to the current trace; None outside of one."""
    trace = _current.get()
    return None if trace is None else f"00-{trace.trace_id}-{trace.span_id}-01"


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[None]:
    """A span of OpenTelemetry around the block. Attributes are numbers and words of our own."""
    api = _opentelemetry()
    if api is None:
        yield
        return
    # messages of errors hold addresses and words of the question: spans tell the class alone
    with api.get_tracer("webrag").start_as_current_span(
        f"webrag.{name}",
        context=_parent(api),
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(api.StatusCode.ERROR)
            raise


class TraceFilter(logging.Filter):
    """Gives every record `trace`: the id in brackets with a blank before it, nothing outside of a trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Never drops a record."""
        trace_id = current_trace_id()
        record.trace = "" if trace_id is None else f" [{trace_id}]"
        return True


def _read(parent: str | None) -> _Trace | None:
    if not isinstance(parent, str) or len(parent) > _LONGEST:
        return None
    text = parent.strip()
    match = _TRACEPARENT.fullmatch(text)
    if match is not None:
        if text.startswith("00") and len(text) != _LENGTH:  # later versions may be longer
            return None
        return None if not int(match[1], 16) or not int(match[2], 16) else _Trace(match[1], match[2])
    if _TRACE_ID.fullmatch(text) and int(text, 16):
        return _Trace(text, secrets.token_hex(8))
    return None


def _opentelemetry() -> Any:
    """The API of OpenTelemetry's traces; None where nobody has set it up. Code that does has loaded the package, which
    takes a command longer to import than most of what commands do."""
    if _PROVIDER in os.environ and find_spec("opentelemetry") is not None:
        from opentelemetry import trace

        return trace
    return sys.modules.get("opentelemetry.trace")


def _of_opentelemetry() -> _Trace | None:
    """The trace that the caller's own instrumentation is in."""
    api = sys.modules.get("opentelemetry.trace")
    context = None if api is None else api.get_current_span().get_span_context()
    if context is None or not context.is_valid:
        return None
    return _Trace(f"{context.trace_id:032x}", f"{context.span_id:016x}")


def _parent(api: Any) -> Any:
    """What makes a first span one of the current trace; None where there is a span around it, or no trace."""
    trace = _current.get()
    if trace is None or api.get_current_span().get_span_context().is_valid:
        return None
    context = api.SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), True, api.TraceFlags(1))
    return api.set_span_in_context(api.NonRecordingSpan(context))
