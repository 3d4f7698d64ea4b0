"""What nobody foresaw about a page costs that page: the batch, the list or the answer that it is part of goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from webrag_core.errors import FetchError, Reason, StoreError, WebragError
from webrag_core.page_text import one_line
from webrag_core.trace import traced

logger = logging.getLogger(__name__)

_OF_THE_DATA = ("22", "54")  # classes of SQLSTATE: a value out of its range, too large or too complex


@contextmanager
def contained(url: str) -> Iterator[None]:
    """Turn an unforeseen exception in work on the page at `url` into FetchError(INTERNAL_ERROR), whose message names
    the trace under which the log has it. Errors of this package pass, and so do interruptions and lack of memory."""
    try:
        yield
    except StoreError as error:
        state = getattr(error.__cause__, "sqlstate", None)  # of a driver that whoever imports this may not need
        if (state or "")[:2] not in _OF_THE_DATA:
            raise
        raise _failure(url, error) from error
    except (WebragError, MemoryError):
        raise
    except ExceptionGroup as errors:
        known = _known(errors)
        if known is not None:
            raise known from None
        raise _failure(url, errors) from errors
    except Exception as error:  # whatever it is
        raise _failure(url, error) from error


def _known(errors: ExceptionGroup[Exception]) -> WebragError | None:
    """The first error of this package in a group."""
    for error in errors.exceptions:
        inner = _known(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(inner, WebragError):
            return inner
    return None


def _failure(url: str, error: Exception) -> FetchError:
    with traced() as trace:
        logger.error("unforeseen error with %s, trace %s", one_line(url), trace, exc_info=error)
        return FetchError(Reason.INTERNAL_ERROR, f"an unforeseen {type(error).__name__}; the log has it, trace {trace}")
