"""Reads translated documentation from unpacked Debian packages: sections with their headings, and their paragraphs."""

import gzip
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

LANGUAGES = {"de": "de-DE", "es": "es-ES", "fr": "fr-FR", "en": "en-US"}
# Passages of the product have up to 800 characters by default.
MAX_CHARACTERS = 900
MIN_CHARACTERS = 120


@dataclass
class Section:
    source: str
    headings: list[str]
    paragraphs: list[str] = field(default_factory=list)
    # Terms with their descriptions.
    definitions: list[tuple[str, str]] = field(default_factory=list)


def list_pages(packages: Path, language: str) -> list[tuple[str, Path]]:
    """Returns the package and path of each page in a language."""
    code = LANGUAGES[language]
    patterns = {
        "debian-handbook": f"usr/share/doc/debian-handbook/html/{code}/*.html",
        f"debian-reference-{language}": f"usr/share/debian-reference/*.{language}.html",
        f"libreoffice-help-{language}": f"usr/share/libreoffice/help/{language}/text/**/*.html",
        "gnome-user-docs": f"usr/share/help/{'C' if language == 'en' else language}/**/*.page",
        f"debian-faq-{language}": "usr/share/doc/**/*.html",
        f"debian-edu-doc-{language}": "usr/share/doc/**/*.html",
        f"aptitude-doc-{language}": "usr/share/doc/**/*.html",
        f"manpages-{language}": f"usr/share/man/{language}/man*/*.gz",
    }
    return [(name, path) for name, pattern in patterns.items() for path in sorted((packages / name).glob(pattern))]


def read_page(package: str, path: Path) -> list[Section]:
    if path.suffix == ".gz":
        return read_manual(package, gzip.open(path, "rt", encoding="utf-8", errors="replace").read())
    parser = PageParser(package, path.suffix == ".page")
    parser.feed(path.read_text(encoding="utf-8", errors="replace"))
    parser.end_block()
    return [section for section in parser.sections if section.paragraphs or section.definitions]


class PageParser(HTMLParser):
    """Collects headings, paragraphs, list items and definitions of HTML and Mallard pages."""

    SKIPPED = {"script", "style", "nav", "info", "pre", "screen", "footer", "table", "code-block"}
    BLOCKS = {"p", "li", "dd", "dt", "item", "td"}

    def __init__(self, source: str, is_mallard: bool):
        super().__init__(convert_charrefs=True)
        self.source, self.is_mallard = source, is_mallard
        self.sections: list[Section] = [Section(source, [])]
        self.path: list[tuple[int, str]] = []
        self.block, self.text, self.skipped, self.depth, self.term = "", [], 0, 0, ""

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag in self.SKIPPED or "debug" in (values.get("class") or "") or values.get("id") in ("DisplayArea-nav", "TopBar"):
            self.skipped += tag in self.SKIPPED
        elif tag == "section":
            self.depth += 1
        elif re.fullmatch(r"h[1-6]", tag) or (tag == "title" and self.is_mallard):
            self.end_block()
            self.block = f"h{self.depth + 1}" if tag == "title" else tag
        elif tag in self.BLOCKS or (tag == "div" and values.get("class") == "para"):
            self.end_block()
            self.block = tag

    def handle_endtag(self, tag):
        if tag in self.SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif tag == "section":
            self.depth -= 1
        elif tag in self.BLOCKS or re.fullmatch(r"h[1-6]|title", tag):
            self.end_block()

    def handle_data(self, data):
        if not self.skipped and self.block:
            self.text.append(data)

    def end_block(self):
        text = re.sub(r"\s+", " ", "".join(self.text)).strip().replace("\u200b", "")
        block, self.block, self.text = self.block, "", []
        if not text:
            return
        section = self.sections[-1]
        if block.startswith("h"):
            level = int(block[1])
            text = re.sub(r"^[\dA-Z]{1,3}(?:\.\d+)*\.? (?=\S)", "", text)
            self.path = [*(entry for entry in self.path if entry[0] < level), (level, text)]
            self.sections.append(Section(self.source, [heading for _, heading in self.path]))
        elif block == "dt":
            self.term = text
        elif block == "dd" and self.term:
            section.definitions.append((self.term, text))
            section.paragraphs.append(f"{self.term}: {text}")
            self.term = ""
        elif len(text) > 2:
            section.paragraphs.append(f"- {text}" if block in ("li", "item") else text)


def read_manual(package: str, text: str) -> list[Section]:
    """Reads a manual page: sections, paragraphs and tagged options."""
    title = re.search(r'^\.TH "?([^\s"]+)', text, re.M)
    name = title.group(1).lower() if title else ""
    sections, lines, is_tag, term = [Section(package, [name])], [], False, ""

    def end() -> None:
        nonlocal lines, term
        content = re.sub(r"\s+", " ", " ".join(lines)).strip()
        if content and term:
            sections[-1].definitions.append((term, content))
            content = f"{term}: {content}"
        if content:
            sections[-1].paragraphs.append(content)
        lines, term = [], ""

    for line in text.split("\n"):
        if line.startswith(('.\\"', "'\\\"", ".TH", ".ad", ".nh", ".if", ".ie", ".el", ".de", ".ds", ".sp")):
            continue
        if re.match(r"\.S[HS]\b", line):
            end()
            sections.append(Section(package, [name, clean_roff(line[3:]).strip(' "').capitalize()]))
        elif re.match(r"\.(?:PP|P|LP|IP|RS|RE|br)\b", line):
            end()
        elif line.startswith((".TP", ".TQ")):
            end()
            is_tag = True
        elif is_tag and line.strip():
            term, is_tag = clean_roff(line), False
        elif line.strip():
            lines.append(clean_roff(line))
    end()
    return [section for section in sections if section.paragraphs]


def clean_roff(line: str) -> str:
    line = re.sub(r"^\.[A-Z]{1,2} ", "", line)
    line = re.sub(r"\\f\(?[A-Z]{1,2}|\\f\[[^\]]*\]|\\m\[[^\]]*\]|\\%|\\&|\\:|\\c|\\/|\\,", "", line)
    for code, character in {r"\-": "-", r"\(aq": "'", r"\(lq": "“", r"\(rq": "”", r"\(Bq": "„", r"\e": "\\", r"\ ": " ", r"\~": " "}.items():
        line = line.replace(code, character)
    return re.sub(r"\\\[[^\]]*\]|\\\(..|\"", "", line).strip()


def cut_passages(section: Section) -> list[str]:
    """Joins paragraphs to passages of the length that the product reads."""
    passages, current = [], ""
    for paragraph in section.paragraphs:
        paragraph = paragraph[:MAX_CHARACTERS]
        if current and len(current) + len(paragraph) > MAX_CHARACTERS:
            passages.append(current)
            current = ""
        current = f"{current}\n{paragraph}" if current else paragraph
    return [passage for passage in [*passages, current] if len(passage) >= MIN_CHARACTERS]
