"""Ordinal numbers that are written with a full stop (der 12. Mai, 3. října), and what stands around them."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", text))


WITH_STOP = _words("az bs cs da de et eu fi fo gsw hr hu is lb lv nb nds nn no pl sk sl sr tr")
"""Languages (ISO 639) that write ordinal numbers so."""

CAPITALISED = _words("de gsw lb nds")
"""Those of them that write every noun with a capital."""

MONTHS = _words("""
apr april aprill apríla aralık aug august augusta augusztus ağustos března czerwca december decembra desember
detsember dez dezember dubna ekim elokuuta eylül feb feber februar february február februára grudnia haziran
heinäkuuta helmikuuta huhtikuuta jaanuar jaenner jan januar january január januára joulukuuta jul juli july jun june
juni juuli juuni jänner júla július júna június kasım kesäkuuta kolovoza května kwietnia leden ledna lipca lipnja
listopada listopadu lokakuuta lutego maaliskuuta maerz mai maj marca march marraskuuta mars mart marts may mayıs mrz
mája május március mär märts märz nisan nov november novembra ocak october okt oktober október októbra ožujka
października prosinca prosince rujna sep sept september septembra sierpnia siječnja srpna srpnja studenoga stycznia
svibnja syyskuuta szeptember tammikuuta temmuz toukokuuta travnja veebruar veljače września září április únor února
července června října şubat
""")
"""Months as they stand behind a day, lower case."""

BEFORE_ORDINAL = _words("""
ab als am an auf aus bei beide beiden beim bis das dem den der deren des dessen die diese diesem diesen dieser
dieses ein eine einem einen einer eines erst euer für gegen ihr ihre ihrem ihren ihres im in ins je jede jedem jeden
jeder jedes kein keine mein meine meinem meinen mit nach oder pro sein seine seinem seinen seiner seit sowie sowohl
und unser unsere unserem unseren unter vom vor zu zum zur zwischen über
""")
"""German words that stand before an ordinal number rather than before an amount."""

ONLY_BEFORE_ORDINAL = _words("der das dem den des im zum zur beim vom")
"""Those that are no words of other languages."""

NUMBERED = _words("adım bölüm ek madde no resim sayfa şekil tablo")
"""Turkish words that stand before a number which is none of order."""
