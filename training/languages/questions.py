"""Makes questions over translated documentation by patterns of German, Spanish and French."""

import random
import re

from documents import Section, cut_passages

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜÁÉÍÓÚÑÀÂÇÈÊ¿„«“])|\n")
LEAD = r"(?:^|(?<=[.!?:]\s)|(?<=\n)|(?<=\n- ))"
VERBS = {
    "de": "verwenden|benutzen|geben|wählen|klicken|drücken|führen|öffnen|rufen|markieren|ziehen|aktivieren|nutzen|setzen|installieren"
    "|starten|doppelklicken|halten|legen|schalten|fügen|ändern|erstellen",
    "es": "use|utilice|haga|pulse|seleccione|elija|escriba|ejecute|abra|active|introduzca|arrastre|presione|puede|debe|marque|instale|cree"
    "|es necesario|basta|vaya",
    "fr": "utilisez|choisissez|cliquez|appuyez|sélectionnez|ouvrez|saisissez|tapez|exécutez|activez|vous pouvez|il faut|il suffit|faites"
    "|cochez|installez|créez|lancez|double-cliquez",
}
# What to do, and how.
TASKS = {
    "de": [
        re.compile(LEAD + rf"Um ([^,.:\n]{{8,90}}), ((?:{VERBS['de']}|können|müssen|sollten) Sie [^.\n]{{4,160}})"),
        re.compile(LEAD + rf"(?:Wenn|Falls) Sie ([^,.:\n]{{8,90}}) (?:möchten|wollen), ((?:{VERBS['de']}|können) Sie [^.\n]{{4,160}})"),
    ],
    "es": [
        re.compile(LEAD + rf"Para ([a-zñ][^,.:\n]{{8,90}}), ((?:{VERBS['es']}) [^.\n]{{4,160}})"),
        re.compile(LEAD + rf"Si (?:desea|quiere|necesita) ([a-z][^,.:\n]{{8,90}}), ((?:{VERBS['es']}) [^.\n]{{4,160}})"),
    ],
    "fr": [
        re.compile(LEAD + rf"(?:Pour|Afin de|Afin d’) ?([a-zé][^,.:\n]{{8,90}}), ((?:{VERBS['fr']}) [^.\n]{{4,160}})"),
        re.compile(LEAD + rf"Si vous (?:voulez|souhaitez|désirez) ([a-zé][^,.:\n]{{8,90}}), ((?:{VERBS['fr']}) [^.\n]{{4,160}})"),
    ],
}
HOW = {
    "de": ["Wie kann ich {}?", "Wie kann man {}?", "Was muss ich tun, um {}?", "Wie lässt sich {}?", "wie {}"],
    "es": ["¿Cómo puedo {}?", "¿Cómo se puede {}?", "¿Qué hay que hacer para {}?", "Cómo {}", "¿De qué manera puedo {}?"],
    "fr": ["Comment puis-je {} ?", "Comment {} ?", "Que faut-il faire pour {} ?", "Comment peut-on {} ?", "comment {}"],
}
WHAT_DOES = {
    "de": ["Was macht {}?", "Wozu dient {}?", "Was bewirkt {}?", "Was bedeutet {}?", "Wofür ist {}?"],
    "es": ["¿Qué hace {}?", "¿Para qué sirve {}?", "¿Qué significa {}?", "¿Cuál es la función de {}?"],
    "fr": ["Que fait {} ?", "À quoi sert {} ?", "Que signifie {} ?", "Quel est le rôle de {} ?"],
}
WHICH = {
    "de": {"option": "Welche Option", "file": "Welche Datei", "number": "Wie viele", "time": "Wann", "name": "Was"},
    "es": {"option": "¿Qué opción", "file": "¿Qué archivo", "number": "¿Cuántos", "time": "¿Cuándo", "name": "¿Qué"},
    "fr": {"option": "Quelle option", "file": "Quel fichier", "number": "Combien de", "time": "Quand", "name": "Quel"},
}
WHICH_NAME = {
    "de": ["Wie heißt", "Welches Programm", "Welcher Befehl", "Was", "Welchen Namen hat", "Wer"],
    "es": ["¿Cómo se llama", "¿Qué programa", "¿Qué orden", "¿Qué", "¿Quién"],
    "fr": ["Comment s’appelle", "Quel programme", "Quelle commande", "Quoi", "Qui"],
}
SHAPES = {
    "option": re.compile(r"(?<!\S)(?:--[a-z][\w-]+|-[a-zA-Z]\b)"),
    "file": re.compile(r"(?<!\w)[/~][\w.-]+(?:/[\w.*-]+)+|\b[\w-]+\.(?:conf|txt|html|cfg|deb|ini|xml|odt|pdf)\b"),
    "time": re.compile(r"\b(?:19|20)\d\d\b(?!\.\d)"),
    "number": re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)?(?= [A-Za-zÄÖÜäöüáéíóúñ]{3,})"),
    "name": re.compile(r"(?<=[a-zäöüß,áéíóúñ] )[A-Z][a-z]+(?:[A-Z]\w*)+\b|(?<=[«„“])[^»“”\n]{3,40}(?=[»“”])"),
}
MIN_WORDS, MAX_WORDS = 7, 34
# Licences, markup that was not understood, and addresses.
UNSUITABLE = re.compile(r"https?:|\.(?:UE|nf|fi|UR)\b|Copyright|Public License|[=|]{2}")
ENGLISH = set("and are be by for from has have is it not of or that the this to was were which will with you".split())
# Share of the other words that a question about a sentence leaves out.
DROPPED = 0.25


def make_questions(section: Section, language: str, rng: random.Random) -> list[dict]:
    """Returns rows of a question, its passage and headings, with the answer's place where it is known."""
    rows = []
    for passage in cut_passages(section):
        words = passage.lower().split()
        # Parts of the documentation are not translated.
        if UNSUITABLE.search(passage) or sum(word in ENGLISH for word in words) > 0.12 * len(words):
            continue
        made = [*ask_tasks(passage, language, rng), *ask_definitions(passage, section, language, rng), *ask_sentences(passage, language, rng)]
        if section.headings and rng.random() < 0.25:
            made.append((" ".join(section.headings[-2:]) if rng.random() < 0.3 else section.headings[-1], None, None))
        rng.shuffle(made)
        for question, start, end in made[:4]:
            row = {"language": language, "source": section.source, "headings": section.headings, "passage": passage, "question": question}
            rows.append(row if start is None else {**row, "start": start, "end": end})
    return rows


def ask_tasks(passage: str, language: str, rng: random.Random):
    for pattern in TASKS[language]:
        for match in pattern.finditer(passage):
            task = match.group(1)
            if language == "de":
                # "die Datei zu öffnen" becomes "die Datei öffnen"; "auszuschalten" becomes "ausschalten".
                task = re.sub(r"\bzu (?=\w+$)", "", re.sub(r"(?<=\w{2})zu(?=\w{3,}n$)", "", task))
            yield rng.choice(HOW[language]).format(task), *match.span(2)


def ask_definitions(passage: str, section: Section, language: str, rng: random.Random):
    for term, description in section.definitions:
        begin = passage.find(f"{term}: {description}"[:60])
        if begin < 0 or len(term) > 60 or len(description) < 25:
            continue
        sentence = SENTENCE.split(description)[0]
        start = passage.find(sentence, begin + len(term))
        if start < 0:
            continue
        if rng.random() < 0.6:
            yield rng.choice(WHAT_DOES[language]).format(re.split(r"[,=\[<(]", term)[0].strip()), start, start + len(sentence)
        else:
            lead = WHICH[language]["option"] if term.startswith("-") else rng.choice(WHICH_NAME[language])
            words = drop_words(sentence.rstrip(".:").split(), rng)
            yield close(f"{lead} {' '.join(words)[:1].lower()}{' '.join(words)[1:]}", language), begin, begin + len(term)


def ask_sentences(passage: str, language: str, rng: random.Random):
    """Asks for a number, a date, a file, an option or a name of a sentence, in its remaining words."""
    at = 0
    for sentence in SENTENCE.split(passage):
        begin = passage.find(sentence, at)
        at = begin + len(sentence)
        words = sentence.split()
        if not MIN_WORDS <= len(words) <= MAX_WORDS or rng.random() < 0.3:
            continue
        found = [(kind, match) for kind, shape in SHAPES.items() for match in shape.finditer(sentence)]
        if not found:
            continue
        kind, match = rng.choice(found)
        before, after = sentence[: match.start()].split(), sentence[match.end() :].rstrip(" .:;»“”").split()
        lead = rng.choice(WHICH_NAME[language]) if kind == "name" else WHICH[language][kind]
        unit = [after.pop(0)] if kind == "number" and after else []
        # In German the verb follows; the order of the rest is left as it is.
        rest = drop_words([*before, *after], rng) if rng.random() < 0.6 else [*drop_words(after, rng), *drop_words(before, rng)]
        if len(rest) >= 3:
            yield close(" ".join([lead, *unit, *rest]), language), begin + match.start(), begin + match.end()


def drop_words(words: list[str], rng: random.Random) -> list[str]:
    return [word.strip("„“”«»():;,") for word in words if rng.random() >= DROPPED]


def close(question: str, language: str) -> str:
    return f"{question} ?" if language == "fr" else f"{question}?"
