"""Translates English questions and passages word by word to German: learned from a dictionary and parallel texts, chosen by bigrams."""

import math
import random
import re
import zlib
from collections import Counter, defaultdict

import numpy as np

TOKEN = re.compile(r"\w+(?:[’'-]\w+)*|[^\w\s]")
ENTRY = re.compile(r"^(\S.*?) /[^/\n]*/")
EXAMPLE = re.compile(r'^ +"(.*?)"  - (.+)$')
REMARK = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|/[^/]*/")
PLACEHOLDER = re.compile(r"\b(?:sb|sth|so|jdn|jdm|jds|etw)\.(?:/(?:sb|sth|jdn|jdm|etw)\.)?|\b(?:sich|to)\b")
ITERATIONS = 5
MAX_CANDIDATES = 6
MIN_PROBABILITY = 0.03
PHRASE_SHARE = 0.7
LANGUAGE_WEIGHT = 0.45
NOISE = 0.5
AUXILIARIES = set("am are can could did do does had has have is may might must shall should was were will would".split())
QUESTION_PHRASES = {
    "how many": "wie viele", "how much": "wie viel", "how long": "wie lange", "how old": "wie alt", "how often": "wie oft",
    "how large": "wie groß", "how big": "wie groß", "how tall": "wie groß", "how far": "wie weit", "how high": "wie hoch",
    "how does": "wie", "how do": "wie", "how did": "wie", "how": "wie", "in what year": "in welchem Jahr", "what year": "in welchem Jahr",
    "in which year": "in welchem Jahr", "what kind of": "welche Art von", "what type of": "welche Art von", "what is the name of": "wie heißt",
    "what was the name of": "wie hieß", "what percentage": "welcher Prozentsatz", "what did": "was", "what does": "was", "what do": "was",
    "who did": "wen", "who does": "wen", "who": "wer", "whom": "wen", "whose": "wessen", "when was": "wann wurde", "when were": "wann wurden",
    "when did": "wann", "when does": "wann", "when": "wann", "where did": "wo", "where does": "wo", "where": "wo", "why did": "warum",
    "why does": "warum", "why do": "warum", "why": "warum",
}  # fmt: skip
WHICH = ["welche", "welcher", "welches", "welchen"]


def parse_dictionary(text: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Returns the entries of a FreeDict dictionary, and its examples."""
    entries, examples, word = [], [], ""
    for line in text.split("\n"):
        example = EXAMPLE.match(line)
        if example:
            examples.append((clean(example.group(1)), clean(example.group(2).split(",")[0])))
            continue
        head = ENTRY.match(line)
        if head:
            word = clean(head.group(1))
        elif word and line.strip() and not line.startswith((" see:", "   ")):
            entries += [(word, clean(part)) for part in re.split(r"[,;]", REMARK.sub(" ", line))]
            word = ""
    return [(a, b) for a, b in entries if a and b and len(a.split()) <= 3 and len(b.split()) <= 3], examples


def clean(text: str) -> str:
    return re.sub(r"\s+", " ", PLACEHOLDER.sub(" ", REMARK.sub(" ", text))).strip(" .…!?'\"").lower()


def split_words(text: str) -> list[str]:
    return TOKEN.findall(text.lower())


class GermanTranslator:
    def __init__(self, entries, parallel, german_texts):
        """`parallel` has pairs of sentences with their weight."""
        self.phrases = defaultdict(list)
        for english, german in entries:
            if " " in english and " " not in german:
                self.phrases[english].append(german)
        pairs = [*((english, german, 3.0 if " " not in english else 0.1) for english, german in entries), *parallel]
        self.words = learn_words(pairs)
        self.single, self.double = Counter(), Counter()
        for text in [*german_texts, *(german for _, german, _ in parallel)]:
            words = split_words(text)
            self.single.update(words)
            self.double.update(zip(words, words[1:]))
        self.total = sum(self.single.values())

    def translate(self, text: str, is_question: bool, spans: list[tuple[int, int]], seed: str) -> tuple[str, list[tuple[int, int]]]:
        """Returns the translation and the spans in it. The seed varies the choice among synonyms."""
        rng = random.Random(zlib.crc32(seed.encode()))
        tokens = [(match.group(), match.start(), match.end()) for match in TOKEN.finditer(text)]
        units = self.find_units(tokens, is_question, {place for span in spans for place in span}, rng)
        chosen = self.choose([candidates for _, _, candidates in units], rng)
        result, places = "", []
        for (start, end, _), word in zip(units, chosen):
            if word and result and (text[start - 1 : start].isspace() or len(word) > 1):
                result += " "
            places.append((start, end, len(result)))
            result += word
        moved = []
        for begin, end in spans:
            inside = [at for at, (start, stop, _) in enumerate(places) if start < end and stop > begin and chosen[at]]
            moved.append((places[inside[0]][2], places[inside[-1]][2] + len(chosen[inside[-1]])) if inside else (0, 0))
        return result, moved

    def find_units(self, tokens, is_question: bool, limits: set[int], rng) -> list[tuple[int, int, list[tuple[str, float]]]]:
        """Groups tokens to words and phrases, with their candidates."""
        units, at = [], 0
        while at < len(tokens):
            for length in (4, 3, 2, 1):
                part = tokens[at : at + length]
                # A phrase does not cross the edge of an answer.
                if len(part) < length or length > 1 and any(part[0][1] < limit < part[-1][2] for limit in limits):
                    continue
                candidates = self.find_candidates([token for token, _, _ in part], tokens[at + length : at + length + 1], at, is_question, rng)
                if candidates:
                    units.append((part[0][1], part[-1][2], candidates))
                    at += length
                    break
        return units

    def find_candidates(self, part: list[str], following, at: int, is_question: bool, rng) -> list[tuple[str, float]]:
        phrase = " ".join(part).lower()
        if is_question and phrase in QUESTION_PHRASES:
            return [(QUESTION_PHRASES[phrase], 0.0)]
        if len(part) > 1:
            found = self.phrases.get(phrase)
            return [(rng.choice(found), 0.0)] if found and len(part) < 4 and rng.random() < PHRASE_SHARE else []
        (word,) = part
        if is_question and phrase in ("what", "which"):
            is_subject = phrase == "what" and following and following[0][0].lower() in AUXILIARIES
            return [("was", 0.0)] if is_subject else [(rng.choice(WHICH), 0.0)]
        if is_question and phrase in ("do", "does", "did"):
            return [("", 0.0)]
        known = self.words.get(phrase) or self.words.get(re.sub(r"(?:'s|s|ed|ing|ly)$", "", phrase)) or []
        # Most capitalized words are names; nationalities and months are not.
        is_name = word[:1].isupper() and at > 0 and (len(word) < 4 or not known or known[0][1] < math.log(0.4) or rng.random() < 0.4)
        return [(word, 0.0)] if is_name or not known or not word[:1].isalpha() else known

    def choose(self, options, rng) -> list[str]:
        """Viterbi search with the candidates' probabilities, bigrams and noise."""
        paths = [(0.0, "", None)]
        for candidates in options:
            steps = []
            for word, score in candidates:
                first = word.split(" ")[0].lower()
                score += NOISE * rng.random()
                best = max(paths, key=lambda path: path[0] + LANGUAGE_WEIGHT * self.rate(path[1], first))
                total = best[0] + LANGUAGE_WEIGHT * self.rate(best[1], first) + score
                steps.append((total, word.split(" ")[-1].lower() or best[1], (word, best[2])))
            paths = steps
        chosen, link = [], max(paths, key=lambda path: path[0])[2]
        while link:
            chosen.append(link[0])
            link = link[1]
        return chosen[::-1]

    def rate(self, previous: str, word: str) -> float:
        if not word:
            return -8.0
        single = (self.single[word] + 0.2) / self.total
        return math.log(0.6 * self.double[previous, word] / (self.single[previous] or 1) + 0.4 * single)


def learn_words(pairs: list[tuple[str, str, float]]) -> dict[str, list[tuple[str, float]]]:
    """IBM model 1: the probabilities of German words for each English word."""
    english, german = {}, {}
    sources, targets, groups, weights, group = [], [], [], [], 0
    for source, target, weight in pairs:
        ids = [english.setdefault(word, len(english)) for word in split_words(source)]
        for word in split_words(target):
            index = german.setdefault(word, len(german))
            sources += ids
            targets += [index] * len(ids)
            groups += [group] * len(ids)
            weights += [weight] * len(ids)
            group += 1
    sources, targets, groups = (np.array(numbers, dtype=np.int64) for numbers in (sources, targets, groups))
    weights = np.array(weights)
    keys, inverse = np.unique(sources * len(german) + targets, return_inverse=True)
    owners = keys // len(german)
    probability = np.ones(len(keys))
    for _ in range(ITERATIONS):
        share = probability[inverse]
        share *= weights / np.bincount(groups, share, minlength=group)[groups]
        counts = np.bincount(inverse, share, minlength=len(keys))
        probability = counts / np.bincount(owners, counts, minlength=len(english))[owners]
    names, words = list(english), list(german)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    order = np.lexsort((-probability, owners))
    for index in order:
        owner, value = names[owners[index]], probability[index]
        if value >= MIN_PROBABILITY and len(found[owner]) < MAX_CANDIDATES:
            found[owner].append((words[keys[index] % len(german)], math.log(value)))
    return dict(found)
