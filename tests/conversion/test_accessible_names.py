"""Icons, labels for screen readers, addresses in links: what a page says without words in its text."""

from __future__ import annotations

import pytest

from webrag_core.conversion.html import convert_html


def markdown(html: str) -> str:
    return convert_html(html.encode(), url="https://example.org/plans.html").markdown


def page(body: str) -> str:
    return markdown(f"<main><h1>Plans</h1><p>Take the plan that has what you need.</p>{body}</main>")


ICONS = (
    "<svg role=img aria-label=WORD><path d='M0 0'/></svg>",
    "<svg><title>WORD</title><path d='M0 0'/></svg>",
    "<svg aria-hidden=true><title>WORD</title></svg>",
    "<i class='fa fa-check' title=WORD></i>",
    "<span class=icon aria-label=WORD></span>",
    "<span class=sr-only>WORD</span><svg></svg>",
    "<span class='visually-hidden'>WORD</span>",
    "<span class='icon' aria-hidden=true>&#10003;</span><span class='screen-reader-text'>WORD</span>",
    "<i aria-hidden=true class='fa fa-check'></i><span class='fa-sr-only sr-only'>WORD</span>",
    "<span role=img aria-label=WORD><svg aria-hidden=true><path d='M0 0'/></svg></span>",
    "<div><div><span title=WORD class=dot></span></div></div>",
    "<mat-icon aria-label=WORD></mat-icon>",
    "<img src=/c.svg alt=WORD>",
    "<a href=/why aria-label=WORD><svg></svg></a>",
)


@pytest.mark.parametrize("icon", ICONS)
@pytest.mark.parametrize("word", ["Yes", "Included", "Nein"])
def test_a_cell_with_an_icon_says_its_name(icon: str, word: str) -> None:
    text = page(f"<table><tr><th>Feature<th>Free<tr><td>Audit log<td>{icon.replace('WORD', word)}</table>")
    row = next(line for line in text.splitlines() if "Audit log" in line)
    assert row.replace(f"[{word}](https://example.org/why)", word) == f"| Audit log | {word} |"


@pytest.mark.parametrize("icon", ICONS[:11])
def test_items_and_definitions_with_an_icon_say_its_name(icon: str) -> None:
    icon = icon.replace("WORD", "Yes")
    assert "- Yes" in page(f"<ul><li>{icon}</li><li>No</li></ul>")
    assert "Audit log\n:   Yes" in page(f"<dl><dt>Audit log</dt><dd>{icon}</dd></dl>")
    assert "Yes" in page(f"<div role=table><div role=row><div role=cell>{icon}</div></div></div>")


@pytest.mark.parametrize("mark", ["✓", "✗", "✔️", "❌", "—"])
def test_marks_stay(mark: str) -> None:
    row = "<table><tr><th>Feature<th>Free<tr><td>Audit log<td>{}</table>"
    assert f"| Audit log | {mark} |" in page(row.format(mark))
    assert f"| Audit log | {mark} |" in page(row.format(f"<span aria-hidden=true>{mark}</span>"))


def test_an_empty_cell_with_a_name_says_it() -> None:
    cells = "<td aria-label=Included></td><td title=No></td><td title=Tip>5 users</td>"
    assert "| Included | No | 5 users |" in page(f"<table><tr><th>A<th>B<th>C<tr>{cells}</table>")


def test_an_icon_beside_words_adds_nothing() -> None:
    cells = "<td><svg aria-label=Yes></svg> 5 users<td><i title=Info></i><span>daily</span><td><button title=Help>"
    assert "| Audit log | 5 users | daily |  |" in page(
        f"<table><tr><th>F<th>Free<th>Team<th>All<tr><td>Audit log{cells}</table>"
    )


def test_an_icon_that_denies_its_words_stands_before_them() -> None:
    items = "<li><svg aria-label=Included></svg>10 users</li><li><svg aria-label='Not included'></svg>Audit log</li>"
    assert "- 10 users\n- Not included: Audit log" in page(f"<ul>{items}</ul>")


@pytest.mark.parametrize(
    ("icon", "mark"),
    [
        ("<i class='fa fa-check text-success'></i>", "✓"),
        ("<i class='bi bi-x-lg'></i>", "✗"),
        ("<span class='glyphicon glyphicon-remove'></span>", "✗"),
        ("<svg class='icon icon-check'><use href='#c'/></svg>", "✓"),
        ("<svg><use href='/sprite.svg#icon-cross'></use></svg>", "✗"),
        ("<i class='fas fa-times'></i>", "✗"),
        ("<i class='fa fa-download'></i>", ""),
    ],
)
def test_an_icon_without_a_name_is_the_mark_of_its_class(icon: str, mark: str) -> None:
    text = page(f"<table><tr><th>Feature<th>Free<tr><td>Audit log<td>{icon}</table>")
    assert f"| Audit log | {mark} |" in text


def test_a_drawing_in_a_line_is_its_name() -> None:
    rating = "<span role=img aria-label='4 out of 5 stars'><svg></svg></span>"
    assert "Rated 4 out of 5 stars by users." in page(f"<p>Rated {rating} by users.</p>")
    grid = "<div><div>Audit log</div><div><svg role=img aria-label=Included></svg></div></div>"
    assert "Audit log\n\nIncluded" in page(grid)
    assert "icon" not in page("<p>See <a href=/x>the list<svg role=img aria-label='external link icon'></svg></a>.</p>")


def test_pictures_stay_pictures() -> None:
    text = page("<table><tr><th>Hill<th>View<tr><td>Elm Hill<td><img src=/elm.jpg alt='The hill from below'></table>")
    assert "| Elm Hill | ![The hill from below](https://example.org/elm.jpg) |" in text


LABELS = {
    "<aside aria-label=Caution><p class=t aria-hidden=true>Caution</p><div><p>TEXT</p></div></aside>": "Caution",
    "<p class=alert><span class=sr-only>Warning:</span> TEXT</p>": "Warning:",
    "<div class=alert role=alert><svg aria-hidden=true></svg><span"
    " class='visually-hidden'>Danger</span><p>TEXT</p></div>":
        "Danger",
    "<div role=note aria-label=Hinweis><p>TEXT</p></div>": "Hinweis",
    "<aside class=note aria-label=Remarque><svg></svg><p>TEXT</p></aside>": "Remarque",
    "<div class=admonition><p class=admonition-title>Note</p><p>TEXT</p></div>": "Note",
    "<blockquote><p><span class='sr-only'>Important: </span>TEXT</p></blockquote>": "Important:",
    "<p><span class=sr-only>Sale price:</span> <b>TEXT</b></p>": "Sale price:",
}  # fmt: skip


@pytest.mark.parametrize("html", LABELS)
def test_the_label_of_a_notice_stands_before_its_text(html: str) -> None:
    words = "It deletes all data."
    text = page(html.replace("TEXT", words))
    assert LABELS[html] in text[text.index("need.") : text.index(words)]
    assert text.count(LABELS[html]) == 1


@pytest.mark.parametrize(
    "html",
    [
        "<p><span class=sr-only>OUT</span> Two users.</p>",
        "<a href='/x'>Next<span class=sr-only>OUT (opens in a new window)</span></a>",
        "<p>Two users.<span class=visually-hidden>OUT:</span></p>",
        "<p><span class=sr-only>OUT and then do what this long line says you should do:</span> Two users.</p>",
        "<aside aria-label='OUT'><p>Two users.</p></aside>",
        "<td><span class=sr-only>OUT:</span> Two users.</td>",
        "<button><span class=sr-only>OUT</span></button>",
    ],
)
def test_other_text_for_screen_readers_stays_out(html: str) -> None:
    assert "OUT" not in page(f"<table><tr><th>a<tr>{html}</table>" if html.startswith("<td") else html)


CONTACTS = {
    "<p>Write to <a href='mailto:help@gizmo.example'>our team</a>.</p>": "Write to our team (help@gizmo.example).",
    "<p>Call <a href='tel:+4930123456'>the hotline</a>.</p>": "Call the hotline (+4930123456).",
    "<p><a href='mailto:help@gizmo.example?subject=Hi'>Help@gizmo.example</a></p>": "\n\nHelp@gizmo.example\n",
    "<p><a href='tel:+4930123456'>030 / 12 34 56</a></p>": "\n\n030 / 12 34 56\n",
    "<p><a href='tel:+49-30-1234'>+49 (0)30 1234</a></p>": "\n\n+49 (0)30 1234\n",
    "<p><a href='tel:030-123456'><b>Call</b> us</a></p>": "**Call** us (030-123456)",
    "<p><a href='MAILTO:lee%40lab.example'><i>Dr. Lee</i></a></p>": "*Dr. Lee* (lee@lab.example)",
    "<h3>Dr. Lee</h3><a href='mailto:lee@lab.example' aria-label='Email Dr. Lee'><i class=fa></i></a>":
        "Email Dr. Lee (lee@lab.example)",
    "<ul><li><a href='mailto:lee@lab.example'><svg></svg></a></li></ul>": "- lee@lab.example",
    "<p><a href='mailto:l@lab.example'><i></i></a><a href='tel:555'><span class=sr-only>Phone</span></a></p>":
        "l@lab.example Phone (555)",
    "<p>Mail: <a href='mailto:l@lab.example'><img src='/m.png' alt='Mail us'></a></p>": "(l@lab.example)",
    "<p><a href='tel:112' title='Emergency'><img src='/t.svg' alt=''></a></p>": "Emergency (112)",
    "<p><a href='/cdn-cgi/l/email-protection' class=__cf_email__ data-cfemail='432c2d26032f2221'>[email]</a></p>":
        "one@lab",
    "<table><tr><th>Name<th>Mail<tr><td>Lee<td><a href='mailto:lee@lab.example'>mail</a></table>":
        "| Lee | mail (lee@lab.example) |",
}  # fmt: skip


@pytest.mark.parametrize("html", CONTACTS)
def test_addresses_of_mail_and_telephone_links_are_text(html: str) -> None:
    assert CONTACTS[html] in page(html)


def test_links_that_share_by_mail_have_no_address() -> None:
    assert "Share (" not in page("<p><a href='mailto:?subject=Plans&body=https://x'>Share</a> this page with them.</p>")


LABELLED_CODE = {
    "VitePress": "<div class=language-js><button title='Copy Code' class=copy></button><span"
    " class=lang>js</span>PRE</div>",
    "chat": "<div class=block><div class=head><span>js</span><button>Copy code</button></div>PRE</div>",
    "words": "<div class=code-toolbar>PRE<div class=toolbar><div"
    " class=toolbar-item><span>Copy</span></div></div></div>",
    "Docusaurus": "<div class='language-js codeBlock'><div class=content>PRE<div"
    " class=b><button>Kopieren</button></div></div>",
}


@pytest.mark.parametrize("kind", LABELLED_CODE)
def test_labels_of_code_that_name_its_language_or_an_action_go(kind: str) -> None:
    html = LABELLED_CODE[kind].replace("PRE", "<pre><code class=language-js>let x = 1</code></pre>")
    assert page(html).endswith("need.\n\n```js\nlet x = 1\n```\n")


def test_the_name_of_a_file_above_code_stays() -> None:
    html = "<div class=codeBlock><div class=title>app.js</div><pre><code class=language-js>let x = 1</code></pre></div>"
    assert "app.js\n\n```js" in page(html)


@pytest.mark.parametrize("media", ["video", "audio"])
def test_what_stands_in_for_media_goes(media: str) -> None:
    html = f"<{media} controls><source src=v.mp4>OUT <p>OUT</p><track src=t.vtt>OUT <a href=v.mp4>OUT</a></{media}>"
    assert "OUT" not in page(f"{html}<p>Two users.</p>")
