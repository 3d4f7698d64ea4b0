"""Pages that are taken for missing ones too easily: those about missing pages, empty shells.

Like `not_found_pages`, all are answered with status 200.
"""

from __future__ import annotations

from tests.conversion.not_found_pages import html

STEPS = "<p>Open the settings, choose the page that you made, and save. It is shown from then on.</p>"

REAL = {
    "reference of one status": html(
        "404 Not Found - HTTP | Web docs",
        "<main><h1>404 Not Found</h1><p>The HTTP <strong>404 Not Found</strong> client error response status code"
        " indicates"
        " that the server cannot find the requested resource. Links that lead to a 404 page are often called broken"
        " or dead"
        " links.</p></main>",
    ),
    "short entry of an API reference": html(
        "404 Not Found | Example API",
        "<main><h1>404 Not Found</h1><p>The server found nothing under that identifier. Ask the list endpoint for the"
        " identifiers of your account.</p></main>",
    ),
    "entry with an example": html(
        "Not found",
        '<main><h1>Not found</h1><p>The requested page was not found.</p><pre>{"status": 404}</pre></main>',
    ),
    "list of messages": html(
        "Not found and other errors",
        "<main><h1>Errors</h1><h2>403 Forbidden</h2><p>You may not see it.</p><h2>404 Not Found</h2><p>The page you"
        " requested does not exist.</p></main>",
    ),
    "custom error page": html(
        "Page not found",
        f"<main><h1>Page not found</h1><p>A custom 404 page tells visitors that the page they are looking for does not"
        f" exist.</p>{STEPS}</main>",
    ),
    "how to": html(
        "How to make a 404 page",
        f"<main><h1>How to make a 404 page</h1><p>“This page could not be found”.</p>{STEPS}</main>",
    ),
    "question and answer": html(
        "Page not found",
        "<main><h1>Page not found</h1><p>When you see this message, the page you are looking for has been removed"
        " by its"
        " author. Ask them for a copy, or restore it from the trash within 30 days.</p></main>",
    ),
    "quoted message": html(
        "Not found | Help",
        "<main><h1>Not found</h1><p>The message “The page you requested could not be found” comes from the gateway"
        " of your"
        " company. The desk can look up the rule that keeps you out.</p></main>",
    ),
    "exception": html(
        "Not found",
        "<main><h1>Not found</h1><p>Raised for a page that was not found in the store of this site.</p></main>",
    ),
    "dated post": html(
        "Page not found",
        "<main><h1>Page not found</h1><p>Sorry, the page you are looking for does not exist. So said every link on"
        " my old"
        " site, for years, and I let it.</p></main>",
        head='<meta property="article:published_time" content="2024-05-06T07:08:09Z">',
    ),
    "year": html(
        "404 - Encyclopedia", "<main><h1>404</h1><p>Year 404 was a leap year of the Julian calendar.</p></main>"
    ),
    "car": html("Peugeot 404", "<main><h1>Peugeot 404</h1><p>A large family car made from 1960 to 1975.</p></main>"),
    "statement as a title": html(
        "Dios no existe",
        "<main><h1>Dios no existe</h1><p>Un libro que no existe en español todavía.</p></main>",
        lang="es",
    ),
    "chinese advice": html(
        "文件不存在的处理方法",
        "<main><h1>文件不存在的处理方法</h1><p>如果文件不存在，请先建立目录，然后重新运行程序。</p></main>",
    ),
    "no message in the headline": html(
        "Release notes",
        "<main><h1>Release notes</h1><p>Fixed: the page you requested was not found after a move.</p></main>",
    ),
    "guide to scripts": html(
        "How to enable JavaScript",
        "<main><h1>How to enable JavaScript</h1><p>Open the settings of the browser.</p></main>",
    ),
}

SHELLS = {
    "react": html("App", '<div id="root">You need to enable JavaScript to run this app.</div>'),
    "vue": html("Docs", "<strong>We're sorry but docs doesn't work properly without JavaScript enabled.</strong>"),
    "notice": html("App", "<p>JavaScript is required to view this site.</p><p>Loading…</p>"),
}
