"""A conversion that does to its worker what the body of a page says. Imports little: each worker loads it anew."""

from __future__ import annotations

import ctypes
import os
import re
import time

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import ConvertedPage
from webrag_core.errors import FetchError, Reason

KEPT: list[bytearray] = []


def misbehave(page: AcquiredPage) -> ConvertedPage:
    """A conversion that does what the body says."""
    match page.body:
        case b"hang":
            re.match(r"(a+)+$", "a" * 60 + "b")  # native code that never lets go
        case b"crash":
            ctypes.string_at(0)
        case b"eat":
            bytearray(10**9)
        case b"keep":
            KEPT.append(bytearray(150_000_000))
        case b"wait":
            time.sleep(1.5)
        case b"recurse":
            return misbehave(page)
        case b"bug":
            raise KeyError("what is missing")
        case b"refuse":
            raise FetchError(Reason.EMPTY_PAGE, "nothing there", status=203)
        case b"environment":
            return said(" ".join(os.environ))
    print("a library speaks", flush=True)
    return said(str(os.getpid()))


def said(text: str) -> ConvertedPage:
    return ConvertedPage(text, None, None, None, None, None, ())
