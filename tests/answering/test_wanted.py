"""What a question wants: of which thing, and which kind of fact."""

from __future__ import annotations

import pytest

from webrag_core.answering.units import _says_nothing
from webrag_core.answering.wanted.discriminators import discriminators_of
from webrag_core.answering.wanted.sizes import sizes_in, states_size
from webrag_core.answering.wanted.thing import aspect_of
from webrag_core.answering.wanted.values import Value, holds_value, values_wanted
from webrag_core.answering.wanted.versions import version_of, versions_in


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What port does Alder 2.4 listen on?", ["Alder", "2.4"]),
        ("How heavy is the Fennel K120 Mini?", ["Fennel", "K120 Mini"]),
        ("What does the MillGritstone64 cost?", ["MillGritstone64"]),
        ("When does the last bus of line 17 leave?", ["line 17"]),
        ("Where is the office of Ada Berg?", ["Ada Berg"]),
        ("what does --dry-run do", ["--dry-run"]),
        ("What is the default of `max-cache-ttl`?", ["max-cache-ttl"]),
        ("What does 🟣 mean?", ["🟣"]),
        ("How long is an 8 day pass valid?", ["8 day"]),
        ("price of the eight-day pass", ["eight-day"]),
        ("Is it valid for 8 days?", []),
        ("How much is 5 kg of rice?", []),
        ("Is it open on the 2nd floor?", []),
        ("What happened in 1984?", []),
        ("How Do I Install It On Debian?", []),  # capitals throughout say nothing
        ("Wie lange dauert die Fahrt mit dem Zug nach Hause?", []),  # German writes every noun with a capital
    ],
)
def test_a_question_names_what_chooses_among_look_alikes(question: str, labels: list[str]) -> None:
    assert [item.label for item in discriminators_of(question)] == labels


@pytest.mark.parametrize(
    ("text", "version", "holds"),
    [
        ("Alder 2.4 listens on port 7000.", "2.4", True),
        ("Alder 2.4.1 listens on port 7000.", "2.4", True),
        ("Alder 2.4 and later", "3.0", True),
        ("since Alder 2.4", "2.3", False),
        ("versions 1.8 to 2.4", "2.0", True),
        ("before version 2.0", "1.8", True),
        ("Alder 2.4", "2.40", False),
    ],
)
def test_a_range_of_versions_holds_those_within(text: str, version: str, holds: bool) -> None:
    assert any(named.holds(version_of(version)) for named in versions_in(text)) is holds


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("How heavy is the kettle?", "It weighs 920 g.", "It is made of copper."),
        ("How old is the tower?", "It was built in 1623.", "It is 41 m high."),
        ("When does the pool open?", "Daily from 9 to 18.", "The pool has two slides."),
        ("What is the idle timeout?", "It is closed after 45 seconds.", "The key sets another limit."),
        ("When does it close?", "It closes at five.", "It closes by itself."),
        ("When is it quiet?", "In the evening it is quiet.", "It is quiet by the river."),
        ("When does the fair begin?", "It begins in May.", "They may begin at the wed sun's will."),
        ("Quand a lieu la fête ?", "Un dimanche de mars.", "C'est mon jeu et mon affaire."),
        ("How often are keys renewed?", "Renew them every year.", "Keys are kept in a safe."),
        ("How long is the warranty?", "The warranty lasts two years.", "The warranty covers the pump."),
        ("How much must students pay?", "Students pay 3 EUR.", "Students sit in row 2."),
        ("How much is the maternity pay?", "You get 12 weeks of pay.", "The pay is taxed."),
        ("how much severance pay do I get", "You get four weeks pay.", "It comes at the end."),
        ("How many days do I have to appeal?", "Appeal within a week.", "Appeal in writing."),
        ("how much notice must I give", "Tell us a month before.", "Tell us in writing."),
        ("Wie viele Tage habe ich Zeit?", "Sie haben eine Woche.", "Sie schreiben uns."),
        ("Combien de jours ai-je pour répondre ?", "Répondez avant le 3 mai.", "Répondez par écrit."),
        ("How much is the entry?", "Entry is free on Mondays.", "The entry is at the back."),
        ("Wie schwer ist der Kessel?", "Er wiegt 920 Gramm.", "Er ist aus Kupfer."),
        ("Wann öffnet das Bad?", "Das Bad öffnet im Mai.", "Das Bad hat zwei Rutschen."),
        ("Which is cheaper, A or B?", "It costs 12 EUR.", "It is blue."),
        ("kettle price", "Price: 12 EUR", "The kettle is blue."),
        ("price of the board", "The board is free of charge.", "It needs no non-free firmware. Feel free to ask."),
        ("island size", "61 sq km", "It was settled in A.D. 301, and since 1862 by fishermen."),
        ("adult ticket price zoo", "Adults pay 9 EUR.", "Tickets are sold at the gate."),
        ("RAM of the K120", "RAM: 2 GiB", "The K120 has RAM that can be changed."),
        ("beacon port", "TCP 31007", "Choose one of the ports, since version 0.5 also another."),
        ("prix du billet adulte", "Le billet coûte 9 € pour un adulte.", "Le prix dépend de l'âge, voir page 7."),
        ("Combien coûte un passeport ?", "Tarif : 86", "Le passeport est fabriqué en 12 jours."),
        ("délai passeport mairie", "Comptez deux semaines.", "Il faut prendre rendez-vous."),
        ("Quand ouvre la piscine ?", "Elle ouvre le 2 juin.", "La piscine a deux toboggans."),
        ("Combien de fois par an peut-on venir ?", "On peut venir 2 fois.", "On peut venir en famille."),
    ],
)
def test_a_question_for_a_value_is_answered_by_a_value(question: str, yes: str, no: str) -> None:
    wanted = values_wanted(question)
    assert holds_value(yes, wanted, question)
    assert not holds_value(no, wanted, question)


def test_a_size_is_the_same_however_it_is_written() -> None:
    assert all(
        states_size(text, "8-day") for text in ("8 day pass", "Eight-day passes", "valid for 8 days", "8 full days")
    )
    assert not any(states_size(text, "8-day") for text in ("18-day pass", "8.5 days", "8-daylight"))
    assert [size.text for size in sizes_in("Pass: 1-day; 12-month senior")] == ["1-day", "12-month"]


def test_a_value_that_the_question_names_is_no_answer() -> None:
    question = "How many plates has the K120?"
    assert not holds_value("The K120 has plates.", values_wanted(question), question)
    assert holds_value("The K120 has 4 plates.", values_wanted(question), question)


@pytest.mark.parametrize(
    "question",
    [
        "Why does it stop?",
        "How do I stop it?",
        "Is it red?",
        "Can I change how long a session lasts?",
        "How do I reduce how many workers it starts?",
        "port forwarding",
        "set port",
        "speed up the build",
        "何時から利用できますか？",
    ],
)
def test_where_no_rule_fits_nothing_is_demanded(question: str) -> None:
    assert holds_value("anything", values_wanted(question), question)


def test_the_aspect_is_the_question_without_its_thing() -> None:
    question = "How heavy is the Fennel K120 Mini?"
    assert aspect_of(question, discriminators_of(question)) == "How heavy is the ?"
    meaning = "What does K120 mean?"
    assert aspect_of(meaning, discriminators_of(meaning)) == meaning


def test_what_is_named_after_a_value_is_no_value() -> None:
    for question in ("Which date format does the import use?", "What time zone is set?", "what date picker is there"):
        assert values_wanted(question) == frozenset()
    for question in ("At what time does it open?", "Which month is the fair?", "what date is the fair"):
        assert values_wanted(question) == {"date"}


def test_a_way_back_to_the_top_is_said_by_nobody() -> None:
    for text in ("↑ Back to Top", "Go to the top of the page", "▲ Nach oben", "Retour en haut de la page"):
        assert _says_nothing(text, "Splitting")
    for text in ("Back up to a disk.", "Go to the top of the hill and turn left.", "Top"):
        assert not _says_nothing(text, "Splitting")


def test_the_name_of_a_picture_is_said_by_nobody() -> None:
    for text in ("An image of the second step.", "Screenshot showing the form", "Figure 13.24. Payroll Example: Setup"):
        assert _says_nothing(text, "Payroll")
    for text in ("The image shows a harbour at low tide.", "Figure 2 shows that each tenth boat leaks.", "Fig trees"):
        assert not _says_nothing(text, "Payroll")


def test_a_figure_is_no_year_and_a_year_no_figure() -> None:
    figure: frozenset[Value] = frozenset(["figure"])
    for text in ("in 2000 rows", "stored in 2048 bits", "in 1536 dimensions", "5 ad breaks", "in 1500 MB", "61 sq km"):
        assert holds_value(text, figure)
    for text in ("in A.D. 301", "in 301 BC", "AD 79", "since 1862 by fishermen", "built in 1923"):
        assert not holds_value(text, figure)
