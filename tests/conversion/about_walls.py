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
_HELP = {
    "help 1": _page(
        "Log in to your account",
        "Go to the log-in page and enter your e-mail address and password. Forgot your password? Choose Reset"
        " password and follow the link in the e-mail.",
    ),
    "help 2": _page(
        "Sign in",
        "You can sign in with Google, with a company account or with an e-mail address. If you do not have an"
        " account, create one first.",
    ),
    "help 3": _page(
        "Session expired",
        "For your safety a session ends after 20 minutes. Your session has expired when the clock in the corner"
        " shows zero; log in again and the form is as you left it.",
    ),
    "help 4": _page(
        "Access denied",
        "You do not have permission to open this folder because it belongs to another team. Ask its owner to"
        " share it with you: open the folder, choose Share and add the name.",
    ),
    "help 5": _page(
        "Scheduled maintenance",
        "We carry out scheduled maintenance on the first Sunday of each month between 02:00 and 04:00. During"
        " that time the site is not available.",
    ),
    "help 6": _page(
        "We use cookies",
        "You can change your choice at any time in the cookie settings. More about them is in our privacy policy.",
    ),
    "help 7": _page(
        "Enable cookies",
        "To enable cookies in your browser, open the menu, choose Privacy and move the switch. Close the"
        " browser and open it again.",
    ),
    "help 8": _page(
        "Captcha",
        "We ask you to confirm that you are not a robot when you register. Tick the box, then choose the"
        " pictures with a bridge.",
    ),
    "help 9": _page(
        "Age verification", "You must be 18 or older to buy wine. The courier checks your date of birth at the door."
    ),
    "help 10": _page(
        "Subscription required",
        "Some articles are for subscribers only. A plan costs 5 EUR per month, and you can cancel any time.",
    ),
    "help 11": _page(
        "Account suspended",
        "We suspend an account whose bill was not paid for 60 days. Contact support to open it again; nothing"
        " is deleted.",
    ),
    "help 12": _page(
        "500 Internal Server Error",
        "The server encountered an unexpected condition that prevented it from fulfilling the request.",
    ),
    "help 13": _page(
        "502 Bad Gateway",
        "The server, while acting as a gateway or proxy, received an invalid response from the upstream server.",
    ),
    "help 14": _page(
        "Coming soon",
        "The following features are coming soon: dark mode, offline maps and a widget for the lock screen.",
    ),
    "help 15": _page(
        "Too Many Requests",
        "The user has sent too many requests in a given amount of time. The response may say how long to wait.",
    ),
    "help 16": _page(
        "Database error",
        "The log contains this line if the password of the database is wrong. Change it in the file and restart"
        " the service.",
    ),
    "help 17": _page(
        "Maintenance",
        "The mill is closed for maintenance from 3 to 14 March. Guided tours begin again on 15 March at ten.",
    ),
    "help 18": _page(
        "Login",
        "Der Login zum Kundenbereich befindet sich oben rechts. Geben Sie Ihre Kundennummer und Ihr Passwort ein.",
        lang="de",
    ),
    "help 19": _page(
        "Passwort vergessen",
        "Klicken Sie auf der Anmeldeseite auf den Link. Sie erhalten eine E-Mail mit weiteren Schritten.",
        lang="de",
    ),
    "help 20": _page(
        "Zugriff verweigert",
        "Die Meldung erscheint, wenn die Datei einem anderen Benutzer gehört. Ändern Sie den Besitzer der Datei.",
        lang="de",
    ),
    "help 21": _page(
        "Erreur interne du serveur",
        "Cette erreur survient quand le script dépasse la mémoire. Augmentez la limite dans le fichier php.ini.",
        lang="fr",
    ),
    "help 22": _page(
        "Connexion",
        "La connexion se fait avec votre adresse et votre mot de passe. Vous pouvez changer celui-ci chaque mois.",
        lang="fr",
    ),
    "help 23": _page(
        "Acceso denegado",
        "El mensaje aparece cuando el archivo pertenece a otro usuario. Cambie el propietario del archivo.",
        lang="es",
    ),
    "help 24": _page(
        "Доступ запрещен",
        "Сообщение появляется, если файл принадлежит другому пользователю. Измените владельца файла.",
        lang="ru",
    ),
    "help 25": _page("系统维护", "本章介绍系统维护的基本步骤：每周检查日志，每月更换滤网，每年更换电池。", lang="zh"),
    "help 26": _page(
        "サーバーエラー",
        "サーバーエラーは、メモリが足りないときに起こります。設定ファイルで上限を上げてください。",
        lang="ja",
    ),
    "help 27": _page(
        "시스템 점검", "시스템 점검은 매달 첫째 일요일에 합니다. 필터를 청소하고 기름을 바꿉니다.", lang="ko"
    ),
    "help 28": _page(
        "Under construction",
        "The bridge has been under construction since 2019 and is to open in 2027. It is 340 m long.",
    ),
    "help 29": _page(
        "Technical difficulties",
        "A comedy in two acts. A theatre loses its light on the evening of the premiere; the actors go on.",
    ),
    "help 30": _page(
        "Members only", "Members of the club may use the boats from April to October. A day pass costs 12 EUR."
    ),
    "help 31": _page(
        "Password protected",
        "A document can be protected by a password: choose File, Protect, and enter the password twice.",
    ),
    "help 32": _page(
        "Bot protection",
        "Bot protection is part of the Pro plan. It asks visitors that behave like robots to solve a captcha.",
    ),
    "help 33": _page("DDoS protection", "All our servers have DDoS protection up to 2 Tbit/s at no extra charge."),
    "help 34": _page(
        "Rate limits", "You can send 60 requests a minute. After that the answer is 429; try again in the next minute."
    ),
    "help 35": _page(
        "Rate limit",
        "Each key may send 60 requests per minute. When you exceed it, wait a few seconds and try again later.",
    ),
    "help 36": _page(
        "Unavailable for legal reasons",
        "A server may answer with 451 if a court has ordered it. The text should name the court.",
    ),
    "help 37": _page(
        "Not available in your country",
        "The app is sold in 34 countries. If yours is not in the list, write to us and we tell you when it is.",
    ),
    "help 38": _page(
        "Domain for sale",
        "How to sell a domain: put up a page with a price, answer letters within a day, and use an escrow service.",
    ),
    "help 39": _page(
        "Website down",
        "Check whether the server runs, whether the certificate is valid, and whether the domain was paid for.",
    ),
    "help 40": _page(
        "Error establishing a database connection",
        "This is the most feared line of WordPress. It means that the name, user or password of the database in"
        " wp-config.php is wrong.",
    ),
    "help 41": _page(
        "Just a moment", "Please wait a moment before you open the oven: the glass is hot for ten minutes after baking."
    ),
    "help 42": _page(
        "Security check",
        "At the gate every visitor passes a security check. Bags must be no larger than 40 cm. Please arrive an"
        " hour early.",
    ),
    "help 43": _page(
        "Human verification",
        "In the study 40 persons checked the labels. Human verification took 12 seconds for each picture.",
    ),
    "help 45": _page(
        "Authentication required",
        "Requests need a token. Send it in the header Authorization, as Bearer and the token.",
    ),
    "help 46": _page(
        "Blocked", "When somebody blocks you, you cannot see their posts. Your messages to them are not delivered."
    ),
    "help 47": _page(
        "Temporarily closed",
        "The east hall of the museum is temporarily closed. The other halls are open as usual, from ten to six.",
    ),
    "help 48": _page(
        "Anmeldung",
        "Sie müssen sich anmelden, um am Kurs teilzunehmen: telefonisch oder im Büro bis zum 3. Mai.",
        lang="de",
    ),
    "help 49": _page(
        "We value your privacy",
        "We keep your address for two years and give it to nobody. You may ask us to delete it by a letter.",
    ),
    "help 50": _page(
        "Something went wrong",
        "If this keeps happening, restart the app and check the connection. Then send us the number below.",
    ),
}
ABOUT = {**_SHORT, **_WRITTEN, **_HELP}
