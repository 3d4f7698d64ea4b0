"""Recognise walls and notices: answers that stand before a page or in its place, with any status.

As for soft 404 pages two independent signs are required. One is a title or first heading that is a known message and
nothing else (`wall_phrases`, `notice_phrases`), or a mark that services leave in the mark-up or the headers of their
walls. The other is a text that says the same to the visitor, next to no text, a field for a password, or a status that
is an error. Pages about log-in, cookies, statuses or maintenance have an explanation instead. A wall that is kept is
noise that replaces good texts; a page that is refused is evidence lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from webrag_core.acquisition.acquirer import AcquiredPage
from webrag_core.conversion.converted_page import WALL_HEADERS, ConvertedPage
from webrag_core.conversion.not_found_phrases import plain_words
from webrag_core.conversion.notice_phrases import NOT_OPEN, NOTICES, SERVER_ERROR
from webrag_core.conversion.placeholder_kinds import ABOUT_WALLS, FILLERS, UNSPACED, PlaceholderKind
from webrag_core.conversion.placeholder_text import MAX_CHARS, PlaceholderText, placeholder_text, segments
from webrag_core.conversion.wall_phrases import LOG_IN, ROBOT_CHECK, WALLS
from webrag_core.errors import Reason
from webrag_core.language.word_count import word_count

MAX_WORDS = 150
"""Words outside links, headlines not counted, above which a text without a mark is a page."""
MAX_MARKED_WORDS = 320
"""The same for a page with the mark of a wall: services explain at length why they ask."""
_MAX_UNNAMED_WORDS = 60  # with the mark of a wall and no message: no more than a request to run scripts
_MAX_WIDGET_WORDS = 25
_MAX_BARE_LINKS = 3
_MAX_LINKS = 25
_MAX_MESSAGE_WORDS = 14
_MAX_MESSAGE_CHARS = 120
_KINDS = (*WALLS, *NOTICES)
_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?![\w.])", re.IGNORECASE)
_TO_SITE = re.compile(r" (?:to|into|bei|zu|sur|en|a|em|op|do|w|na|в|на)(?: \w+){1,4}")

_TITLE = re.compile(rb"<title[^<>]*>([^<]{1,500})", re.IGNORECASE)
_MARKS = {
    "Cloudflare": (b"_cf_chl_opt", b"cdn-cgi/challenge-platform/h/", b"cf-error-details", b"cf-browser-verification"),
    "Anubis": (b"/.within.website/", b"anubis_challenge"),
    "AWS": (b"gokuProps", b"awsWafCookieDomainList", b"AwsWafIntegration.", b".awswaf.com/"),
    "Imperva": (b"_Incapsula_Resource?CWUDNSAI", b"distil_r_captcha", b"distilIdentificationBlock"),
    "HUMAN": (b"px-captcha", b"pxCaptcha"),
    "DataDome": (b"captcha-delivery.com",),
    "Sucuri": (b"sucuri_cloudproxy_js", b"cdn.sucuri.net/sucuri-firewall-block"),
    "Akamai": (b"sec-if-cpt-container", b"/_sec/cp_challenge", b"errors.edgesuite.net"),
    "Kasada": (b"KPSDK",),
    "Vercel": (b"/.well-known/vercel/security/",),
    "SiteGround": (b"/.well-known/sgcaptcha/", b"/.well-known/captcha/"),
    "Radware": (b"validate.perfdrive.com", b"shieldsquare"),
    "Alibaba": (b"acw_sc__v", b"aliyun_waf"),
    "Fastly": (b"/_fs-ch-",),
    "Yandex": (b"showcaptcha", b"checkcaptcha"),
    "DDoS-Guard": (b"/.well-known/ddos-guard/",),
    "Basedflare": (b"/.basedflare/", b"haproxy-protection"),
    "Imunify": (b"wsidchk",),
}
"""What services write into the mark-up of their walls, and nowhere else."""
_WIDGETS = (
    *(b"g-recaptcha", b"recaptcha/api.js", b"recaptcha/enterprise.js", b"h-captcha", b"hcaptcha.com/1/"),
    *(b"cf-turnstile", b"/turnstile/v0/", b"geetest", b"arkoselabs", b"funcaptcha", b"frc-captcha"),
    *(b"friendly-challenge", b"mtcaptcha", b"smart-captcha", b"altcha-widget"),
)
_MAX_MARKUP_BYTES = 600_000
_MAX_MARKS = 20
_PASSWORD = re.compile(rb"<input\b[^<>]{0,2000}?\btype\s*=\s*[\"']?password", re.IGNORECASE)
_FIELD = re.compile(
    rb"<textarea|<select|<input\b(?![^<>]{0,2000}?\btype\s*=\s*[\"']?(?:hidden|submit|button|image|checkbox))",
    re.IGNORECASE,
)
_SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What an answer is instead of a page: `reason` is WALL or NOTICE, `kind` says of which kind, `seen` by what it was
    known. Both are our words, not the page's."""

    reason: Reason
    kind: str
    seen: str


def find_wall(page: AcquiredPage, converted: ConvertedPage | None) -> Placeholder | None:
    """The wall or notice that an answer is; None for a page. `converted` is None where nothing readable is in it.

    A page with a date of publication is a page, as is a longer one than `MAX_MARKED_WORDS`.
    """
    markdown = converted.markdown if converted is not None else ""
    if len(markdown) > MAX_CHARS or (converted is not None and converted.published is not None):
        return None
    title = (converted.title if converted is not None else _title(page.body)) or ""
    kind = _kind_of(title)
    named = frozenset(segments(title))
    # below a title that is a message only its repetition is a headline: every other line is the text, the second sign
    text = placeholder_text(markdown, _is_message if kind is None else lambda line: plain_words(line) in named)
    if text.words > MAX_MARKED_WORDS:
        return None
    kind = kind or _kind_of_headlines(title, text.headlines)
    answer = _Answer(page, text, kind)
    if page.status >= 500 and kind is not None and kind.name == SERVER_ERROR:
        return None  # it says what its status says
    return answer.marked() or answer.widget() or answer.stated() or answer.failed()


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer with its text, and the kind of wall or notice that its headline names."""

    page: AcquiredPage
    text: PlaceholderText
    kind: PlaceholderKind | None

    def marked(self) -> Placeholder | None:
        """By the mark of a service."""
        mark = _header_mark(self.page.headers) or _mark(self.page.body)
        nothing = self.text.words == 0 and not self.text.headlines
        if mark is None and self.page.status == 202 and nothing and _SCRIPT.search(self.page.body):
            mark = "status 202 with a script and no text"
        if mark is None:
            return None
        if self.kind is not None:
            return Placeholder(self.kind.reason, self.kind.name, f"its headline, and {mark}")
        if self.text.words + sum(map(word_count, self.text.headlines)) <= _MAX_UNNAMED_WORDS:
            return Placeholder(Reason.WALL, ROBOT_CHECK, f"next to no text, and {mark}")
        kind = self._stated_kind(Reason.WALL)
        return None if kind is None else Placeholder(Reason.WALL, kind.name, f"what it says, and {mark}")

    def widget(self) -> Placeholder | None:
        """By a widget that tells people from robots."""
        if self.text.words > MAX_WORDS or not _in_markup(self.page.body, _WIDGETS):
            return None
        if self.kind is not None and self.kind.reason is Reason.WALL:
            return Placeholder(Reason.WALL, self.kind.name, "its headline, and a captcha")
        if self.text.links > _MAX_BARE_LINKS or _FIELD.search(self.page.body):
            return None
        if self.text.words <= _MAX_WIDGET_WORDS:
            return Placeholder(Reason.WALL, ROBOT_CHECK, "next to no text, and a captcha")
        kind = self._stated_kind(Reason.WALL)
        return None if kind is None else Placeholder(Reason.WALL, kind.name, "what it says, and a captcha")

    def stated(self) -> Placeholder | None:
        """By its headline, with what the page says to the visitor, next to no text, or a field for a password."""
        kind, text = self.kind, self.text
        if kind is None or not self._says_little() or ABOUT_WALLS.search(plain_words(text.text)):
            return None
        if self._stated_kind(kind.reason) is not None:
            return Placeholder(kind.reason, kind.name, "its headline, and what it says")
        if text.is_bare and text.links <= _MAX_BARE_LINKS:
            return Placeholder(kind.reason, kind.name, "its headline, and next to no text")
        if kind.name == LOG_IN and text.words <= _MAX_UNNAMED_WORDS and _PASSWORD.search(self.page.body):
            return Placeholder(kind.reason, kind.name, "its headline, and a field for a password")
        return None

    def failed(self) -> Placeholder | None:
        """By a status that is an error, with its headline or what it says."""
        if self.page.status < 400 or not self._says_little():
            return None
        status = f"status {self.page.status}"
        if self.kind is not None:
            return Placeholder(self.kind.reason, self.kind.name, f"its headline, and {status}")
        kind = self._stated_kind(Reason.NOTICE if self.page.status >= 500 else Reason.WALL)
        return (
            None
            if kind is None or kind.name == SERVER_ERROR
            else Placeholder(kind.reason, kind.name, f"what it says, and {status}")
        )

    def _says_little(self) -> bool:
        return self.text.words <= MAX_WORDS and self.text.links <= _MAX_LINKS and "```" not in self.text.text

    def _stated_kind(self, reason: Reason) -> PlaceholderKind | None:
        words = plain_words(self.text.text)
        return next((kind for kind in _KINDS if kind.reason is reason and kind.statement.search(words)), None)


def _is_message(line: str) -> bool:
    """Whether a line without the mark of a heading is a headline: all of it is a message."""
    return len(line) <= _MAX_MESSAGE_CHARS and _kind_of_words(plain_words(line)) is not None


def _kind_of_headlines(title: str, headlines: Sequence[str]) -> PlaceholderKind | None:
    """The kind that the first headline names, or the one below a headline that is the name of the site or "Error".

    A page with its own headline that is not written yet is a page, as short as it is.
    """
    names = {"", *segments(title)}
    for headline in headlines:
        kind = _kind_of(headline)
        if kind is not None:
            below = kind.name == NOT_OPEN and headline is not headlines[0]
            return None if below else kind
        words = plain_words(headline)
        if words not in names and not FILLERS.issuperset(words.split()):
            return None
    return None


def _kind_of(headline: str) -> PlaceholderKind | None:
    """The kind that a title or heading names: as a whole, or in the part before or after the site's name."""
    if len(headline) > 4 * _MAX_MESSAGE_CHARS:
        return None
    kinds = (_kind_of_words(words) for words in segments(_HOST.sub(" ", headline)) if len(words) <= _MAX_MESSAGE_CHARS)
    return next(filter(None, kinds), None)


def _kind_of_words(words: str) -> PlaceholderKind | None:
    each = frozenset(words.split()) - FILLERS
    if len(each) > _MAX_MESSAGE_WORDS:
        return None
    any_words = UNSPACED.search(words) is not None or _TO_SITE.search(words) is not None
    return next((kind for kind in _KINDS if (any_words or kind.words >= each) and _names(kind, words)), None)


def _names(kind: PlaceholderKind, words: str) -> bool:
    """Whether plain words are a message of the kind: there are no others, or only the site's name behind "to"."""
    match = kind.headline.search(words)
    if match is None:
        return False
    rest = kind.headline.sub(" ", words)
    if FILLERS.issuperset(rest.split()):
        return True
    before, behind = words[: match.start()], words[match.end() :]
    if kind.reason is Reason.WALL and FILLERS.issuperset(before.split()) and _TO_SITE.fullmatch(behind):
        return True
    return UNSPACED.search(match[0]) is not None and 2 * sum(map(str.isalpha, rest)) <= sum(map(str.isalpha, words))


def _title(body: bytes) -> str | None:
    title = _TITLE.search(body)
    return title[1].decode("utf-8", "replace") if title is not None else None


def _header_mark(headers: Mapping[str, str]) -> str | None:
    names = (name for name, value in WALL_HEADERS.items() if value.search(headers.get(name, "")))
    return next((f"the header {name}" for name in names), None)


def _mark(body: bytes) -> str | None:
    named = (f"a mark of {service}" for service, marks in _MARKS.items() if _in_markup(body, marks))
    return next(named, None)


def _in_markup(body: bytes, marks: Iterable[bytes]) -> bool:
    """Whether one of the marks stands within a tag or a script: in the text of a page it is only spoken of."""
    return any(_is_markup(body, at) for mark in marks for at in islice(_places(body, mark), _MAX_MARKS))


def _places(body: bytes, mark: bytes) -> Iterator[int]:
    at = body.find(mark, 0, _MAX_MARKUP_BYTES)
    while at >= 0:
        yield at
        at = body.find(mark, at + len(mark), _MAX_MARKUP_BYTES)


def _is_markup(body: bytes, at: int) -> bool:
    if body.rfind(b"<", 0, at) > body.rfind(b">", 0, at):
        return True
    return body.rfind(b"<script", 0, at) > body.rfind(b"</script", 0, at)
