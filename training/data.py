"""Reads the training data and turns it into rows: a question, a passage with its headings, and what is known about them."""

import gzip
import hashlib
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

HEADING_SEPARATOR = " › "
# Passages of the product have up to 800 characters by default; longer training texts are cut to windows of up to 1,700.
MAX_CHARACTERS = 1400
QAMR_QUESTIONS_PER_SENTENCE = 12
SPAN_FILES = [
    "squadshifts-new_wiki", "squadshifts-reddit", "squadshifts-amazon_reviews", "squad11-part", "nq-oracle", "qed-nq", "clapnq", "qamr",
    "policyqa", "conditionalqa", "fairytaleqa", "covidqa", "sleepqa", "ni-tweetqa", "ni-misc", "hardneg-noanswer",
]  # fmt: skip
RANK_FILES = [
    "docs-debian", "docs-cloudflare", "docs-windows-itpro", "docs-sourcegraph-handbook", "wikiqa", "trecqa", "selqa", "squad-test-sent",
    "boolq", "conditionalqa", "covid-faq", "medquad",
]  # fmt: skip


@dataclass
class Row:
    question: str
    passage: str
    headings: str = ""
    # Characters of the answer in the passage; None: not known; an empty tuple: the passage has no answer.
    answer: tuple | None = None
    # Whether the passage belongs to the question.
    relevant: bool = True
    source: str = ""
    # All texts that count as the answer, for evaluation and for choosing negatives.
    answers: list = field(default_factory=list)
    language: str = "en"

    @property
    def text(self) -> str:
        return f"{self.headings}\n{self.passage}" if self.headings else self.passage


def read_lines(path: Path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def is_held_out(key: str, share: float) -> bool:
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF < share


def cut_window(passage: str, answer: tuple | None, rng: random.Random) -> tuple[str, tuple | None]:
    """Cuts a long passage to a window with the answer, at the ends of sentences or lines where possible."""
    if len(passage) <= MAX_CHARACTERS:
        return passage, answer
    length = rng.randint(700, MAX_CHARACTERS)
    if answer:
        latest = max(0, min(answer[0], len(passage) - length))
        begin = rng.randint(min(latest, max(0, answer[1] - length)), latest)
    else:
        begin = rng.randint(0, len(passage) - length)
    if begin > 0:
        breaks = [match.end() for match in re.finditer(r"[.!?]\s+|\n+", passage[: begin + 1])]
        begin = breaks[-1] if breaks and begin - breaks[-1] < 300 else begin
    window = passage[begin : begin + length + 300]
    if answer:
        moved = (answer[0] - begin, answer[1] - begin)
        return (window, moved) if moved[1] <= len(window) else (window, ())
    return window, answer


def load_spans(folder: Path, rng: random.Random) -> list[Row]:
    rows = []
    for name in SPAN_FILES:
        asked: dict[str, int] = {}
        for entry in read_lines(folder / f"{name}.jsonl.gz"):
            passage, answers = entry["passage"], [answer for answer in entry["answers"] if answer.strip()]
            if name == "qamr":
                asked[passage] = asked.get(passage, 0) + 1
                if asked[passage] > QAMR_QUESTIONS_PER_SENTENCE:
                    continue
            answer = ()
            if answers:
                starts = entry.get("starts") or [passage.find(answers[0])]
                begin = starts[0]
                if begin < 0 or passage[begin : begin + len(answers[0])] != answers[0]:
                    begin = passage.find(answers[0])
                if begin < 0:
                    continue
                answer = (begin, begin + len(answers[0]))
            window, answer = cut_window(passage, answer, rng)
            rows.append(Row(entry["question"], window, "", answer, bool(answers), name, answers))
    return rows


def load_ranks(folder: Path, rng: random.Random) -> list[Row]:
    rows = []
    for name in RANK_FILES:
        for entry in read_lines(folder / f"rank-{name}.jsonl.gz"):
            title = entry.get("title") or ""
            question = entry["question"]
            # Headings of documentation repeat the title; half of them keep it, as a question may name its subject.
            if title and question.endswith(title) and question != title and rng.random() < 0.5:
                question = question[: -len(title)].strip()
            headings = title if title and rng.random() < 0.6 else ""
            window, _ = cut_window(entry["passage"], None, rng)
            rows.append(Row(question, window, headings, None, entry["label"] == 1, f"rank-{name}"))
    return rows


def load_documentation(path: Path) -> list[Row]:
    """Loads the questions that were written for this model over software documentation and handbooks."""
    rows = (make_written_row(entry, entry["headings"], entry["passage"], entry["package"]) for entry in read_lines(path))
    return [row for row in rows if row]


def make_written_row(entry: dict, headings: list[str], passage: str, package: str) -> Row | None:
    """Returns no row if the answer is not in the passage."""
    other_headings = [heading for heading in headings if heading and heading not in passage]
    row = Row(entry["question"], passage, HEADING_SEPARATOR.join(other_headings), (), False, f"written/{package}")
    answer = entry["answer"]
    if answer:
        begin = entry.get("start", passage.find(answer))
        if passage[begin : begin + len(answer)] != answer:
            begin = passage.find(answer)
        # A negative offset is in the headings, which stand before the passage.
        if begin < 0 and answer in row.headings:
            begin = row.headings.find(answer) - len(row.headings) - 1
        elif begin < 0:
            return None
        row.answer, row.relevant, row.answers = (begin, begin + len(answer)), True, [answer]
    return row


def load_neighbours(path: Path) -> tuple[list[Row], list[Row]]:
    """Loads the questions that were written over neighbouring passages. Returns their rows, and those of passages that do not answer."""
    written, others = [], []
    for entry in read_lines(path):
        passages = entry["passages"]
        for question in entry["questions"]:
            at = question["passage"]
            row = make_written_row(question, passages[at]["headings"], passages[at]["passage"], entry["package"])
            if not row:
                continue
            row.language = entry.get("language", "en")
            written.append(row)
            for index, other in enumerate(passages):
                if index != at and index not in question.get("also", []):
                    others.append(make_written_row({**question, "answer": None}, other["headings"], other["passage"], entry["package"]))
    return written, others


def load_code(path: Path) -> list[Row]:
    """Loads the questions over source code. Each line is a passage with its questions: form, question, and where the answer is."""
    rows = []
    for entry in read_lines(path):
        passage = entry["passage"]
        headings = HEADING_SEPARATOR.join(heading for heading in entry["headings"] if heading not in passage)
        for form, question, *span in entry["questions"]:
            row = Row(question, passage, headings, (), bool(span), f"code/{entry['package']}")
            # Without an offset the passage is the right one, but nothing in it says the answer in words.
            if span:
                row.answer = tuple(span) if span[0] >= 0 else None
                row.answers = [passage[slice(*span)]] if span[0] >= 0 else []
            rows.append(row)
    return rows


def load_languages(path: Path, rng: random.Random) -> list[Row]:
    """Loads questions in other languages than English, made by languages/make.py."""
    rows = []
    for entry in read_lines(path):
        passage, headings = entry["passage"], entry.get("headings", [])
        above = HEADING_SEPARATOR.join(heading for heading in headings if heading and heading not in passage)
        row = Row(entry["question"], passage, above, None, True, f"{entry['language']}/{entry['source']}")
        if "start" in entry:
            answer = (entry["start"], entry["end"])
            row.answers = [passage[slice(*answer)]]
            row.passage, row.answer = cut_window(passage, answer, rng)
        rows.append(row)
    return rows


def get_language(row: Row) -> str:
    """Questions over English passages are a language of their own."""
    language, source = row.source.split("/", 1)
    return f"{language} crossed" if source.startswith("crossed-") else language


LEAD = r"(?:^|(?<=[.!?]\s)|(?<=\n)|(?<=\n- )|(?<=\n\* ))"
VERBS = (
    "use|run|set|call|add|pass|specify|enter|type|press|click|choose|select|enable|disable|install|configure|create|open|execute|include"
)
TO_USE = re.compile(LEAD + rf"To ([a-z][^,.:;\n]{{8,90}}), (?:you can |you must |you need to |simply |just )?((?:{VERBS}) [^.\n]{{4,140}})")
IF_WANT = re.compile(
    LEAD + rf"If you (?:want|need|wish|would like) to ([a-z][^,.:;\n]{{8,90}}), (?:you can |you should |then )?((?:{VERBS}) [^.\n]{{4,140}})"
)
CAN_BY = re.compile(LEAD + r"You can ([a-z][^,.:;\n]{8,80}?) (by (?:[a-z]+ing) [^.\n]{4,120})")
DEFAULT = re.compile(r"`?([A-Za-z][\w.\-]{2,40})`?[^\n.]{0,160}?[.,;(\s][Dd]efaults?(?: value)?(?: is|:| to|=)+:? *`?([^`\n.,;()]{1,40})`?")
OPTION_LINE = re.compile(r"(?:^|\n)\s*[-*] `([\w.\-]{2,40})`(?:[^\n:–-]{0,40})?(?: ?[:–-] )([A-Z]?[a-z]+ [^\n.]{15,140})")


def find_defaults(passage: str):
    """Looks only around the word "default": the pattern is slow on long lines."""
    at = passage.find("efault")
    while at >= 0:
        match = DEFAULT.search(passage, max(passage.rfind("\n", 0, at) + 1, at - 200), at + 80)
        if match:
            yield match
        at = passage.find("efault", at + 80)


def generate_questions(passages: list[tuple[str, str, str]], rng: random.Random, limit: int) -> list[Row]:
    """Makes questions from patterns of documentation. `passages` has (passage, headings, source)."""
    rows = []

    def add(question, passage, headings, match, group, source):
        begin, end = match.span(group)
        while end > begin and passage[end - 1] in " `,;:*":
            end -= 1
        rows.append(Row(question, passage, headings, (begin, end), True, f"made/{source}", [passage[begin:end]]))

    for passage, headings, source in passages:
        for match in [*TO_USE.finditer(passage), *IF_WANT.finditer(passage), *CAN_BY.finditer(passage)]:
            ask = rng.choice(["How do I {}?", "How can I {}?", "How to {}", "how do i {}", "What do I do to {}?", "How do you {}?"])
            add(ask.format(match.group(1)), passage, headings, match, 2, source)
        for match in list(find_defaults(passage))[:3]:
            if match.group(1).lower() in {"the", "this", "default", "optional", "boolean", "string", "number", "type"}:
                continue
            ask = rng.choice(
                ["What is the default of {}?", "What is the default value of {}?", "What does {} default to?", "{} default", "default {}"]
            )
            add(ask.format(match.group(1)), passage, headings, match, 2, source)
        for match in list(OPTION_LINE.finditer(passage))[:2]:
            ask = rng.choice(["What does {} do?", "What is {} for?", "what is the option {}", "What does the {} option mean?"])
            add(ask.format(match.group(1)), passage, headings, match, 2, source)
    rng.shuffle(rows)
    return rows[:limit]
