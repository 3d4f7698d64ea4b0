"""The words of notices, as servers and content systems write them: what stands in the place of all pages for a while.

Matched as `wall_phrases`.
"""

from __future__ import annotations

from webrag_core.conversion.placeholder_kinds import PlaceholderKind, placeholder_kind
from webrag_core.errors import Reason

NOT_OPEN, SERVER_ERROR = "a site that is not open yet", "an error of the server"


def _notice(name: str, headlines: str, statements: str) -> PlaceholderKind:
    return placeholder_kind(name, Reason.NOTICE, headlines, statements)


NOTICES = (
    _notice(
        "a notice of maintenance",
        """
        maintenance / maintenance mode / under maintenance / site maintenance / website maintenance /
        system maintenance / server maintenance / scheduled maintenance / planned maintenance /
        maintenance in progress / down for maintenance / closed for maintenance / offline for maintenance /
        undergoing maintenance / performing maintenance / we are doing some maintenance / well be back /
        well be back soon / well be back shortly / we will be back / we will be back soon / well be right back /
        be right back / be back soon / be back shortly / were back soon / back soon / back shortly /
        back in a moment / back in a minute / temporarily unavailable / temporarily offline / temporarily closed /
        temporarily down / temporarily out of service / currently unavailable / currently offline / currently down /
        briefly unavailable / site offline / website offline / site is offline / site is down / website is down /
        out of service / technical difficulties / technical problems / experiencing technical difficulties /
        well return shortly / brb / wartung / wartungsarbeiten / wartungsmodus / wegen wartung / wartung im gange /
        wir sind gleich zurück / wir sind gleich wieder da / wir sind bald zurück / wir sind bald wieder da /
        gleich zurück / gleich wieder da / bald wieder da / bin gleich zurück / vorübergehend nicht verfügbar /
        vorübergehend nicht erreichbar / vorübergehend geschlossen / zurzeit nicht erreichbar /
        derzeit nicht verfügbar / derzeit nicht erreichbar / en maintenance / site en maintenance /
        maintenance en cours / maintenance programmée / de retour bientôt / nous revenons bientôt /
        nous serons bientôt de retour / bientôt de retour / temporairement indisponible /
        momentanément indisponible / en mantenimiento / mantenimiento / sitio en mantenimiento /
        mantenimiento programado / volvemos pronto / volveremos pronto / regresamos pronto / estaremos de vuelta /
        temporalmente no disponible / temporalmente fuera de servicio / fuera de servicio / in manutenzione /
        manutenzione / sito in manutenzione / manutenzione programmata / torniamo presto / torneremo presto /
        saremo presto di ritorno / temporaneamente non disponibile / em manutenção / manutenção /
        site em manutenção / manutenção programada / voltamos já / voltaremos em breve / voltamos em breve /
        estaremos de volta / temporariamente indisponível / temporariamente fora do ar / fora do ar / onderhoud /
        in onderhoud / gepland onderhoud / onderhoudswerkzaamheden / site in onderhoud / we zijn zo terug /
        we zijn snel terug / we zijn binnenkort terug / tijdelijk niet beschikbaar / tijdelijk niet bereikbaar /
        tijdelijk gesloten / przerwa techniczna / prace konserwacyjne / konserwacja / trwają prace techniczne /
        trwa konserwacja / trwa przerwa techniczna / zaraz wracamy / wkrótce wracamy / niedługo wracamy /
        tymczasowo niedostępna / chwilowo niedostępna / strona w konserwacji / технические работы /
        ведутся технические работы / проводятся технические работы / идут технические работы /
        техническое обслуживание / на обслуживании / плановые работы / мы скоро вернемся / мы скоро вернёмся /
        скоро вернемся / скоро вернёмся / временно недоступен / временно недоступна / временно не работает /
        сайт закрыт / bakım / bakımda / bakım çalışması / bakım çalışmaları / bakım modu / planlı bakım /
        kısa süre sonra döneceğiz / yakında döneceğiz / birazdan döneceğiz / hemen döneceğiz /
        geçici olarak kullanılamıyor / geçici olarak hizmet dışı / 维护中 / 系统维护 / 网站维护 / 正在维护 /
        站点维护 / 系統維護 / 網站維護 / 維護中 / 暂时无法访问 / 服务不可用 / 稍后回来 / 马上回来 / メンテナンス中 /
        メンテナンス / ただいまメンテナンス / システムメンテナンス / 一時的に利用できません / まもなく再開 /
        すぐに戻ります / 점검 중 / 시스템 점검 / 서비스 점검 / 서버 점검 / 사이트 점검 / 곧 돌아오겠습니다 /
        일시적으로 이용할 수 없 / 서비스를 사용할 수 없 / underhåll pågår / underhåll / under underhåll /
        vi är snart tillbaka / vedligeholdelse / vedlikehold / under vedligeholdelse / vi er snart tilbage /
        vi er snart tilbake / huoltokatko / huolto käynnissä / palaamme pian / probíhá údržba / údržba /
        plánovaná údržba / odstávka / brzy se vrátíme / технічні роботи / ведуться технічні роботи /
        проводяться технічні роботи / karbantartás / karbantartás alatt / hamarosan visszatérünk / mentenanță /
        site în mentenanță / în mentenanță / revenim în curând / υπό συντήρηση / σε συντήρηση / συντήρηση /
        الموقع تحت الصيانة / تحت الصيانة / صيانة / đang bảo trì / bảo trì / sedang dalam pemeliharaan /
        dalam pemeliharaan / sedang dalam perbaikan
        """,
        """
        is undergoing maintenance / currently undergoing / is under maintenance / are under maintenance /
        currently under maintenance / is down for maintenance / are down for maintenance /
        are performing maintenance / are performing / are doing some / is currently being /
        are currently performing / are currently carrying / are carrying out / doing some maintenance / check back /
        come back / be back / are back / back soon / back shortly / back online / back up / try again /
        try waiting / a few minutes / returning shortly / return shortly / thank you for your patience /
        thanks for your patience / your patience / sorry for the inconvenience / apologize for the inconvenience /
        apologise for the inconvenience / apologies for the inconvenience / is temporarily unavailable /
        is temporarily offline / is temporarily down / is currently unavailable / is currently offline /
        is currently down / unable to service your request / unable to handle the request / working on it /
        are working hard / is experiencing technical / are experiencing technical / not available right now /
        not available just now / not available at the moment / sind gleich / sind bald / in kürze wieder /
        bald wieder / später noch einmal / später erneut / später wieder / um geduld / ihre geduld /
        ihr verständnis / dein verständnis / um verständnis / derzeit nicht / zurzeit nicht / gerade nicht /
        momentan nicht / vorübergehend nicht / wird gerade / werden gerade / schauen sie / de retour / revenez /
        réessayer / réessayez / veuillez patienter / votre patience / votre compréhension / gêne occasionnée /
        actuellement en maintenance / actuellement en cours / actuellement indisponible /
        temporairement indisponible / momentanément indisponible / volveremos / de vuelta / vuelva / vuelve /
        inténtelo / inténtalo / disculpe / disculpen / su paciencia / tu paciencia / estamos realizando /
        estamos trabajando / torneremo / di ritorno / torna a / riprova / riprovare / ci scusiamo / disagio /
        pazienza / stiamo lavorando / stiamo effettuando / voltaremos / de volta / volte / tente novamente /
        pedimos desculpa / desculpe / transtorno / incómodo / paciência / estamos trabalhando / snel weer /
        zo terug / weer terug / terug online / weer online / probeer het / later opnieuw / excuses / ongemak /
        geduld / wrócimy / wracamy / zapraszamy / spróbuj / przepraszamy / cierpliwość / trwają prace / вернемся /
        вернёмся / попробуйте / зайдите / извините / приносим извинения / неудобства / временно недоступен /
        временно недоступна / döneceğiz / tekrar deneyin / özür / anlayışınız / sabrınız / hizmet veremiyoruz /
        稍后 / 抱歉 / 不便 / 谅解 / 回来 / 正在进行 / 稍後 / 暂时无法 / しばらく / お待ち / 申し訳 / ご迷惑 / 再開 /
        ただいま / 잠시 후 / 죄송 / 불편 / 양해 / 돌아오 / snart tillbaka / tålamod / försök igen / snart tilbage /
        snart tilbake / tålmodighed / prøv igen / prøv igjen / palaamme / pahoittelemme / omlouváme / brzy /
        strpení / zkuste / вибачте / незручності / спробуйте / visszatérünk / elnézést / türelm / türelmét /
        revenim / ne cerem scuze / răbdare / σύντομα / συγγνώμη / نعتذر / قريبا / xin lỗi / quay lại / mohon maaf /
        kembali lagi
        """,
    ),
    _notice(
        "an error of the database",
        """
        error establishing a database connection / database error / database connection error /
        database connection failed / database unavailable / cannot connect to the database /
        could not connect to the database / unable to connect to the database / unable to connect to database /
        cannot access the database / sql error / mysql error / db connection error / database is down /
        database offline / datenbankfehler / fehler beim aufbau einer datenbankverbindung /
        erreur de base de données / erreur lors de la connexion à la base de données /
        erreur de connexion à la base de données / error de base de datos /
        error al establecer una conexión con la base de datos /
        error estableciendo una conexión con la base de datos / errore del database /
        errore nello stabilire una connessione al database / erro de banco de dados / erro na base de dados /
        erro ao estabelecer uma conexão com o banco de dados / databasefout /
        fout bij het maken van een verbinding met de database / błąd bazy danych / błąd połączenia z bazą danych /
        błąd nawiązywania połączenia z bazą danych / ошибка базы данных /
        ошибка установки соединения с базой данных / ошибка подключения к базе данных / veritabanı hatası /
        veritabanı bağlantı hatası / veritabanı bağlantısı kurulurken hata / 数据库错误 / 数据库连接错误 /
        建立数据库连接时出错 / 資料庫錯誤 / 資料庫連線錯誤 / データベース接続確立エラー / データベースエラー /
        데이터베이스 연결 오류 / 데이터베이스 연결 중 오류 / 데이터베이스 오류
        """,
        """
        cannot access the database / unable to connect / cannot connect / could not connect / couldnt connect /
        cant connect / connection refused / access denied for user / too many connections / try again /
        been notified / working on it / konnte nicht / konnten nicht / versuchen sie es / réessayer / réessayez /
        inténtelo / inténtalo / riprova / riprovare / tente novamente / probeer het / spróbuj / попробуйте /
        не удалось / tekrar deneyin / 无法连接 / 稍后再试 / 無法連線 / 接続できません / しばらく / 연결할 수 없 /
        잠시 후
        """,
    ),
    _notice(
        SERVER_ERROR,
        """
        service unavailable / service temporarily unavailable / internal server error / server error / bad gateway /
        gateway timeout / gateway time-out / application error / connection timed out / web server is down /
        web server is not responding / host error / origin is unreachable / origin dns error / a timeout occurred /
        ssl handshake failed / unknown error / web server is returning an unknown error / an error occurred /
        an error has occurred / something went wrong / were sorry but something went wrong / runtime error /
        fatal error / unexpected error / oops an error occurred / over capacity / server is busy /
        there has been a critical error on this website / server too busy / backend fetch failed / guru meditation /
        interner serverfehler / serverfehler / ein fehler ist aufgetreten / etwas ist schiefgelaufen /
        es ist ein fehler aufgetreten / erreur interne du serveur / erreur serveur / erreur interne /
        une erreur est survenue / une erreur s'est produite / error interno del servidor / error del servidor /
        se ha producido un error / ha ocurrido un error / algo salió mal / errore interno del server /
        errore del server / si è verificato un errore / qualcosa è andato storto / erro interno do servidor /
        erro do servidor / ocorreu um erro / algo deu errado / interne serverfout / serverfout /
        er is een fout opgetreden / er is iets misgegaan / er ging iets mis / wewnętrzny błąd serwera /
        błąd serwera / wystąpił błąd / coś poszło nie tak / внутренняя ошибка сервера / ошибка сервера /
        произошла ошибка / что-то пошло не так / sunucu hatası / dahili sunucu hatası / bir hata oluştu /
        bir şeyler ters gitti / 服务器内部错误 / 服务器错误 / 内部服务器错误 / 伺服器錯誤 / 出错了 /
        サーバーエラー / 内部サーバーエラー / エラーが発生しました / 서버 오류 / 내부 서버 오류 /
        오류가 발생했습니다
        """,
        """
        encountered an internal error / unable to complete your request / could not be served /
        could not complete your request / could not process your request / try again later / try again in /
        please try again / try refreshing / reload the page / refresh the page / we have been notified /
        weve been notified / has been notified / working to fix / working on fixing / the application owner /
        web page can not be displayed / can not be displayed / origin web server / sorry for the inconvenience /
        später erneut / später noch einmal / versuchen sie es / wurde benachrichtigt / réessayer / réessayez /
        inténtelo / inténtalo / riprova / riprovare / tente novamente / probeer het / later opnieuw /
        spróbuj ponownie / попробуйте / tekrar deneyin / 稍后再试 / 请稍后 / 稍後再試 / しばらくして / もう一度 /
        時間をおいて / 다시 시도 / 잠시 후 / contact the server administrator / encountered an unexpected problem /
        encountered a temporary error
        """,
    ),
    _notice(
        NOT_OPEN,
        """
        under construction / site under construction / website under construction / coming soon /
        website coming soon / site coming soon / opening soon / launching soon / we are launching soon /
        were launching soon / something awesome is coming soon / something great is coming /
        something new is coming / new website coming soon / our new website is coming soon / im aufbau / im umbau /
        in bearbeitung / seite im aufbau / website im aufbau / hier entsteht eine neue internetpräsenz /
        hier entsteht eine neue website / demnächst verfügbar / in kürze verfügbar / en construction /
        site en construction / page en construction / bientôt disponible / bientôt en ligne / ouverture prochaine /
        en construcción / sitio en construcción / página en construcción / próximamente / muy pronto /
        in costruzione / sito in costruzione / prossimamente / in arrivo / em construção / site em construção /
        página em construção / em breve / in aanbouw / website in aanbouw / binnenkort beschikbaar /
        binnenkort online / w budowie / strona w budowie / wkrótce otwarcie / już wkrótce / в разработке /
        сайт в разработке / сайт находится в разработке / скоро открытие / скоро здесь будет сайт /
        yapım aşamasında / yapım aşamasındadır / çok yakında / yakında / 建设中 / 网站建设中 / 即将上线 / 敬请期待 /
        建置中 / 準備中 / 工事中 / 近日公開 / 공사 중 / 준비 중 / 준비중입니다 / 오픈 예정
        """,
        """
        stay tuned / be the first to know / get notified / notify me / notified when / well let you know /
        sign up to be / working on our / working on a new / working on something / building something / check back /
        come back / enter using password / enter store using / schauen sie / schau / bald wieder / bientôt /
        revenez / restez / vuelve / vuelva / torna / em breve / volte / binnenkort / wkrótce / zapraszamy / скоро /
        заходите / yakında / 即将 / 敬请期待 / 敬請期待 / 近日 / お待ち / 오픈 / our new website / our new site /
        our website is / our site is / this site is / this website is / hier entsteht / hier finden sie /
        hier mehr / muy pronto / a presto
        """,
    ),
    _notice(
        "a parked domain",
        """
        domain for sale / this domain is for sale / domain is for sale / domain may be for sale /
        this domain may be for sale / is for sale / buy this domain / domain name for sale / parked domain /
        domain parked / this domain is parked / domain is parked / this domain has expired / domain expired /
        domain has expired / domain registered / this domain is registered / future home of / domain parking /
        diese domain steht zum verkauf / domain steht zum verkauf / domain kaufen / diese domain ist geparkt /
        domain geparkt / ce domaine est à vendre / domaine à vendre / nom de domaine à vendre / dominio en venta /
        este dominio está en venta / dominio in vendita / questo dominio è in vendita / domínio à venda /
        este domínio está à venda / domein te koop / deze domeinnaam is te koop / domeinnaam te koop /
        domena na sprzedaż / ta domena jest na sprzedaż / домен продается / домен продаётся / домен припаркован /
        домен не прилинкован / satılık domain / satılık alan adı / bu alan adı satılıktır / 域名出售 / 此域名出售 /
        该域名正在出售 / 域名停放 / このドメインは販売中です / ドメイン販売中 / 도메인 판매 /
        이 도메인은 판매 중입니다 / this domain name has expired
        """,
        """
        this domain / the domain name is / domain name is available / domain is for sale / domain may be for sale /
        own this / get a price / make an offer / interested in / related searches / diese domain / domain steht /
        ce domaine / ce nom de domaine / este dominio / questo dominio / este domínio / deze domein /
        deze domeinnaam / ta domena / этот домен / домен продается / домен продаётся / домен припаркован /
        bu alan adı / 该域名 / 此域名 / 本域名 / このドメイン / 이 도메인 / registrar / to renew it
        """,
    ),
    _notice(
        "a site that was shut",
        """
        account suspended / this account has been suspended / account has been suspended / site suspended /
        website suspended / site has been suspended / website has been suspended / site disabled /
        website disabled / site not published / site unavailable / website unavailable /
        this site has been archived or suspended / this site is no longer available / hosting expired /
        hosting suspended / service suspended / website expired / website has expired / konto gesperrt /
        account gesperrt / webseite gesperrt / website gesperrt / seite gesperrt / compte suspendu / site suspendu /
        cuenta suspendida / sitio suspendido / web suspendida / account sospeso / sito sospeso / conta suspensa /
        site suspenso / account opgeschort / website opgeschort / account geblokkeerd / konto zawieszone /
        strona zawieszona / konto zablokowane / аккаунт заблокирован / сайт заблокирован / хостинг приостановлен /
        сайт отключен / hesap askıya alındı / site askıya alındı / 账户已暂停 / 网站已关闭 / 网站已停用 /
        帳戶已停用 / アカウントは停止されています / サイトは停止されています / 계정이 정지 / 사이트가 정지 /
        account wurde gesperrt / konto wurde gesperrt / website wurde gesperrt / seite wurde gesperrt
        """,
        """
        has been suspended / was suspended / been archived / contact your hosting / hosting provider / site owner /
        hébergeur / 服务商 / this account has expired / been archived or suspended / wurde gesperrt /
        a été suspendu / ha sido suspendida / ha sido suspendido / è stato sospeso / foi suspensa / foi suspenso /
        is opgeschort / zostało zawieszone / została zawieszona / был заблокирован / хостинг-провайдер /
        был приостановлен / askıya alınmıştır / 已被暂停 / 停止されています / 정지되었 / hosting-anbieter /
        hosting-provider
        """,
    ),
)
