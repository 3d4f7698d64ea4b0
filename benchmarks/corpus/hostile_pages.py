"""Bodies of pages that want to hurt whoever reads them: HTML, Markdown, PDF and compressed ones, made in pieces."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

_MB = 1_000_000
_WORDS = b"plain words that a patient reader could read, one after another. "


def repeated(piece: bytes, size: int) -> Iterator[bytes]:
    """About `size` bytes made of `piece`, in pieces of about 64 KB."""
    block = piece * max(1, 65_536 // len(piece))
    for _ in range(size // len(block)):
        yield block
    yield piece * (size % len(block) // len(piece))


def html(start: bytes, piece: bytes, size: int, end: bytes = b"") -> Iterator[bytes]:
    """A page with three words, `start`, `size` bytes of `piece`, and `end`."""
    yield b"<!doctype html><title>Hostile</title><body><main><p>Three plain words.</p>" + start
    yield from repeated(piece, size)
    yield end


def markdown(start: bytes, piece: bytes, size: int, end: bytes = b"") -> Iterator[bytes]:
    """A Markdown page with three words, `start`, `size` bytes of `piece`, and `end`."""
    yield b"Three plain words.\n\n" + start
    yield from repeated(piece, size)
    yield end


def numbered(start: bytes, pattern: bytes, count: int, end: bytes = b"") -> Iterator[bytes]:
    """A page with `pattern` `count` times, its %d (one or more) the number of the turn."""
    yield b"<!doctype html><title>Hostile</title><body><main><p>Three plain words.</p>" + start
    holes = pattern.count(b"%d")
    for first in range(0, count, 1_000):
        yield b"".join(pattern % ((n,) * holes) for n in range(first, min(first + 1_000, count)))
    yield end


def gzip_bomb(size: int, layers: int = 1) -> Iterator[bytes]:
    """`size` zeros, compressed `layers` times."""
    packers = [zlib.compressobj(9, wbits=31) for _ in range(layers)]
    for _ in range(size // _MB):
        piece = bytes(_MB)
        for packer in packers:
            piece = packer.compress(piece)
        yield piece
    rest = b""
    for packer in packers:
        rest = packer.compress(rest) + packer.flush()
    yield rest


def distinct_words(size: int) -> Iterator[bytes]:
    """Plain text of words that all differ: what makes an index grow most."""
    for first in range(0, size // 9, 5_000):
        # multiplied by a large odd number, so that neighbours share no beginning
        yield b"".join(b"%s " % (b"%08x" % (n * 2_654_435_761 % 2**32)).translate(_LETTERS) for n in _turn(first))


_LETTERS = bytes.maketrans(b"0123456789", b"ghijklmnop")


def _turn(first: int) -> range:
    return range(first, first + 5_000)


def wide_table(rows: int, columns: int) -> Iterator[bytes]:
    """An HTML table of `rows` x `columns` cells."""
    yield b"<!doctype html><body><main><p>Three plain words.</p><table>"
    for row in range(rows):
        yield b"<tr>" + b"".join(b"<td>%d" % (row + column) for column in range(columns))


def tall_wide_table(columns: int, rows: int) -> Iterator[bytes]:
    """An HTML table of one wide row above many narrow ones."""
    yield b"<!doctype html><body><main><p>Three plain words.</p><table><tr>" + b"<td>x" * columns
    yield from repeated(b"<tr><td>x", 9 * rows)


def tall_markdown_table(columns: int, rows: int) -> Iterator[bytes]:
    """A Markdown table with many more columns in its head than cells in its rows."""
    yield b"Three plain words.\n\n" + b"|a" * columns + b"|\n" + b"|-" * columns + b"|\n"
    yield from repeated(b"|x|\n", 4 * rows)


def full_markdown_table(columns: int, rows: int) -> Iterator[bytes]:
    """A Markdown table of `columns` x `rows` filled cells."""
    yield b"Three plain words.\n\n" + b"|a" * columns + b"|\n" + b"|-" * columns + b"|\n"
    for _ in range(rows):
        yield b"|x" * columns + b"|\n"


def pdf(objects: list[bytes], trailer: bytes = b"") -> Iterator[bytes]:
    """A PDF of numbered `objects`, the first one its catalog; `trailer` goes into the trailer's dictionary."""
    out = bytearray(b"%PDF-1.5\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = trailer.replace(b"@TABLE", b"%d" % table)
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, table)
    yield bytes(out)


_CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
_PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>%s>>>>"


def stream(data: bytes, filters: bytes = b"", extra: bytes = b"") -> bytes:
    """A PDF stream object."""
    return b"<</Length %d%s%s>>\nstream\n%s\nendstream" % (len(data), filters, extra, data)


def pdf_page(content: bytes, *more: bytes, resources: bytes = b"", trailer: bytes = b"") -> Iterator[bytes]:
    """A PDF of one page whose content is the stream object `content`; `more` objects are numbered from 6."""
    pages = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    return pdf([_CATALOG, pages, _PAGE % resources, content, _FONT, *more], trailer)


def pdf_many_pages(count: int) -> Iterator[bytes]:
    """A PDF that shows one page `count` times."""
    pages = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b"3 0 R " * count, count)
    return pdf([_CATALOG, pages, _PAGE % b"", stream(_text(_WORDS)), _FONT])


def pdf_stream_bomb() -> Iterator[bytes]:
    """A page whose content is half a gigabyte of blanks, compressed twice."""
    packed = b"".join(gzip_bomb_zlib(500))
    return pdf_page(stream(zlib.compress(packed, 9), b"/Filter[/FlateDecode/FlateDecode]"))


def pdf_flate_bomb() -> Iterator[bytes]:
    """A page whose content is half a gigabyte of blanks, compressed once."""
    return pdf_page(stream(b"".join(gzip_bomb_zlib(500)), b"/Filter/FlateDecode"))


def gzip_bomb_zlib(megabytes: int) -> Iterator[bytes]:
    """Blanks in zlib's own framing."""
    packer = zlib.compressobj(1)
    for _ in range(megabytes):
        yield packer.compress(b" " * _MB)
    yield packer.flush()


def pdf_form_bomb() -> Iterator[bytes]:
    """Forms that draw each other ten times, twelve levels deep."""
    forms = []
    for level in range(12):
        inner = b"/N Do " * 10 if level < 11 else _text(_WORDS)
        resources = b"/Resources<</XObject<</N %d 0 R>>/Font<</F 5 0 R>>>>" % (7 + level)
        forms.append(stream(inner, extra=b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]" + resources))
    return pdf_page(stream(b"/N Do"), *forms, resources=b"/XObject<</N 6 0 R>>")


def pdf_form_loop() -> Iterator[bytes]:
    """Two forms that draw each other, and themselves, a thousand times."""
    resources = b"/Resources<</XObject<</A 6 0 R/B 7 0 R>>/Font<</F 5 0 R>>>>"
    form = stream(_text(_WORDS) + b" /A Do /B Do" * 500, extra=b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + resources)
    return pdf_page(stream(b"/A Do /B Do"), form, form, resources=b"/XObject<</A 6 0 R/B 7 0 R>>")


def pdf_long_text(size: int) -> Iterator[bytes]:
    """One page with `size` characters on it."""
    lines = size // len(_WORDS)
    text = b"BT /F 1 Tf 1 TL 10 790 Td " + b"(%s) Tj T* " % _WORDS * lines + b"ET"
    return pdf_page(stream(zlib.compress(text, 9), b"/Filter/FlateDecode"))


def pdf_tree_loop() -> Iterator[bytes]:
    """Page tree nodes that hold themselves."""
    return pdf([_CATALOG, b"<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 1000000>>", b"<</Type/Pages/Kids[2 0 R]>>"])


def _text(words: bytes) -> bytes:
    return b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % words


def office_file(piece: bytes, size: int, head: bytes = b"") -> Iterator[bytes]:
    """A Word document whose text is `piece` again and again, up to `size` bytes."""
    space = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    content = b'%b<w:document xmlns:w="%b"><w:body>%b</w:body></w:document>'
    yield _zipped({"word/document.xml": content % (head, space, piece * (size // len(piece)))})


def office_entities() -> Iterator[bytes]:
    """A Word document whose entities grow tenfold at each of ten levels."""
    levels = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(10))
    return office_file(b"&e10;", 5, f'<!DOCTYPE x [<!ENTITY e0 "word">{levels}]>'.encode())


def office_parts(count: int) -> Iterator[bytes]:
    """A Word document of many parts."""
    yield _zipped({"word/document.xml": b"", **{f"word/{n}.xml": b"" for n in range(count)}})


def _zipped(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return target.getvalue()
