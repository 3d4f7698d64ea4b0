"""Words on controls that do something and say nothing about the page's subject, in the main languages."""

from __future__ import annotations

import re

_ACTIONS = """
copy, copy code, copy link, copy url, copy page, copy to clipboard, copied, search, menu, main menu, toggle menu,
toggle navigation, toggle sidebar, open menu, close menu, close, dismiss, cancel, ok, okay, got it, apply, reset, clear,
clear all, clear filters, filter, filters, sort, sort by, subscribe, unsubscribe, follow, unfollow, sign in, signin,
sign up, signup, sign out, log in, login, log out, logout, register, join, join now, add to cart, add to basket,
add to bag, add to wishlist, wishlist, buy, buy now, order now, checkout, book now, accept, accept all, accept cookies,
accept all cookies, agree, i agree, allow, allow all, reject, reject all, decline, deny, cookie settings,
manage cookies, preferences, settings, save, save changes, submit, send, send message, go, share, share this, tweet,
like, dislike, upvote, downvote, vote, reply, comment, report, flag, edit, delete, remove, print, print page, download,
export, upload, play, pause, stop, mute, unmute, run, run code, try it, try it yourself, next, previous, prev, back,
forward, more, read more, show more, view more, load more, see more, learn more, more info, less, show less, read less,
expand, expand all, collapse, collapse all, show all, view all, see all, hide, show, toggle, top, back to top,
scroll to top, toggle theme, toggle dark mode, dark mode, light mode, theme, zoom in, zoom out, fullscreen, full screen,
feedback, contact us, get started, start free trial, try for free, request a demo, notify me, quick view, view details,
select all, refresh, reload, retry, continue, enlarge, copy permalink, permalink, skip to content;
kopieren, code kopieren, link kopieren, kopiert, suchen, suche, menü, schließen, schliessen, abbrechen, anwenden,
zurücksetzen, löschen, filtern, sortieren, abonnieren, folgen, anmelden, einloggen, abmelden, registrieren,
in den warenkorb, zum warenkorb hinzufügen, warenkorb, kaufen, jetzt kaufen, jetzt bestellen, bestellen, zur kasse,
akzeptieren, alle akzeptieren, annehmen, zustimmen, ablehnen, alle ablehnen, einstellungen, speichern, absenden, senden,
abschicken, teilen, drucken, gefällt mir, antworten, kommentieren, melden, bearbeiten, entfernen, hinzufügen, weiter,
zurück, mehr, mehr lesen, weiterlesen, mehr anzeigen, mehr erfahren, weniger anzeigen, alle anzeigen, nach oben,
herunterladen, abspielen;
copier, copier le code, copier le lien, copié, rechercher, recherche, fermer, annuler, appliquer, réinitialiser,
effacer, filtrer, trier, s'abonner, suivre, se connecter, connexion, s'inscrire, inscription, se déconnecter,
ajouter au panier, acheter, commander, accepter, tout accepter, accepter tout, refuser, tout refuser, paramètres,
enregistrer, envoyer, valider, soumettre, partager, imprimer, j'aime, répondre, signaler, modifier, supprimer, ajouter,
suivant, précédent, retour, plus, lire la suite, lire plus, voir plus, afficher plus, en savoir plus, voir moins,
tout afficher, haut de page, télécharger;
copiar, copiar código, copiar enlace, copiado, buscar, menú, cerrar, cancelar, aplicar, restablecer, borrar, filtrar,
ordenar, suscribirse, suscríbete, seguir, iniciar sesión, registrarse, cerrar sesión, añadir al carrito,
agregar al carrito, comprar, aceptar, aceptar todo, aceptar todas, rechazar, rechazar todo, configuración, guardar,
enviar, compartir, imprimir, me gusta, responder, denunciar, editar, eliminar, añadir, siguiente, anterior, volver, más,
leer más, ver más, mostrar más, saber más, ver menos, mostrar menos, ver todo, arriba, descargar;
copia, copia codice, copia link, copiato, cerca, chiudi, annulla, applica, reimposta, cancella, filtra, ordina,
iscriviti, abbonati, segui, accedi, registrati, esci, aggiungi al carrello, acquista, compra, accetta, accetta tutti,
accetta tutto, rifiuta, rifiuta tutti, impostazioni, salva, invia, condividi, stampa, mi piace, rispondi, segnala,
modifica, elimina, rimuovi, aggiungi, avanti, indietro, successivo, precedente, leggi tutto, leggi di più, mostra altro,
scopri di più, mostra meno, scarica, torna su;
pesquisar, procurar, fechar, limpar, assinar, inscrever-se, entrar, cadastrar, registrar, sair, adicionar ao carrinho,
aceitar, aceitar tudo, aceitar todos, rejeitar, recusar, configurações, salvar, compartilhar, partilhar, curtir, gosto,
excluir, remover, adicionar, próximo, voltar, leia mais, ler mais, ver mais, mostrar mais, saiba mais, baixar,
descarregar;
kopiëren, kopieer, zoeken, zoek, sluiten, annuleren, toepassen, wissen, filteren, sorteren, abonneren, volgen, inloggen,
aanmelden, uitloggen, registreren, in winkelwagen, toevoegen aan winkelwagen, kopen, bestellen, accepteren,
alles accepteren, akkoord, weigeren, instellingen, opslaan, verzenden, versturen, delen, afdrukken, printen,
vind ik leuk, reageren, beantwoorden, bewerken, verwijderen, toevoegen, volgende, vorige, terug, meer, lees meer,
lees verder, meer lezen, toon meer, meer weergeven, minder, downloaden;
kopiuj, szukaj, wyszukaj, zamknij, anuluj, zastosuj, wyczyść, filtruj, sortuj, subskrybuj, obserwuj, zaloguj,
zaloguj się, zarejestruj się, wyloguj, dodaj do koszyka, do koszyka, kup, kup teraz, akceptuj, akceptuję, zaakceptuj,
zaakceptuj wszystkie, odrzuć, ustawienia, zapisz, wyślij, udostępnij, drukuj, lubię to, odpowiedz, edytuj, usuń, dodaj,
dalej, wstecz, następny, poprzedni, więcej, czytaj więcej, czytaj dalej, pokaż więcej, pobierz;
kopiera, sök, meny, stäng, avbryt, logga in, logga ut, lägg i varukorgen, köp, acceptera, godkänn, avvisa, spara,
skicka, dela, skriv ut, gilla, svara, läs mer, visa mer, nästa, föregående, tillbaka, ladda ner;
копировать, скопировать, поиск, найти, искать, меню, закрыть, отмена, применить, сбросить, очистить, фильтр,
сортировать, подписаться, войти, вход, зарегистрироваться, регистрация, выйти, в корзину, добавить в корзину, купить,
принять, принять все, согласен, отклонить, настройки, сохранить, отправить, поделиться, печать, распечатать, нравится,
ответить, пожаловаться, редактировать, изменить, удалить, добавить, далее, назад, вперед, ещё, еще, подробнее,
читать далее, читать дальше, показать ещё, показать еще, скачать, наверх;
コピー, コードをコピー, リンクをコピー, 検索, メニュー, 閉じる, キャンセル, 適用, リセット, クリア, 絞り込み,
購読, 登録, フォロー, ログイン, ログアウト, 新規登録, カートに入れる, カートに追加, 購入, 今すぐ購入, 同意する,
すべて許可, 承認, 拒否, 設定, 保存, 送信, 共有, シェア, 印刷, いいね, 返信, 報告, 編集, 削除, 追加, 次へ, 前へ,
戻る, もっと見る, 続きを読む, 続きを見る, 詳細を見る, すべて表示, ダウンロード, トップへ戻る;
复制, 複製, 复制代码, 复制链接, 搜索, 搜尋, 菜单, 選單, 关闭, 關閉, 取消, 应用, 重置, 清除,
筛选, 订阅, 訂閱, 关注, 登录, 登入, 注册, 註冊, 退出, 加入购物车, 加入購物車, 购买, 立即购买, 接受, 全部接受,
同意, 拒绝, 设置, 保存, 提交, 发送, 分享, 打印, 列印, 点赞, 赞, 回复, 举报, 编辑, 删除, 添加, 下一页, 上一页,
下一步, 返回, 更多, 查看更多, 阅读更多, 展开, 收起, 下载, 回到顶部;
복사, 검색, 메뉴, 닫기, 취소, 구독, 로그인, 회원가입, 장바구니, 장바구니에 담기, 구매, 동의, 거부,
설정, 저장, 제출, 보내기, 공유, 인쇄, 좋아요, 답글, 신고, 수정, 삭제, 다음, 이전, 더보기, 더 보기, 다운로드
"""
_ACTION_SET = frozenset(" ".join(words.split()) for words in re.split(r"[,;]\s+", _ACTIONS.strip()))
_SHARED = re.compile(
    r"(?:share|tweet|pin|post|save|teilen|partager|compartir|condividi)(?: this)? (?:on|to|via|by|auf|sur)\b"
)
_ENTERS = re.compile(
    r"(?:add|hinzufügen|ajouter|añadir|agregar|aggiungi|adicionar|toevoegen|dodaj|добавить|加入|カート).{0,20}"
    r"(?:cart|basket|bag|warenkorb|panier|carrito|carrello|carrinho|winkelwagen|koszyka|корзину|购物车|購物車)"
    r"|in den warenkorb|in winkelwagen|в корзину|カートに"
)
_REST = re.compile(
    r"\b(?:more|full|rest|expand|unfold|show|reveal|mehr|weiterlesen|anzeigen|suite|plus|afficher|más|mostrar|leer|mais"
    r"|più|leggi|mostra|meer|verder|więcej|czytaj|mer|подробнее|далее|дальше|ещё|еще|показать)\b"
    r"|もっと|続き|更多|展开|全文|더 ?보기"
)
_INK = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)
_MAX_WORDS = 60  # characters of what is looked up


def is_action(text: str) -> bool:
    """Whether the words of a control name an action (copy, search, close, add to cart …) and nothing else."""
    words = _normal(text)
    return words in _ACTION_SET or _SHARED.match(words) is not None or enters_into_cart(words)


def enters_into_cart(text: str) -> bool:
    """Whether the words of a control say that something is put into a shopping cart."""
    return _ENTERS.match(_normal(text)) is not None


def offers_the_rest(text: str) -> bool:
    """Whether the words of a control offer the rest of a text: "read more", "show all"."""
    words = _normal(text)
    return 0 < len(words) <= _MAX_WORDS and _REST.search(words) is not None


def _normal(text: str) -> str:
    """Words in lower case without signs around; "" for a text that is too long for a control."""
    words = " ".join(text.replace("’", "'").split()).lower()
    match = _INK.search(words) if len(words) <= _MAX_WORDS else None
    return match[0] if match else ""
