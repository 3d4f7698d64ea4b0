"""Kinds of walls and notices: what their headlines and texts say, and which words say nothing more."""

from __future__ import annotations

import re
from dataclasses import dataclass

from webrag_core.conversion.not_found_phrases import ABOUT, plain_words
from webrag_core.errors import Reason

UNSPACED = re.compile("[\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]")
"""Letters of scripts without spaces, in plain words: Hangul comes in parts."""


def _plain(phrases: str) -> set[str]:
    return {plain_words(phrase) for phrase in phrases.split("/")} - {""}


def _pattern(phrases: str) -> re.Pattern[str]:
    """Any of the phrases, which slashes separate: as whole words, in scripts without spaces anywhere."""
    plain = sorted(_plain(phrases), key=len, reverse=True)
    unspaced = [phrase for phrase in plain if UNSPACED.search(phrase)]
    spaced = [phrase for phrase in plain if not UNSPACED.search(phrase)]
    return re.compile("|".join(([rf"\b(?:{'|'.join(spaced)})\b"] if spaced else []) + unspaced))


@dataclass(frozen=True, slots=True)
class PlaceholderKind:
    """A kind of wall or notice. `headline` is found in its title or first heading, which has no words beside `words`
    and `FILLERS`; `statement` in its text."""

    name: str
    reason: Reason
    headline: re.Pattern[str]
    words: frozenset[str]
    statement: re.Pattern[str]


def placeholder_kind(name: str, reason: Reason, headlines: str, statements: str) -> PlaceholderKind:
    """A kind with its phrases, which slashes separate."""
    words = frozenset(word for phrase in _plain(headlines) for word in phrase.split())
    return PlaceholderKind(name, reason, _pattern(headlines), words, _pattern(statements))


FILLERS = frozenset(
    plain_words(
        """
        a about again all an and are at be been by can continue currently error errors for from has have hello hey
        hi http https https1 in is it moment my need new now of oh on oops our ours page please portal response
        right shop site sites soon sorry status store system t temporarily temporary that the this to today uh un us
        use using via want was we web webpage website well were welcome while whoops will with you your youre
        account accessing access before browser code free id no not online owner proceed service services server
        sign up register registration user users username blog wiki page1 service1 required request 202 400 401 402
        403 405 406 407 418 419 420 421 423 426 429 440 449 451 494 498 499 500 501 502 503 504 505 508 509 520 521
        522 523 524 525 526 527 530 599 1000 1005 1006 1009 1010 1012 1015 1020 18 19 20 21 bitte die der das den
        dem des diese dieser dieses diesen zu zum zur ist sind sie sich wir uns unser unsere unseren seite webseite
        internetseite fehler leider gerade zurzeit derzeit momentan auf und mit ihr ihre ihren ihrem du dein deine
        hier mein wird wurde einen eine ein kurz le la les l de d ce cette ces est sont et vous vos votre nous notre
        nos erreur désolé actuellement pour en une à au aux veuillez merci cours el los las del este esta estos es
        está estamos por favor y su sus tu nuestro nuestra página sitio lo sentimos actualmente para una al momento
        il i gli di della questo questa sito pagina è per favore e siamo errore momentaneamente attualmente
        spiacenti nostro o os as do da dos na em erro desculpe nosso um uma seu sua conta het een deze dit zijn onze
        op fout momenteel u uw je jouw voor ta ten strona strony jest w z się przepraszamy błąd obecnie serwis
        witryna nasz nasza proszę dla этот эта это сайт сайта сайте страница на в и к ошибка извините пожалуйста
        сейчас наш вы ваш для временно bu sayfa sitesi şu anda lütfen hata üzgünüz ve için sitemiz geçici bir
        """
    ).split()
)
"""Words that say nothing more in a headline."""

ABOUT_WALLS = re.compile(
    rf"{ABOUT.pattern}|\b(?:"
    # histories of incidents, and plans
    r"(?:past|open) incidents?|(?:been|was|were) (?:resolved|completed)|investigating|postmortem|systems operational"
    r"|affected (?:services?|components?)|subscribe to updates|uptime|will be (?:unavailable|performing)|will undergo"
    # manuals, references, advice
    r"|configur\w+|commands?|parameters?|arguments?|middleware|endpoints?|functions?|directives?|variables?|for example"
    r"|when (?:you|an?|the|your|users?|visitors?|somebody|someone)|if (?:your|an?|the) (?:account|site|page)"
    r"|go to (?:the|your|settings|my)|click (?:on )?(?:the (?!button|link|box)|your|save|next|settings|log|sign)|tap"
    r"|choose (?:save|share|the|your|settings|reset)|navigate to|(?:top|upper) (?:right|left)|open (?:the|your)"
    r"|every (?:day|week|month|year|sunday|night)|each (?:day|week|month|year|night)"
    r"|following (?:steps?|options?)|step [0-9]|documentation|release notes|changelog|deprecated"
    r"|administrators? (?:can|may|must|should)|you can (?:enable|disable|turn|use|set|change|log|sign|choose)"
    r"|to (?:log|sign) in (?:open|go|use|click|tap|select|enter|on|with the)|(?:turn|switch) (?:it )?o(?:n|ff)"
    r"|how (?:do|does|can|we|it|long|much|often)|what (?:is|are|does) (?:an?|the|it)|means that|stands for|refers? to"
    r"|(?<!this )is an? (?:\w+ )?(?:page|status|message|screen|mode|check|test|technique|method|feature|setting"
    r"|tool|type|kind|way|response|policy|file|text)|used (?:to|by|for|in|when)"
    r"|(?:visitors|users|customers|readers|people|guests|members) (?:see|get|are|will|must|can|who|have|need)"
    r"|einstellung(?:en)?|konfigur\w+|befehle?|beispiele?|aktivieren sie|offnen sie|klicken sie auf|anleitung"
    r"|benutzer konnen|besucher sehen|parametres|configurer|commandes?|exemples?|ouvrez|cliquez sur|ajustes|comandos?"
    r"|ejemplos?|haga clic en|abra|impostazion\w+|esempi\w*|fare clic|configuracoes|exemplos?|clique em|instellingen"
    r"|voorbeeld\w*|klik op|ustawieni\w+|przykład\w*|kliknij|настроик\w+|команд\w+|пример\w*|нажмите|откроите"
    r"|ayarlar\w*|ornek\w*|tıklayın"
    r")\b|"
    + "|".join(
        plain_words(word)
        for word in (
            *("如何", "怎么", "怎樣", "设置", "設置", "配置", "命令", "示例", "方法", "什么是"),
            *("とは", "設定", "コマンド", "例えば", "어떻게", "방법", "설정", "명령", "예를"),
        )
    )
)
"""Texts about walls and notices: they explain, advise or list. Without a mark of a wall such a page is a page."""
