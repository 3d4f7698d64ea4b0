"""The language of short questions."""

from __future__ import annotations

import pytest

from webrag_core.language.detection import detected_beyond_doubt, detected_surely
from webrag_core.language.names import language_name

QUESTIONS = {
    "English": """
        How do I rotate the signing keys?
        Is asyncio.Queue thread safe or do I need a lock?
        What does the timeout option do?
        Which versions of the protocol are supported?
        Where is the configuration file stored?
        Why was my request rejected with status 403?
        How many items can be in the queue?
        Can I use a custom certificate with this server?
        When should a transaction be rolled back?
        What is the default value of max_connections?
    """,
    "German": """
        Wie viele Elemente sind in der Warteschlange?
        Was ist ein Mutex und wofür ist er gut?
        Wie erstelle ich einen Index für die Tabelle?
        Wo steht die Konfigurationsdatei des Servers?
        Warum wird meine Anfrage nicht angenommen?
        Welche Versionen von Python werden unterstützt?
        Kann man eine Nachricht ohne Anhang senden?
        Wann muss ich den Schlüssel erneuern?
        Gibt es eine Grenze für die Größe der Datei?
        Was macht die Option --force bei git push?
    """,
    "French": """
        Comment est-ce que je change la clé de signature ?
        Combien d'éléments sont dans la file d'attente ?
        Où se trouve le fichier de configuration ?
        Pourquoi ma requête est-elle refusée par le serveur ?
        Quelles sont les versions de Python prises en charge ?
        Que fait l'option --force de git push ?
        Quand faut-il renouveler le certificat ?
        Peut-on envoyer un message sans pièce jointe ?
        Quelle est la valeur par défaut de max_connections ?
        Comment créer un index sur une table ?
    """,
    "Spanish": """
        ¿Cómo se cambia la clave de firma?
        ¿Cuántos elementos hay en la cola?
        ¿Dónde está el archivo de configuración?
        ¿Por qué el servidor no acepta mi petición?
        ¿Qué versiones de Python son compatibles?
        ¿Qué hace la opción --force de git push?
        ¿Cuándo hay que renovar el certificado?
        ¿Se puede enviar un mensaje sin archivos adjuntos?
        ¿Cuál es el valor por defecto de max_connections?
        Cómo crear un índice en las tablas del servidor
    """,
    "Italian": """
        Come si cambia la chiave di firma?
        Quanti elementi ci sono nella coda?
        Dove si trova il file di configurazione?
        Perché il server non accetta la mia richiesta?
        Quali versioni di Python sono supportate?
        Che cosa fa l'opzione --force di git push?
        Quando si deve rinnovare il certificato?
        Si può inviare un messaggio senza allegati?
        Qual è il valore predefinito di max_connections?
        Come posso creare gli indici della tabella?
    """,
    "Portuguese": """
        Como eu troco a chave de assinatura do servidor?
        Quantos elementos há na fila?
        Onde está o arquivo de configuração?
        Por que o servidor não aceita o meu pedido?
        Quais são as versões do Python suportadas?
        O que faz a opção --force do git push?
        Quando é preciso renovar os certificados do servidor?
        Posso enviar uma mensagem sem anexos?
        Qual é o valor padrão de max_connections?
        Como faço para criar um índice na tabela?
    """,
    "Dutch": """
        Hoe vervang ik de sleutel van de server?
        Hoeveel elementen zijn er in de wachtrij?
        Waar staat het configuratiebestand?
        Waarom wordt mijn verzoek niet aanvaard?
        Welke versies van Python worden ondersteund?
        Wat doet de optie --force bij git push?
        Wanneer moet het certificaat vernieuwd worden?
        Kan ik een bericht zonder bijlage sturen?
        Wat is de standaardwaarde van max_connections?
        Hoe maak ik een index voor een tabel?
    """,
    "Russian": """
        Как заменить ключ для подписи?
        Сколько элементов в очереди?
        Где находится файл с настройками?
        Почему сервер не принимает мой запрос?
        Какие версии Python поддерживаются и с чем?
        Что делает опция --force в git push?
        Когда нужно обновить сертификат?
        Можно ли отправить письмо без вложений?
        Как создать индекс для таблицы?
        Что это за ошибка и как ее исправить?
    """,
    "Japanese": """
        署名鍵を更新するにはどうすればよいですか。
        キューには何個の要素がありますか。
        設定ファイルはどこにありますか。
        なぜリクエストは拒否されますか。
        Python のどのバージョンがサポートされていますか。
        git push の --force は何をしますか。
        証明書はいつ更新しますか。
        添付なしで送信できますか。
        max_connections の既定値は何ですか。
        表に索引を作る方法は。
    """,
    "Chinese": """
        如何更换签名密钥？
        队列里有多少个元素？
        配置文件在哪里？
        为什么服务器拒绝我的请求？
        支持哪些 Python 版本？
        git push 的 --force 选项有什么作用？
        什么时候需要更新证书？
        可以发送没有附件的邮件吗？
        参数 max_connections 的默认值是多少？
        怎样为数据表创建一个索引？
    """,
    "Korean": """
        서명 키를 어떻게 교체합니까?
        큐에 요소가 몇 개 있습니까?
        설정 파일은 어디에 있습니까?
        서버가 왜 내 요청을 거부합니까?
        지원되는 Python 버전은 무엇입니까?
        git push 의 --force 옵션은 무엇을 합니까?
        인증서는 언제 갱신해야 합니까?
        첨부 파일 없이 메일을 보낼 수 있습니까?
        max_connections 의 기본값은 얼마입니까?
        테이블에 인덱스를 어떻게 만듭니까?
    """,
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_ten_questions(language: str) -> None:
    codes = [detected_beyond_doubt(line.strip()) for line in QUESTIONS[language].strip().splitlines()]
    found = [code and language_name(code) for code in codes]
    assert len(found) == 10
    assert set(found) <= {language, None}
    assert found.count(language) >= 9


@pytest.mark.parametrize(
    "text",
    ["", "???", "asyncio queue thread safe", "max_connections default", "die in perl", "git push --force", "Mutex"],
)
def test_what_is_not_clear_has_no_language(text: str) -> None:
    assert detected_beyond_doubt(text) is None


@pytest.mark.parametrize("text", ["Is the fan off in Oven 9.4?", "hand mail to dovecot"])
def test_what_is_said_of_a_language_is_sure(text: str) -> None:
    assert detected_surely(text) is None
