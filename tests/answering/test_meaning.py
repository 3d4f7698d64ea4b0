"""Answers say the fact that is asked for, of the thing that is meant, and what belongs together as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.local_site import SITE, LocalSite, page
from webrag_core.answering.manager import Manager, Question
from webrag_core.answering.models import Answer
from webrag_core.config import Settings
from webrag_core.indexing.pipeline import Corpus


def _settings_page(version: str, port: int, idle: int) -> str:
    return page(
        f"Settings of Alder {version}",
        f"<p>By default the daemon listens on port {port}. The key <code>listen</code> changes it.</p><h2>Limits</h2>"
        f"<p>A guest that is silent is sent away after {idle} seconds. The key <code>idle.limit</code> is the idle"
        " limit.</p>",
    )


def _pan(name: str, weight: int) -> str:
    return page(
        f"Fennel {name} pan",
        f"<p>The Fennel {name} is a pan for gas and induction.</p><h2>Weight</h2><p>It weighs {weight} g without its"
        " lid.</p>",
    )


RETURNS = "<p>Goods may be brought back within 28 days with the receipt.</p>"
SHOPS = {f"/shop{number}": page(f"Shop {number}", f"<p>Shop {number} is open.</p>{RETURNS}") for number in range(8)}
SITE_OF_LOOK_ALIKES = LocalSite(
    {
        "/2.4/settings": _settings_page("2.4", 7101, 31),
        "/3.0/settings": _settings_page("3.0", 8202, 47),
        "/k120": _pan("K120", 812),
        "/k130": _pan("K130", 745),
        "/k120-mini": _pan("K120 Mini", 390),
        "/codes": page(
            "Codes of the boiler",
            "<p>The display of the boiler shows these codes:</p><ul><li>F21: The tank is empty.</li><li>F22: The flame"
            " went out.</li><li>F23: The flue is blocked.</li></ul>",
        ),
        "/towns": page(
            "Towns with a shop",
            "<p>There are shops in these towns:</p><ul><li>Ashford</li><li>Birchwood</li><li>Cedarville</li>"
            "<li>Dunmore</li></ul>",
        ),
        "/drain": page(
            "Drain the boiler",
            "<p>Drain the boiler once a year.</p><h2>Steps</h2><ol><li>Close the gas.</li><li>Open the lower valve."
            "</li><li>Wait until no water comes.</li><li>Close it again.</li></ol>",
        ),
        "/lines": page(
            "Tools of the drawing board",
            "<h2>Ruler</h2><p>This tool draws a straight line on the board.</p><p>Press the pen down where it is to"
            " begin. Lift the pen at its end.</p><h2>Sponge</h2><p>Wipe with it.</p>",
        ),
        "/keepers": page(
            "Rules of the zoo",
            "<h2>Keepers</h2><p>It is the duty of every keeper—</p><p>(a) to feed the animals at noon;</p>"
            "<p>(b) to clean the cages;</p><p>(c) to lock the gate at night.</p>",
        ),
        "/tickets": page(
            "Tickets of the cable car",
            "<p>At the counter you choose among three kinds of tickets:</p><p><strong>Single</strong> - one way, on the"
            " same day.</p><p><strong>Return</strong> - up and down within a week.</p><p><strong>Season</strong> - as"
            " often as you like until the snow comes.</p>",
        ),
        "/retired": page(
            "Retired trains",
            "<p>These trains are no longer in use. Spare parts are sold until the store is empty.</p>"
            "<ul><li><a href='/jay'>Jay</a></li><li><a href='/wren'>Wren</a></li></ul>",
        ),
        "/formats": page(
            "Formats of the map",
            "<p>These formats of the map exist. Below each of them is described.</p><ul><li><a href='#a'>Strip</a></li>"
            "<li><a href='#b'>Grid</a></li></ul><h2 id=a>Size of a strip</h2><p>It is a yard long.</p>"
            "<h2 id=b>Size of a grid</h2><p>It is as long as it is wide.</p>",
        ),
        "/gritstone64": page(
            "Gritstone64",
            "<h2>Availability</h2><ul><li>Price: 35 EUR (2 litres)</li><li>Price: 25 EUR (1 litre)</li></ul>",
        ),
        "/millgritstone64": page(
            "MillGritstone64",
            "<h2>Availability</h2><ul><li>Price: 60 EUR (<a href='https://shop.example/mg2'>MillGritstone64 of 2"
            " litres</a>)</li></ul>",
        ),
        "/beacon": page(
            "Beacon",
            "<h2>Firewall</h2><p>If the beacon is behind a router, set the router up to pass its port on. These ports"
            " of the beacon are passed on:</p><ul><li>UDP 31007</li></ul>",
        ),
        "/elmstead": page(
            "Elmstead",
            "<p>Elmstead is a town on the river Alm.</p><table><tr><th>Area</th><td>454 km²</td></tr><tr><th>Mayor</th>"
            "<td>Ann Ode</td></tr><tr><th>Height</th><td>61 m</td></tr></table>",
        ),
        "/passes": page(
            "Passes for the cable car",
            "<p>Choose the pass that fits your stay.</p><table><tr><th>Pass</th><th>Price</th></tr>"
            "<tr><td>1-day</td><td>19 EUR</td></tr><tr><td>6-day</td><td>88 EUR</td></tr></table>"
            "<p>1-day passes end at 16:30 of that day. 6-day passes end at 22:00 of the last day.</p>",
        ),
        "/ferries": page(
            "Oxmoor",
            "<h2>Ferries</h2><p>departures: 14 a day</p><p>note: ferries of Oxmoor are run by the town since the"
            " railway was closed</p><h2>Mines</h2><p>one of them is still open</p>",
        ),
        "/gate": page(
            "Help with the gate",
            "<table><tr><th>Table of Contents</th></tr><tr><td>Bell of the gate Hinge of the gate Lock of the gate</td>"
            "</tr></table><dl><dt>The bell of the gate is far too loud!</dt><dd>Turn the small screw below it.</dd>"
            "<dt>The gate squeaks!</dt><dd>Put wax on its hinge.</dd></dl>",
        ),
        "/fields": page(
            "Fields of a delivery note",
            "<table><tr><td>consignee</td><td>the person who signs for the goods at the door of the warehouse</td></tr>"
            "<tr><td>tare</td><td>what the box weighs without the goods that are in it</td></tr></table>",
        ),
        **SHOPS,
        "/ja": page("案内", "<p>駐車場の料金は一泊五百円です。</p><p>温泉は午後三時から利用できます。</p>"),
    }
)


async def answers_of(settings: Settings, questions: Sequence[str]) -> dict[str, Answer]:
    """Answers to questions about one corpus of the site."""
    async with Corpus.open(settings, SITE_OF_LOOK_ALIKES) as corpus:
        for path in SITE_OF_LOOK_ALIKES.pages:
            await corpus.add(f"{SITE.rstrip('/')}{path}")
        manager = Manager(corpus)
        return {question: await manager.answer(Question(question)) for question in questions}


SAID = {  # what is said to a question, and what must not be
    "What port does Alder 2.4 listen on by default?": (["7101"], ["8202"]),
    "What is the idle limit in Alder 3.0?": (["47 seconds"], ["31 seconds"]),
    "When does the 6-day pass end?": (["22:00"], ["16:30"]),
    "oxmoor ferries": (["14 a day"], []),
    "bell of the gate too loud": (["small screw"], ["loud! |", "Hinge of the gate Lock"]),
    "How much does the Fennel K130 weigh?": (["745 g"], ["812 g", "390 g"]),
    "How heavy is the Fennel K120 Mini?": (["390 g"], ["812 g", "745 g"]),
    "Which is lighter, the Fennel K120 or the Fennel K130?": (["812 g", "745 g"], ["390 g"]),
    "What does the code F22 on the boiler mean?": (["flame went out"], ["tank is empty", "flue is blocked"]),
    "Which towns have a shop?": (["Ashford", "Birchwood", "Cedarville", "Dunmore"], []),
    "What are the duties of a keeper?": (["feed the animals", "clean the cages", "lock the gate"], []),
    "How do I drain the boiler?": (["Close the gas", "Open the lower valve", "Wait until", "Close it again"], []),
    "How do I draw a straight line on the board?": (["Press the pen down", "Lift the pen"], ["Wipe"]),
    "Within how many days may goods be brought back?": (["28 days"], []),
    "What kinds of tickets are there for the cable car?": (["Single", "Return", "Season"], []),
    "Which trains are no longer in use?": (["Jay", "Wren"], []),
    "What is the price of the MillGritstone64 with 2 litres?": (["60 EUR"], ["35 EUR", "25 EUR"]),
    "beacon port router": (["31007"], []),
    "Which formats of the map are there?": ([], [" | Strip | ", " | Grid | "]),  # entries of the page's contents
    "What is the area of Elmstead?": (["Area – 454 km²"], ["Mayor: Area"]),
    "Who is the consignee on a delivery note?": (["signs for the goods"], []),
    "駐車場の料金は一泊いくらですか？": (["五百円"], []),
}
UNKNOWN = ("What port does Alder 2.7 listen on?", "How do I drain the boiler of Zanzibar?", "What does F29 mean?")


def test_what_is_said_is_the_fact_of_the_thing_that_is_meant(settings: Settings) -> None:
    found = asyncio.run(answers_of(settings, [*SAID, *UNKNOWN]))
    for question, (wanted, unwanted) in SAID.items():
        answer = found[question]
        shown = answer.sentences or [answer.citation(highlight.citation) for highlight in answer.highlights[:1]]
        text = " | ".join(sentence.text if hasattr(sentence, "text") else sentence.quote for sentence in shown)
        assert [fact for fact in wanted if fact not in text] == [], (question, text)
        if answer.sentences:  # a passage is shown as it stands
            assert [fact for fact in unwanted if fact in text] == [], (question, text)
    steps = " ".join(sentence.text for sentence in found["How do I drain the boiler?"].sentences)
    places = [steps.index(step) for step in SAID["How do I drain the boiler?"][0]]
    assert places == sorted(places)
    for question in UNKNOWN:
        answer = found[question]
        assert answer.band in ("low", "insufficient"), (question, answer.sentences)
        assert any("no passage that was found speaks of" in note for note in answer.notes), question


def test_a_sentence_of_many_pages_is_said_once_and_no_less_than_that_of_a_single_page(settings: Settings) -> None:
    question = Question("Within how many days may goods be brought back?")

    async def work() -> tuple[Answer, Answer]:
        async with Corpus.open(settings, SITE_OF_LOOK_ALIKES) as corpus:
            first, *others = (f"{SITE.rstrip('/')}{path}" for path in SHOPS)
            await corpus.add(first)
            single = await Manager(corpus).answer(question)
            for url in others:
                await corpus.add(url)
            return single, await Manager(corpus).answer(question)

    single, many = asyncio.run(work())
    assert [sentence.text for sentence in many.sentences] == [sentence.text for sentence in single.sentences]
    assert many.sentences
    assert "the same stands on 7 more pages" in many.notes
