"""Translates texts to Spanish and French with the rules of Apertium (Debian packages apertium-eng-spa and apertium-fr-es)."""

import re
import subprocess

# Characters that mean something in Apertium's stream.
SPECIAL = re.compile(r"[\[\]{}^$/\\@<>*#~+]")
# Marks of words that were not found or could not be inflected.
UNKNOWN = re.compile(r"[*#@](?=\w)")
BLANK = re.compile(r"\[([^\]]*)\]")


def translate(texts: list[str], marks: list[list[int]], steps: list[str]) -> list[tuple[str, list[int]] | None]:
    """Translates texts through the given modes. Returns each text with the new positions of its marks, or None if one was lost."""
    stream = "".join(f"{insert_marks(text, places)}.[][={index}=]\n" for index, (text, places) in enumerate(zip(texts, marks)))
    for mode in steps:
        run = subprocess.run(["apertium", "-u", "-f", "none", mode], input=stream, capture_output=True, text=True, check=True)
        stream = run.stdout
    results: list[tuple[str, list[int]] | None] = [None] * len(texts)
    for match in re.finditer(r"(.*?)\[=(\d+)=\]\n?", stream, re.DOTALL):
        index = int(match.group(2))
        results[index] = take_marks(match.group(1), len(marks[index]))
    return results


def insert_marks(text: str, places: list[int]) -> str:
    """Marks become blanks with their number, which translation passes through."""
    parts, at = [], 0
    for number, place in sorted(enumerate(places), key=lambda pair: pair[1]):
        parts += [SPECIAL.sub(" ", text[at:place]), f"[{number}]"]
        at = place
    return "".join([*parts, SPECIAL.sub(" ", text[at:])]).replace("\n", " ")


def take_marks(text: str, count: int) -> tuple[str, list[int]] | None:
    places, result, at = [-1] * count, "", 0
    text = re.sub(r"\.\[\]$", "", UNKNOWN.sub("", text.strip()).strip())
    for match in BLANK.finditer(text):
        result += text[at : match.start()]
        if match.group(1).isdigit() and int(match.group(1)) < count:
            places[int(match.group(1))] = len(result)
        at = match.end()
    result += text[at:]
    return None if -1 in places else (result, places)
