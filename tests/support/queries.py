"""Judged queries over the fixture vault ``tests/vaults/life``: what a person means, and the note they mean.

Paths are relative to the vault, with ``/``. A query names the one note that a reader would name first.
"""

from dataclasses import dataclass
from pathlib import Path

LIFE = Path(__file__).parents[1] / "vaults" / "life"

# One word in a folder that the vault's own ``.ignore`` names, one in a dot folder: no search may ever find them.
NEVER_FOUND = ("zyxwignored", "zyxwhidden")


@dataclass(frozen=True, slots=True)
class Judged:
    """A query and the path of the note that answers it."""

    query: str
    path: str


@dataclass(frozen=True, slots=True)
class JudgedLink:
    """A link exactly as written in the note at ``path`` and where it leads.

    ``target`` is None for a link that leads to no note. ``lands_on`` is the text that the heading or block named by the
    link starts with, None for the top of the note. Line ends are those of the note.
    """

    path: str
    written: str
    target: str | None
    lands_on: str | None = None


PARAPHRASES: tuple[Judged, ...] = (
    Judged("why did customers receive somebody else's delivery", "Work/Incident 2026-02-11.md"),
    Judged("the gears slip when pedalling hard uphill", "Work/POL-358 Freehub pawls.md"),
    Judged("how tight should I screw this component", "Work/Torque table.md"),
    Judged("avoiding the risk of a single vendor", "Work/adr-007.md"),
    Judged("customer wants a refund", "Work/Returns.md"),
    Judged("inventory synchronisation stopped working", "Work/Stock sync.md"),
    Judged("what changed when the new web store launched", "Work/Shop site v2.1.md"),
    Judged("liquidity gap at the end of the quarter", "Work/Weekly 2026-03-09.md"),
    Judged("manners when visiting a manufacturer in Japan", "Work/Sakai visit.md"),
    Judged("heating system shows a fault and the taps run cold", "House/Boiler.md"),
    Judged("am I covered if my bicycle gets stolen", "House/Insurance.md"),
    Judged("which day is the rubbish collected", "House/Bins.md"),
    Judged("getting rid of mould in the bedroom", "House/Damp.md"),
    Judged("internet connection lost, restart the modem", "House/Wi-Fi.md"),
    Judged("renting a vehicle by the hour", "House/Car share.md"),
    Judged("leg injury rehabilitation routine", "Health/Knee.md"),
    Judged("terrible headache with flickering vision", "Health/Migraine.md"),
    Judged("am I anaemic", "Health/Bloods 2026.md"),
    Judged("can't fall back asleep, mind racing in the middle of the night", "Health/Sleep.md"),
    Judged("pests eating my vegetables after dark", "Garden/Slugs.md"),
    Judged("turning kitchen scraps into soil", "Garden/Compost.md"),
    Judged("grammatical case endings of nouns", "Languages/Przypadki.md"),
    Judged("verb pairs for finished and unfinished actions", "Languages/Aspekt.md"),
    Judged("embarrassing mistakes with similar sounding foreign vocabulary", "Languages/False friends.md"),
    Judged("things to bring in the suitcase", "Travel/Checklist.md"),
    Judged("schedule of the journey to grandmother's party in Poland", "Travel/Łódź 2026.md"),
    Judged("crossing Europe overland instead of taking the plane", "Travel/Kraków by night train.md"),
    Judged("novel about a woman recording the sea in a dead port", "Books/The Salt Almanac.md"),
    Judged("in praise of maintenance workers", "Books/Quiet Machines.md"),
    Judged("saving for retirement", "Money/Pension.md"),
    Judged("monthly household spending and home loan", "Money/Budget.md"),
    Judged("gift ideas for my spouse", "People/Wojtek.md"),
    Judged("stuffed dumplings with potato and cheese", "Recipes/Pierogi ruskie.md"),
    Judged("bread dough that proves in the refrigerator until morning", "Recipes/Sourdough - weekday.md"),
    Judged("vegan dish with pulses, ready in half an hour", "Recipes/Lentil soup.md"),
    Judged("bicycle that stands upright on its own while you put cargo on it", "Ideas/Rack with legs.md"),
    Judged("elderly hikers crossing the country on foot in the dark", "Journal 2025.md"),
    Judged("repairing the broken tower timepiece at a primary school", "Journal 2025.md"),
    Judged("employees taking over ownership of the company", "Journal 2025.md"),
    Judged("locked out of our house without a key", "awkward/many.dots.in.name.v1.2.md"),
)

KEYWORDS: tuple[Judged, ...] = (
    Judged("HA-2511-C quarantine", "Work/POL-358 Freehub pawls.md"),
    Judged("E5113", "Work/Error codes.md"),
    Judged("STK-NEG", "Work/Error codes.md"),
    Judged("labeld.toml", "Work/Incident 2026-02-11.md"),
    Judged("getStockLevel", "Work/Stock sync.md"),
    Judged("0042_add_vat_region", "Work/Shop site v2.1.md"),
    Judged("SPR-24-S", "Work/adr-007.md"),
    Judged('"every tenth label"', "Work/Incident 2026-02-11.md"),
    Judged("192.168.4.1", "House/Wi-Fi.md"),
    Judged("HH-80-22917", "House/Insurance.md"),
    Judged("F22", "House/Boiler.md"),
    Judged("WX7QPL", "Travel/Łódź 2026.md"),
    Judged("lodz fabryczna", "Travel/Łódź 2026.md"),
    Judged("Łódź Fabryczna", "Travel/Łódź 2026.md"),
    Judged("zdzblo", "Languages/Słówka.md"),
    Judged("narzednik", "Languages/Przypadki.md"),
    Judged("bialej kielbasy", "Recipes/Żurek.md"),
    Judged('"nadal wygrywasz"', "Languages/Dziennik.md"),
    Judged("味噌", "Recipes/味噌汁.md"),
    Judged("部品", "Work/Sakai visit.md"),
    Judged("しりとり", "Languages/漢字.md"),
    Judged("金沢", "Travel/Japan 2025.md"),
    Judged("tillsticker", "awkward/latin-1.md"),
    Judged("frostlogger", "awkward/nul.md"),
    Judged("thumbscrew", "awkward/long line.md"),
    Judged("C++", "awkward/C++ and .NET.md"),
    Judged("klister", "awkward/bom.md"),
    Judged("piano tuner", "awkward/broken yaml.md"),
    Judged("otherending", "awkward/README.markdown"),
    Judged("Tryphena Oddy", "Journal 2025.md"),
    Judged("🍋", "Recipes/🍋 Lemon curd.md"),
    Judged('"Room temperature until 15:00"', "Recipes/Sourdough - weekend.md"),
    Judged("PrettyFlyForAWiFi", "House/Wi-Fi.md"),
)

ALIASES: tuple[Judged, ...] = (
    Judged("pawl problem", "Work/POL-358 Freehub pawls.md"),
    Judged("springs decision", "Work/adr-007.md"),
    Judged("the boss", "People/Mr Lund.md"),
    Judged("działka", "Garden/Allotment.md"),
    Judged("Lodz trip", "Travel/Łódź 2026.md"),
    Judged("sour rye soup", "Recipes/Żurek.md"),
    Judged("堺", "Work/Sakai visit.md"),
    Judged("bare properties", "awkward/only front matter.md"),
    Judged("loft ladder", "awkward/crlf.md"),
    Judged("winter wax", "awkward/bom.md"),
)

LINKS: tuple[JudgedLink, ...] = (
    JudgedLink("Home.md", "[[Hollow Axle]]", "Work/Hollow Axle.md"),
    JudgedLink("Home.md", "[[adr-007|springs decision]]", "Work/adr-007.md"),
    JudgedLink("Home.md", "[error codes](Work/Error%20codes.md)", "Work/Error codes.md"),
    JudgedLink("Home.md", "[Stock sync](<Work/Stock sync.md>)", "Work/Stock sync.md"),
    JudgedLink("Home.md", "[[Shop site v2.1]]", "Work/Shop site v2.1.md"),
    JudgedLink("Home.md", "[[🍋 Lemon curd]]", "Recipes/🍋 Lemon curd.md"),
    JudgedLink("Home.md", "[[味噌汁]]", "Recipes/味噌汁.md"),
    JudgedLink("Home.md", "[[Travel/Checklist|what to pack]]", "Travel/Checklist.md"),
    JudgedLink("Home.md", "[[Will and papers]]", None),
    JudgedLink("Home.md", "[[Bike fit]]", None),
    JudgedLink("Work/Hollow Axle.md", r"[[Tamsin\|Tam]]", "People/Tamsin.md"),
    JudgedLink("Work/Hollow Axle.md", "[here][old]", "Work/Returns.md"),
    JudgedLink("Work/Hollow Axle.md", "[[Work/Checklist|opening checklist]]", "Work/Checklist.md"),
    JudgedLink("Work/POL-358 Freehub pawls.md", "[[adr-007#Decision]]", "Work/adr-007.md", "## Decision"),
    JudgedLink(
        "Work/POL-358 Freehub pawls.md", "[[Weekly 2026-03-09#Actions]]", "Work/Weekly 2026-03-09.md", "## Actions"
    ),
    JudgedLink(
        "Work/POL-358 Freehub pawls.md", "[[#What we know]]", "Work/POL-358 Freehub pawls.md", "## What we know"
    ),
    JudgedLink("Work/POL-358 Freehub pawls.md", "[[#^stopgap]]", "Work/POL-358 Freehub pawls.md", "Fit double springs"),
    JudgedLink(
        "Work/Incident 2026-02-11.md",
        "[[Hollow Axle#^no-friday|never on a Friday]]",
        "Work/Hollow Axle.md",
        "Monday stand-up",
    ),
    JudgedLink(
        "Work/Shop site v2.1.md",
        "[other list](#actions-1)",
        "Work/Shop site v2.1.md",
        "## Actions\n- [x] second list by mistake",
    ),
    JudgedLink("Work/Sakai visit.md", "[[HA]]", "Work/Hollow Axle.md"),
    JudgedLink("Health/Physio diary.md", r"[[Knee\|the knee]]", "Health/Knee.md"),
    JudgedLink("Health/Physio diary.md", "[[knee]]", "Health/Knee.md"),
    JudgedLink("Work/Error codes.md", r"[[Incident 2026-02-11\|the incident]]", "Work/Incident 2026-02-11.md"),
    JudgedLink(
        "Work/Stock sync.md",
        "[the codes](./Error%20codes.md#exit-codes-of-stockd)",
        "Work/Error codes.md",
        "# Exit codes of stockd",
    ),
    JudgedLink("Work/Stock sync.md", "[the\npeople](<Hollow Axle.md>)", "Work/Hollow Axle.md"),
    JudgedLink("Work/Stock sync.md", "[[../Work/Torque table|torques]]", "Work/Torque table.md"),
    JudgedLink("Work/Returns.md", "![[Work/Checklist#Unboxing]]", "Work/Checklist.md", "## Unboxing"),
    JudgedLink("Work/Weekly 2026-03-02.md", "[[POL-358]]", "Work/POL-358 Freehub pawls.md"),
    JudgedLink("Work/Weekly 2026-03-09.md", "[sheet](../Travel/%C5%81%C3%B3d%C5%BA%202026.md)", "Travel/Łódź 2026.md"),
    JudgedLink("Travel/Łódź 2026.md", "[[Checklist]]", "Travel/Checklist.md"),
    JudgedLink("Travel/Łódź 2026.md", "[[Dziennik#Przemowa]]", "Languages/Dziennik.md", "## Przemowa"),
    JudgedLink("Recipes/味噌汁.md", "[[Żurek#^nie-gotowac|żurek]]", "Recipes/Żurek.md", "Kiełbasę gotować 20 minut"),
    JudgedLink("Daily/2026-03-09.md", "[[Torque table#X^]]", "Work/Torque table.md", "## X^"),
    JudgedLink("Daily/2026-03-09.md", "[list](../Garden/Seed%20order.md)", "Garden/Seed order.md"),
    JudgedLink("Daily/2026-03-08.md", "![[Allotment#Jobs for March]]", "Garden/Allotment.md", "# Jobs for March"),
    JudgedLink("Daily/2026-03-09.md", "[web copy](../Work/Torque%20table.md#x-1)", "Work/Torque table.md", "## X^"),
    JudgedLink("Daily/2026-03-09.md", "[[Migraine#^limit]]", "Health/Migraine.md", "Tablet at the first zigzag"),
    JudgedLink("Daily/2026-03-01.md", "[boiler](/House/Boiler.md)", "House/Boiler.md"),
    JudgedLink("Daily/2026-03-14.md", "[[Lodz trip]]", "Travel/Łódź 2026.md"),
    JudgedLink("Daily/2026-03-14.md", "[[Passport renewal]]", None),
    JudgedLink("Books/Reading list.md", "[[Bike fit]]", None),
    JudgedLink("awkward/crlf.md", "[[Knee]]", "Health/Knee.md"),
    JudgedLink("awkward/broken yaml.md", "[piano shop](<https://example.org/tuners near me.md>)", None),
    JudgedLink("awkward/line ends.md", "[[Slugs]]", "Garden/Slugs.md"),
)
