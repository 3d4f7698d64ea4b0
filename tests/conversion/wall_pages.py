"""Walls and notices in the shape that services, servers and content systems give them, written after the real ones and
shortened. Each is (reason, status, headers, body)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.conversion.not_found_pages import html


@dataclass(frozen=True, slots=True)
class WallPage:
    """An answer that is no page."""

    reason: str
    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "text/html"


def wall(title: str, body: str, status: int = 200, *, lang: str = "en", head: str = "", **headers: str) -> WallPage:
    """A wall; names of headers with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WallPage("wall", html(title, body, lang=lang, head=head), status, named)


def notice(title: str, body: str, status: int = 200, *, lang: str = "en", head: str = "") -> WallPage:
    """A notice."""
    return WallPage("notice", html(title, body, lang=lang, head=head), status)


WALLS = {
    "anubis": wall(
        "Making sure you&#39;re not a bot!",
        "<main><h1>Making sure you&#39;re not a bot!</h1><p id=status>Loading...</p><details><summary>Why am I seeing"
        " this?</summary><p>You are seeing this because the administrator of this website has set up Anubis to protect"
        " the server against companies that scrape websites aggressively. This can and does cause downtime for the"
        " websites, which makes their resources inaccessible for everyone.</p><p>Please note that it requires modern"
        " JavaScript features that plugins like JShelter will disable. Please disable such plugins for this"
        " domain.</p>"
        "</details></main>",
        head='<link rel="stylesheet" href="/.within.website/x/xess/xess.min.css">'
        '<script id="anubis_challenge" type="application/json">{"rules":{"difficulty":4}}</script>',
    ),
    "cloudflare challenge": wall(
        "Just a moment...",
        '<noscript><div class="h2"><span id="challenge-error-text">Enable JavaScript and cookies to'
        " continue</span></div>"
        "</noscript><script>(function(){window._cf_chl_opt = {cvId: '3', cZone: 'example.org'};})();</script>",
    ),
    "back soon": notice(
        "We will be back soon",
        "<h1>We will be back soon</h1><p>Our site is having a rest while we do some work behind the scenes."
        " Please come"
        " back in an hour or two; everything will be where you left it. Thank you for your patience, the team.</p>",
    ),
    "log-in": wall(
        "Log in",
        '<h1>Log in</h1><form method="post"><label>User name <input name="u"></label><label>Password <input'
        ' type="password" name="p"></label><button>Log in</button></form><p><a href="/forgot">Forgot your'
        " password?</a></p>",
    ),
    "too many requests": wall(
        "Too many requests", "<h1>Too many requests</h1><p>You have sent too many requests. Please slow down.</p>"
    ),
    "akamai": wall(
        "Access Denied",
        '<H1>Access Denied</H1> You don\'t have permission to access "http&#58;&#47;&#47;example&#46;org&#47;" on this'
        " server.<P>Reference&#32;&#35;18&#46;2d351ab8&#46;1557333295&#46;a4e16ab</P>",
    ),
    "wordpress database": notice("Database Error", "<h1>Error establishing a database connection</h1>"),
    "incapsula": wall(
        "",
        '<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=9&xinfo=1-2-0&incident_id=277-88&edet=12"'
        " frameborder=0>Request unsuccessful. Incapsula incident ID: 277-88</iframe>",
    ),
    "aws waf": WallPage(
        "wall",
        "<!DOCTYPE html><html><head><title></title><script>window.awsWafCookieDomainList = [];window.gokuProps ="
        ' {"key":"A"};</script><script src="https://x.token.awswaf.com/x/challenge.js"></script></head><body><div'
        ' id="challenge-container"></div><script>AwsWafIntegration.saveReferrer();</script><noscript><h1>JavaScript is'
        " disabled</h1>In order to continue, we need to verify that you're not a robot. This requires"
        " JavaScript. Enable"
        " JavaScript and then reload the page.</noscript></body></html>",
        202,
    ),
    "perimeterx": wall(
        "Access to this page has been denied",
        "<h1>Access to this page has been denied</h1><p>We believe you are using automation tools to browse the"
        ' website.</p><div id="px-captcha"></div><p>Reference ID: 12-34</p>',
        403,
    ),
    "under construction": notice(
        "Under construction", "<h1>Under construction</h1><p>Our new website is coming. Check back soon!</p>"
    ),
}

_NAV = (
    "<header><nav><a href=/>Home</a> <a href=/shop>Shop</a> <a href=/blog>Blog</a> <a href=/about>About"
    " us</a></nav></header>"
)
_FOOT = (
    "<footer><p>© 2026 Lamp House Ltd. All rights reserved.</p><a href=/imprint>Imprint</a> <a"
    " href=/privacy>Privacy</a></footer>"
)

MORE_WALLS = {
    "datadome": wall(
        "example.org",
        "<p id='cmsg'>Please enable JS and disable any ad blocker</p><script>var"
        " dd={'rt':'c','cid':'A'}</script><script src='https://ct.captcha-delivery.com/c.js'></script>",
        403,
    ),
    "cf block": wall(
        "Attention Required! | Cloudflare",
        "<div id='cf-wrapper'><h1 data-translate='block_headline'>Sorry, you have been blocked</h1><h2>You are"
        " unable to access example.org</h2><h2>Why have I been blocked?</h2><p>This website is using a security"
        " service to protect itself from online attacks. The action you just performed triggered the security"
        " solution. There are several actions that could trigger this block including submitting a certain word"
        " or phrase, a SQL command or malformed data.</p><h2>What can I do to resolve this?</h2><p>You can"
        " email the site owner to let them know you were blocked. Please include what you were doing when this"
        " page came up and the Cloudflare Ray ID found at the bottom of this page.</p><p>Cloudflare Ray ID:"
        " <strong>81d</strong> • Your IP: 1.2.3.4 • Performance &amp; security by Cloudflare</p></div><div"
        " id='cf-error-details'></div>",
    ),
    "distil": wall(
        "Pardon Our Interruption",
        "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you"
        " were a bot. There are a few reasons this might happen:</p><ul><li>You're a power user moving through"
        " this website with super-human speed.</li><li>You've disabled cookies in your web browser.</li><li>A"
        " third-party browser plugin, such as Ghostery or NoScript, is preventing JavaScript from"
        " running.</li></ul><p>To regain access, please make sure that cookies and JavaScript are enabled"
        " before reloading the page.</p>",
    ),
    "f5": wall(
        "Request Rejected",
        "The requested URL was rejected. Please consult with your administrator.<br><br>Your support ID is:"
        " 8871263<br><br><a href='javascript:history.back();'>[Go Back]</a>",
    ),
    "amazon": wall(
        "Robot Check",
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. For"
        " best results, please make sure your browser is accepting cookies.</p><form><img src='/c.jpg'><input"
        " type=text name=field-keywords></form>",
    ),
    "google": wall(
        "https://www.example.org/search",
        "<p><b>About this page</b></p><p>Our systems have detected unusual traffic from your computer network."
        " This page checks to see if it's really you sending the requests, and not a robot.</p><form"
        " id='captcha-form'><div id='recaptcha' class='g-recaptcha' data-sitekey='x'></div></form><p>IP"
        " address: 1.2.3.4</p>",
        429,
    ),
    "pypi": wall(
        "Client Challenge",
        "<noscript><div><h1>JavaScript is disabled in your browser.</h1><p>Please enable JavaScript to"
        " proceed.</p></div></noscript><div class='loading-error'><p>A required part of this site couldn’t"
        " load. This may be due to a browser extension, network issues, or browser settings. Please check your"
        " connection, disable any ad blockers, or try using a different browser.</p></div><script"
        " src='/_fs-ch-1T1wmsGaOgGaSxcX/script.js'></script>",
    ),
    "drupal": notice(
        "Site under maintenance | Example Society",
        "<div id=page><h1>Site under maintenance</h1><p>Example Society is currently under maintenance. We"
        " should be back shortly. Thank you for your patience.</p></div>",
    ),
    "wp briefly": notice(
        "Maintenance", "<h1>Briefly unavailable for scheduled maintenance. Check back in a minute.</h1>"
    ),
    "wikimedia": notice(
        "Wikimedia Error",
        "<h1>Error</h1><p>Our servers are currently under maintenance or experiencing a technical issue. Please"
        " try again in a few&nbsp;minutes.</p>",
        503,
    ),
    "cpanel": notice(
        "Account Suspended",
        "<h1>Account Suspended</h1><p>This Account has been suspended.</p><p><a href='#'>Contact your hosting"
        " provider for more information.</a></p>",
    ),
    "sedo": notice(
        "example.org is for sale",
        "<h1>example.org is for sale</h1><p>The domain name is available for purchase. Get a price in less than"
        " 24 hours. Fill out the form below.</p>",
    ),
    "godaddy": notice(
        "example.org", "<h1>This domain is parked free, courtesy of the registrar</h1><p>Get this domain</p>"
    ),
    "shopify": notice(
        "Lamp Shop – Opening soon",
        "<h1>Opening soon</h1><p>Be the first to know when we launch.</p><form><input type=email></form><p>Are"
        " you the store owner? <a href='/admin'>Log in here</a></p>",
    ),
    "django login": wall(
        "Log in | Site admin",
        "<div id=header><h1 id=site-name>Administration</h1></div><form><label>Username:</label><input"
        " type=text><label>Password:</label><input type=password><input type=submit value='Log in'></form>",
    ),
    "microsoft": wall(
        "Sign in to your account",
        "<div><h1>Sign in</h1><input type=email placeholder='Email, phone, or Skype'><p>No account? <a"
        " href=/s>Create one!</a></p><p><a href=/c>Can’t access your account?</a></p><input type=password"
        " hidden><button>Next</button></div>",
    ),
    "gdpr block": wall(
        "451: Unavailable due to legal reasons",
        "<h1>451: Unavailable due to legal reasons</h1><p>We recognize you are attempting to access this"
        " website from a country belonging to the European Economic Area (EEA) including the EU which enforces"
        " the General Data Protection Regulation (GDPR) and therefore access cannot be granted at this time."
        " For any issues, contact web@example.org or call 555-0100.</p>",
        451,
    ),
    "age": wall(
        "Age Verification",
        "<h1>Are you over 18?</h1><p>You must be 18 or older to enter this site.</p><a href=/y>Yes, I am over"
        " 18</a> <a href=/n>No</a>",
    ),
    "consent": wall(
        "Before you continue to Example",
        "<h1>Before you continue to Example</h1><p>We use cookies and data to deliver and maintain services,"
        " track outages and protect against spam. If you choose to accept all, we will also use cookies to"
        " develop new services and show ads.</p><button>Reject all</button><button>Accept all</button><a"
        " href=/m>More options</a>",
    ),
    "paywall": wall(
        "Subscribe to continue reading | The Daily Lamp",
        "<h1>Subscribe to continue reading</h1><p>Become a subscriber to get access to all articles. 1 EUR per"
        " month, cancel anytime.</p><p>Already a subscriber? <a href=/l>Sign in</a></p>",
    ),
    "cf 522": notice(
        "example.org | 522: Connection timed out",
        "<h1>Connection timed out <span>Error code 522</span></h1><h2>What happened?</h2><p>The initial"
        " connection between Cloudflare's network and the origin web server timed out. As a result, the web"
        " page can not be displayed.</p><h2>What can I do?</h2><h3>If you're a visitor of this"
        " website:</h3><p>Please try again in a few minutes.</p><h3>If you're the owner of this"
        " website:</h3><p>Contact your hosting provider letting them know your web server is not completing"
        " requests.</p>",
    ),
    "nginx 503": notice(
        "503 Service Temporarily Unavailable",
        "<center><h1>503 Service Temporarily Unavailable</h1></center><hr><center>nginx</center>",
    ),
    "nginx 403": wall("403 Forbidden", "<center><h1>403 Forbidden</h1></center><hr><center>nginx/1.2</center>", 403),
    "heroku": notice(
        "Application Error",
        "<h1>Application error</h1><p>An error occurred in the application and your page could not be served."
        " If you are the application owner, check your logs for details.</p>",
    ),
    "de maint": notice(
        "Wartungsarbeiten – Musterverein",
        "<h1>Wartungsarbeiten</h1><p>Unsere Website wird gerade überarbeitet. Wir sind in Kürze wieder für Sie"
        " da und bitten um Geduld.</p>",
        lang="de",
    ),
    "de login": wall(
        "Anmelden - Intranet",
        "<h1>Bitte melden Sie sich an</h1><form>Benutzername <input> Kennwort <input type=password></form><a"
        " href=/x>Passwort vergessen?</a>",
        lang="de",
    ),
    "fr maint": notice(
        "Site en maintenance",
        "<h1>Site en maintenance</h1><p>Notre site est actuellement en cours de maintenance. Nous serons de"
        " retour très bientôt, merci de votre compréhension.</p>",
        lang="fr",
    ),
    "fr denied": wall(
        "Accès refusé", "<h1>Accès refusé</h1><p>Vous n'avez pas l'autorisation d'accéder à cette page.</p>", lang="fr"
    ),
    "es maint": notice(
        "Sitio en mantenimiento",
        "<h1>Estamos en mantenimiento</h1><p>Volveremos en unos minutos. Disculpe las molestias.</p>",
        lang="es",
    ),
    "it": notice(
        "Sito in manutenzione",
        "<h1>Sito in manutenzione</h1><p>Torneremo online il prima possibile. Ci scusiamo per il disagio.</p>",
        lang="it",
    ),
    "pt": notice(
        "Em manutenção",
        "<h1>Estamos em manutenção</h1><p>Voltaremos em breve. Pedimos desculpa pelo incómodo.</p>",
        lang="pt",
    ),
    "nl": notice(
        "Onderhoud",
        "<h1>Deze website is in onderhoud</h1><p>We zijn snel weer online. Onze excuses voor het ongemak.</p>",
        lang="nl",
    ),
    "pl": notice(
        "Przerwa techniczna",
        "<h1>Przerwa techniczna</h1><p>Trwają prace konserwacyjne. Przepraszamy za utrudnienia, zapraszamy"
        " później.</p>",
        lang="pl",
    ),
    "ru": notice(
        "Технические работы",
        "<h1>На сайте ведутся технические работы</h1><p>Приносим извинения за неудобства. Зайдите, пожалуйста,"
        " позже.</p>",
        lang="ru",
    ),
    "tr": notice(
        "Bakım çalışması",
        "<h1>Sitemiz bakımda</h1><p>Kısa süre içinde geri döneceğiz. Anlayışınız için teşekkürler.</p>",
        lang="tr",
    ),
    "zh": notice(
        "系统维护中",
        "<h1>系统维护中</h1><p>我们正在进行系统维护，请稍后再访问。给您带来不便，敬请谅解。</p>",
        lang="zh",
    ),
    "ja": notice(
        "メンテナンス中",
        "<h1>ただいまメンテナンス中です</h1><p>ご迷惑をおかけして申し訳ございません。しばらくしてからもう一度お試しください。</p>",
        lang="ja",
    ),
    "ko": notice(
        "시스템 점검 안내",
        "<h1>시스템 점검 중입니다</h1><p>이용에 불편을 드려 죄송합니다. 잠시 후 다시 접속해 주세요.</p>",
        lang="ko",
    ),
    "yandex ru": wall(
        "Вы не робот?",
        "<h1>Подтвердите, что запросы отправляли вы, а не робот</h1><p>Нам очень жаль, но запросы с вашего"
        " устройства похожи на автоматические.</p><form action='/checkcaptcha?key=1'></form>",
        lang="ru",
    ),
    "zh deny": wall("访问被拒绝", "<h1>访问被拒绝</h1><p>您的IP地址没有权限访问此页面。</p>", lang="zh"),
    "ja login": wall(
        "ログイン | サンプル",
        "<h1>ログイン</h1><form>メールアドレス<input>パスワード<input type=password></form>"
        "<a href=/f>パスワードをお忘れの方</a>",
        lang="ja",
    ),
    "ko bot": wall("사람인지 확인", "<h1>보안 확인</h1><p>계속하려면 사람인지 확인해 주세요.</p>", lang="ko"),
    "plain": WallPage("wall", "Too Many Requests\n", 200, {}, "text/plain"),
    "plain2": WallPage("wall", "Access denied.\n", 200, {}, "text/plain"),
    "vercel": wall(
        "Vercel Security Checkpoint",
        "<p>We're verifying your browser</p><p><a href=/x>Website owner? Click here to fix</a></p><script"
        " src='/.well-known/vercel/security/static/challenge.v2.min.js'></script>",
        429,
    ),
    "wordfence": wall(
        "Your access to this site has been limited by the site owner",
        "<h1>Your access to this site has been limited by the site owner</h1><p>Your access to this service has"
        " been limited. (HTTP response code 503)</p><p>If you think you have been blocked in error, contact the"
        " owner of this site for assistance.</p>",
        503,
    ),
    "modsec": wall(
        "Not Acceptable!",
        "<h1>Not Acceptable!</h1><p>An appropriate representation of the requested resource could not be found"
        " on this server. This error was generated by Mod_Security.</p>",
    ),
    "joomla": notice(
        "Example Club",
        "<h1>Example Club</h1><p>This site is down for maintenance.<br>Please check back again"
        " soon.</p><form>Username<input>Password<input type=password></form>",
    ),
    "mediawiki db": notice(
        "Sorry! This site is experiencing technical difficulties.",
        "<h1>Sorry! This site is experiencing technical difficulties.</h1><p>Try waiting a few minutes and"
        " reloading.</p><p><small>(Cannot access the database)</small></p>",
    ),
    "kasada": WallPage(
        "wall",
        "<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=1;</script><script"
        " src='/149e9513/ips.js'></script></body></html>",
        429,
    ),
    "script202": WallPage(
        "wall", "<html><head><script>document.cookie='t=1';location.reload()</script></head><body></body></html>", 202
    ),
    "reddit": wall(
        "Blocked",
        "<h1>whoa there, pardner!</h1><p>Your request has been blocked due to a network policy.</p><p>Try"
        " logging in or creating an account here to get back to browsing.</p>",
    ),
    "turnstile": wall(
        "example.org",
        "<form><p>Let's confirm you are human</p><div class='cf-turnstile' data-sitekey='x'></div><script"
        " src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script></form>",
    ),
    "chrome login": wall(
        "Customer login - Lamp House",
        _NAV + "<main><h1>Customer login</h1><p>Already have an account? Enter your e-mail address and your"
        " password.</p><form><label>E-mail<input type=email></label><label>Password<input"
        " type=password></label><button>Sign in</button></form><h2>New customers</h2><p>By creating an account"
        " you can check out faster and track your orders.</p><a href=/register>Create an account</a></main>" + _FOOT,
    ),
    "chrome maint": notice(
        "Lamp House",
        _NAV + "<main><h1>We'll be right back!</h1><p>Our shop is getting an upgrade. We are working as fast as we"
        " can and expect to be back online by 6 pm.</p></main>" + _FOOT,
    ),
    "gitlab": wall(
        "Sign in · GitLab",
        "<div><h1>GitLab.example</h1><form><label>Username or primary email</label><input"
        " type=text><label>Password</label><input type=password><a href=/p>Forgot your"
        " password?</a><button>Sign in</button></form><p>Don't have an account yet? <a href=/r>Register"
        " now</a></p></div>",
    ),
    "keycloak": wall(
        "Sign in to lamps",
        "<div id=kc-header>lamps</div><h1>Sign in to your account</h1><form>Username or"
        " email<input>Password<input type=password></form>",
    ),
    "wiki private": wall(
        "Login required - Lampwiki",
        "<h1>Login required</h1><p>Please <a href=/l>log in</a> to view other pages.</p><p>Return to <a"
        " href=/m>Main Page</a>.</p>",
    ),
    "confluence": wall(
        "Log In - Confluence",
        "<h1>Log in</h1><form>Username<input>Password<input type=password><label><input type=checkbox>Remember"
        " my login on this computer</label></form><p>Powered by Atlassian Confluence 7.19</p>",
    ),
    "imunify": wall(
        "One moment, please...",
        "<h1>One moment, please...</h1><p>Please wait while your request is being verified...</p><script>var"
        " wsidchk=1</script>",
    ),
    "old iuam": wall(
        "Just a moment...",
        "<h1><span>Checking your browser before accessing</span> lamps.example.</h1><p>This process is"
        " automatic. Your browser will redirect to your requested content shortly.</p><p>Please allow up to 5"
        " seconds…</p><p>DDoS protection by Cloudflare</p>",
    ),
    "cf 1015": wall(
        "Access denied | lamps.example used Cloudflare to restrict access",
        "<h1>Error 1015</h1><h2>You are being rate limited</h2><h2>What happened?</h2><p>The owner of this"
        " website (lamps.example) has banned you temporarily from accessing this website.</p>",
    ),
    "cf 1020": wall(
        "Access denied | lamps.example used Cloudflare to restrict access",
        "<h1>Access denied</h1><p>Error code 1020</p><p>You do not have access to lamps.example.</p><p>The site"
        " owner may have set restrictions that prevent you from accessing the site.</p>",
    ),
    "github rl": wall(
        "Rate limit · GitHub",
        "<h1>Whoa there!</h1><p>You have exceeded a secondary rate limit.</p><p>Please wait a few minutes"
        " before you try again;<br>in some cases this may take up to an hour.</p>",
    ),
    "sucuri": wall(
        "Sucuri WebSite Firewall - Access Denied",
        "<h1>Sucuri WebSite Firewall</h1><h2>Access Denied - Sucuri Website Firewall</h2><p>If you are the site"
        " owner (or you manage this site), please whitelist your IP or if you think this block is an error"
        " please open a support ticket.</p><h3>Block details:</h3><p>Your IP: 1.2.3.4 URL: lamps.example/ Block"
        " ID: GEO02</p>",
    ),
    "cloudfront": wall(
        "ERROR: The request could not be satisfied",
        "<h1>403 ERROR</h1><h2>The request could not be satisfied.</h2><hr>Request blocked. We can't connect to"
        " the server for this app or website at this time. There might be too much traffic or a configuration"
        " error. Try again later, or contact the app or website owner.<br><pre>Generated by cloudfront"
        " (CloudFront) Request ID: abc</pre>",
        403,
    ),
    "linkedin": wall(
        "Sign Up | LinkedIn",
        "<h1>Join LinkedIn</h1><form>Email<input>Password (6+ characters)<input type=password><p>By clicking"
        " Agree & Join, you agree to the User Agreement.</p></form><p>Already on LinkedIn? <a href=/l>Sign in</a></p>",
    ),
    "spiegel": wall(
        "Zustimmung erforderlich",
        "<h1>Mit Werbung weiterlesen</h1><p>Besuchen Sie unsere Seite wie gewohnt mit Werbung und Tracking."
        " Details finden Sie in der Datenschutzerklärung.</p><button>Akzeptieren und weiter</button><h2>… oder"
        " Abo</h2><p>Nutzen Sie die Seite ohne Werbung ab 4,99 € im Monat.</p>",
        lang="de",
    ),
    "leMonde": wall(
        "Article réservé aux abonnés",
        "<h1>Article réservé aux abonnés</h1><p>Abonnez-vous à partir de 1 € sans engagement. Déjà abonné ? <a"
        " href=/c>Connectez-vous</a></p>",
        lang="fr",
    ),
    "age de": wall(
        "Altersprüfung",
        "<h1>Sind Sie über 18?</h1><p>Um diese Seite zu besuchen, müssen Sie mindestens 18 Jahre alt"
        " sein.</p><a>Ja</a><a>Nein</a>",
        lang="de",
    ),
    "sv maint": notice(
        "Underhåll pågår", "<h1>Underhåll pågår</h1><p>Vi är snart tillbaka. Tack för ditt tålamod.</p>", lang="sv"
    ),
    "cs maint": notice(
        "Probíhá údržba", "<h1>Probíhá údržba</h1><p>Stránky budou brzy opět v provozu. Omlouváme se.</p>", lang="cs"
    ),
    "uk": notice(
        "Технічні роботи",
        "<h1>Ведуться технічні роботи</h1><p>Вибачте за незручності, спробуйте пізніше.</p>",
        lang="uk",
    ),
    "ru ddos": wall(
        "DDoS-Guard",
        "<h1>Проверка браузера перед переходом на сайт lamps.example</h1><p>Это займёт несколько"
        " секунд.</p><script src='/.well-known/ddos-guard/js-challenge/index.js'></script>",
        403,
        lang="ru",
    ),
    "it block": wall(
        "Accesso negato",
        "<h1>Accesso negato</h1><p>Non disponi delle autorizzazioni necessarie per visualizzare la pagina.</p>",
        lang="it",
    ),
    "es login": wall(
        "Iniciar sesión | Tienda",
        "<h1>Iniciar sesión</h1><form>Correo<input>Contraseña<input type=password></form><a href=/o>¿Olvidaste"
        " tu contraseña?</a> <a href=/r>Crear una cuenta</a>",
        lang="es",
    ),
    "pl login": wall(
        "Zaloguj się",
        "<h1>Zaloguj się, aby kontynuować</h1><form>Login<input>Hasło<input type=password></form><a>Nie"
        " pamiętasz hasła?</a>",
        lang="pl",
    ),
    "tr db": notice("Veritabanı Hatası", "<h1>Veritabanı bağlantısı kurulurken hata oluştu</h1>", lang="tr"),
    "fr db": notice(
        "Erreur de base de données", "<h1>Erreur lors de la connexion à la base de données</h1>", lang="fr"
    ),
    "squarespace": notice(
        "Website Expired",
        "<h1>Website Expired</h1><p>This account has expired. If you are the site owner, click below to"
        " login.</p><a>Login</a>",
    ),
    "parallels": notice(
        "Domain Default page",
        "<h1>This domain has expired.</h1><p>If you are the owner, please contact your registrar to renew it.</p>",
    ),
    "cs de": notice(
        "Hier entsteht eine neue Internetpräsenz",
        "<h1>Hier entsteht eine neue Internetpräsenz</h1><p>Diese Domain wurde gerade erst registriert. Bald"
        " finden Sie hier mehr.</p>",
        lang="de",
    ),
    "varnish": notice(
        "503 Backend fetch failed",
        "<h1>Error 503 Backend fetch failed</h1><p>Backend fetch failed</p><h3>Guru Meditation:</h3><p>XID:"
        " 32770</p><hr><p>Varnish cache server</p>",
    ),
    "rails 500": notice(
        "We're sorry, but something went wrong (500)",
        "<h1>We're sorry, but something went wrong.</h1><p>If you are the application owner check the logs for"
        " more information.</p>",
    ),
    "504": notice("504 Gateway Time-out", "<center><h1>504 Gateway Time-out</h1></center><hr><center>nginx</center>"),
    "discourse ro": notice(
        "Oops",
        "<h1>Oops</h1><p>The software powering this discussion forum encountered an unexpected problem. We"
        " apologize for the inconvenience.</p><p>Detailed information about the error was logged, and an"
        " automatic notification generated. We'll take a look at it.</p>",
        500,
    ),
    "jp wp": notice(
        "メンテナンス", "<h1>現在メンテナンス中のため、しばらくの間ご利用いただけません。</h1>", 503, lang="ja"
    ),
    "naver": wall(
        "로그인이 필요합니다", "<h1>로그인이 필요합니다</h1><p>이 페이지를 보려면 로그인해 주세요.</p>", lang="ko"
    ),
    "language 1": wall(
        "Bestätigen Sie, dass Sie ein Mensch sind",
        "<h1>Einen Moment …</h1><p>Bestätigen Sie bitte, dass Sie ein Mensch sind, um fortzufahren.</p>",
        lang="de",
    ),
    "language 2": wall(
        "Vérification de sécurité",
        "<h1>Vérifiez que vous êtes humain</h1><p>Cette page doit vérifier que vous n'êtes pas un robot avant"
        " de continuer.</p>",
        lang="fr",
    ),
    "language 3": wall(
        "Demasiadas solicitudes",
        "<h1>429 Demasiadas solicitudes</h1><p>Ha enviado demasiadas peticiones. Inténtelo de nuevo más tarde.</p>",
        429,
        lang="es",
    ),
    "language 4": wall(
        "Acesso negado", "<h1>Acesso negado</h1><p>Você não tem permissão para acessar esta página.</p>", lang="pt"
    ),
    "language 5": wall(
        "Toegang geweigerd",
        "<h1>Toegang geweigerd</h1><p>U heeft geen toestemming om deze pagina te bekijken.</p>",
        lang="nl",
    ),
    "language 6": wall(
        "Brak dostępu", "<h1>Brak dostępu</h1><p>Nie masz uprawnień do wyświetlenia tej strony.</p>", lang="pl"
    ),
    "language 7": wall(
        "Erişim engellendi", "<h1>Erişim engellendi</h1><p>Bu sayfayı görüntüleme izniniz yok.</p>", lang="tr"
    ),
    "language 8": wall(
        "ログインが必要です",
        "<h1>ログインが必要です</h1><p>このページを表示するにはログインしてください。</p>",
        lang="ja",
    ),
    "language 9": wall(
        "접근이 차단되었습니다", "<h1>접근이 차단되었습니다</h1><p>이 페이지에 대한 권한이 없습니다.</p>", lang="ko"
    ),
    "language 10": notice(
        "Vorübergehend nicht verfügbar",
        "<h1>Unsere Seite ist vorübergehend nicht verfügbar</h1><p>Wir arbeiten daran. Bitte versuchen Sie es"
        " später noch einmal.</p>",
        lang="de",
    ),
    "language 11": notice(
        "Bientôt en ligne",
        "<h1>Site en construction</h1><p>Notre nouveau site arrive bientôt. Revenez nous voir !</p>",
        lang="fr",
    ),
    "language 12": notice(
        "Próximamente", "<h1>Próximamente</h1><p>Estamos preparando algo nuevo para ti. ¡Vuelve pronto!</p>", lang="es"
    ),
    "language 13": notice("域名出售", "<h1>此域名出售</h1><p>如果您对该域名感兴趣，请联系我们。</p>", lang="zh"),
    "language 14": notice(
        "Сайт временно недоступен",
        "<h1>Сайт временно недоступен</h1><p>Мы уже работаем над этим. Попробуйте зайти позже.</p>",
        lang="ru",
    ),
    "language 15": notice(
        "Account gesperrt",
        "<h1>Dieser Account wurde gesperrt</h1><p>Bitte wenden Sie sich an Ihren Hosting-Anbieter.</p>",
        lang="de",
    ),
    "language 16": wall(
        "Cookies are required", "<h1>Cookies are required</h1><p>Please accept cookies to continue to the site.</p>"
    ),
    "language 17": wall(
        "Lamp Weekly",
        "<h1>This article is for subscribers</h1><p>Already a subscriber? Log in to continue reading.</p>",
    ),
    "language 18": wall(
        "Unavailable in your region",
        "<h1>Unavailable in your region</h1><p>This content cannot be shown in your country.</p>",
    ),
    "language 19": notice(
        "Site offline", "<h1>Site offline</h1><p>The website is currently offline. Please try again later.</p>"
    ),
    "language 20": notice(
        "Oops! Something went wrong.",
        "<h1>Oops! Something went wrong.</h1><p>Please try again later. Our team has been notified.</p>",
    ),
    "language 21": wall(
        "Example",
        "<form id='challenge-form'><h2>Please complete the security check to access lamps.example</h2><div"
        " class='g-recaptcha'></div></form><p>Why do I have to complete a CAPTCHA? Completing the CAPTCHA"
        " proves you are a human and gives you temporary access.</p>",
    ),
    "language 22": wall(
        "请完成安全验证", "<h1>安全验证</h1><p>请完成下列验证后继续访问。</p><div id=geetest></div>", lang="zh"
    ),
    "language 23": notice(
        "Temporarily closed",
        "<h1>We're currently down for maintenance</h1><p>Thanks for your patience while we spruce things up.</p>",
    ),
    "language 24": wall(
        "Private site",
        "<h1>This site is private</h1><p>If you would like to view it, you'll need two things: an account and"
        " approval by the site owner.</p><a>Log in</a>",
    ),
    "language 25": wall(
        "Protected: Lamps",
        "<h1>Protected: Lamps</h1><p>This content is password protected. To view it please enter your password"
        " below:</p><form>Password: <input type=password></form>",
    ),
}
