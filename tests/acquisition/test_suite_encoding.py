"""html5lib-tests/encoding: every page is read in the encoding that a browser reads it in, without an HTTP header."""

from __future__ import annotations

import codecs

import pytest

from tests.suites import encoding_cases
from webrag_core.acquisition.charset import codec_of, decode_page, page_encoding

CASES = encoding_cases()


def test_encoding_and_text_are_the_suites() -> None:
    assert len(CASES) == 82
    for case in CASES:
        expected = codec_of(case.label)
        assert expected is not None, case.name
        assert page_encoding(case.body, None) == expected, case.name
        assert decode_page(case.body, None) == case.body.decode(expected, "replace").removeprefix("\ufeff"), case.name


LATE = b"<!--" + b"x" * 2_000 + b"-->"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        # no case of the suite, but of the standard
        (b"<meta charset=x-user-defined>", "cp1252"),
        (b"<meta charset=utf-16 charset=iso-8859-2>", "utf-8"),
        (b"<meta http-equiv=content-type content='charset charset=koi8-r;'>", "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r' http-equiv=CONTENT-TYPE charset=windows-1251>", "cp1251"),
        (b"<meta/charset=koi8-r>", "koi8-r"),
        (b"</meta charset=koi8-r><meta charset=windows-1251>", "cp1251"),
        (b"<!--><meta charset=koi8-r>-->", "koi8-r"),
        (b"<!-- <meta charset=koi8-r>", "cp1252"),
        (b"<?php <meta charset=koi8-r> ?><meta charset=windows-1251>", "cp1251"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1251>", "cp1251"),
        # beyond 1,024 bytes a browser's parser finds <meta>, and the text of a script holds none
        (LATE + b"<meta charset=koi8-r>", "koi8-r"),
        (LATE + b"<script>'<meta charset=koi8-r>'</script><meta charset=windows-1251>", "cp1251"),
        (LATE + b"<title>about <meta charset=koi8-r></title>", "cp1252"),
        (b" " * 70_000 + b"<meta charset=koi8-r>", "cp1252"),
        # Asian pages keep their word: their bytes may be valid UTF-8 by chance
        (b"<meta charset=gb2312>" + "模块".encode("gbk"), "gb18030"),
        (b"<meta charset=euc-jp>" + "é".encode(), "euc_jis_2004"),
        # ours: what is valid UTF-8 is never text in a one-byte encoding
        (b"<meta charset=iso-8859-1>" + "é".encode(), "utf-8"),
        (b"<?xml version='1.0' encoding='iso-8859-1'?>" + "é".encode(), "utf-8"),
        (b"<meta charset=iso-8859-1>" + "é".encode("latin-1"), "cp1252"),
        ("é".encode(), "utf-8"),
        ("é".encode("latin-1"), "cp1252"),
    ],
)
def test_what_a_page_says_of_itself(body: bytes, encoding: str) -> None:
    assert page_encoding(body, None) == encoding


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        (" ISO-8859-1\n", "cp1252"),
        ("us-ascii", "cp1252"),
        ("latin5", "cp1254"),
        ("TIS-620", "cp874"),
        ("gb_2312-80", "gb18030"),
        ("x-sjis", "cp932"),
        ("windows-31j", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("x-x-big5", "big5hkscs"),
        ("unicode", "utf-16-le"),
        ('iso8859-2"', None),
        ("utf 8", None),
        ("text/html", None),
        ("base64", None),
        ("utf-7", None),
        ("hz-gb-2312", None),
        ("é", None),
        ("", None),
        (None, None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str | None, codec: str | None) -> None:
    assert codec_of(label) == codec
    assert codec is None or codecs.lookup(codec).name == codec


@pytest.mark.parametrize(
    ("label", "text"),
    [("gb2312", "镕囍"), ("shift_jis", "①㈱髙"), ("euc-jp", "①№日本"), ("euc-kr", "똠뷁"), ("big5", "嘅咗")],
)
def test_the_larger_code_page_reads_what_the_named_one_lacks(label: str, text: str) -> None:
    codec = codec_of(label)
    assert codec is not None
    assert decode_page(f"<meta charset={label}>".encode() + text.encode(codec), None).endswith(text)
    assert not text.encode(codec).decode(label, "replace").endswith(text)


@pytest.mark.parametrize(
    "body",
    [
        b"<meta " * 20_000,
        b"<" * 70_000,
        b'<meta a="' * 10_000,
        b"<!--" * 20_000,
        b"<script>" * 20_000,
        b"<?xml" + b" encoding " * 7_000,
        b"<meta http-equiv=content-type content='" + b"charset " * 9_000 + b"'>",
    ],
    ids=lambda body: body[:9].decode(),
)
def test_a_page_built_to_stop_the_scan_names_nothing(body: bytes) -> None:
    assert page_encoding(body, None) == "cp1252"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Город решил обновить мост через реку, и жителей спросят об этом заранее."),
        ("koi8_r", "Город решил обновить мост через реку, и жителей спросят об этом заранее."),
        ("cp1253", "Η πόλη αποφάσισε να ανακαινίσει τη γέφυρα πάνω από το ποτάμι του χωριού."),
        ("shift_jis", "市は川にかかる橋を新しくすることを決め、住民に意見を聞くことにしました。"),
        ("euc_kr", "시는 강을 건너는 다리를 새로 짓기로 하고 주민들의 의견을 듣기로 했습니다."),
        ("gb18030", "城市决定更新河上的桥梁，并将事先征求居民的意见，施工将于明年开始。"),
        ("cp1252", "Die Stadt möchte die Brücke über den Fluß erneuern, für die Bürger gewiß schön."),
        ("cp1252", "La ciudad decidió renovar el puente sobre el río, según dijo el señor alcalde."),
    ],
)
def test_a_page_that_declares_nothing_is_read_by_its_letters(encoding: str, text: str) -> None:
    body = f"<html><body><script>var a = 1;</script><p>{text}</p></body></html>".encode(encoding)
    assert text in decode_page(body, None)
