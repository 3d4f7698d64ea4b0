"""Listings as highlighters and code viewers write them, with and without numbers: mark-up by name.

Each takes (number of the line, code of the line, escaped) pairs, and gives the HTML of the listing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

Lines = Sequence[tuple[str, str]]


def lines_of(code: str, start: int = 1, width: int = 0) -> Lines:
    """(number, escaped line) of code; numbers filled up with zeros to `width`."""
    return [(f"{start + place:0{width}}", escape(line)) for place, line in enumerate(code.split("\n"))]


def _each(lines: Lines, pattern: str, joint: str = "\n") -> str:
    return joint.join(pattern.format(n=number, c=line) for number, line in lines)


def _column(lines: Lines, number: str, joint: str = "\n") -> str:
    return joint.join(number.format(n=each) for each, _ in lines)


def _code(lines: Lines) -> str:
    return "\n".join(line for _, line in lines)


MARKUPS: dict[str, Callable[[Lines], str]] = {
    "hugo inline": lambda x: (
        '<div class=highlight><pre class=chroma><code class="language-sh">'
        + _each(x, "<span class=line><span class=ln>{n}</span><span class=cl>{c}\n</span></span>", "")
        + "</code></pre></div>"
    ),
    "hugo inline styles": lambda x: (
        "<div class=highlight><pre tabindex=0 style='color:#272822'><code class=language-sh data-lang=sh>"
        + _each(
            x,
            "<span style='display:flex'><span style='white-space:pre;user-select:none;color:#7f7f7f'>{n}</span>"
            "<span>{c}\n</span></span>",
            "",
        )
        + "</code></pre></div>"
    ),
    "hugo table": lambda x: (
        "<div class=chroma><table class=lntable><tr><td class=lntd><pre class=chroma><code>"
        + _column(x, "<span class=lnt>{n}\n</span>", "")
        + "</code></pre></td><td class=lntd><pre class=chroma><code class=language-sh>"
        + f"{_code(x)}\n</code></pre></td></tr>"
        "</table></div>"
    ),
    "react-syntax-highlighter": lambda x: (
        "<pre style='display:block'><code class='language-sh' style='white-space:pre'>"
        + _each(
            x,
            "<span class='linenumber react-syntax-highlighter-line-number' style='min-width:2em'>{n}</span>"
            "<span>{c}</span>",
        )
        + "</code></pre>"
    ),
    "react-syntax-highlighter column": lambda x: (
        "<pre><code style='float:left'>"
        + _column(x, "<span>{n}\n</span>", "")
        + f"</code><code class=language-sh>{_code(x)}</code></pre>"
    ),
    "javadoc": lambda x: (
        "<pre>" + _each(x, "<span class=source-line-no>{n}</span><span id='line-{n}'>{c}</span>") + "\n</pre>"
    ),
    "old javadoc": lambda x: (
        "<div class=sourceContainer><pre>"
        + _each(x, "<span class=sourceLineNo>{n}</span>{c}<a id=line.{n}></a>")
        + "</pre></div>"
    ),
    "cgit": lambda x: (
        "<table class=blob><tr><td class=linenumbers><pre>"
        + _column(x, "<a id=n{n} href=#n{n}>{n}</a>")
        + f"\n</pre></td><td class=lines><pre><code>{_code(x)}\n</code></pre></td></tr></table>"
    ),
    "github blob": lambda x: (
        "<table class='highlight tab-size js-file-line-container'>"
        + _each(
            x,
            "<tr><td id=L{n} class='blob-num js-line-number' data-line-number={n}></td>"
            "<td id=LC{n} class='blob-code blob-code-inner js-file-line'>{c}\n</td></tr>",
            "",
        )
        + "</table>"
    ),
    "pygments table": lambda x: (
        "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>"
        + _column(x, "<span class=normal>{n}</span>")
        + f"</pre></div></td><td class=code><div class=highlight><pre>{_code(x)}\n</pre></div></td></tr></table>"
    ),
    "pygments inline": lambda x: (
        "<div class=highlight><pre>" + _each(x, "<span class=linenos>{n} </span>{c}") + "\n</pre></div>"
    ),
    "highlightjs-line-numbers": lambda x: (
        "<pre><code class='hljs language-sh'><table class=hljs-ln><tbody>"
        + _each(
            x,
            "<tr><td class='hljs-ln-line hljs-ln-numbers' data-line-number={n}><div class=hljs-ln-n>{n}</div></td>"
            "<td class='hljs-ln-line hljs-ln-code' data-line-number={n}>{c}</td></tr>",
            "",
        )
        + "</tbody></table></code></pre>"
    ),
    "rouge": lambda x: (
        "<div class=highlight><pre class=highlight><code><table class=rouge-table><tbody><tr><td class='gutter gl'>"
        f"<pre class=lineno>{_column(x, '{n}')}\n</pre></td><td class=code><pre>{_code(x)}\n</pre></td></tr></tbody>"
        "</table></code></pre></div>"
    ),
    "doxygen": lambda x: (
        "<div class=fragment>"
        + _each(x, "<div class=line><a id=l0{n} name=l0{n}></a><span class=lineno>    {n}</span>&#160;{c}</div>\n", "")
        + "<div class=ttc id=x><div class=ttname><a href=x.html>open_dev</a></div><div class=ttdef>file.h:3</div></div>"
        "</div>"
    ),
    "anchors": lambda x: (
        "<pre class=source>" + _each(x, "<a class=line-number name={n} href=#{n}>{n}</a>{c}") + "</pre>"
    ),
    "codemirror 5": lambda x: (
        "<div class=CodeMirror-code role=presentation>"
        + _each(
            x,
            "<div style='position: relative'><div class=CodeMirror-gutter-wrapper><div class='CodeMirror-linenumber "
            "CodeMirror-gutter-elt'>{n}</div></div><pre class=' CodeMirror-line '><span>{c}</span></pre>"
            "</div>",
            "",
        )
        + "</div>"
    ),
    "codemirror 6": lambda x: (
        "<div class=cm-scroller><div class='cm-gutters'><div class='cm-gutter cm-lineNumbers'>"
        "<div class=cm-gutterElement style='height:0;visibility:hidden'>99</div>"
        + _column(x, "<div class=cm-gutterElement>{n}</div>", "")
        + "</div></div><div class=cm-content>"
        + _each(x, "<div class=cm-line>{c}</div>", "")
        + "</div></div>"
    ),
    "trac": lambda x: (
        "<table class=code><thead><tr><th class=lineno title='Line numbers'>Line</th><th class=content>&nbsp;</th></tr>"
        "</thead><tbody>"
        + _each(x, "<tr><th id=L{n}><a href=#L{n}>{n}</a></th><td>{c}</td></tr>", "")
        + "</tbody></table>"
    ),
    "gitiles": lambda x: (
        "<table class=FileContents>"
        + _each(
            x,
            "<tr class='u-pre u-monospace FileContents-line'><td class='u-lineNum u-noSelect FileContents-lineNum' "
            "data-line-number={n}></td><td class=FileContents-lineContents id={n}><span class=kwd>{c}</span></td></tr>",
            "",
        )
        + "</table>"
    ),
    "gitlab": lambda x: (
        "<div class='file-content code'><div class=line-numbers>"
        + _column(x, "<a class='diff-line-num' data-line-number={n} href=#L{n} id=L{n}>{n}</a>")
        + "</div><div class=blob-content><pre class='code highlight'><code>"
        + _each(x, "<span id=LC{n} class=line lang=sh>{c}</span>")
        + "</code></pre></div></div>"
    ),
    "lxr": lambda x: "<pre class=filecontent>" + _each(x, "<a class=fline name=L{n} href=#L{n}>{n}</a> {c}") + "</pre>",
    "gitea": lambda x: (
        "<table class='code-view'><tbody>"
        + _each(
            x,
            "<tr><td class=lines-num><span id=L{n} data-line-number={n}></span></td>"
            "<td class='lines-code chroma'><code class=code-inner>{c}</code></td></tr>",
            "",
        )
        + "</tbody></table>"
    ),
    "syntaxhighlighter": lambda x: (
        "<div class='syntaxhighlighter sh'><table><tbody><tr><td class=gutter>"
        + _column(x, "<div class='line number{n} index0 alt2'>{n}</div>", "")
        + "</td><td class=code><div class=container>"
        + _each(x, "<div class='line number{n} index0 alt2'><code class='sh plain'>{c}</code></div>", "")
        + "</div></td></tr></tbody></table></div>"
    ),
    "hexo": lambda x: (
        "<figure class='highlight sh'><table><tr><td class=gutter><pre>"
        + _column(x, "<span class=line>{n}</span><br>", "")
        + "</pre></td><td class=code><pre>"
        + _each(x, "<span class=line>{c}</span><br>", "")
        + "</pre></td></tr></table></figure>"
    ),
    "vitepress": lambda x: (
        "<div class='language-sh line-numbers-mode'><pre><code>"
        + _each(x, "<span class=line>{c}</span>")
        + "</code></pre><div class=line-numbers-wrapper>"
        + _column(x, "<span class=line-number>{n}</span><br>", "")
        + "</div></div>"
    ),
    "rustdoc": lambda x: (
        "<div class=example-wrap><div class=line-numbers-box><pre class=src-line-numbers>"
        + _column(x, "<a href=#{n} id={n}>{n}</a>")
        + f"</pre></div><pre class=rust><code>{_code(x)}</code></pre></div>"
    ),
    "expressive code": lambda x: (
        "<div class=expressive-code><pre data-language=sh><code>"
        + _each(
            x, "<div class=ec-line><div class=gutter><div class=ln>{n}</div></div><div class=code>{c}</div></div>", ""
        )
        + "</code></pre></div>"
    ),
    "gitbook": lambda x: (
        "<pre><code>"
        + _each(
            x,
            "<span class=highlight-line><span class=highlight-line-number>{n}</span>"
            "<span class=highlight-line-content>{c}</span></span>",
            "",
        )
        + "</code></pre>"
    ),
    "org": lambda x: "<pre class='src src-sh'>" + _each(x, "<span class=linenr>{n}: </span>{c}") + "\n</pre>",
    "vim": lambda x: "<pre id=vimCodeElement>\n" + _each(x, "<span id=L{n} class=LineNr>{n} </span>{c}") + "\n</pre>",
    "own names": lambda x: "<pre class=a>" + _each(x, "<i class=b>{n}</i><span class=c>{c}</span>") + "</pre>",
    "own names column": lambda x: (
        f"<div class=a><div class=b>{_column(x, '<p>{n}</p>', '')}</div><div class=c><pre>{_code(x)}</pre></div></div>"
    ),
}

UNNUMBERED: dict[str, Callable[[Lines], str]] = {
    "doxygen": lambda x: "<div class=fragment>" + _each(x, "<div class=line>{c}</div>", "") + "</div><!-- fragment -->",
    "react": lambda x: "<div><code class='language-sh'>" + _each(x, "<div>{c}</div>", "") + "</code></div>",
    "prism-react-renderer": lambda x: (
        "<pre class='prism-code language-sh'>"
        + _each(x, "<div class=token-line><span class='token plain'>{c}</span></div>", "")
        + "</pre>"
    ),
    "lines without ends": lambda x: "<pre><code>" + _each(x, "<span class=line>{c}</span>", "") + "</code></pre>",
    "breaks": lambda x: "<p><code>" + _each(x, "{c}", "<br>\n").replace("  ", "&nbsp; ") + "</code></p>",
    "style of the box": lambda x: f"<div style='font: 12px monospace; white-space: pre'>{_code(x)}</div>",
    "editor": lambda x: (
        "<div style=\"font-family:Consolas,'Courier New',monospace;white-space:pre;\">"
        + _each(x, "<div><span style='color:#c586c0'>{c}</span></div>", "")
        + "</div>"
    ),
    "code with a language": lambda x: f"<div class=box><code class='language-sh'>{_code(x)}</code></div>",
    "lines of a grid": lambda x: (
        "<pre><code>" + _each(x, "<span class=highlight-line><span>{c}</span></span>", "") + "</code></pre>"
    ),
    "docusaurus module": lambda x: "<div>" + _each(x, "<div class=codeLine_lJS_>{c}</div>", "") + "</div>",
}
