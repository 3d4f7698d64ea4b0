"""Ordinary pages about walls and notices, short ones above all: manuals, references, release notes, advice, histories
of incidents, policies. None may be refused. The texts are our own."""

from __future__ import annotations

from itertools import product

from tests.conversion.not_found_pages import html


def _page(title: str, *paragraphs: str, lang: str = "en", extra: str = "") -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return html(f"{title} | Handbook", f"<main><h1>{title}</h1>{body}{extra}</main>", lang=lang)


_TITLES = (
    "Access denied",
    "Forbidden",
    "403 Forbidden",
    "Log in",
    "Sign in to your account",
    "Too many requests",
    "Rate limit exceeded",
    "Maintenance",
    "Scheduled maintenance",
    "Service unavailable",
    "Internal server error",
    "Under construction",
    "Cookie consent",
    "Age verification",
    "Captcha",
    "Account suspended",
    "Database error",
    "Domain expired",
    "Subscription required",
    "Session expired",
)
_TEXTS = (
    "This message means that the account has no right to open the file. An owner of the folder can grant it.",
    "The status tells a program that the request was understood and refused. Repeating it unchanged does not help.",
    "When you see this message, your computer has sent more requests than the plan includes. Please try again later or"
    " choose a larger plan.",
    "Users who have not confirmed their address see this screen until they follow the link in the letter.",
    "Open the menu, choose Security and turn the switch off. The setting is kept for every device of the house.",
    "The lift is oiled every spring. Bring the key, the grease and a lamp, and close the door of the shaft first.",
    "Added in version 4.2: a page of our own is shown to guests, with the name of the shop and the hour of opening.",
)
_SHORT = {
    f"{title}, text {number}": _page(title, text) for title, (number, text) in product(_TITLES, enumerate(_TEXTS))
}

_WRITTEN = {
    "error explained": _page(
        "Error 403 Forbidden explained",
        "A server answers with 403 when it knows who asks and does not let them in. You do not have permission"
        " to access"
        " the address, and logging in again does not change that.",
        "Ask the owner of the site which group your account needs.",
    ),
    "how to log in": _page(
        "How to log in",
        "Enter the name and the password that the office gave you. Forgot your password? Call the desk: it"
        " sends a new one"
        " within the hour.",
    ),
    "log in, a chapter": _page(
        "Log in",
        "To log in, open the app and enter your number. You must be logged in to print. If the session has"
        " expired, the"
        " app asks for the number again.",
    ),
    "maintenance mode": _page(
        "Maintenance mode",
        "While it is on, visitors see a short notice: we'll be back soon. Administrators can still work. Turn"
        " it on before"
        " an update.",
        extra="<pre>bin/shop maintenance on</pre>",
    ),
    "maintenance of a boiler": _page(
        "Maintenance", "Clean the filter once a month. Check the pressure when the boiler is cold. Call us once a year."
    ),
    "maintenance, an index": html(
        "Maintenance | Handbook",
        "<main><h1>Maintenance</h1><ul>"
        + "".join(f'<li><a href="/m/{n}">Part {n} of the engine</a></li>' for n in range(8))
        + "</ul></main>",
    ),
    "status page": _page(
        "Scheduled maintenance",
        "On 4 May from 02:00 to 04:00 UTC we will be performing maintenance on the mail servers. Mail will be"
        " unavailable"
        " for some minutes. This work has been completed.",
    ),
    "history of incidents": _page(
        "Past incidents",
        "Elevated errors. Resolved: the service is back. Investigating: some users get 503 answers. Service"
        " unavailable for"
        " 12 minutes.",
    ),
    "cookie policy": _page(
        "Cookie policy",
        "We use cookies to keep you logged in and to count visits. You can refuse them in the settings of your"
        " browser.",
    ),
    "cookie policy, consent": _page(
        "We use cookies",
        "Our shop sets three cookies. basket: keeps what you chose, one day. lang: your language, one year."
        " seen: whether"
        " you read this, one year. They are deleted when you close your account.",
    ),
    "captcha article": _page(
        "Captcha",
        "A captcha is a test that tells people from programs. The word was coined at a university; the first"
        " ones showed"
        " bent letters.",
    ),
    "captcha guide": _page(
        "Add a captcha to your form",
        "Put the element below into the form. Visitors are asked to verify that they are human.",
        extra="<pre>&lt;div class=&quot;h-captcha&quot;&gt;&lt;/div&gt;</pre>",
    ),
    "challenge in code": _page(
        "Notes on a challenge",
        "The page sets a variable with the parameters of the challenge, and a script reads it.",
        extra="<pre>window._cf_chl_opt = {cvId: '3'};</pre>",
    ),
    "contact form with a captcha": html(
        "Contact | Studio",
        "<main><h1>Contact</h1><p>Write to us.</p><form><label>Name <input name=n></label><label>Message <textarea>"
        '</textarea></label><div class="g-recaptcha"></div><button>Send</button></form></main>',
    ),
    "page with a badge and a log-in box": html(
        "Opening hours | Pool",
        "<header><form><input name=u><input type=password name=p></form></header><main><h1>Opening"
        " hours</h1><p>Daily from"
        ' 9 to 20.</p></main><script src="https://www.google.com/recaptcha/api.js"></script>',
    ),
    "short page behind a service": html(
        "Prices | Bakery",
        "<main><h1>Prices</h1><p>Bread 4 EUR, rolls 1 EUR.</p></main><script"
        ' src="/cdn-cgi/challenge-platform/scripts/jsd/'
        'main.js"></script><script src="https://js.datadome.co/tags.js"></script>'
        '<script src="/_Incapsula_Resource?SWJIYLWA=719d"></script>',
    ),
    "release notes": _page(
        "Release notes 3.4",
        "Fixed: users got too many requests after a log-in. Fixed: the maintenance page was shown without a title.",
    ),
    "coming soon in a list": _page(
        "Coming soon",
        "Dark mode, offline maps, and a widget for the lock screen: these are planned for the autumn release.",
    ),
    "stub": _page("Widgets", "Under construction, please come back."),
    "song": _page(
        "Just a moment", "Just a moment is the third song of the record. It was written on a train to Turin."
    ),
    "film": _page("Access Denied", "A film of 1998 about a clerk who forgets her badge. It runs for 92 minutes."),
    "book": _page(
        "Back soon", "A novel in letters. The heroine leaves a note on the door and is away for thirty years."
    ),
    "game": _page("Are you a robot?", "A card game for four. Each player draws a card; the robot may not lie."),
    "shop page": _page("Password protected", "The box has a lock with four digits. It costs 30 EUR and weighs 2 kg."),
    "domain guide": _page(
        "Domain expired",
        "A domain that was not renewed is kept for 30 days. Pay within that time and it works again within the hour.",
    ),
    "form of a library": _page(
        "Login",
        "Since May members log in with the number of their card. The old names work until the end of the year.",
    ),
    "news": _page(
        "Service unavailable",
        "For two hours on Tuesday nobody could pay by card in the county. The bank apologises for the inconvenience.",
    ),
    "long log-in page": html(
        "Log in | Bank",
        "<main><h1>Log in</h1><form><input name=u><input type=password name=p></form><p>"
        + "Our bank never asks for a number by telephone, and no letter of ours contains a link to this page. " * 12
        + "</p></main>",
    ),
    "de manual": _page(
        "Wartungsmodus",
        "Im Wartungsmodus sehen Besucher einen Hinweis. Schalten Sie ihn vor jedem Update ein und danach wieder aus.",
        lang="de",
    ),
    "de maintenance": _page(
        "Wartung", "Die Pumpe wird jedes Jahr geprüft. Das Öl wird alle zwei Jahre gewechselt.", lang="de"
    ),
    "de log-in": _page(
        "Anmeldung",
        "Die Anmeldung zum Kurs ist bis zum 3. Mai möglich. Bitte bringen Sie das Formular ins Büro mit.",
        lang="de",
    ),
    "fr maintenance": _page("Maintenance", "Le filtre se nettoie une fois par mois, moteur arrêté.", lang="fr"),
    "fr connexion": _page("Connexion", "Branchez le câble bleu sur la prise A, puis allumez la lampe.", lang="fr"),
    "es mantenimiento": _page("Mantenimiento", "Limpie el filtro cada mes con agua fría y jabón.", lang="es"),
    "es acceder": _page("Acceder", "El museo tiene dos entradas, una en la plaza y otra junto al río.", lang="es"),
    "it manutenzione": _page("Manutenzione", "Pulire il filtro ogni mese. Cambiare l'olio ogni anno.", lang="it"),
    "pt manutenção": _page("Manutenção", "O filtro deve ser limpo todos os meses com água fria.", lang="pt"),
    "nl onderhoud": _page(
        "Onderhoud", "Het filter wordt elke maand schoongemaakt, de pomp elk jaar nagekeken.", lang="nl"
    ),
    "pl konserwacja": _page("Konserwacja", "Filtr należy czyścić co miesiąc, a olej wymieniać co rok.", lang="pl"),
    "ru вход": _page("Вход", "Вход в музей со стороны реки, билеты продаются до пяти часов.", lang="ru"),
    "ru обслуживание": _page(
        "Техническое обслуживание", "Фильтр очищают каждый месяц, масло меняют раз в год.", lang="ru"
    ),
    "tr bakım": _page("Bakım", "Filtre her ay temizlenir, yağ yılda bir değiştirilir.", lang="tr"),
    "tr giriş": _page("Giriş", "Bu kitap üç bölümden oluşur ve köyün tarihini anlatır.", lang="tr"),
    "zh advice": _page("403禁止访问的解决方法", "如果出现禁止访问，请检查文件权限，然后重新启动服务器。", lang="zh"),
    "zh 登录": _page("登录", "打开应用，输入手机号码，然后点击按钮。第一次使用需要设置密码。", lang="zh"),
    "ja メンテナンス": _page("メンテナンス", "フィルターは毎月掃除し、油は一年に一度交換します。", lang="ja"),
    "ja ログイン": _page("ログインとは", "ログインとは、名前と暗証番号で本人であることを示すことです。", lang="ja"),
    "ko 로그인": _page("로그인", "앱을 열고 전화번호를 입력하는 방법을 설명합니다.", lang="ko"),
}
ABOUT = {**_SHORT, **_WRITTEN}
