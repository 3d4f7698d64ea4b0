"""Pack the blog of the Great Tables project as a frozen site: source archive -> WARC of HTTP responses under real URLs.

    pip download --no-deps --no-binary :all: great-tables==1.1.0
    python -m evals.sites.build_great_tables great_tables-1.1.0.tar.gz evals/sites/great-tables-1.1.warc.gz

The archive holds posts, user guide and examples as Markdown, most with the outputs of their code. They become HTML
pages under the project's menu, without style sheets and scripts of outputs and without pictures that lie in the text.

Deterministic: the same archive gives the same file. Needs the dev requirements (warcio).
"""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote import footnote_plugin

from evals.sites.packing import run_command, write_warc

BASE = "https://posit-dev.github.io/great-tables/"
_FETCHED = datetime(2026, 10, 31, tzinfo=UTC)
_MENU = {"Home": "", "User Guide": "user-guide/", "Examples": "examples/", "Blog": "blog/"}


def pack(package: Path, target: Path) -> int:
    """Write `target` from the source archive and return the number of responses."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
        files = []
        for number, (path, page) in enumerate(list(_pages(next(Path(folder).iterdir())))):
            file = Path(folder) / f"{number}.html"
            file.write_text(page, encoding="utf-8")
            files.append((BASE + path, file))
        write_warc(target, files, _FETCHED)
    return len(files)


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    """(Path on the site, HTML) of all pages: start page, guide, examples, posts from the newest to the oldest."""
    yield "", _page("Great Tables", _body(root / "index.qmd", root / "_freeze/index"))
    yield "examples/", _page("Examples", _body(root / "examples/index.qmd", root / "_freeze/examples/index"))
    guide = {f"user-guide/{path.stem[3:]}": path for path in sorted((root / "user_guide").glob("*.qmd"))}
    links = "".join(f'<li><a href="{BASE}{to}.html">{_title(path)}</a></li>' for to, path in guide.items())
    yield "user-guide/", _page("User Guide", f"<h1>User Guide</h1><ol>{links}</ol>")
    for to, path in guide.items():
        body = f"<h1>{_title(path)}</h1>{_body(path, root / '_freeze' / to)}"
        yield f"{to}.html", _page(_title(path), body, f"<aside><nav><ul>{links}</ul></nav></aside>")
    rows = "<tr><th>Date</th><th>Title</th><th>Author</th></tr>"
    posts = [*(root / "blog").glob("*/index.qmd"), root / "blog/introduction_great_tables.qmd"]
    for path in sorted(posts, key=lambda post: (_field(post, "date"), post), reverse=True):
        source = path.relative_to(root).with_suffix("")
        to = f"{source.parent}/" if source.name == "index" else f"{source}.html"
        title, author, date = _title(path), _field(path, "author"), _field(path, "date")
        rows += f'<tr><td>{date}</td><td><a href="{BASE}{to}">{title}</a></td><td>{author}</td></tr>'
        head = f"<header><h1>{title}</h1><p>Author: {author}</p><p>Published: {date}</p></header>"
        yield to, _page(title, head + _body(path, root / "_freeze" / source))
    yield "blog/", _page("Great Blogposts", f"<h1>Great Blogposts</h1><table>{rows}</table>")


def _page(title: str, body: str, side: str = "") -> str:
    menu = "".join(f'<li><a href="{BASE}{path}">{name}</a></li>' for name, path in _MENU.items())
    plain = re.sub("<.*?>", "", title)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{plain} – Great Tables'
        f"</title></head>\n<body><header><nav><ul>{menu}</ul></nav></header>\n{side}<main>{body}</main>\n"
        "<footer><p>Great Tables is developed by Posit Software, PBC.</p></footer></body></html>\n"
    )


def _field(path: Path, name: str) -> str:
    """A field of the front matter; empty when it is absent."""
    match = re.search(rf"^{name}: *['\"]?(.*?)['\"]?$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


def _title(path: Path) -> str:
    return str(MarkdownIt().renderInline(_field(path, "title")))


def _body(path: Path, frozen: Path) -> str:
    """HTML of a Markdown file, with the outputs of its code where the archive holds them."""
    results = frozen / "execute-results/html.json"
    text = path.read_text(encoding="utf-8")
    if results.is_file():
        text = json.loads(results.read_text(encoding="utf-8"))["result"]["markdown"]
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^:{3,} *\{.*title=\"(.*?)\".*$", r"\n**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^:{3,}.*$|(?<=\S) ?\{(?:[.#]|\w+=)[^}\n]*\}$", "", text, flags=re.MULTILINE)
    text = text.replace("</summary>\n", "</summary>\n\n")
    text = re.sub(r"`~~[\w.]*?(\w+(?:\(\))?)`", r"`\1`", text)
    text = re.sub(r"\]\(`great_tables\.([\w.]+)`\)", rf"]({BASE}reference/\1.html)", text)
    text = re.sub(r"\{\{< video (\S+) >\}\}", r"<\1>", text)
    markdown = MarkdownIt("commonmark", {"html": True, "typographer": True})
    markdown.enable(["table", "strikethrough", "replacements"]).use(footnote_plugin)
    markdown.add_render_rule("fence", _fence)
    return str(markdown.render(text))


def _fence(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: EnvType) -> str:
    """A fenced block: HTML of an output as it is, everything else as code."""
    token = tokens[index]
    if token.info == "{=html}":
        bare = re.sub(r"<(style|script).*?</\1>", "", token.content, flags=re.DOTALL)
        return re.sub(r"data:image/[^\"')]+", "", bare)
    language = re.sub(r"^\{?\.?|[ }].*$", "", token.info)
    return f'<pre><code class="language-{language}">{escape(token.content)}</code></pre>\n'


if __name__ == "__main__":
    run_command(__doc__, pack)
