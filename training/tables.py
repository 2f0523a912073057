"""Makes questions over records, tables and configuration files with invented content: a question must find its row and its column."""

import random
from datetime import date, timedelta

from data import Row

MAX_CHARACTERS = 900
# Shares of questions about a row or a column that the passage does not have.
MISSING_ROW = 0.2
MISSING_COLUMN = 0.06

FIRST = (
    "Ana Ben Chloe Dmitri Elif Femi Greta Hiro Ines Jonas Kofi Lena Marco Nadia Omar Priya Quinn Rosa Sven Tara Uma Viktor "
    "Wanda Yusuf Zoe"
).split()
LAST = (
    "Adler Baptiste Castro Dahl Eriksen Fischer Garcia Haddad Ito Jansen Kowalski Lindqvist Moreau Novak Okafor Petrov "
    "Quist Rossi Sato Tran Ueda Vogel Weber Yilmaz Zhang"
).split()
CITIES = (
    "Aarhus Bilbao Cork Dresden Espoo Faro Ghent Haarlem Innsbruck Jena Kaunas Leeds Malmo Nantes Oulu Porto Quimper Riga "
    "Split Turin Utrecht Vilnius Warsaw York Zagreb"
).split()
COUNTRIES = (
    "Austria Belgium Croatia Denmark Estonia Finland Greece Hungary Ireland Japan Kenya Latvia Mexico Norway Oman Peru "
    "Qatar Romania Spain Turkey Uganda Vietnam"
).split()
ADJECTIVES = (
    "amber brisk calm dusty eager fuzzy golden hollow icy jolly keen lunar mellow noble opal plain quiet rapid silver tidy "
    "urban vivid warm young zesty"
).split()
NOUNS = (
    "anchor badger cedar dolphin ember falcon glacier harbor iris jaguar kettle lantern meadow nebula otter pebble quartz "
    "raven sparrow timber umber violet willow yarrow zephyr"
).split()
THINGS = (
    "desk lamp|office chair|water bottle|hiking boot|rain jacket|coffee grinder|bread knife|garden hose|bike pump|"
    "wall clock|wool blanket|tea kettle|power drill|camping stove|yoga mat|phone stand|travel mug|paper shredder|"
    "step ladder|tool box"
).split("|")
TEAMS = "Sales Finance Support Engineering Legal Marketing Operations Security Research Design Logistics Facilities".split()
ROLES = (
    "office manager|data analyst|team lead|site engineer|payroll clerk|account manager|test engineer|product owner|"
    "librarian|dispatcher|recruiter|auditor"
).split("|")
WORDS = (
    "cache worker queue session upload index retry proxy metrics backup cluster replica stream export login mail search "
    "billing report token"
).split()
PARTS = "timeout limit size interval port path enabled level host max_entries ttl buffer retries threads".split()


def pick_person(rng):
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def pick_date(rng):
    day = date(2015, 1, 1) + timedelta(days=rng.randrange(4500))
    return rng.choice([day.isoformat(), day.strftime("%d.%m.%Y"), day.strftime("%B %d, %Y"), day.isoformat()])


def pick_price(rng):
    amount = rng.choice([f"{rng.randint(1, 400)}.{rng.randint(0, 99):02}", str(rng.randint(5, 4000)),
        f"{rng.randint(1, 40)},{rng.randint(100, 999)}"])
    return rng.choice(["{}", "${}", "€{}", "{} EUR", "{}"]).format(amount)


def pick_code(rng):
    letters = "".join(rng.choice("ABCDEFGHKLMNPRSTUVWX") for _ in range(rng.randint(2, 3)))
    return rng.choice([f"{letters}-{rng.randint(100, 9999)}", f"{letters}{rng.randint(10, 999)}", f"{rng.randint(1000, 99999)}",
        f"{letters}-{rng.randint(1, 99)}-{rng.choice('ABCX')}"])


def pick_version(rng):
    return rng.choice([f"{rng.randint(1, 24)}.{rng.randint(0, 12)}", f"{rng.randint(1, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
        str(rng.randint(2, 40))])


def pick_value(part, rng):
    """Returns a value that suits the part of the setting's name."""
    if part in ("timeout", "interval", "ttl"):
        return rng.choice([f"{rng.randint(1, 90)}{rng.choice(['s', 'm', 'ms', 'h'])}", str(rng.choice([5, 30, 60, 300, 3600, 15000]))])
    if part in ("size", "buffer"):
        return rng.choice([f"{rng.randint(1, 900)}{rng.choice(['mb', 'MB', 'KB', 'k', 'GB'])}", str(rng.choice([1024, 4096, 65536,
            1048576]))])
    if part == "port":
        return pick_number(rng)
    if part == "path":
        return rng.choice([f"/var/lib/{rng.choice(NOUNS)}", f"./{rng.choice(NOUNS)}/{rng.choice(WORDS)}",
            f"/srv/{rng.choice(NOUNS)}.db"])
    if part == "enabled":
        return rng.choice(["yes", "no", "on", "off", "true", "false", "auto"])
    if part == "level":
        return rng.choice(["info", "warn", "debug", "error", "strict", "2"])
    if part == "host":
        return rng.choice([f"{rng.choice(NOUNS)}.example.com", PICKS["ip"](rng), "localhost"])
    return str(rng.choice([1, 2, 3, 4, 5, 8, 10, 16, 50, 100, 128, 256, 500, 1000, 10000]))


def pick_number(rng):
    return str(rng.choice([rng.randint(0, 20), rng.randint(10, 900), rng.randint(1000, 90000)]))


PICKS = {
    "person": pick_person, "date": pick_date, "price": pick_price, "code": pick_code, "version": pick_version, "number": pick_number,
    "city": lambda rng: rng.choice(CITIES), "country": lambda rng: rng.choice(COUNTRIES), "team": lambda rng: rng.choice(TEAMS),
    "role": lambda rng: rng.choice(ROLES), "thing": lambda rng: f"{rng.choice(ADJECTIVES)} {rng.choice(THINGS)}".capitalize(),
    "codename": lambda rng: f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}".title(), "word": lambda rng: rng.choice(NOUNS).capitalize(),
    "phone": lambda rng: f"+{rng.randint(30, 49)} {rng.randint(100, 999)} {rng.randint(1000, 99999)}",
    "email": lambda rng: f"{rng.choice(FIRST).lower()}@{rng.choice(NOUNS)}.example",
    "ip": lambda rng: f"10.{rng.randint(0, 9)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}", "port": lambda rng: str(rng.choice([22, 80,
        443, 3000, 5432, 6380, 8443, 9200])),
    "host": lambda rng: f"{rng.choice(['web', 'db', 'app', 'mail', 'ci'])}{rng.randint(1, 30)}",
        "percent": lambda rng: f"{rng.randint(1, 99)}{rng.choice(['%', ' %', '.5%'])}",
    "yesno": lambda rng: rng.choice(["yes", "no"]), "hours": lambda rng: f"{rng.randint(6, 10)}:00–{rng.randint(16, 22)}:00",
        "status": lambda rng: rng.choice(["open", "closed", "active", "retired", "pending", "shipped"]),
    "days": lambda rng: f"{rng.randint(1, 90)} days", "weight": lambda rng: f"{rng.randint(1, 40)}.{rng.randint(0, 9)} kg",
        "room": lambda rng: f"{rng.choice('ABCD')}{rng.randint(101, 420)}",
    "text": lambda rng: f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)} {rng.choice(['check', 'review', 'notice', 'failure', 'request'])}",
}  # fmt: skip

# Kind of row; its key columns; its other columns: name, kind of value, and questions besides the general ones.
TABLES = [
    ("product", [("sku", "code"), ("name", "thing")], [
        ("price", "price", ["How much is {}?", "How much does {} cost?", "What does the {} cost?", "what do i pay for {}"]),
        ("stock", "number", ["How many {} are left?", "How many {} do we have?", "how many {} in stock"]), ("warehouse", "city",
            ["Where is {} stored?", "In which warehouse is {}?"]),
        ("supplier", "word", ["Who supplies {}?", "Where do we buy {}?"]), ("weight", "weight", ["How heavy is {}?"]), ("vat",
            "percent", ["Which tax rate applies to {}?"])]),
    ("employee", [("name", "person")], [
        ("role", "role", ["What does {} do?", "What is {}'s job?"]), ("department", "team", ["Which team is {} in?",
            "Where does {} work?"]), ("phone", "phone", ["How do I reach {}?", "What number do I call for {}?"]),
        ("email", "email", ["How can I write to {}?"]), ("room", "room", ["Where does {} sit?", "Where is the office of {}?"]),
            ("start date", "date", ["When did {} start?", "Since when is {} with us?"]), ("manager", "person",
            ["Who does {} report to?", "Who is the boss of {}?"])]),
    ("release", [("version", "version"), ("codename", "codename")], [
        ("released", "date", ["When was {} released?", "When did {} come out?"]), ("end of life", "date", ["How long is {} supported?",
            "When does support for {} end?", "Until when does {} get updates?"]), ("status", "status", ["Is {} still supported?"])]),
    ("server", [("host", "host")], [
        ("ip", "ip", ["What is the address of {}?", "Which IP has {}?"]), ("port", "port", ["Which port does {} use?",
            "What port is {} on?"]), ("owner", "team", ["Who runs {}?", "Who is responsible for {}?"]), ("os", "word",
            ["What runs on {}?"]), ("memory", "number", ["How much RAM has {}?"])]),
    ("customer", [("id", "code"), ("company", "codename")], [
        ("city", "city", ["Where is {} located?", "Where is {} based?"]), ("contact", "person", ["Who is our contact at {}?",
            "Whom do I call at {}?"]), ("discount", "percent", ["What discount does {} get?"]), ("since", "date",
            ["Since when is {} a customer?"]), ("plan", "word", ["Which plan is {} on?"])]),
    ("invoice", [("invoice", "code")], [
        ("amount", "price", ["How much was {}?", "What is the total of {}?"]), ("due", "date", ["When is {} due?",
            "When must {} be paid?"]), ("status", "status", ["Has {} been paid?"]), ("customer", "codename", ["Who was billed in {}?",
            "Who gets {}?"])]),
    ("country", [("country", "country"), ("code", "code")], [
        ("capital", "city", ["What is the capital of {}?"]), ("allowance", "price", ["What is the daily allowance in {}?",
            "How much can I claim per day in {}?"]), ("holidays", "number", ["How many public holidays does {} have?"]), ("currency",
            "word", ["How do people pay in {}?"])]),
    ("course", [("course", "codename"), ("number", "code")], [
        ("teacher", "person", ["Who teaches {}?"]), ("room", "room", ["Where does {} take place?"]), ("credits", "number",
            ["How many points does {} give?"]), ("starts", "date", ["When does {} begin?"])]),
    ("branch", [("branch", "city")], [
        ("opening hours", "hours", ["When is {} open?", "What time does {} close?"]), ("manager", "person", ["Who leads {}?",
            "Who runs the shop in {}?"]), ("phone", "phone", ["How do I call {}?"]), ("staff", "number",
            ["How many people work in {}?"])]),
    ("error", [("code", "code")], [
        ("message", "text", ["What does {} mean?", "What is error {}?"]), ("retry", "yesno", ["Can {} be retried?"]), ("status", "port",
            ["Which HTTP status belongs to {}?"]), ("team", "team", ["Who handles {}?"])]),
    ("project", [("project", "codename")], [
        ("lead", "person", ["Who leads {}?", "Who is in charge of {}?"]), ("budget", "price", ["How much money has {}?",
            "What may {} spend?"]), ("deadline", "date", ["When must {} be finished?", "Until when does {} run?"]), ("status",
            "status", ["How is {} going?"]), ("progress", "percent", ["How far is {}?"])]),
    ("leave", [("reason", "text"), ("country", "country")], [
        ("days", "days", ["How long do I get off for {}?", "How many days for {}?"]), ("paid", "yesno", ["Is {} paid?"]), ("notice",
            "days", ["How early must I announce {}?"]), ("approver", "role", ["Who approves {}?"])]),
]  # fmt: skip
GENERAL = ["What is the {column} of {key}?", "{key} {column}", "{column} of {key}", "What {column} does {key} have?",
    "Which {column} belongs to {key}?", "what is the {column} for {key}", "{column} {key}"]
REVERSE = ["Which {row} has the {column} {value}?", "Which {row} has {column} {value}?", "{row} with {column} {value}",
    "What is the {key_column} of the {row} with {column} {value}?"]


def vary_name(name: str, style: int) -> str:
    return [name, name.replace(" ", "_"), name.title(), name.upper().replace(" ", "_")][style]


class Text:
    """A text that remembers where values were written."""

    def __init__(self):
        self.parts: list[str] = []
        self.length = 0

    def add(self, part: str) -> tuple:
        start = self.length
        self.parts.append(part)
        self.length += len(part)
        return (start, self.length)

    def __str__(self):
        return "".join(self.parts)


def write_table(columns: list[str], rows: list[list[str]], rng: random.Random) -> tuple[str, list[list[tuple]]]:
    """Writes rows as the product stores records, as a Markdown table, or as columns. Returns the text and where each value is."""
    text, places = Text(), []
    style = rng.choices(["record", "inline", "markdown", "bars", "columns"], [5, 1, 4, 1, 1])[0]
    if style == "markdown":
        text.add("| " + " | ".join(columns) + " |\n|" + "|".join(rng.choice(["---", " --- ", ":---"]) for _ in columns) + "|\n")
    elif style == "columns":
        text.add("  ".join(column.ljust(12) for column in columns).rstrip() + "\n")
    for number, row in enumerate(rows):
        spans = []
        text.add("| " if style == "markdown" else "")
        for index, (column, value) in enumerate(zip(columns, row)):
            if style in ("record", "inline"):
                text.add(("\n" if style == "record" else " ") if index else "")
                text.add(f"{column}: ")
            elif index:
                text.add("  " if style == "columns" else " | ")
            spans.append(text.add(value))
            if style == "columns":
                text.add(" " * max(0, 12 - len(value)))
        text.add(" |" if style == "markdown" else "")
        if number + 1 < len(rows):
            text.add("\n\n" if style == "record" else "\n")
        places.append(spans)
    return str(text), places


def make_table_rows(rng: random.Random) -> list[Row]:
    kind, keys, others = rng.choice(TABLES)
    chosen = rng.sample(others, rng.randint(2, len(others)))
    style = rng.randrange(4)
    keys = keys if rng.random() < 0.7 else keys[:1]
    names = [vary_name(name, style) for name, *_ in [*keys, *chosen]]
    rows, seen = [], set()
    for _ in range(rng.randint(2, 12)):
        row = [PICKS[pick](rng) for _, pick, *_ in [*keys, *chosen]]
        if row[0] not in seen:
            seen.add(row[0])
            rows.append(row)
    while len(rows) > 2 and sum(len(" ".join(row)) + len(" ".join(names)) + 4 for row in rows) > MAX_CHARACTERS:
        rows.pop()
    passage, places = write_table(names, rows, rng)
    headings = rng.choice(["", f"{kind}s", f"{kind}s.csv", f"{kind.title()}s", f"Handbook › {kind.title()}s",
        f"{rng.choice(NOUNS)}-{kind}s.csv"])
    made = []
    for _ in range(2):
        at, column = rng.randrange(len(rows)), rng.randrange(len(chosen))
        name, _, asks = chosen[column]
        key_at = rng.randrange(len(keys))
        key, value = rows[at][key_at], rows[at][len(keys) + column]
        ask = rng.choice(asks) if rng.random() < 0.65 else rng.choice(GENERAL)
        subject = rng.choice([key, key, f"{kind} {key}", key.lower()])
        span = places[at][len(keys) + column]
        if rng.random() < MISSING_ROW:
            other = PICKS[keys[key_at][1]](rng)
            if other.lower() not in passage.lower():
                question = ask.format(rng.choice([other, f"{kind} {other}"]), key=other, column=name)
                made.append(Row(question, passage, headings, (), False, f"table/{kind}"))
            continue
        if rng.random() < MISSING_COLUMN:
            missing = [entry for entry in others if entry not in chosen]
            if missing:
                made.append(Row(rng.choice(missing[0][2]).format(subject), passage, headings, (), False, f"table/{kind}"))
            continue
        if rng.random() < 0.2 and sum(row[len(keys) + column] == value for row in rows) == 1 and passage.count(value) == 1:
            question = rng.choice(REVERSE).format(row=kind, column=name, value=value, key_column=keys[key_at][0])
            made.append(Row(question, passage, headings, places[at][key_at], True, f"table/{kind}", [key]))
            continue
        question = ask.format(subject, key=subject, column=name)
        made.append(Row(question, passage, headings, span, True, f"table/{kind}", [value]))
    return made


SETTING_NOTES = {
    "timeout": ["How long to wait for the {w} before giving up.", "Close an idle {w} after this time.",
        "Maximum time that a {w} may take."],
    "limit": ["The most {w} requests that are accepted at once.", "Upper bound for {w} entries."],
        "size": ["How large a {w} may become.", "Amount of memory reserved for the {w}."],
    "interval": ["How often the {w} is refreshed.", "Time between two runs of the {w}."], "port": ["Where the {w} listens.",
        "TCP number for {w} connections."], "path": ["Folder in which the {w} keeps its files.", "Location of the {w} data."],
    "enabled": ["Turns the {w} on or off.", "Whether the {w} is used at all."], "level": ["How much the {w} writes to the log.",
        "Verbosity of the {w}."], "host": ["Machine that serves the {w}.", "Name of the {w} server."],
    "max_entries": ["How many items the {w} remembers.", "The {w} drops the oldest items above this number."],
        "ttl": ["How long {w} data stays valid.", "Lifetime of a {w} entry."],
        "buffer": ["Memory that the {w} may fill before it flushes."],
    "retries": ["How many times a failed {w} is tried again."], "threads": ["Number of parallel {w} jobs."],
}  # fmt: skip
SETTING_ASKS = {
    "timeout": ["How long do we wait for the {w}?", "After what time does the {w} give up?", "When is an idle {w} closed?"],
        "limit": ["How many {w} requests are allowed at once?", "What is the most {w} entries?"],
    "size": ["How big can the {w} get?", "How much memory does the {w} have?"], "interval": ["How often does the {w} run?",
        "How frequently is the {w} refreshed?"], "port": ["Which port does the {w} listen on?", "What port is the {w} on?"],
    "path": ["Where are the {w} files?", "Where does the {w} store its data?"], "enabled": ["Is the {w} on?",
        "Is the {w} switched on?"], "level": ["How verbose is the {w}?", "What is the log level of the {w}?"],
        "host": ["On which server does the {w} run?", "Which machine serves the {w}?"],
    "max_entries": ["How many items does the {w} keep?"], "ttl": ["How long is {w} data kept?", "When does a {w} entry expire?"],
        "buffer": ["How much does the {w} buffer?"], "retries": ["How many times is the {w} retried?",
        "How often do we try the {w} again?"], "threads": ["How many {w} jobs run in parallel?"],
}  # fmt: skip
NAME_ASKS = ["Which setting controls {}?", "Which option is for {}?", "What do I set for {}?", "setting for {}",
    "Which parameter decides {}?"]


def make_setting_rows(rng: random.Random) -> list[Row]:
    """A configuration file: settings with comments, in sections."""
    assign = rng.choice([" = ", "=", " ", ": "])
    mark = rng.choice(["# ", "# ", "; ", "// "])
    join = rng.choice(["_", "-", "."])
    pairs = rng.sample([(word, part) for word in WORDS for part in PARTS], rng.randint(4, 10))
    text, settings = Text(), []
    section = ""
    for word, part in pairs:
        if text.length > MAX_CHARACTERS - 150:
            break
        if text.length:
            text.add(rng.choice(["\n", "\n\n"]))
        if rng.random() < 0.15:
            section = rng.choice(NOUNS)
            text.add(f"[{section}]\n")
        note = rng.choice(SETTING_NOTES[part]).format(w=word) if rng.random() < 0.6 else ""
        if note:
            text.add(mark + note + "\n")
        if rng.random() < 0.25:
            text.add(mark.strip() if rng.random() < 0.6 else mark)
        name = word + join + part.replace("_", join)
        name = name.upper().replace("-", "_").replace(".", "_") if assign == "=" and rng.random() < 0.5 else name
        name_span = text.add(name)
        text.add(assign)
        value = pick_value(part, rng)
        settings.append((word, part, name, name_span, value, text.add(value), note))
    passage = str(text)
    headings = rng.choice(["", "app.conf", f"{rng.choice(NOUNS)}.ini", "settings.yaml", "Configuration", f"{rng.choice(NOUNS)}.conf"])
    made = []
    for word, part, name, name_span, value, value_span, note in rng.sample(settings, 2):
        if rng.random() < MISSING_ROW:
            word, part = rng.choice(WORDS), rng.choice(PARTS)
            if (word, part) not in pairs:
                question = rng.choice([*SETTING_ASKS[part], "What is {w} " + part + "?"]).format(w=word)
                made.append(Row(question, passage, headings, (), False, "table/setting"))
            continue
        if note and rng.random() < 0.3:
            subject = note[0].lower() + note[1:].rstrip(".")
            subject = subject.replace("turns the", "turning the")
            question = rng.choice(NAME_ASKS).format(subject)
            made.append(Row(question, passage, headings, name_span, True, "table/setting", [name]))
            continue
        ask = rng.choice([*SETTING_ASKS[part], *SETTING_ASKS[part], f"What is {name} set to?", f"{name}", f"value of {name}",
            f"What is the {{w}} {part.replace('_', ' ')}?", f"{{w}} {part.replace('_', ' ')}"])
        made.append(Row(ask.format(w=word), passage, headings, value_span, True, "table/setting", [value]))
    return made


def make_table_questions(rng: random.Random, limit: int) -> list[Row]:
    rows: list[Row] = []
    while len(rows) < limit:
        rows += make_table_rows(rng) if rng.random() < 0.65 else make_setting_rows(rng)
    return rows[:limit]
