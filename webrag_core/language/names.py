"""English names of languages, for messages."""

from __future__ import annotations

_NAMES = """
ar Arabic|bg Bulgarian|bn Bengali|ca Catalan|cs Czech|da Danish|de German|el Greek|en English|es Spanish|et Estonian
eu Basque|fa Persian|fi Finnish|fr French|ga Irish|gl Galician|he Hebrew|hi Hindi|hr Croatian|hu Hungarian|hy Armenian
id Indonesian|it Italian|ja Japanese|ka Georgian|kk Kazakh|km Khmer|ko Korean|la Latin|lo Lao|lt Lithuanian|lv Latvian
mk Macedonian|mr Marathi|ms Malay|my Burmese|ne Nepali|nl Dutch|no Norwegian|pl Polish|pt Portuguese|ro Romanian
ru Russian|sk Slovak|sl Slovene|sq Albanian|sr Serbian|sv Swedish|sw Swahili|ta Tamil|te Telugu|th Thai|tl Tagalog
tr Turkish|uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese|yi Yiddish|zh Chinese
"""
_BY_CODE = dict(entry.split(" ", 1) for entry in _NAMES.strip().replace("\n", "|").split("|"))


def language_name(code: str) -> str:
    """The language's English name; `the language xx` for a rarer one."""
    return _BY_CODE.get(code, f"the language {code}")
