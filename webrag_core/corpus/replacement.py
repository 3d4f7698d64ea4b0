"""Rules that protect a good stored version from being replaced by a bad response. Pure."""

from __future__ import annotations

import re

import ada_url

from webrag_core.late_pattern import late_pattern

LEAST_SHARE = 20
LEAST_WORDS = 50
_INDEX_FILE = late_pattern(r"/(?:index|default|home)\.\w{2,5}$")
# ISO 639-1, with region or script: `/en/`, `/pt-br/`, `/zh_Hans/`
_LANGUAGE = late_pattern(
    r"(?:a[abefkmnrsvyz]|b[aeghimnorsz]|c[aehorsuvy]|d[aevz]|e[elnostu]|f[afijory]|g[adlnuv]|h[aeiortuyz]"
    r"|i[adegikostuw]|j[av]|k[agijklmnorsuvwy]|l[abgiotuv]|m[gihklnrsty]|n[abdeglnorvy]|o[cjmrs]|p[aist]|qu"
    r"|r[mnouw]|s[acdegiklmnoqrstuvw]|t[aeghiklnorstwy]|u[gkrz]|v[eio]|w[ao]|xh|y[io]|z[ahu])(?:[-_][a-z]{2,4})?",
    re.IGNORECASE,
)
_LOGIN = late_pattern(
    r"(?:log|sign)[-_]?(?:in|on)(?:\.\w{2,5})?|wp-login\.php|special:userlogin|saml2?|sso", re.IGNORECASE
)
_RETURN = late_pattern(
    r"(?:^|&)(?:next|continue|dest|destination|goto|ref|referer|return|return_?(?:to|url|path)|redirect|redirect_?(?:to|url|uri)"
    r"|back|back_?(?:to|url)|from|service|target|url|os_destination|came_from)=",
    re.IGNORECASE,
)


def shrinks_drastically(old_words: int, new_words: int) -> bool:
    """True when a new text has under 50 words and under a twentieth of the stored one's words.

    Such a change is a loss (a shell, a notice, a broken template) until confirmed. Count with `language.word_count`.
    """
    return new_words < LEAST_WORDS and new_words * LEAST_SHARE < old_words


def redirected_to_front_page(requested_url: str, final_url: str) -> bool:
    """True when a URL with a path redirects to a front page or a login page: the page is missing.

    Front pages are the root, its index file and language roots (`/en/`). A login page is recognised by the end of its
    path; below the second level only with a return address in the query, since it may be an article about logging in.
    Both URLs canonical. Pass the URL of the stored version: a short link may redirect to a front page rightly.
    """
    requested, final = ada_url.URL(requested_url), ada_url.URL(final_url)
    if requested.href == final.href or _is_front(requested) or _is_login(requested):
        return False
    return _is_front(final) or _is_login(final)


def _is_front(url: ada_url.URL) -> bool:
    segments = _segments(_INDEX_FILE.sub("/", url.pathname))
    return not segments or (len(segments) == 1 and _LANGUAGE.fullmatch(segments[0]) is not None)


def _is_login(url: ada_url.URL) -> bool:
    segments = _segments(url.pathname)
    if not segments or _LOGIN.fullmatch(segments[-1]) is None:
        return False
    return len(segments) <= 2 or _RETURN.search(url.search.removeprefix("?")) is not None


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]
