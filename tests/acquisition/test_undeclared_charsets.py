"""Pages that declare no charset, or a wrong one: read by their letters, hints and language, or with a warning."""

from __future__ import annotations

import pytest

from tests.acquisition.undeclared_texts import TEXTS, WRITTEN, with_letters
from webrag_core.acquisition.charset import charset_warning, codec_of, decode_page, page_encoding
from webrag_core.acquisition.undeclared.hints import misspelt_label, page_language

ENCODINGS = sorted({charset for _, charset in WRITTEN})


def page(text: str, charset: str, *, head: str = "", language: str = "") -> bytes:
    opening = f'<html lang="{language}">' if language else "<html>"
    return f"<!DOCTYPE html>{opening}<head>{head}</head><body><p>{text}</p></body></html>".encode(charset)


@pytest.mark.parametrize(
    ("letters", "stated"), [(60, True), (60, False), (200, False), (800, False)], ids=["60-lang", "60", "200", "800"]
)
def test_sixty_letters_are_enough(letters: int, stated: bool) -> None:
    for language, charset in WRITTEN:
        text = with_letters(language, letters)
        body = page(text, charset, language=language if stated else "")
        assert text in decode_page(body, None), (language, charset)


@pytest.mark.slow
@pytest.mark.parametrize("stated", [True, False], ids=["lang", "no-lang"])
@pytest.mark.parametrize(("language", "charset"), WRITTEN)
def test_twenty_letters_are_right_or_warned_of(language: str, charset: str, stated: bool) -> None:
    text = with_letters(language, 20)
    body = page(text, charset, language=language if stated else "")
    assert text in decode_page(body, None) or charset_warning(body, None) is not None


def test_the_matrix_is_wide() -> None:
    assert len(ENCODINGS) >= 17
    assert len({language for language, _ in WRITTEN}) >= 20


@pytest.mark.parametrize(
    "head",
    [
        '<meta httpequiv="ContentType" content="text/html; charset={}">',
        '<meta name="content-type" content="text/html;charset={}">',
        "<meta content='charset={}' property=type>",
        '<META HTTP-EQUIV="Content_Type" CONTENT="text/html; CHARSET = {}">',
    ],
)
@pytest.mark.parametrize(
    ("label", "charset", "text"),
    [
        ("gbk", "gbk", "阀门打开"),
        ("big5", "big5", "閥門打開"),
        ("shift_jis", "shift_jis", "弁を開く"),
        ("windows-1250", "cp1250", "łąka"),
        ("iso-8859-2", "iso8859_2", "žluťák"),
        ("windows-1254", "cp1254", "ağaç şişe"),
    ],
)
def test_a_declaration_that_browsers_do_not_read_decides_for_a_few_letters(
    head: str, label: str, charset: str, text: str
) -> None:
    body = page(text, charset, head=head.format(label))
    assert text in decode_page(body, None)


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *(("GB-2312", "gb18030"), ("gbk2312", "gb18030"), ("gb_18030-2000", "gb18030"), ("GB 2312", "gb18030")),
        *(("big5-eten", "big5"), ("eucjp", "euc-jp"), ("Shift-JIS", "shift_jis"), ("win-1251", "windows-1251")),
        *(("cp-1250", "windows-1250"), ("ISO_8859_2", "iso-8859-2"), ("iso-8859&#8211;1", "windows-1252")),
        *(("KOI8", "koi8-r"), ("utf8mb4", "utf-8"), ("ks_c_5601", "euc-kr"), ("nonsense", None), ("", None)),
    ],
)
def test_names_that_are_meant(written: str, label: str | None) -> None:
    assert codec_of(misspelt_label(f'<meta charset="{written}">'.encode(), None)) == codec_of(label)
    assert codec_of(misspelt_label(b"", written)) == codec_of(label)


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"<html lang=pl>", "pl"),
        (b"<HTML class=x xml:lang='zh-Hant-TW'>", "zh-Hant-TW"),
        (b"<html><body lang='cs'>", "cs"),
        (b"<meta http-equiv=Content-Language content='tr'>", "tr"),
        (b"<html hreflang=de><p lang=fr>", None),
        (b"<html lang=''>", None),
    ],
)
def test_language_of_a_page(head: bytes, language: str | None) -> None:
    assert page_language(head) == language


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "us-ascii", "cp1251"])
def test_valid_utf_8_beats_a_one_byte_name_of_the_header(declared: str) -> None:
    assert "Größe" in decode_page(page("Größe der Straße", "utf-8"), declared)


@pytest.mark.parametrize("declared", ["iso-8859-1", "utf-8"])
@pytest.mark.parametrize(
    ("language", "charset"),
    [*(("ru", "cp1251"), ("ru", "koi8_r"), ("el", "cp1253"), ("he", "cp1255"), ("ja", "shift_jis"), ("zh", "gbk"))],
)
def test_a_server_s_default_that_cannot_be_right_is_left_aside(declared: str, language: str, charset: str) -> None:
    text = with_letters(language, 120)
    assert text in decode_page(page(text, charset), declared)


@pytest.mark.parametrize(
    "text",
    [
        "¿Cuánto cuesta? 12 £ · ½ l ± 3 % × 2, 5 µm, «así» – §§ 3 ¶ 4",
        "Ærø, Übung, NAÏVE, ÉCOLE, ÅNGSTRÖM, Þingvellir, garçon, œuvre",
        "| ¡ | ¢ | £ | ¤ | ¥ | § | ¨ | © | ª | « | ¬ | ® | ¯ | ° | ± |",
    ],
)
def test_a_right_declaration_stays_whatever_the_letters(text: str) -> None:
    for body, declared in (
        (page(text, "cp1252"), "iso-8859-1"),
        (page(text, "cp1252", head="<meta charset=latin1>"), None),
    ):
        assert page_encoding(body, declared) == "cp1252"
        assert charset_warning(body, declared) is None


@pytest.mark.parametrize(("label", "charset"), [("gb2312", "shift_jis"), ("euc-jp", "cp1251"), ("euc-kr", "utf-8")])
def test_an_east_asian_page_that_names_a_wrong_charset_is_warned_of(label: str, charset: str) -> None:
    body = page(with_letters("ru" if charset == "cp1251" else "ja", 120), charset, head=f"<meta charset={label}>")
    assert charset_warning(body, None) is not None


def test_what_is_like_no_text_is_warned_of() -> None:
    noise = "".join(chr(0xA1 + (at * 37) % 90) + (" " if at % 6 == 0 else "") for at in range(90))
    warning = charset_warning(page(noise, "latin-1"), None)
    assert warning is not None
    assert "letters may be wrong" in warning
    assert charset_warning(page(TEXTS["de"], "utf-8"), None) is None


@pytest.mark.parametrize(
    "body",
    [
        "<script>é".encode("latin-1") * 4_000,
        "<meta charset= é".encode("latin-1") * 4_000,
        "<html lang é".encode("latin-1") * 4_000,
        "content-language é".encode("latin-1") * 4_000,
        "é ".encode("latin-1") * 40_000,
        "é".encode("latin-1") * 80_000,
        b"<p>\xff&" * 10_000,
    ],
    ids=lambda body: body[:9].decode("latin-1"),
)
def test_a_page_built_to_stop_the_reading_is_read(body: bytes) -> None:
    assert decode_page(body, None)
    charset_warning(body, None)
