"""The words of walls, as services, servers and content systems write them: what stands before a page until its visitor
is let through.

Matched against plain words (`plain_words`). Headlines are the message and nothing else; statements are addressed to
the visitor, now.
"""

from __future__ import annotations

from webrag_core.conversion.placeholder_kinds import PlaceholderKind, placeholder_kind
from webrag_core.errors import Reason

ROBOT_CHECK, LOG_IN = "a check for robots", "a log-in page"


def _wall(name: str, headlines: str, statements: str) -> PlaceholderKind:
    return placeholder_kind(name, Reason.WALL, headlines, statements)


WALLS = (
    _wall(
        ROBOT_CHECK,
        """
        verify you are human / verify that you are human / verify youre human / verify you are a human /
        verify you are not a robot / verify that you are not a robot / verify youre not a robot /
        confirm you are human / confirm youre human / prove you are human / prove youre human /
        prove your humanity / making sure youre not a bot / making sure you are not a bot /
        make sure youre not a robot / confirm that you are not a robot / confirm youre not a robot /
        confirm youre not a bot / are you a robot / are you a human / are you human / are you a bot /
        im not a robot / i am not a robot / just a moment / one moment / attention required /
        checking your browser / verifying your browser / human verification / bot verification / robot check /
        robot verification / security check / security checkpoint / security verification / browser verification /
        browser check / browser challenge / client challenge / captcha / captcha challenge / captcha required /
        recaptcha / security challenge / pardon our interruption / unusual traffic / unusual activity detected /
        suspicious activity detected / automated access detected / bot detected / bot protection / ddos protection /
        you are being redirected / enter the characters you see below / oh noes /
        bestätigen sie dass sie kein roboter sind / bestätige dass du kein roboter bist / bist du ein mensch /
        sind sie ein mensch / sind sie ein roboter / bist du ein roboter / sicherheitsüberprüfung /
        sicherheitsprüfung / einen moment / nur einen moment / ihr browser wird überprüft /
        überprüfung ihres browsers / vérifiez que vous êtes humain / vérifiez que vous n'êtes pas un robot /
        êtes-vous un robot / êtes-vous humain / un instant / vérification de sécurité / vérification du navigateur /
        je ne suis pas un robot / vérification en cours / confirmez que vous êtes humain /
        verifica que eres humano / verifique que usted es humano / eres un robot / eres humano / un momento /
        comprobación de seguridad / verificación de seguridad / no soy un robot / comprobando su navegador /
        verificando su navegador / verifica di essere umano / sei un robot / sei umano / verifica di sicurezza /
        controllo di sicurezza / un attimo / non sono un robot / verifica che sei umano /
        verifique que você é humano / verifique se você é humano / você é um robô / você é humano / um momento /
        verificação de segurança / não sou um robô / verificando seu navegador / verificando o seu navegador /
        controleer of u een mens bent / bevestig dat u een mens bent / ben je een robot / bent u een robot /
        een ogenblik / beveiligingscontrole / ik ben geen robot / even geduld / potwierdź że jesteś człowiekiem /
        czy jesteś robotem / nie jestem robotem / chwileczkę / weryfikacja bezpieczeństwa /
        sprawdzanie przeglądarki / подтвердите что вы не робот / вы не робот / вы робот /
        подтвердите что вы человек / я не робот / проверка браузера / проверка безопасности / один момент /
        одну минуту / минуточку / robot olmadığınızı doğrulayın / robot musunuz / insan olduğunuzu doğrulayın /
        robot değilim / bir dakika / güvenlik kontrolü / güvenlik doğrulaması / tarayıcınız kontrol ediliyor /
        请稍候 / 安全验证 / 人机验证 / 验证您是真人 / 安全检查 / 访问验证 / 正在验证您是否是真人 / 確認您是真人 /
        請稍候 / 正在确认你是不是机器人 / ロボットではありません / ロボットではないことを確認 /
        人間であることを確認 / セキュリティチェック / しばらくお待ちください / あなたがボットでないことを確認 /
        로봇이 아닙니다 / 로봇이 아님을 확인 / 사람인지 확인 / 보안 확인 / 보안 검사 / 잠시만 기다리십시오 /
        잠시만 기다려 주세요 / 자동 입력 방지 / bekräfta att du är en människa / er du en robot / oletko robotti /
        ověřte že jste člověk / jste robot / ви не робот / підтвердьте що ви не робот / ember vagy /
        nem vagyok robot / nu sunt robot / είστε άνθρωπος / التحقق من أنك إنسان / لست روبوت /
        xác minh bạn là con người / verifikasi bahwa anda manusia
        """,
        """
        verify you are human / verify that you are human / verify youre human / verify you are a human /
        confirm you are human / confirm that you are human / prove you are human / youre a human / you are a human /
        not a robot / youre not a bot / you are not a bot / not a bot / you were a bot / you are a bot /
        youre a bot / checking your browser / verifying your browser / checks your browser / complete the captcha /
        complete the security check / solve the captcha / solving the captcha / solve this captcha /
        completing the captcha / enter the characters / unusual traffic from / automated queries /
        automated requests / automation tools to browse / security service to protect /
        protect itself from online attacks / security of your connection / your browser will redirect /
        you will be redirected automatically / you will be redirected once / before proceeding /
        enable javascript and cookies to continue / enable cookies and reload / javascript and cookies are enabled /
        enable js and disable any ad blocker / your browser supports javascript / kein roboter / ein mensch sind /
        ein mensch bist / captcha aus / ihr browser wird / automatisch weitergeleitet / pas un robot /
        vous êtes humain / êtes un humain / résoudre le captcha / redirigé automatiquement / no eres un robot /
        no es un robot / que eres humano / que es humano / resuelve el captcha / complete el captcha /
        non sei un robot / di essere umano / completa il captcha / não é um robô / que é humano /
        que você é humano / resolva o captcha / geen robot bent / een mens bent / automatisch doorgestuurd /
        nie jesteś robotem / jesteś człowiekiem / rozwiąż captcha / вы не робот / что вы человек /
        запросы отправляли вы / автоматические запросы / введите символы / robot olmadığınızı / insan olduğunuzu /
        是真人 / 完成验证 / 不是机器人 / 完成安全验证 / 不是機器人 / 请完成 / 拖动滑块 / ロボットでない /
        ロボットではない / 人間であること / 自動的にリダイレクト / 로봇이 아님 / 로봇이 아닌 / 사람인지 확인 /
        du är en människa / inte en robot / du er et menneske / ikke en robot / et ole robotti / jste člověk /
        nejste robot / ви не робот / ви людина / nem robot / nu sunteți robot / أنك إنسان / là con người /
        bukan robot
        """,
    ),
    _wall(
        "a refusal of access",
        """
        access denied / access to this page has been denied / access to this site has been denied /
        access forbidden / access is denied / access blocked / access has been blocked / access restricted /
        restricted access / your access to this site has been limited / access temporarily restricted / forbidden /
        permission denied / you have been blocked / youve been blocked / blocked / request blocked /
        your request has been blocked / request rejected / request forbidden / request denied / not acceptable /
        unauthorized access / you dont have permission / whoa there pardner / you are not authorized /
        your ip has been blocked / your ip address has been blocked / ip blocked / firewall block /
        web application firewall / website firewall / zugriff verweigert / zugriff gesperrt / zugang verweigert /
        zugriff nicht erlaubt / zugriff wurde verweigert / keine berechtigung / accès refusé / accès interdit /
        accès bloqué / acceso denegado / acceso prohibido / acceso restringido / acceso bloqueado / accesso negato /
        accesso vietato / accesso bloccato / accesso non consentito / acesso negado / acesso proibido /
        acesso bloqueado / acesso restrito / toegang geweigerd / toegang geblokkeerd / geen toegang / brak dostępu /
        odmowa dostępu / dostęp zabroniony / dostęp zablokowany / доступ запрещен / доступ запрещён /
        доступ ограничен / доступ заблокирован / отказано в доступе / erişim engellendi / erişim reddedildi /
        erişim yasak / 访问被拒绝 / 拒绝访问 / 禁止访问 / 访问受限 / 存取被拒 / 拒絕存取 / 访问被阻断 /
        アクセスが拒否されました / アクセス拒否 / アクセス禁止 / アクセスが禁止されています / アクセスできません /
        액세스가 거부 / 접근이 거부 / 접근 거부 / 접근이 차단 / 접근 차단 / 액세스 거부 / 접속이 차단 / 접속 차단 /
        åtkomst nekad / adgang nægtet / tilgang nektet / pääsy estetty / přístup odepřen / přístup zakázán /
        доступ заборонено / hozzáférés megtagadva / acces interzis / acces refuzat / απαγορεύεται η πρόσβαση /
        δεν επιτρέπεται η πρόσβαση / تم رفض الوصول / الوصول مرفوض / truy cập bị từ chối / akses ditolak
        """,
        """
        you dont have permission / you do not have permission / you are not authorized / you are not allowed /
        has been denied / have been blocked / has been blocked / was blocked / been limited by /
        been temporarily blocked / your ip address / your ip / your support id / incident id / ray id /
        consult with your administrator / contact the site owner / block id / do not have access to /
        you lack the permission / request could not be satisfied / mod security / mod_security / modsecurity /
        sie haben keine berechtigung / sie sind nicht berechtigt / keine berechtigung / ihre ip-adresse /
        wurde blockiert / wurde gesperrt / n'avez pas l'autorisation / n'êtes pas autorisé / n'avez pas accès /
        votre adresse ip / a été bloqué / a été bloquée / no tiene permiso / no tienes permiso /
        no está autorizado / su dirección ip / ha sido bloqueado / ha sido bloqueada / non hai il permesso /
        non sei autorizzato / non disponi / indirizzo ip / è stato bloccato / è stata bloccata / não tem permissão /
        não está autorizado / endereço ip / foi bloqueado / foi bloqueada / geen toestemming / geen toegang /
        niet gemachtigd / uw ip-adres / is geblokkeerd / nie masz uprawnień / nie masz dostępu / adres ip /
        został zablokowany / zostało zablokowane / нет прав / нет доступа / ip-адрес / заблокирован /
        был ограничен / yetkiniz yok / izniniz yok / ip adresiniz / engellendi / engellenmiştir / 没有权限 /
        无权访问 / 您的ip / 您的 ip / 被拦截 / 可能对网站造成 / 權限 / 権限がありません / 許可されていません /
        お客様のip / 권한이 없습니다 / 차단되었습니다 / 차단되었 / 허용되지 않 / du har inte behörighet /
        du har ikke tilladelse / du har ikke tilgang / sinulla ei ole oikeutta / nemáte oprávnění /
        у вас немає доступу / немає прав / nincs jogosultsága / nu aveți permisiunea / δεν έχετε άδεια /
        ليس لديك إذن / bạn không có quyền / anda tidak memiliki izin / due to a network policy /
        you dont have access to / contact the owner of this site / if you are the site owner
        """,
    ),
    _wall(
        LOG_IN,
        """
        log in / login / log on / logon / sign in / signin / log in or sign up / sign in or register /
        log in to continue / sign in to continue / login required / log in required / sign in required /
        login to your account / log in to your account / sign in to your account / authentication required /
        authorization required / unauthorized / members only / member login / customer login / user login /
        account login / employee login / client login / partner login / web login service / single sign on /
        this site is private / this page is private / private site / private wiki / private blog /
        password protected / password required / protected page / session expired / your session has expired /
        session timed out / you must be logged in / you need to sign in / you need to log in /
        you are not logged in / anmelden / anmeldung / einloggen / bitte anmelden / bitte melden sie sich an /
        anmeldung erforderlich / nur für mitglieder / connexion / se connecter / connectez-vous / identifiez-vous /
        identification / authentification requise / connexion requise / iniciar sesión / inicia sesión /
        inicie sesión / inicio de sesión / acceder / identifícate / acceso de usuarios / solo para miembros /
        accedi / effettua l'accesso / accesso utenti / accesso richiesto / autenticazione richiesta / entrar /
        iniciar sessão / fazer login / faça login / acesse sua conta / login necessário / inloggen / aanmelden /
        log in op / inloggen vereist / meld u aan / zaloguj się / logowanie / wymagane logowanie / вход / войти /
        авторизация / вход в систему / вход на сайт / требуется авторизация / войдите / giriş / giriş yap /
        oturum aç / oturum açın / üye girişi / kullanıcı girişi / 登录 / 登入 / 请登录 / 请先登录 / 用户登录 /
        會員登入 / 請先登入 / ログイン / サインイン / ログインしてください / ログインが必要です / 会員ログイン /
        로그인 / 로그인이 필요합니다 / 로그인 필요 / sign up / sign up or log in / create an account /
        create your account / register / join now / logga in / log ind / logg inn / kirjaudu sisään / kirjaudu /
        přihlášení / přihlásit se / přihlaste se / вхід / увійти / bejelentkezés / autentificare / conectare /
        σύνδεση / تسجيل الدخول / đăng nhập / masuk / protected / geschützt / protégé / protegido / protegida /
        protetto / beveiligd / chronione
        """,
        """
        you must log in / you must be logged in / you must sign in / you must be signed in / you need to log in /
        you need to be logged in / you need to sign in / you need to be signed in / you have to log in /
        you have to sign in / please log in / please login / please sign in / log in to continue /
        sign in to continue / log in to view / sign in to view / log in to see / sign in to see / log in to access /
        sign in to access / you have been logged out / you have been signed out / only members can /
        only available to members / bitte melden sie sich / bitte melde dich / bitte loggen sie sich /
        sie müssen angemeldet sein / du musst angemeldet sein / vous devez vous connecter /
        vous devez être connecté / veuillez vous connecter / veuillez vous identifier / debe iniciar sesión /
        debes iniciar sesión / por favor inicie sesión / inicia sesión para / inicie sesión para /
        devi effettuare l'accesso / devi accedere / effettua l'accesso / accedi per / você precisa fazer login /
        é necessário fazer login / faça login para / deve iniciar sessão / u moet ingelogd zijn /
        je moet ingelogd zijn / je moet inloggen / u moet inloggen / musisz się zalogować / zaloguj się aby /
        необходимо войти / необходимо авторизоваться / войдите чтобы / пожалуйста войдите / giriş yapmalısınız /
        giriş yapmanız gerek / giriş yapmanız gerekiyor / oturum açmanız / lütfen giriş yapın / 请先登录 / 请登录 /
        登录后 / 需要登录 / 登入後 / ログインしてください / ログインが必要 / 로그인이 필요 / 로그인해 주세요 /
        로그인 후 / du måste logga in / du skal logge ind / du må logge inn / kirjaudu sisään nähdäksesi /
        musíte se přihlásit / потрібно увійти / be kell jelentkeznie / trebuie să vă autentificați /
        πρέπει να συνδεθείτε / يجب تسجيل الدخول / vui lòng đăng nhập / silakan masuk / if you would like to view it
        """,
    ),
    _wall(
        "a limit of requests",
        """
        too many requests / too many attempts / rate limit / rate limited / rate limit exceeded /
        rate limit reached / you are being rate limited / request limit exceeded / request limit reached /
        quota exceeded / slow down / you have exceeded a secondary rate limit / whoa there /
        bandwidth limit exceeded / traffic limit exceeded / zu viele anfragen / trop de requêtes /
        trop de demandes / demasiadas solicitudes / demasiadas peticiones / troppe richieste / muitas solicitações /
        muitos pedidos / muitas requisições / te veel verzoeken / te veel aanvragen / zbyt wiele żądań /
        zbyt wiele zapytań / za dużo zapytań / слишком много запросов / çok fazla istek / 请求过于频繁 /
        访问过于频繁 / 请求过多 / 訪問過於頻繁 / 太多请求 / リクエストが多すぎます / アクセスが集中しています /
        요청이 너무 많습니다 / 너무 많은 요청 / 요청 횟수 초과 / för många förfrågningar / for mange forespørgsler /
        for mange forespørsler / liian monta pyyntöä / příliš mnoho požadavků / забагато запитів / túl sok kérés /
        prea multe cereri / طلبات كثيرة جدا / quá nhiều yêu cầu / terlalu banyak permintaan
        """,
        """
        too many requests / too many attempts / being rate limited / been rate limited / exceeded the rate limit /
        exceeded a secondary rate limit / sending requests too / you have sent / youve sent / try again later /
        try again in / try again after / wait a few / wait a moment / wait a while / wait before / slow down /
        banned you temporarily / zu viele anfragen / versuchen sie es später / später erneut / trop de requêtes /
        réessayer plus tard / réessayez plus tard / demasiadas solicitudes / demasiadas peticiones /
        troppe richieste / riprova più tardi / riprovare più tardi / muitas solicitações / muitos pedidos /
        tente novamente mais tarde / te veel verzoeken / probeer het later / zbyt wiele / spróbuj ponownie później /
        spróbuj później / слишком много запросов / попробуйте позже / повторите попытку позже / çok fazla istek /
        daha sonra tekrar / 稍后再试 / 稍後再試 / 请求过于频繁 / 访问过于频繁 / しばらくしてから / 時間をおいて /
        나중에 다시 / 잠시 후 다시 / försök igen senare / prøv igen senere / prøv igjen senere /
        yritä myöhemmin uudelleen / zkuste to později / спробуйте пізніше / próbálja később / încercați mai târziu /
        حاول مرة أخرى لاحقا / thử lại sau / coba lagi nanti / you have exceeded / youve exceeded
        """,
    ),
    _wall(
        "a paywall",
        """
        subscribe to continue reading / subscribe to read / subscribe to continue / subscribers only /
        subscription required / for subscribers only / this article is for subscribers / subscriber exclusive /
        become a subscriber / become a member to continue reading / membership required / premium content /
        premium article / to continue reading / continue reading with a subscription / payment required /
        youve reached your limit / you have reached your article limit / nur für abonnenten / weiterlesen mit abo /
        dieser artikel ist für abonnenten / réservé aux abonnés / article réservé aux abonnés /
        solo para suscriptores / contenido exclusivo para suscriptores / riservato agli abbonati /
        contenuto riservato agli abbonati / exclusivo para assinantes / conteúdo exclusivo para assinantes /
        alleen voor abonnees / tylko dla prenumeratorów / tylko dla subskrybentów / только для подписчиков /
        только по подписке / sadece aboneler / abonelere özel / 仅限订阅者 / 订阅后阅读 / 会员专享 / 会員限定 /
        有料会員限定 / 有料会員限定記事 / 구독자 전용 / 회원 전용
        """,
        """
        already a subscriber / already a member / already subscribed / subscribe to continue / subscribe to read /
        to continue reading / continue reading / bereits abonnent / weiterlesen / déjà abonné / abonnez-vous /
        ya eres suscriptor / suscríbete / ya soy suscriptor / sei già abbonato / abbonati / già abbonato /
        já é assinante / assine / al abonnee / word abonnee / masz już subskrypcję / wykup dostęp / kup dostęp /
        уже есть подписка / оформите подписку / zaten abone / abone ol / 続きを読む / 구독하기 / 구독자만 /
        登录并订阅 / 已经是订阅用户 / 有料会員の方 / 会員の方は / jetzt weiterlesen
        """,
    ),
    _wall(
        "a request for consent",
        """
        we value your privacy / your privacy matters / before you continue / cookie consent / cookies consent /
        consent required / your consent is required / accept cookies / accept cookies to continue /
        cookies required / cookies are required / enable cookies / cookies are disabled / this site uses cookies /
        we use cookies / this website uses cookies / your privacy choices / your data your choice /
        with ads or pay / agree to continue / wir schätzen ihre privatsphäre / ihre privatsphäre ist uns wichtig /
        bevor sie fortfahren / cookie-zustimmung / zustimmung erforderlich / cookies akzeptieren /
        cookies sind erforderlich / diese website verwendet cookies / wir verwenden cookies /
        mit werbung weiterlesen / nous respectons votre vie privée /
        le respect de votre vie privée est notre priorité / avant de continuer / consentement requis /
        accepter les cookies / nous utilisons des cookies / valoramos tu privacidad / valoramos su privacidad /
        antes de continuar / tu privacidad nos importa / aceptar cookies / utilizamos cookies / usamos cookies /
        rispettiamo la tua privacy / prima di continuare / la tua privacy è importante / utilizziamo i cookie /
        usiamo i cookie / valorizamos a sua privacidade / a sua privacidade é importante / aceitar cookies /
        wij respecteren uw privacy / uw privacy is belangrijk / voordat je verdergaat / wij gebruiken cookies /
        cenimy twoją prywatność / cenimy prywatność / zanim przejdziesz dalej / używamy plików cookie /
        мы ценим вашу конфиденциальность / мы используем файлы cookie / мы используем cookie /
        прежде чем продолжить / gizliliğinize önem veriyoruz / gizliliğinize değer veriyoruz / çerez kullanıyoruz /
        devam etmeden önce / 我们重视您的隐私 / 我们使用cookie / 在继续之前 / プライバシーを尊重します /
        続行する前に / 개인정보를 소중히 / 계속하기 전에
        """,
        """
        accept all / reject all / accept cookies / accept and continue / agree and continue / accept to continue /
        manage options / cookies to continue / cookies must be enabled / browser to accept cookies /
        alle akzeptieren / alles akzeptieren / alle ablehnen / zustimmen und weiter / akzeptieren und weiter /
        tout accepter / tout refuser / accepter et continuer / accepter et fermer / aceptar todo / aceptar todas /
        rechazar todo / aceptar y continuar / accetta tutto / accetta tutti / rifiuta tutto / accetta e continua /
        aceitar tudo / aceitar todos / rejeitar tudo / alles accepteren / alles afwijzen / akceptuj wszystkie /
        zaakceptuj wszystko / odrzuć wszystkie / принять все / отклонить все / tümünü kabul et / tümünü reddet /
        全部接受 / 接受全部 / 全部拒绝 / すべて同意 / すべて許可 / すべて拒否 / 同意する / 모두 동의 / 모두 수락 /
        모두 거부 / accept all cookies / accept or reject / mit werbung und tracking
        """,
    ),
    _wall(
        "a check of age",
        """
        age verification / age check / age gate / age restricted / age restricted content / are you over 18 /
        are you over 21 / are you 18 or older / are you 21 or older / are you 18 or over / are you at least 18 /
        are you of legal drinking age / are you of legal age / are you old enough / adults only /
        adult content warning / verify your age / confirm your age / you must be 18 / you must be 21 /
        you must be 18 or older to enter / altersprüfung / altersverifikation / alterskontrolle / altersabfrage /
        bist du über 18 / sind sie über 18 / bist du 18 / sind sie mindestens 18 jahre alt / vérification de l'âge /
        avez-vous plus de 18 ans / êtes-vous majeur / avez-vous 18 ans / verificación de edad / eres mayor de edad /
        eres mayor de 18 / tienes más de 18 años / verifica dell'età / verifica età / sei maggiorenne /
        hai più di 18 anni / verificação de idade / você tem mais de 18 anos / você é maior de idade /
        leeftijdscontrole / leeftijdsverificatie / ben je 18 jaar of ouder / ben je 18 / weryfikacja wieku /
        czy masz ukończone 18 lat / czy masz 18 lat / подтвердите возраст / подтверждение возраста / вам есть 18 /
        вам исполнилось 18 лет / yaş doğrulama / 18 yaşından büyük müsünüz / 年龄验证 / 您是否已满18岁 /
        您已滿18歲嗎 / 年齢確認 / あなたは18歳以上ですか / あなたは20歳以上ですか / 연령 확인 / 성인 인증 /
        19세 이상
        """,
        """
        enter this site / to enter / i am over / i am 18 / i am 21 / im over / im 18 / im 21 / verify your age /
        confirm your age / mindestens 18 / über 18 / jahre alt / volljährig / plus de 18 ans / majeur / âge légal /
        mayor de edad / mayor de 18 / más de 18 / maggiorenne / più di 18 / maior de idade / maior de 18 /
        mais de 18 / 18 jaar / ukończone 18 / pełnoletni / старше 18 / исполнилось 18 / 18 лет / 18 yaşından /
        已满18 / 年满18 / 已滿18 / 18歳以上 / 20歳以上 / 18歳未満 / 20歳未満 / 19세 / 만 18세 / by entering /
        visit this site / view this site / access this site / leave this site / enter your date of birth /
        geben sie ihr geburtsdatum
        """,
    ),
    _wall(
        "a block of regions",
        """
        not available in your region / unavailable in your region / not available in your country /
        unavailable in your country / not available in your location / not available in your area /
        unavailable for legal reasons / unavailable due to legal reasons / content not available in your region /
        in ihrem land nicht verfügbar / in deiner region nicht verfügbar / nicht verfügbar in ihrem land /
        non disponible dans votre pays / non disponible dans votre région / no disponible en su país /
        no disponible en tu país / no disponible en tu región / non disponibile nel tuo paese /
        não disponível no seu país / indisponível no seu país / niet beschikbaar in uw land /
        niedostępne w twoim kraju / недоступно в вашей стране / недоступен в вашей стране /
        ülkenizde kullanılamıyor / 您所在的地区无法 / 您所在的地区不可用 / お住まいの地域ではご利用いただけません /
        해당 지역에서는
        """,
        """
        your region / your country / your location / your area / european economic area / ihrem land /
        ihrer region / deiner region / deinem land / votre pays / votre région / su país / tu país / tu región /
        su región / tuo paese / tua area / seu país / sua região / uw land / jouw regio / twoim kraju /
        twoim regionie / вашей стране / вашем регионе / ülkenizde / bölgenizde / 您所在的 / 您所在 /
        お住まいの地域 / お客様の地域 / 지역에서는 / 국가에서는 / access cannot be granted
        """,
    ),
)
