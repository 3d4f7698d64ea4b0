"""Words with which sentences begin: function words, which no name and no noun behind an abbreviation is."""

from __future__ import annotations

from functools import lru_cache

from webrag_core.language.stop_words import ENGLISH, stop_words

_WORDS = {
    "cs": """
a ale ani aby až co do dále i jak jako je již k každý kde když která které který já ještě jsme jsou ho na nad ne
nebo není než o od on ona oni pak po pod podle pokud poté pro protože před při proto s se si tak také tato tedy ten
tento tím to toto tu u už v ve však všechny vy z za ze že
""",
    "el": """
ο η το οι τα του της των τον την ένα μια ένας και αλλά ή αν για από με σε στο στη στην στον στα στις στους όταν όπως
όμως αυτό αυτή αυτός αυτά αυτές αυτοί εκεί εδώ είναι ήταν έχει θα να δεν μη μην που πως πότε ποιος τι επίσης ακόμη
ακόμα μετά πριν κατά επειδή γιατί ωστόσο σύμφωνα έτσι
""",
    "hr": """
a ali ako bez da do dok i ili iz ja je jer još kada kad kako koji koja na nakon ne no o od on ona oni ovaj ova ovo
po pod prema prije s sa se su ta taj to u uz za što zbog već
""",
    "pl": """
a ale ani aby bez bo był była było były by co czy dla do dlatego gdy gdzie i ich ile ja jak jako jednak jego jej
jest jeśli już jeżeli każdy kiedy kto która które który lub ma na nad nie niż o od on ona one oni oraz po pod
podczas ponieważ poza przed przez przy są się ta tak także tam te tej ten to też tu tutaj tych tym w we według więc
wszystkie z za ze że zaś został została
""",
    "ro": """
a al ale această acest aceasta acesta aceste acești am ar are asta așa atunci au că când care ce cel cea cei cele
cine cu cum da dacă dar de deci deși din după ea ei ele el este eu fără fi în într înainte îi își la lui mai nu o
ori pe pentru prin sau se și sunt spre te toate toți tu un una unei unele unii unui va vor
""",
    "uk": """
а але або без був була було були в вже він вона вони воно все всі де для до є з за зі і із коли або який яка яке які
як якщо ми на над не ні о по під після при про проте та так також там те ти то тому тут у це цей ця ці що щоб я
""",
}
_SAME = {"sk": "cs", "nb": "no", "nn": "no", "bs": "hr", "sr": "hr", "sl": "hr", "be": "ru", "bg": "ru"}


@lru_cache(maxsize=64)
def starters(language: str | None) -> frozenset[str]:
    """Words with which sentences of a language (ISO 639; None = not clear) begin, lower case; those of English where
    none are known."""
    code = _SAME.get(language or "en", language or "en")
    return frozenset(_WORDS.get(code, "").split()) or stop_words(code) or ENGLISH
