"""Makes the training data in German, Spanish and French: make.py DATA PACKAGES DICTIONARY TRANSLATED OUT"""

import gzip
import json
import random
import re
import sys
from multiprocessing import Pool
from pathlib import Path

from documents import Section, list_pages, read_page
from german import GermanTranslator, parse_dictionary
from questions import SENTENCE, make_questions
from translate_questions import read_passages

# Share of the passages of each file that is translated to German.
SHARES = {"squadshifts-new_wiki": 1, "squad11-part": 1, "nq-oracle": 0.6, "covidqa": 0.4, "policyqa": 0.7, "squadshifts-reddit": 0.4}
# Questions over documentation by language.
MAX_MADE = 11_000
# Share of the translated questions that are asked over the English passage too, so that words of both languages are learned together.
CROSSED = 0.25
EXAMPLE_WEIGHT, PARALLEL_WEIGHT = 2.0, 2.0
MAX_PARALLEL_WORDS = 40

translator: GermanTranslator


def read_sections(entry: tuple[str, Path]) -> list[Section]:
    return read_page(*entry)


def find_parallel(packages: Path) -> list[tuple[str, str, float]]:
    """Returns sentences of pages that have the same paragraphs in English and German."""
    pairs = []
    german = {(name, path.name): path for name, path in list_pages(packages, "de")}
    for name, path in list_pages(packages, "en"):
        other = german.get((name, path.name)) or german.get((name.replace("-en-us", "-de"), path.name))
        if not other:
            continue
        texts = [[text for section in read_page(name, page) for text in [*section.headings[-1:], *section.paragraphs]] for page in (path, other)]
        if len(texts[0]) != len(texts[1]):
            continue
        for first, second in zip(*texts):
            sentences = SENTENCE.split(first), SENTENCE.split(second)
            if len(sentences[0]) == len(sentences[1]):
                pairs += [(a, b, PARALLEL_WEIGHT) for a, b in zip(*sentences) if len(a.split()) <= MAX_PARALLEL_WORDS]
    return pairs


def translate_passage(entry: tuple[str, str, list[dict]]) -> list[dict]:
    name, passage, asked = entry
    text, spans = translator.translate(passage, False, [(item["begin"], item["end"]) for item in asked], passage[:200])
    rows = []
    for item, (start, end) in zip(asked, spans):
        question, _ = translator.translate(item["question"], True, [], item["question"])
        row = {"language": "de", "source": name, "question": question, "passage": text, "start": start, "end": end}
        rows.append({**row, "original": passage, "span": [item["begin"], item["end"]]})
    return [row for row in rows if row["end"] > row["start"]]


def cross(row: dict) -> dict:
    start, end = row["span"]
    return {**row, "source": f"crossed-{row['source']}", "passage": row["original"], "start": start, "end": end}


def main() -> None:
    global translator
    data, packages, dictionary, translated, out = map(Path, sys.argv[1:6])
    rng = random.Random(1)
    rows: list[dict] = []
    with Pool() as pool:
        sections = {
            language: [section for page in pool.imap(read_sections, list_pages(packages, language), 16) for section in page]
            for language in ("de", "es", "fr")
        }
    for language, entries in sections.items():
        made = [row for section in entries for row in make_questions(section, language, rng)]
        rng.shuffle(made)
        print(language, len(entries), "sections", len(made), "questions over documentation", flush=True)
        rows += made[:MAX_MADE]
    entries, examples = parse_dictionary(gzip.open(dictionary, "rt", encoding="utf-8", errors="replace").read())
    parallel = find_parallel(packages)
    print(len(entries), "words", len(examples), "examples", len(parallel), "parallel sentences", flush=True)
    texts = [paragraph for section in sections["de"] for paragraph in section.paragraphs]
    translator = GermanTranslator(entries, [*((a, b, EXAMPLE_WEIGHT) for a, b in examples), *parallel], texts)
    passages = [(name, *pair) for name, share in SHARES.items() for pair in read_passages(data / f"{name}.jsonl.gz", share)]
    with Pool() as pool:
        public = [row for found in pool.imap(translate_passage, passages, 16) for row in found]
    print(len(public), "questions translated to German", flush=True)
    for path in sorted(translated.glob("translated-*.jsonl.gz")):
        public += [json.loads(line) for line in gzip.open(path, "rt", encoding="utf-8")]
    public += [cross(row) for row in public if rng.random() < CROSSED]
    for language in ("de", "es", "fr"):
        some = [row for row in public if row["language"] == language]
        print(language, len(some), "translated;", *(f"{row['question']} → {row['passage'][row['start'] : row['end']]}" for row in some[::3000]), sep="\n ")
    rows += [{key: value for key, value in row.items() if key not in ("original", "span")} for row in public]
    with gzip.open(out, "wt", encoding="utf-8", compresslevel=3) as file:
        for row in rows:
            file.write(json.dumps({**row, "question": re.sub(r"\s+", " ", row["question"]).strip()}, ensure_ascii=False) + "\n")
    print(len(rows), "rows", flush=True)


if __name__ == "__main__":
    main()
