"""Fold look-alikes of ASCII letters, brackets and marks, so that imitations can be found by plain patterns."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = (
    # Cyrillic, Greek, Armenian
    ("АВСЕНІЈКМОРЅТХУԌԚԜасеһіјкорѕтхуԛԝԁӏ", "ABCEHIJKMOPSTXYGQWacehijkopstxyqwdl"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳαικνορτυχϲ", "ABEZHIKMNOPTYXCjaikvoptuxc"),
    ("ՏՍՕօսհոց", "SUOouhng"),
    # Cherokee, Lisu
    ("ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏁᎾᏢᎡᏚᎢᏙᏔᎩᏃ", "ABCDEGHIJKLMNOPRSTVWYZ"),
    ("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "ABCDEFGHIJKLMNOPRSTUVWXYZ"),
    # small capitals, letters in black circles and squares
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢıȷ", "abcdefghijklmnopqrstuvwyzij"),
    ("".join(map(chr, range(0x1F150, 0x1F16A))), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("".join(map(chr, range(0x1F170, 0x1F18A))), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
)
_MARKS = (
    ("∣ǀ│┃▁∕⁄⧸", "||||_///"),
    ("∶꞉ː׃։", ":::::"),
    ("‐‑‒–—―−⁃˗", "-" * 9),
    ("«‹ᐸ˂≺»›ᐳ˃≻", "<<<<<>>>>>"),
    # angles stay a kind of their own: in ASCII they are everywhere
    ("〈⟨❬❮❰《⟪⦑⧼〉⟩❭❯❱》⟫⦒⧽", "⟨⟨⟨⟨⟨⟨⟨⟨⟨⟩⟩⟩⟩⟩⟩⟩⟩⟩"),
    ("⁅❨❪❲❴⟅⟦⟬⟮⦃⦅⦇⦋⦍⦏⦗⧘⧚⸢⸤⸨「『【〔〖〘〚", "[" * 28),
    ("⁆❩❫❳❵⟆⟧⟭⟯⦄⦆⦈⦌⦎⦐⦘⧙⧛⸣⸥⸩」』】〕〗〙〛", "]" * 28),
)
_TABLE = {ord(first): other for like, plain in (*_LETTERS, *_MARKS) for first, other in zip(like, plain, strict=True)}
_UNWRITTEN = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe0f\ufe20-\ufe2f]")


def folded(text: str) -> str:
    """Return `text` in compatibility form, without accents and joiners, look-alikes in ASCII where they have a twin.

    Angle brackets of other kinds become ⟨ and ⟩. The text of each character can be folded by itself.
    """
    return _UNWRITTEN.sub("", unicodedata.normalize("NFKD", text)).translate(_TABLE)
