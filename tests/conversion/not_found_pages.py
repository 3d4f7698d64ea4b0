"""Pages in the shape that servers, generators and content systems give them when there is no such page.

Written after the real markup, shortened; each is answered with status 200.
"""

from __future__ import annotations

NAVIGATION = '<nav><a href="/">Home</a><a href="/docs/">Docs</a><a href="/blog/">Blog</a></nav>'
LATEST = "".join(
    f'<tr><td><a href="/t/topic-{n}/{n}">How do I configure part {n} of it?</a></td></tr>' for n in range(30)
)


def html(title: str, body: str, *, lang: str = "en", head: str = "") -> str:
    return f'<!doctype html><html lang="{lang}"><head><title>{title}</title>{head}</head><body>{body}</body></html>'


MISSING = {
    "nginx": html("404 Not Found", "<center><h1>404 Not Found</h1></center><hr><center>nginx/1.25.3</center>"),
    "apache": html(
        "404 Not Found",
        "<h1>Not Found</h1><p>The requested URL /docs/old.html was not found on this server.</p><hr>"
        "<address>Apache/2.4.57 (Debian) Server at example.org Port 443</address>",
    ),
    "iis": html(
        "404 - File or directory not found.",
        '<div id="header"><h1>Server Error</h1></div><div id="content"><div class="content-container"><fieldset>'
        "<h2>404 - File or directory not found.</h2><h3>The resource you are looking for might have been removed, had"
        " its name changed, or is temporarily unavailable.</h3></fieldset></div></div>",
    ),
    "tomcat": html(
        "HTTP Status 404 – Not Found",
        '<h1>HTTP Status 404 – Not Found</h1><hr class="line"><p><b>Type</b> Status Report</p><p><b>Message</b> The'
        " requested resource [&#47;x] is not available</p><p><b>Description</b> The origin server did not find a"
        " current"
        " representation for the target resource or is not willing to disclose that one exists.</p><hr>"
        "<h3>Apache Tomcat/9.0.71</h3>",
    ),
    "express": html("Error", "<pre>Cannot GET /docs/old</pre>"),
    "python http.server": html(
        "Error response",
        "<h1>Error response</h1><p>Error code: 404</p><p>Message: File not found.</p>"
        "<p>Error code explanation: 404 - Nothing matches the given URI.</p>",
    ),
    "werkzeug": html(
        "404 Not Found",
        "<h1>Not Found</h1><p>The requested URL was not found on the server. If you entered the URL manually please"
        " check your spelling and try again.</p>",
    ),
    "rails": html(
        "The page you were looking for doesn't exist (404)",
        '<div class="dialog"><div><h1>The page you were looking for doesn\'t exist.</h1><p>You may have mistyped the'
        " address or the page may have moved.</p></div><p>If you are the application owner check the logs for more"
        " information.</p></div>",
    ),
    "django": html("Page not found", "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"),
    "github pages": html(
        "Page not found · GitHub Pages",
        '<div class="container"><h1>404</h1><p><strong>File not found</strong></p><p>The site configured at this'
        " address does not contain the requested file.</p><p>If this is your site, make sure that the filename case"
        " matches the URL as well as any file permissions.<br>For root URLs (like <code>http://example.com/</code>) you"
        " must provide an <code>index.html</code> file.</p><p><a href='https://help.github.com/pages/'>Read the full"
        " documentation</a> for more information about <strong>GitHub Pages</strong>.</p></div>",
    ),
    "gitlab": html(
        "Not Found",
        '<h1>404: Page not found</h1><div class="container"><p>Make sure the address is correct and the page has not'
        " moved. Please contact your GitLab administrator if you think this is a mistake.</p></div>",
    ),
    "read the docs": html(
        "Page not found - demo 2.1 documentation",
        f'{NAVIGATION}<div role="main" class="document"><h1>Page not found</h1><p>Unfortunately we couldn\'t find the'
        " content you were looking for.</p><p>Thanks for trying.</p></div>",
    ),
    "docusaurus": html(
        "Page Not Found | My Site",
        f'{NAVIGATION}<main class="container margin-vert--xl"><div class="row"><div class="col col--6 col--offset-3">'
        '<h1 class="hero__title">Page Not Found</h1><p>We could not find what you were looking for.</p><p>Please'
        " contact"
        " the owner of the site that linked you to the original URL and let them know their link is broken.</p></div>"
        "</div></main><footer>Copyright</footer>",
    ),
    "docusaurus pt": html(
        "Página não encontrada | Docs",
        "<main><h1>Página não encontrada</h1><p>Não foi possível encontrar o que você está procurando.</p><p>Entre em"
        " contato com o proprietário do site que lhe trouxe para cá e lhe informe que o link está quebrado.</p></main>",
        lang="pt",
    ),
    "mkdocs": html(
        "My Docs",
        f'{NAVIGATION}<div class="col-md-12" role="main"><h1 id="404-page-not-found" style="text-align:'
        f' center">404</h1>'
        '<p style="text-align: center"><strong>Page not found</strong></p></div>',
    ),
    "mkdocs material": html(
        "My Docs", '<main><article class="md-content__inner"><h1>404 - Not found</h1></article></main>'
    ),
    "mdbook": html(
        "Page not found - The Book",
        f'{NAVIGATION}<div id="content"><main><h1 id="document-not-found-404"><a class="header"'
        f' href="#document">Document not'
        " found (404)</a></h1><p>This URL is invalid, sorry. Please use the navigation bar or search to"
        " continue.</p></main></div>",
    ),
    "rust": html(
        "Not Found",
        "<h1>Not Found</h1><p>Looks like you’ve taken a wrong turn.</p><p>Some things that might be helpful"
        " to you though:"
        "</p><h1>Search</h1><h1>Reference</h1><ul><li><a href='/reference/'>The Rust reference</a></li></ul>",
    ),
    "hugo": html("404 Page not found", '<main><h1 id="title"><a href="/">Go Home</a></h1></main>'),
    "next.js": html(
        "404: This page could not be found.",
        '<div id="__next"><h1 class="next-error-h1">404</h1><div><h2>This page could not be found.</h2></div></div>',
    ),
    "netlify": html(
        "Page not found",
        "<div class='main'><h1>Page not found</h1><p>Looks like you’ve followed a broken link or entered a URL that"
        ' doesn’t exist on this site.</p><p><a href="/">Back to our site</a></p></div>',
    ),
    "firebase": html(
        "Page Not Found",
        '<div id="message"><h2>404</h2><h1>Page Not Found</h1><p>The specified file was not found on this website.'
        " Please check the URL for mistakes and try again.</p><h3>Why am I seeing this?</h3><p>This page was"
        " generated by"
        " the Firebase Command-Line Interface.</p></div>",
    ),
    "wordpress": html(
        "Page not found – My Blog",
        '<main id="main"><section class="error-404 not-found"><header class="page-header"><h1'
        ' class="page-title">Oops! That'
        " page can&rsquo;t be found.</h1></header><div class='page-content'><p>It looks like nothing was found at this"
        " location. Maybe try one of the links below or a search?</p><h2>Recent Posts</h2><ul><li><a href='/a'>A"
        " long story"
        " about many things</a></li><li><a href='/b'>Another one</a></li></ul></div></section></main>",
    ),
    "a way back in words": html(
        "404",
        "<main><h1>404</h1><h2>page not found</h2><p>Something went wrong or that page doesn’t exist yet. Return to the"
        " home page.</p></main>",
    ),
    "drupal": html(
        "Page not found | Example",
        "<main><h1>Page not found</h1><div>The requested page could not be found.</div></main>",
    ),
    "mediawiki": html(
        "Nonsense - Wiki",
        '<h1 id="firstHeading">Nonsense</h1><div id="mw-content-text"><div class="noarticletext'
        ' mw-content-ltr"><p>There is'
        ' currently no text in this page. You can <a href="/s">search for this page title</a> in other pages, <span><a'
        ' href="/l">search the related logs</a>, but you do not have permission to create this'
        " page</span>.</p></div></div>",
        head='<meta name="generator" content="MediaWiki 1.39.3">',
    ),
    "dokuwiki": html(
        "old:page [Wiki]",
        "<h1>This topic does not exist yet</h1><p>You've followed a link to a topic that doesn't exist yet. If"
        " permissions"
        " allow, you may create it by clicking on <strong>Create this page</strong>.</p>",
    ),
    "confluence": html(
        "Page Not Found - Confluence",
        '<div id="content"><h1 id="title-text">Page Not Found</h1><p>The page you were trying to reach could not be'
        " found."
        " It may have been deleted, or you may not have permission to view it.</p></div>",
    ),
    "discourse": html(
        "Page Not Found - Community",
        '<div class="page-not-found"><h1 class="title">Oops! That page doesn’t exist or is private.</h1>'
        f"<h2>Popular</h2><table>{LATEST}</table></div>",
    ),
    "german": html(
        "Seite nicht gefunden – Beispiel GmbH",
        "<main><h1>404 – Seite nicht gefunden</h1><p>Die von Ihnen gesuchte Seite existiert leider nicht oder wurde"
        ' verschoben.</p><p><a href="/">Zur Startseite</a></p></main>',
        lang="de",
    ),
    "french": html(
        "Page introuvable - Exemple",
        "<main><h1>Page introuvable</h1><p>Désolé, la page que vous recherchez n’existe pas ou a été"
        " déplacée.</p></main>",
        lang="fr",
    ),
    "spanish": html(
        "Página no encontrada",
        "<main><h1>404</h1><h2>Página no encontrada</h2><p>Lo sentimos, la página que estás buscando no existe o ha"
        " sido"
        " movida.</p></main>",
        lang="es",
    ),
    "russian": html(
        "Страница не найдена | Пример",
        "<main><h1>Страница не найдена</h1><p>Запрашиваемая страница не существует или была удалена.</p></main>",
        lang="ru",
    ),
    "chinese": html(
        "页面未找到 - 示例", "<main><h1>404</h1><p>抱歉，您访问的页面不存在。</p><p>返回首页</p></main>", lang="zh"
    ),
    "japanese": html(
        "ページが見つかりません",
        "<main><h1>ページが見つかりません</h1><p>お探しのページは存在しないか、移動した可能性があります。</p></main>",
        lang="ja",
    ),
    "korean": html(
        "페이지를 찾을 수 없습니다",
        "<main><h1>404</h1><h2>페이지를 찾을 수 없습니다</h2><p>요청하신 페이지가 존재하지 않습니다.</p></main>",
        lang="ko",
    ),
}
