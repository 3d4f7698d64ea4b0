"""The words in which pages say that they do not exist, as servers, generators and content systems write them.

Matched against plain words (`plain_words`): letters in lower case without accents and apostrophes, single spaces.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")
_APOSTROPHES = str.maketrans("", "", "'`")


def plain_words(text: str) -> str:
    """The words of a text in one spelling: "Can’t be  Über-found!" is `cant be uber found`."""
    folded = text.casefold()
    if folded.isascii():
        return " ".join(_WORD.findall(folded.translate(_APOSTROPHES)))
    letters = (
        char
        for char in unicodedata.normalize("NFKD", folded)
        if char not in "'’ʼ`´" and not unicodedata.combining(char)
    )
    return " ".join(_WORD.findall("".join(letters)))


def _phrases(text: str, *, whole_words: bool = True) -> re.Pattern[str]:
    alternatives = "|".join(plain_words(phrase) for phrase in text.split("/"))
    return re.compile(rf"\b(?:{alternatives})\b" if whole_words else alternatives)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# An English headline is a message when it has no other words than these, a `404` or a "not", and what is not.
MESSAGE_WORDS = _words(
    """
    404 a an and anymore are at be been but can cannot cant content could couldnt couldn directory document doesnt does
    dont error exist exists file find for found gone have havent here http id in invalid is isnt it item likely longer
    looking missing moved no nonexistent not nothing nowhere object of oh on oops or page post product project
    removed request requested resource server site sorry status such that thats the there theres this to topic uh unable
    unfortunately url was wasnt we web website were werent whoops wrong you youre yet http1
    """
)
NOTS = _words("cannot cant couldnt doesnt havent isnt no not nothing unable wasnt werent")
MISSED = _words("exist exists find found here")

# To the visitor, of the page asked for. A reference page speaks of servers, clients and requests instead.
_THING = r"(?:page|file|url|address|document|content|article|topic|site|website|link|item|object|path|location|post)s?"
_NOT = (
    r"(?:can ?not|cant|could not|couldnt|was not|wasnt|were not|werent|is not|isnt|does not|doesnt|do not|dont"
    r"|no longer|might not|may not|seems to not)"
)
_LOST = r"(?:found|exists?|available|here|there|valid|locate[d]?|find)"
_SEEKING = (
    r"(?:looking for|searching for|requested|requesting|asked for|(?:trying|tried|attempting|wanted) to"
    r" (?:access|reach|view|visit|open|find|load|see)|seek|were after|entered|typed|followed|clicked)"
)
_REMOVED = (
    rf"(?:{_NOT}(?: \w+){{0,3}} {_LOST}"
    r"|(?:be|been|is|was|gone|went) (?:\w+ )?(?:missing|removed|moved|deleted|renamed)|gone missing)"
)
STATEMENT = re.compile(
    r"\b(?:"
    # "The page you are looking for (…) does not exist", "the resource that you requested might have been removed"
    rf"(?:{_THING}|resource|what|discussion|product) (?:\w+ )?(?:you|youre|youve|your)(?: \w+){{0,3}}? {_SEEKING}"
    rf"(?: \w+){{0,12}}? {_REMOVED}"
    # "We couldn't find the page you were looking for", "sorry, we can't find that page"
    r"|we (?:are |were |seem to be )?(?:(?:really |very |so )?sorry (?:but )?(?:we )?)?"
    rf"(?:{_NOT}|unable to|not able to)(?: seem to)? (?:find|locate)(?: \w+){{0,4}}?"
    rf" (?:(?:the|that|this|your|any) (?:\w+ )?{_THING}|what|anything)"
    # "The requested URL /x was not found on this server"
    rf"|requested (?:\w+ )?{_THING}(?: \w+){{0,12}}? {_NOT}(?: \w+){{0,2}} {_LOST}"
    rf"|(?:this|that) (?:web ?)?{_THING} (?:\w+ )?{_NOT}(?: \w+){{0,2}} {_LOST}"
    r"|(?:page|file) (?:does not exist|doesnt exist|no longer exists|(?:could not be|couldnt be|was not) found)"
    r"|there(?:s| is| was)? (?:no (?:page|file) (?:here|at|with)|nothing here)"
    r"|nothing (?:was |has been )?found (?:here|at this)|nothing matches the given uri"
    r"|(?:this|that|the) url is invalid|(?:taken|took) a wrong turn"
    r"|isnt there anymore|does not contain the requested (?:file|page)"
    r"|message the requested resource(?: \w+){0,12}? is not available description"
    # what it may come from, and what to do
    r"|(?:mis ?typed|misspelled|misspelt) (?:\w+ )?(?:url|address|link)|followed (?:a|an) (?:\w+ ){0,3}link"
    r"|link (?:you \w+ |that \w+ you here |is |may be |might be ){1,3}(?:broken|out of date|outdated|incorrect|wrong)"
    r"|(?:check|make sure) (?:that )?(?:the|your) (?:url|address|spelling)"
    r"|(?:url|address) (?:was |is )?(?:typed|entered) (?:in)?correctly|(?:typed|entered) the (?:url|address)"
    r")\b"
)

# The same for other languages: a headline that holds one of these, a text that holds one of either list.
OTHER_HEADLINES = _phrases(
    """
    nicht gefunden / existiert nicht / existiert leider nicht / nicht vorhanden / non trouvée / non trouvé /
    introuvable / n'existe pas / n'existe plus / n'a pas été trouvée / no encontrada / no encontrado /
    no se encontró / no se ha encontrado / no existe / não encontrada / não encontrado / não foi encontrada /
    não existe / non trovata / non trovato / non è stata trovata / non esiste / niet gevonden / bestaat niet /
    hittades inte / hittas inte / ikke fundet / blev ikke fundet / ikke funnet / finnes ikke / findes ikke /
    ei löydy / ei löytynyt / nie znaleziono / nie została znaleziona / nie znaleziona / nie istnieje /
    nenalezena / nebyla nalezena / neexistuje / nenájdená / nem található / nu a fost găsită / nu există /
    не найдена / не найден / не найдено / не существует / не знайдено / не існує / не е намерена /
    δεν βρέθηκε / bulunamadı / tidak ditemukan / không tìm thấy / không tồn tại / غير موجودة / لم يتم العثور /
    لا توجد / پیدا نشد / یافت نشد / לא נמצא / לא נמצאה
    """
)
OTHER_WORDS = MESSAGE_WORDS | _words(
    plain_words(
        """
        fehler seite die diese der gesuchte angeforderte aufgerufene gewünschte wurde werden konnte leider nicht inhalt
        webseite datei das dieses dokument ist ups hoppla erreur cette la le ressource demandée que vous recherchez
        cherchez désolé est été pas oups página esta lo sentimos que buscas solicitada el recurso archivo ha erro
        desculpe a você procura está não arquivo pagina questa richiesta errore ci dispiace che cerchi deze fout sorry
        sidan sida kunde tyvärr siden side denne beklager fejl sivua sivu virhe strona strony nie ta podana błąd stránka
        tato chyba oldal az hiba aceasta eroare страница страницу эта ошибка запрашиваемая к сожалению сторінку сторінка
        помилка σελίδα η σφάλμα sayfa hata aradığınız halaman trang lỗi الصفحة صفحة صفحه خطأ عذرا הדף העמוד שגיאה
        """
    )
)
OTHER_STATEMENTS = _phrases(
    """
    wurde nicht gefunden / konnte nicht gefunden werden / konnten nicht gefunden werden /
    konnte leider nicht gefunden werden / existiert nicht / existiert leider nicht / nicht mehr verfügbar /
    ist nicht verfügbar / nicht finden / n'existe pas / n'existe plus / n'a pas été trouvée /
    n'a pas pu être trouvée / est introuvable / pas trouvé / pas pu trouver / que vous cherchez /
    que vous recherchez / que vous avez demandée / no existe / no se ha encontrado / no se encontró /
    no se pudo encontrar / no pudimos encontrar / no hemos podido encontrar / que buscas / que está buscando /
    que estás buscando / não existe / não foi encontrada / não foi possível encontrar /
    não conseguimos encontrar / que você está procurando / que procura / non esiste / non è stata trovata /
    che stai cercando / che cerchi / che hai cercato / bestaat niet / niet gevonden / niet vinden / je zoekt /
    u zoekt / finns inte / kunde inte hittas / hittades inte / findes ikke / blev ikke fundet / finnes ikke /
    ble ikke funnet / ei löydy / ei löytynyt / nie istnieje / nie została znaleziona /
    nie została odnaleziona / której szukasz / neexistuje / nebyla nalezena / nem található / nem létezik /
    nu există / nu a fost găsită / не существует / не найдена / была удалена / не удалось найти / не існує /
    не знайдено / не съществува / δεν υπάρχει / δεν βρέθηκε / bulunamadı / mevcut değil / aradığınız sayfa /
    tidak ditemukan / tidak ada / không tồn tại / không tìm thấy / غير موجودة / لم يتم العثور /
    التي تبحث عنها / وجود ندارد / לא נמצא / לא קיים
    """
)
# Scripts that write no spaces, or endings without one: anywhere in a line; a headline has nothing else but nouns.
_MISSING = """
    見つかりませんでした / 見つかりません / 存在しません / 存在しない / 找不到 / 未找到 / 不存在 / 没有找到 /
    沒有找到 /    無法找到 / 찾을 수 없습니다 / 찾을 수 없음 / 찾을 수 없 /
    존재하지 않습니다 / 존재하지 않 / ไม่พบ / नहीं मिला / পাওয়া যায়নি
"""
_NOUNS = """
    ページ / お探し / お探しの / 指定された / ファイル / この / この は / が / は / 页面 / 頁面 / 网页 / 網頁 /
    您 / 你 / 所 / 要 / 访问 / 的 / 请求 / 请求的 / 該 / 该 / 此 / 了 / 抱歉 / 错误 / 錯誤 / エラー /
    페이지 / 를 / 가 / 요청하신 / 오류 / 죄송합니다 / หน้า / เว็บ / นี้ / ที่ /
    पृष्ठ / পেজটি / পৃষ্ঠা / খুঁজে / 404 / error / not found
"""
UNSPACED = _phrases(_MISSING, whole_words=False)
UNSPACED_MESSAGE = re.compile(rf"(?:(?:{UNSPACED.pattern}|{_phrases(_NOUNS, whole_words=False).pattern}) ?)+")

# Wikis head such a page with the title asked for: what it says first tells.
LEADS = _phrases(
    """
    there is currently no text in this page / wikipedia does not have an article with this exact name /
    this topic does not exist yet / you've followed a link to a topic that doesn't exist yet /
    this page does not exist yet / this page does not exist. you can / the page does not exist. you can /
    diese seite enthält momentan noch keinen text / dieses thema existiert noch nicht /
    il n'y a pour l'instant aucun texte sur cette page / cette page n'existe pas encore /
    actualmente no hay texto en esta página / questa pagina al momento è vuota /
    в настоящее время на этой странице нет текста / oops! that page doesn't exist or is private
    """
)

# Pages about not being found: they explain, advise or list. Any of these words and nothing is decided against a page.
ABOUT = re.compile(
    r"\b(?:(?:status|response|statut|estado|stato) codes?|statuscodes?|client errors?|soft 404|errordocument"
    r"|exceptions?|(?:custom\w*|default|your own|friendly) (?:404|error|not found)|how to|tutorial"
    r"|troubleshoot\w*|webmasters?"
    r"|(?:error|code|message|404|response|status) (?:means|indicates|occurs|happens|appears|is shown|is an?|are)"
    r"|(?:when|if|why|whenever) (?:you|users?|visitors?|someone|clients?|customers?|an? \w+|do i|am i|i|your \w+)"
    r" (?:sees?|gets?|receives?|encounters?|visits?|requests?|clicks?|opens?|shares?|deletes?)"
    r"|(?:40[0135-9]|41\d|42\d|50\d) (?:bad|unauthor\w+|forbidden|method|conflict|internal|gateway|service|too many)"
    r"|returns|returned|return (?:an?|404)|raises?|raised|throws?|thrown|bedeutet|signifie|significa|означает)\b"
)
NEEDS_SCRIPT = re.compile(
    r"\b(?:(?:enable|activate|turn on|allow|without|requires?|needs?|aktivieren sie|activ\w+|habilit\w+)"
    r" (?:\w+ ){0,2}(?:javascript|java script|js)|(?:javascript|java script) (?:\w+ ){0,4}"
    r"(?:required|disabled|enabled|needed|aktivieren|aktiviert|deaktiviert))\b"
)
