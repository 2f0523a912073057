"""Translates questions of the public data with their passages to Spanish and French: translate_questions.py DATA OUT"""

import gzip
import json
import sys
from pathlib import Path

from apertium import translate

sys.path.insert(0, str(Path(__file__).parent.parent))
from data import is_held_out  # noqa: E402

# Share of the passages of each file that is translated, by language.
SHARES = {
    "es": {"squadshifts-new_wiki": 1, "squad11-part": 1, "nq-oracle": 0.5, "covidqa": 0.3, "policyqa": 0.7},
    "fr": {"squadshifts-new_wiki": 0.6, "squad11-part": 1, "policyqa": 0.4},
}
STEPS = {"es": ["eng-spa"], "fr": ["eng-spa", "es-fr"]}
MAX_CHARACTERS = 1400
# Passages that prepare.py holds out of the training.
HELD_OUT = 0.06
MIN_ANSWER = 1


def read_passages(path: Path, share: float) -> list[tuple[str, list[dict]]]:
    """Returns every n-th passage with its questions."""
    asked: dict[str, list[dict]] = {}
    for line in gzip.open(path, "rt", encoding="utf-8"):
        entry = json.loads(line)
        answers = [answer for answer in entry["answers"] if answer.strip()]
        if not answers or len(entry["passage"]) > MAX_CHARACTERS or is_held_out(entry["passage"], HELD_OUT):
            continue
        begin = (entry.get("starts") or [-1])[0]
        if begin < 0 or entry["passage"][begin : begin + len(answers[0])] != answers[0]:
            begin = entry["passage"].find(answers[0])
        if begin >= 0:
            asked.setdefault(entry["passage"], []).append({"question": entry["question"], "begin": begin, "end": begin + len(answers[0])})
    return [pair for index, pair in enumerate(asked.items()) if int((index + 1) * share) > int(index * share)]


def main() -> None:
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    for language, shares in SHARES.items():
        passages = [(name, *pair) for name, share in shares.items() for pair in read_passages(data / f"{name}.jsonl.gz", share)]
        marks = [[place for entry in asked for place in (entry["begin"], entry["end"])] for _, _, asked in passages]
        texts = translate([passage for _, passage, _ in passages], marks, STEPS[language])
        questions = [entry["question"] for _, _, asked in passages for entry in asked]
        translated = iter(translate(questions, [[] for _ in questions], STEPS[language]))
        count = 0
        with gzip.open(out / f"translated-{language}.jsonl.gz", "wt", encoding="utf-8") as file:
            for (name, passage, asked), text in zip(passages, texts):
                for index, entry in enumerate(asked):
                    question = next(translated)
                    if not question or not text:
                        continue
                    begin, end = text[1][2 * index], text[1][2 * index + 1]
                    while begin < end and not text[0][begin].isalnum():
                        begin += 1
                    while end > begin and text[0][end - 1].isspace():
                        end -= 1
                    if end - begin < MIN_ANSWER:
                        continue
                    row = {"language": language, "source": name, "question": question[0], "passage": text[0], "start": begin, "end": end}
                    file.write(json.dumps({**row, "original": passage, "span": [entry["begin"], entry["end"]]}, ensure_ascii=False) + "\n")
                    count += 1
        print(language, len(passages), "passages", count, "questions", flush=True)


if __name__ == "__main__":
    main()
