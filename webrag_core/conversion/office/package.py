"""The zip file of an office file, read within limits: what it claims is checked before anything is unpacked."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from html import escape
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from webrag_core.acquisition.office_types import OLE
from webrag_core.errors import FetchError, Reason

MAX_FILES = 10_000
MAX_PART_BYTES = 24_000_000
"""Of one part that is read, unpacked: its tree takes ten times as much."""
MAX_READ_BYTES = 64_000_000
"""Of all parts that are read."""
MAX_RATIO = 250
"""Unpacked to packed, for parts above a megabyte. Sheets of equal numbers reach 100."""

_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DECLARES = re.compile(rb"<!(?:DOCTYPE|ENTITY)|<\x00!\x00[DE]\x00|\x00<\x00!\x00[DE]")
_RELATIONSHIPS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_DC, _TERMS = "{http://purl.org/dc/elements/1.1/}", "{http://purl.org/dc/terms/}"


def password_refusal() -> FetchError:
    """The error for a file that only a password opens."""
    return FetchError(Reason.UNSUPPORTED_TYPE, "the file is protected by a password")


def damaged(what: str) -> FetchError:
    """The error for a file that is not what it says."""
    return FetchError(Reason.PARSE_FAILURE, f"the file is damaged: {what}")


class Package:
    """Parts of a zip file by name."""

    def __init__(self, body: bytes) -> None:
        """Raises FetchError: PARSE_FAILURE for what is no sound zip file, UNSUPPORTED_TYPE for a password or a file of
        an older program, TOO_LARGE for too many parts.
        """
        if body.startswith(OLE):
            if _ENCRYPTED in body:
                raise password_refusal()
            raise FetchError(Reason.UNSUPPORTED_TYPE, "the file is in the format of an older office program")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise damaged("it is no zip file") from error
        members = self._zip.infolist()
        if len(members) > MAX_FILES:
            raise FetchError(Reason.TOO_LARGE, f"the file has more than {MAX_FILES} parts")
        self._members = {member.filename: member for member in members}
        if len(self._members) < len(members):
            raise damaged("it holds a part twice")
        self._room = MAX_READ_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self, pattern: str) -> list[str]:
        """Names of the parts that match as a whole, in the order of the zip file."""
        return [name for name in self._members if re.fullmatch(pattern, name)]

    def size(self, name: str) -> int:
        """Bytes of a part as it claims."""
        return self._members[name].file_size

    def read(self, name: str) -> bytes:
        """A part. Raises FetchError: PARSE_FAILURE where it is missing or damaged, TOO_LARGE, UNSUPPORTED_TYPE."""
        member = self._members.get(name)
        if member is None:
            raise damaged(f"it has no {name[:80]}")
        if member.flag_bits & 1:
            raise password_refusal()
        claimed = member.file_size
        if claimed > MAX_PART_BYTES or claimed > self._room:
            raise FetchError(Reason.TOO_LARGE, f"the file unpacks to more than {MAX_PART_BYTES} bytes a part")
        if claimed > 1_000_000 and claimed > MAX_RATIO * member.compress_size:
            raise FetchError(Reason.TOO_LARGE, "the file unpacks to a multiple of its size that no document has")
        self._room -= claimed
        try:
            return self._zip.read(member)  # no more than it claims; else the checksum does not fit
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError) as error:
            raise damaged(f"{name[:80]} cannot be unpacked") from error

    def xml(self, name: str) -> Element:
        """A part that is XML without declarations of entities, which these formats forbid. Raises FetchError."""
        return parse_xml(self.read(name))

    def checked(self, pattern: str, limit: int) -> None:
        """Read all parts that match, for a reader that takes the file as a whole. Raises FetchError: TOO_LARGE for more
        than `limit` bytes in one, and as `xml`.
        """
        for name in self.names(pattern):
            if self.size(name) > limit:
                raise FetchError(Reason.TOO_LARGE, f"{name[:80]} has more than {limit} bytes")
            refuse_declarations(self.read(name))

    def targets(self, name: str) -> dict[str, str]:
        """Targets of the relationships of part `name` (OOXML) by id: names of parts, or addresses where external."""
        folder, file = posixpath.split(name)
        path = posixpath.join(folder, "_rels", f"{file}.rels")
        if path not in self:
            return {}
        targets = {}
        for each in self.xml(path).iter(f"{_RELATIONSHIPS}Relationship"):
            target = each.get("Target") or ""
            if each.get("TargetMode") != "External":
                target = resolved(folder, target)
            targets[each.get("Id") or ""] = target
        return targets

    def core_properties(self) -> dict[str, str]:
        """Title, description, language, created and modified of an OOXML file."""
        if "docProps/core.xml" not in self:
            return {}
        return dublin_core(self.xml("docProps/core.xml"))


def dublin_core(root: Element) -> dict[str, str]:
    """Title, description, language, created and modified by their elements."""
    names = {
        f"{_DC}title": "title",
        f"{_DC}description": "description",
        f"{_DC}language": "language",
        f"{_DC}date": "created",
        f"{_TERMS}created": "created",
        f"{_TERMS}modified": "modified",
    }
    results: dict[str, str] = {}
    for element in root.iter():
        name = names.get(element.tag) if isinstance(element.tag, str) else None
        if name is not None and (text := (element.text or "").strip()):
            results.setdefault(name, text)
    return results


def refuse_declarations(xml: bytes) -> None:
    """Raise PARSE_FAILURE for XML that declares a type or entities."""
    if _DECLARES.search(xml):
        raise damaged("it declares entities")


def parse_xml(xml: bytes, *, declarations: bool = False) -> Element:
    """Parse XML; entities are never resolved. Raises FetchError(PARSE_FAILURE), for declarations too unless allowed."""
    if not declarations:
        refuse_declarations(xml)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(xml, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise damaged("its XML cannot be read") from error


def resolved(folder: str, target: str) -> str:
    """Name of the part that a reference from `folder` leads to."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path))


def html_page(content: str, properties: dict[str, str], title: str | None = None) -> bytes:
    """A page of `content` whose head states the properties."""
    metas = {"description": "description", "dcterms.created": "created", "dcterms.modified": "modified"}
    head = "".join(
        f'<meta name="{name}" content="{escape(properties[key])}">' for name, key in metas.items() if key in properties
    )
    title = properties.get("title") or title
    language = f' lang="{escape(properties["language"])}"' if "language" in properties else ""
    named = f"<title>{escape(title)}</title>" if title else ""
    return f"<html{language}><head>{named}{head}</head><body><main>{content}</main></body></html>".encode(
        "utf-8", "replace"
    )


def table_html(rows: Iterator[list[str]] | list[list[str]]) -> str:
    """A table whose first row is its head. Cells are HTML."""
    lines = []
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        lines.append("<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>")
    return f"<table>{''.join(lines)}</table>" if lines else ""
