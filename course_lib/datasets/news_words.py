"""Word lists for generated news: own vocabulary for each topic, and words that several topics share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TopicWords:
    """Words of one topic, the frequent ones first."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    names: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOPICS: dict[str, TopicWords] = {
    "World": TopicWords(
        nouns=_words(
            "government president minister troops police election officials leader attack talks "
            "parliament border rebels court crisis army capital hostage ceasefire protest embassy "
            "refugees treaty envoy bombing violence coalition sanctions opposition militants aid "
            "militia province ambassador ballot soldiers convoy referendum uprising mosque village "
            "flood earthquake peacekeepers summit cabinet explosion prisoners campaign vote security"
        ),
        verbs=_words(
            "condemned killed warned voted seized denied accused fled ousted negotiated pledged "
            "resigned arrested freed bombed withdrew rejected urged protested signed"
        ),
        adjectives=_words(
            "foreign military political national armed humanitarian disputed nuclear northern southern "
            "presidential interim ethnic diplomatic besieged exiled"
        ),
        names=_words(
            "Baghdad Kabul Moscow Jakarta Nairobi Khartoum Tehran Kyiv Manila Gaza Belgrade Caracas "
            "Brussels Islamabad Seoul Darfur Athens"
        ),
    ),
    "Sports": TopicWords(
        nouns=_words(
            "team season coach game players match win league title cup goal fans victory injury "
            "quarterback tournament inning pitcher striker medal championship defence race round "
            "playoffs captain stadium midfielder rookie bat sprint relay wicket trophy touchdown "
            "referee squad draw set penalty dugout locker hurdles homer podium defeat"
        ),
        verbs=_words(
            "beat scored defeated played lost clinched trained trailed rallied tied pitched drafted "
            "signed benched raced qualified celebrated opened tackled finished"
        ),
        adjectives=_words(
            "unbeaten defending injured final away winning veteran offensive second-half olympic Grand "
            "straight last-minute top-seeded winless favourite"
        ),
        names=_words(
            "Rovers Hawks United Wolves Mariners Lions Falcons Sharks Bulls Athens Comets Rangers "
            "Wimbledon Giants Pirates Wanderers Tigers"
        ),
    ),
    "Business": TopicWords(
        nouns=_words(
            "company shares profit sales market stocks oil prices quarter investors earnings bank deal "
            "percent economy growth merger dollar revenue analysts retailer rates barrel jobs pension "
            "airline bid forecast trade inflation debt budget loan bonds factory takeover shareholders "
            "exports lawsuit regulators dividend payroll bankruptcy mortgage insurer crude executives "
            "supplier currency"
        ),
        verbs=_words(
            "rose fell cut reported slipped acquired raised forecast gained traded posted jumped sued "
            "expanded settled closed bought merged borrowed announced"
        ),
        adjectives=_words(
            "quarterly lower higher annual record financial weaker corporate consumer economic net "
            "public retail commercial costly bankrupt"
        ),
        names=_words(
            "Nortex Brightmart Halden Coastline Aerovia Wall-Street Frankfurt Tokyo London Petrowest "
            "Granville Unibanc Lakeland Merida Orion Foxworth Delmare"
        ),
    ),
    "Sci/Tech": TopicWords(
        nouns=_words(
            "software computer internet users scientists researchers technology phone system network "
            "space search web security virus chip version research mission satellite server data "
            "telescope planet spam download browser study music laptop device engineers games species "
            "code rocket battery wireless gene laboratory patch broadband cells camera orbit worm "
            "museum climate robots"
        ),
        verbs=_words(
            "launched released developed discovered unveiled downloaded patched orbited tested upgraded "
            "studied infected connected encrypted measured shipped detected announced designed mapped"
        ),
        adjectives=_words(
            "digital online wireless new open-source scientific mobile free faster genetic electronic "
            "virtual solar handheld orbital encrypted"
        ),
        names=_words(
            "Quillsoft Orion Lumenet Astra Pixelworks Mars Saturn Novabyte Tokyo Penguin Telesto Seoul "
            "Halden Cortexa Skylink Zephyr Bitforge"
        ),
    ),
}

SHARED = TopicWords(
    nouns=_words(
        "year week plan report group people country state city official day month deal decision time "
        "record world statement move home chief team source security fight program end lead future "
        "service announcement record number case meeting member agreement change demand project control "
        "power problem leader test run pressure price market start public million"
    ),
    verbs=_words(
        "said announced made took gave faced won called set expected showed offered agreed planned "
        "wanted ended began led held moved hit"
    ),
    adjectives=_words(
        "new first last big major likely early late strong top former local recent second long public "
        "key national final early international"
    ),
    names=_words(
        "Washington London Tokyo Sydney Paris Boston Athens Toronto California Beijing Texas Berlin"
    ),
)

AGENCIES = ("AP", "Reuters", "AFP", "Northern Wire", "Harbour News")
WEEKDAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
PREPOSITIONS = _words("in for after with over at from against on before near under")
OPENINGS = (
    "The",
    "A",
    "An official of the",
    "One of the",
    "More than half of the",
    "Two days after the",
    "Despite the",
    "Critics of the",
)
