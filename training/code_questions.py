"""Makes questions over source code: cuts files to passages as the product does, finds definitions and their comments, and asks about them.

Reads a list of packages (tab-separated: language, package, version, licence, folder) and writes one line per passage:
its text, headings and package, and its questions as [form, question, begin, end], or [form, question] without an answer.
"""

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# The default size of the product. Larger passages are rare, as the model reads 384 tokens and code needs many.
SIZES = (800, 800, 800, 1100)
MAX_FILE = 200_000
# Passages of a package. There are fewer packages of some languages.
LIMITS = {"java": 90, "cpp": 80, "python": 70, "go": 60, "rust": 45, "typescript": 50}
EXTENSIONS = {
    "rust": {".rs"}, "python": {".py"}, "go": {".go"}, "java": {".java", ".kt"}, "cpp": {".h", ".hpp", ".cc", ".cpp", ".c"},
    "typescript": {".ts", ".js", ".mjs", ".tsx"},
}  # fmt: skip
# Names that are too general to be asked about without their class.
GENERAL = set("new next get set from into default fmt main init run build len is_empty clone drop eq hash cmp index iter add sub mul".split())
MODIFIERS = r"(?:(?:public|protected|private|static|final|abstract|synchronized|native|override|open|internal|default)\s+)"

PATTERNS = {
    "rust": [
        r'^(?P<indent>[ \t]*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern "C" )*(?P<kind>fn|struct|enum|trait|type|const|static)'
        r" (?:mut |ref )?(?P<name>[A-Za-z]\w+)",
        r"^(?P<indent>)(?P<kind>macro_rules!) (?P<name>\w+)",
    ],
    "python": [r"^(?P<indent> *)(?:async )?(?P<kind>def|class) (?P<name>\w+)", r"^(?P<indent>)(?P<name>[A-Z][A-Z_]{3,}) = (?P<kind>)[^\n(]"],
    "go": [
        r"^(?P<indent>)(?P<kind>func|type|const|var) (?:\((?:\w+ )?\*?(?P<owner>\w+)[^)]*\) )?(?P<name>[A-Za-z]\w+)",
    ],
    "typescript": [
        r"^(?P<indent>[ \t]*)(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?P<kind>function|class|interface|enum|type)"
        r"\*? (?P<name>[A-Za-z]\w+)",
        # Constants in functions are local variables, which nobody asks about.
        r"^(?P<indent>)(?:export )?(?P<kind>const) (?P<name>[A-Za-z]\w+)",
        r"^(?P<indent>[ \t]+)(?:(?:public|private|protected|static|async|get|set|readonly) )*(?P<name>[a-z]\w{2,})(?P<kind>)"
        r"(?:<[^>\n]*>)?\([^\n;]*\{$",
    ],
    "java": [
        rf"^(?P<indent>[ \t]*){MODIFIERS}*(?P<kind>class|interface|enum) (?P<name>[A-Z]\w+)",
        rf"^(?P<indent>[ \t]+){MODIFIERS}+(?:<[^>\n]+> )?[\w<>\[\], ?.]+ (?P<name>[a-z]\w+)(?P<kind>)\(",
        rf"^(?P<indent>[ \t]+){MODIFIERS}+[\w<>\[\]]+ (?P<name>[A-Z][A-Z_]{{3,}})(?P<kind>) = ",
    ],
    "cpp": [
        r"^(?P<indent>[ \t]*)(?P<kind>class|struct|enum class|enum|namespace) (?:[A-Z][A-Z_]{3,} )?(?P<name>[A-Za-z]\w+)"
        r"(?=\s*(?:final\b|[:<{]|$))",
        r"^(?P<indent>[ \t]*)(?!return|else|throw|delete|using|case|goto|new|typedef)(?:[\w:<>,&*\[\]]+[ ]+)+[*&]*(?P<name>[A-Za-z]\w{2,})"
        r"(?P<kind>)\((?!\")[^\n]*$",
        r"^(?P<indent>)#define (?P<name>[A-Z]\w{4,})(?P<kind>) [^\n(\\]+$",
    ],
}  # fmt: skip
PATTERNS = {language: [re.compile(pattern, re.M) for pattern in patterns] for language, patterns in PATTERNS.items()}
CONTAINERS = {
    "rust": re.compile(
        r"^(?P<indent>[ \t]*)(?:unsafe )?(?:pub )?(?:impl(?:<[^{\n]*?>)? (?:[^{\n]*? for )?&?(?:\w+::)*|trait )(?P<name>[A-Z]\w+)", re.M
    ),
    "python": re.compile(r"^(?P<indent> *)class (?P<name>\w+)", re.M),
    "typescript": re.compile(r"^(?P<indent>[ \t]*)(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface) (?P<name>\w+)", re.M),
    "java": re.compile(rf"^(?P<indent>[ \t]*){MODIFIERS}*(?:class|interface|enum) (?P<name>[A-Z]\w+)", re.M),
    "cpp": re.compile(r"^(?P<indent>[ \t]*)(?:class|struct) (?:[A-Z][A-Z_]{3,} )?(?P<name>[A-Za-z]\w+)(?=\s*(?:final\b|[:<{]|$))", re.M),
}  # fmt: skip
KINDS = {"fn": "function", "def": "function", "func": "function", "macro_rules!": "macro", "const": "constant", "static": "static variable",
    "var": "variable", "enum class": "enum"}  # fmt: skip


@dataclass
class Definition:
    name: str
    kind: str
    # Class or type whose method it is.
    owner: str
    # Offsets in the file: its first line, its signature, and the first sentence of its comment.
    start: int
    signature: tuple
    doc: tuple | None = None


@dataclass
class Passage:
    text: str
    start: int
    headings: list
    package: str
    path: str
    language: str
    definitions: list = field(default_factory=list)
    questions: list = field(default_factory=list)


def weigh_lines(text: str):
    """Yields the lines that are not blank, with the product's preference for a passage to begin there."""
    blank = True
    for match in re.finditer(r"[^\n]+", text):
        line = match.group()
        if not line.strip():
            blank = True
            continue
        blank = blank or text[match.start() - 2 : match.start()] == "\n\n"
        indented = line[0] in " \t"
        closing = re.match(r"\s*[)\]}]", line) or re.match(r"(?:end|else|elif|except|finally|catch)\b", line)
        weight = -0.35 if closing else -0.15 if not blank else 0.1 if indented else 0.35
        yield match.start() + len(line) - len(line.lstrip()), match.end(), weight
        blank = False


def cut_passages(text: str, size: int):
    """Yields the begin and end of passages. The same choice of ends as in the product, without overlap."""
    lines = list(weigh_lines(text))
    first = 0
    while first < len(lines):
        best, best_score = first + 1, -9.0
        for after in range(first + 1, len(lines) + 1):
            fill = (lines[after - 1][1] - lines[first][0]) / size
            if fill > 1:
                break
            rest = (lines[-1][1] - lines[after - 1][1]) / size
            penalty = (1.5 if fill < 0.15 else 0) + (0.5 if 0 < rest < 0.15 else 0)
            score = (lines[after][2] if after < len(lines) else 1.5) + fill - penalty
            if score >= best_score:
                best, best_score = after, score
        yield lines[first][0], lines[best - 1][1]
        first = best


def find_sentence(text: str, begin: int, end: int) -> tuple | None:
    """Returns the first sentence of a comment, without the marks before it."""
    match = re.compile(r"(?:\s|///?!?|/\*\*?|\*(?!/)|[ru]?\"\"\"|[@\\](?:brief|short)\b)*").match(text, begin, end)
    begin = match.end() if match else begin
    stop = re.compile(r"\.(?=\s|\"\"\"|\*/|$)|\n[ \t]*(?://[/!]?|\*)?[ \t]*(?=\n|[@\\#*-])|\"\"\"|\*/|:[ \t]*\n").search(text, begin, end)
    if stop:
        end = stop.end() if stop.group() == "." else stop.start()
    sentence = text[begin:end].rstrip()
    words = len(sentence.split())
    if words < 3 or len(sentence) > 330 or sentence.count("\n") > 3 or not sentence[0].isalpha() and sentence[0] != "`":
        return None
    if re.match(r"(?i)copyright|licensed|spdx|eslint|todo|fixme|safety|ts-|@", sentence):
        return None
    return begin, begin + len(sentence)


def find_comment_above(text: str, start: int) -> tuple | None:
    """Returns the first sentence of the comment above a definition, which attributes and templates may follow."""
    begin = end = start
    while begin > 0:
        above = text.rfind("\n", 0, begin - 1) + 1
        line = text[above : begin - 1].strip()
        if re.match(r"#\[|@\w|template\s*<", line) and end == start:
            begin = end = start = above
        elif line.startswith(("//", "/*", "*")):
            begin = above
            if line.startswith("/*"):
                break
        else:
            break
    if begin == end or re.match(r"\s*//\s*[-=]{3}", text[begin:end]):
        return None
    return find_sentence(text, begin, end)


def find_docstring(text: str, start: int) -> tuple | None:
    match = re.compile(r"[^\n]*(?:\n[^\n]*){0,4}?:[ \t]*\n\s*[ru]?\"\"\"").match(text, start)
    if not match or re.search(r"\n\s*(?:def|class|return) ", match.group()):
        return None
    end = text.find('"""', match.end())
    return find_sentence(text, match.end(), end if end > 0 else match.end())


def find_signature(text: str, start: int) -> tuple:
    """Returns the definition up to its body, at most 250 characters."""
    match = re.compile(r"[^\n({;=]*(?:\((?:[^()]|\([^()]*\)){0,230}\))?(?:[^\n{;=]|interface\{\})*").match(text, start)
    end = min(match.end() if match else start, start + 250)
    signature = text[start:end]
    return start + len(signature) - len(signature.lstrip()), start + len(signature.rstrip().rstrip(":").rstrip())


def find_owner(text: str, language: str, containers: list, start: int, indent: int) -> str:
    """Returns the class or impl block around a line, by indentation. A block that ended before the line is not around it."""
    for position, depth, name in reversed(containers):
        if position >= start or depth >= indent:
            continue
        end = rf"^ {{0,{depth}}}[^\s#)\]]" if language == "python" else rf"^[ \t]{{0,{depth}}}\}}"
        body = text.find("\n", position) + 1
        return "" if re.compile(end, re.M).search(text, body, start) else name
    return ""


def find_definitions(text: str, language: str) -> list[Definition]:
    containers = []
    if language in CONTAINERS:
        containers = [(m.start(), len(m["indent"]), m["name"]) for m in CONTAINERS[language].finditer(text)]
    found = []
    for pattern in PATTERNS[language]:
        for match in pattern.finditer(text):
            name, kind = match["name"], match["kind"]
            owner = match.groupdict().get("owner") or ""
            if match["indent"]:
                owner = find_owner(text, language, containers, match.start(), len(match["indent"]))
            doc = (find_docstring if language == "python" else find_comment_above)(text, match.start())
            kind = kind or ("constant" if name.isupper() else "method" if owner else "function")
            kind = KINDS.get(kind, kind)
            if kind == "function" and owner:
                kind = "method"
            if name in ("if", "for", "while", "switch", "catch", "defined", "assert", "sizeof", "function"):
                continue
            found.append(Definition(name, kind, owner, match.start(), find_signature(text, match.start()), doc))
    return sorted(found, key=lambda definition: definition.start)


def find_body_end(passage: Passage, definition: Definition) -> int:
    """Returns where the definition ends in the passage: at the next one, or at the end of the passage."""
    after = [other.start - passage.start for other in passage.definitions if other.start > definition.start]
    return min([*after, len(passage.text)])


PURPOSE = ["What is the purpose of {the} {kind}?", "What does {the} {kind} do?", "What is {name} for?", "What is {the} {kind} used for?",
    "what is {bare}", "purpose of {bare}", "Explain {name}.", "What does {name} do?"]  # fmt: skip
PURPOSE_METHOD = ["What does the {name} method of the {owner} {type} do?", "What is the purpose of the {name} method in the {owner} {type}?",
    "What does {class_name}.{bare} do?", "What happens in the {name} method of {owner}?", "What is {name} in {owner} for?",
    "What does the {bare}() method of {owner} do?"]  # fmt: skip
WORKS = ["How does the {name} {kind} work?", "How is {name} implemented?", "What happens in {name}?", "What does the {bare}() {kind} do?",
    "What does {the} {kind} do?"]  # fmt: skip
WORKS_METHOD = ["How does the {name} method of the {owner} {type} work?", "How does {owner} implement {name}?",
    "What happens in the {name} method of the {owner} {type}?", "What does the {name} method of the {owner} {type} do?"]  # fmt: skip
HOW_TO = ["How do I {}?", "How can I {}?", "How do you {}?", "how to {}", "How can you {}?", "What do I call to {}?", "Which function can {}?"]
TYPES = {"rust": "struct", "go": "type", "cpp": "class"}
# Verbs at the begin of comments that say what somebody can do with a function.
VERBS = set("""add allocate append apply attach build calculate call cancel change check clear close collect combine compare compile compute
    configure connect construct convert copy count create decode define delete detach determine disable discard display drop emit enable encode
    ensure escape evaluate execute expand extend extract fetch fill filter find flush format generate get handle import increment decrement
    initialize insert invoke iterate join launch limit list load lock log make map mark match merge modify move normalize notify obtain open
    override pad parse pause peek perform pop prepare prepend print process pull push put query raise read receive record reduce register
    release reload remove rename render replace report request reserve reset resize resolve restore resume retrieve reverse rotate run save
    scan schedule search select send serialize deserialize set shift show shuffle skip sort split start stop store strip swap switch take
    test toggle track transform translate trim truncate undo unlock unregister update upload use validate verify visit wait wake walk wrap
    write yield zip""".split())


def write_name(name: str, rng: random.Random) -> str:
    return f"`{name}`" if rng.random() < 0.55 else name


def ask(forms: list, definition: Definition, language: str, rng: random.Random) -> str:
    name = write_name(definition.name, rng)
    owner = write_name(definition.owner, rng) if definition.owner else ""
    return rng.choice(forms).format(
        name=name, bare=definition.name, the=f"the {name}", kind=definition.kind, owner=owner, class_name=definition.owner,
        type=TYPES.get(language, "class"),
    )  # fmt: skip


def find_verb(word: str) -> str | None:
    """Returns the plain form of a verb: "creates" and "create" are "create"; what returns something gets it."""
    word = word.lower()
    if word in ("return", "returns"):
        return "get"
    plain = [word, word[:-1], word[:-2], word[:-3] + "y"] if word.endswith("s") else [word]
    return next((form for form in plain if form in VERBS), None)


def make_imperative(sentence: str, name: str) -> str | None:
    """Turns "Creates a new buffer." into "create a new buffer". In Go, the name of the function stands first."""
    sentence = re.sub(r"\n\s*(?:///?!?|\*)?\s*", " ", sentence).strip(" .")
    sentence = re.split(r"[,;:(]| -- | if | or `| so that | which | that ", sentence)[0].strip()
    words = re.sub(r"\[(`?[\w:.()]+`?)\](?:\([^)]*\))?", r"\1", sentence).split()
    if words and words[0].lower() == name.lower():
        words = words[1:]
    verb = find_verb(words[0]) if words else None
    rest = " ".join(words[1:])
    if not verb or len(words) < 3 or len(sentence) > 110:
        return None
    unclear = r"(?:self|this|it|true|false|none|null|of|and|is|are|was|to|an iterator)\b|`?(?:true|false|none|self|null)\b"
    if re.match(unclear, rest, re.I) or words[-1] in ("as", "see", "to", "of", "the", "a", "in", "and", "with", "for", "by", "same"):
        return None
    return f"{verb} {rest}"


def add_doc_questions(passage: Passage, definition: Definition, rng: random.Random) -> None:
    begin, end = (position - passage.start for position in definition.doc)
    is_method = definition.kind == "method"
    forms = PURPOSE_METHOD if is_method else PURPOSE
    passage.questions.append(["purpose", ask(forms, definition, passage.language, rng), begin, end])
    task = make_imperative(passage.text[begin:end], definition.name) if definition.kind in ("function", "method") else None
    if task and rng.random() < 0.75:
        if definition.owner and definition.owner.lower() not in task.lower() and rng.random() < 0.7:
            task += rng.choice([" of {}", " in {}", " with {}", " using {}"]).format(write_name(definition.owner, rng))
        signature = tuple(position - passage.start for position in definition.signature)
        passage.questions.append(["how-to", rng.choice(HOW_TO).format(task), *signature])


def add_signature_questions(passage: Passage, definition: Definition, rng: random.Random) -> None:
    """Asks for arguments, the type of the result, the base class, and exceptions."""
    begin, end = (position - passage.start for position in definition.signature)
    signature = passage.text[begin:end]
    name = write_name(definition.name, rng)
    whose = f"{name} of {definition.owner}" if definition.owner else name

    def add(form, questions, span):
        text = passage.text[slice(*span)]
        span = span[0] + len(text) - len(text.lstrip()), span[0] + len(text.rstrip())
        if span[1] > span[0]:
            passage.questions.append([form, rng.choice(questions).format(name=name, whose=whose), *span])

    if definition.kind in ("function", "method"):
        match = re.search(re.escape(definition.name) + r"[^(\n]*\(([^()]{6,160})\)", signature)
        if match and definition.name not in GENERAL and not re.match(r"test|bench", definition.name, re.I) and rng.random() < 0.2:
            questions = ["What parameters does {whose} take?", "Which arguments does {whose} expect?", "What are the parameters of {whose}?",
                "What is passed to {whose}?", "What is the signature of {whose}?"]  # fmt: skip
            add("parameters", questions, (begin + match.start(1), begin + match.end(1)))
        match = re.search(r"(?:->|\)\s*:) *([^\n{]{2,60})$", signature)
        if match and rng.random() < 0.3:
            add("result", ["What does {whose} return?", "What type does {whose} return?", "return type of {whose}"],
                (begin + match.start(1), begin + match.end(1)))  # fmt: skip
    line = passage.text[begin : begin + 200].split("\n")[0]
    match = re.search(r"(?:extends |^class \w+\((?=[^:\n]*\):)|: public )(?!object\b)([A-Za-z][\w.:<>]+)", line)
    if definition.kind == "class" and match:
        add("base", ["What class does {name} extend?", "Which class does {name} inherit from?", "What is the base class of {name}?"],
            (begin + match.start(1), begin + match.end(1)))  # fmt: skip
    body = passage.text[begin : find_body_end(passage, definition)]
    match = re.search(r"(?:\braise |\bthrow new |\bthrows )([A-Z]\w{5,})", body)
    if match and definition.kind in ("function", "method"):
        add("error", ["What exception does {whose} raise?", "Which error can {whose} throw?", "What exceptions can be thrown by {whose}?",
            "What error is thrown by {whose}?"], (begin + match.start(1), begin + match.end(1)))  # fmt: skip


def add_content_questions(passage: Passage, definition: Definition, rng: random.Random) -> None:
    """Asks for the value of a constant, the members of an enum or struct, and the traits that are derived."""
    begin = definition.start - passage.start
    body = passage.text[max(0, begin) : find_body_end(passage, definition)]
    begin = max(0, begin)
    name = write_name(definition.name, rng)
    if definition.kind in ("constant", "static variable"):
        match = re.search(r"= *([^\s;][^;\n]{0,60}?)(?:;|,?$|,? *(?://|#)[^\n]*$)", body, re.M) or re.match(r"#define \w+ +(\S[^\n]{0,40})", body)
        if match and not match.group(1).endswith(("(", "{", "[", "\\")):
            questions = ["What is the value of {}?", "What is {} set to?", "Which value does {} have?", "{} value"]
            if "default" in definition.name.lower():
                words = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", definition.name).lower().replace("default", "").split()
                questions += ["What is the default " + " ".join(words) + "?"] * 3
            span = (begin + match.start(1), begin + len(body[: match.end(1)].rstrip()))
            passage.questions.append(["value", rng.choice(questions).format(name), *span])
    match = re.search(r"\{\n([^{}()]{20,320})\n\s*\}", body)
    if match and definition.kind in ("enum", "struct", "interface", "type"):
        inner = match.group(1)
        span = (begin + match.start(1) + len(inner) - len(inner.lstrip()), begin + match.start(1) + len(inner.rstrip().rstrip(",")))
        questions = ["What are the possible values of the {} enum?", "Which variants does {} have?", "What values does {} define?"]
        if definition.kind != "enum":
            questions = ["What fields does the {} " + definition.kind + " contain?", "Which fields does {} have?", "What information does {} store?"]
        passage.questions.append(["members", rng.choice(questions).format(name), *span])
    before = passage.text[:begin].rsplit("\n\n", 1)[-1]
    match = re.search(r"#\[derive\(([^)]+)\)\]", before) if definition.kind in ("struct", "enum") else None
    if match and rng.random() < 0.5:
        shift = begin - len(before)
        questions = ["What traits does {} derive?", "Which traits does {} implement?"]
        passage.questions.append(["traits", rng.choice(questions).format(name), shift + match.start(1), shift + match.end(1)])


# A comment of one line above a field with a type.
FIELD = re.compile(r"^[ \t]*(?:///|/?\*\*?) ([A-Z][^\n]{15,150}?)\.?(?: \*/)?\n(?:[ \t]*\*/\n)?[ \t]*"
    r"(?:pub |readonly |private |final |protected |public )*"
    r"(?:([a-z]\w{2,})\??: [A-Za-z&\[(]|(?!return|let|const|var|case|new|else|throw|goto)[\w<>:]+[ *&]+([a-z]\w{2,})(?:;| =))", re.M)  # fmt: skip
PACKAGE = re.compile(r"^package ([\w.]+);?$|^namespace (\w+(?:::\w+)*) ?\{", re.M)


def add_field_questions(passage: Passage, rng: random.Random) -> None:
    """Asks what a commented field means, and for package and namespace."""
    for match in list(FIELD.finditer(passage.text))[:2]:
        field_name = match.group(2) or match.group(3)
        if field_name in GENERAL:
            continue
        before = [d for d in passage.definitions if d.start - passage.start < match.start()]
        above = [d.name for d in before if d.kind in ("struct", "class", "interface", "type")]
        name = write_name(field_name, rng)
        forms = ["What is the {} field for?", "What does {} mean?", "What does the {} option do?", "What is {} used for?", "meaning of {}"]
        if above:
            forms = [f"What does the {{}} field of {above[-1]} mean?", f"What is {{}} in {above[-1]} for?", f"What does {{}} of `{above[-1]}` hold?"]
        passage.questions.append(["field", rng.choice(forms).format(name), *match.span(1)])
    match = PACKAGE.search(passage.text)
    classes = [d.name for d in passage.definitions if d.kind in ("class", "interface", "enum")]
    if match and classes:
        word = "package" if match.group(1) else "namespace"
        span = match.span(1 if match.group(1) else 2)
        questions = ["What {} does the {} class belong to?", "Which {} is {} defined in?"]
        passage.questions.append(["package", rng.choice(questions).format(word, classes[0]), *span])


def make_questions(passage: Passage, rng: random.Random) -> None:
    end = passage.start + len(passage.text)
    for definition in passage.definitions:
        if len(definition.name) < 3 or definition.name.startswith("__") or definition.signature[1] > end:
            continue
        if definition.name in GENERAL and not definition.owner:
            continue
        if definition.doc and definition.doc[0] >= passage.start and definition.doc[1] <= end:
            add_doc_questions(passage, definition, rng)
        elif definition.kind in ("function", "method", "class") and find_body_end(passage, definition) - (definition.start - passage.start) > 200:
            # Nothing says what it does: the passage is the right one, but no words of it are the answer.
            is_test = re.match(r"test_?[a-zA-Z]", definition.name)
            forms = WORKS_METHOD if definition.kind == "method" else WORKS
            forms = ["What does the test {name} verify?", "What does the {name} test check?"] if is_test else forms
            if definition.kind != "class" and rng.random() < 0.4:
                passage.questions.append(["works", ask(forms, definition, passage.language, rng), -1, -1])
        add_signature_questions(passage, definition, rng)
        add_content_questions(passage, definition, rng)
    add_field_questions(passage, rng)


def find_named(question: str, names: set) -> list:
    return [word for word in re.findall(r"[A-Za-z_]\w+", question) if word in names]


def add_negatives(passages: list[Passage], rng: random.Random) -> None:
    """Adds questions to passages that mention the name but do not define or explain it, preferably of other files."""
    mentions, names = defaultdict(list), {definition.name for passage in passages for definition in passage.definitions}
    for passage in passages:
        for word in set(re.findall(r"[A-Za-z_]\w{2,}", passage.text)) & names:
            mentions[word].append(passage)
    added = []
    for passage in passages:
        for form, question, *_ in passage.questions:
            # A call shows how to do it.
            if form == "how-to":
                continue
            named = find_named(question, names)
            own = [d for d in passage.definitions if d.name in named]
            if not own:
                continue
            definition = max(own, key=lambda d: (question.find(d.name) >= 0, d.kind == "method", len(d.name)))
            others = [other for other in mentions[definition.name] if other is not passage and not explains(other, definition)]
            others.sort(key=lambda other: (other.path == passage.path, rng.random()))
            added += [(other, f"not {form}", question) for other in others[: rng.choice([1, 1, 2])]]
    for other, form, question in added:
        other.questions.append([form, question])


def explains(other: Passage, definition: Definition) -> bool:
    """Whether a passage defines the same name; for methods, that of the same class or of an unknown one."""
    return any(d.name == definition.name and (not definition.owner or d.owner in ("", definition.owner)) for d in other.definitions)


def read_package(folder: Path, language: str, package: str, rng: random.Random, limit: int) -> list[Passage]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in EXTENSIONS[language] and path.is_file() and not path.is_symlink())
    paths = [p for p in paths if not re.search(r"\.min\.|\.d\.ts$|bundle|vendor|/dist/|_pb2|generated|\.test\.|/cjs/|/umd/|fuzz", str(p))]
    rng.shuffle(paths)
    passages: list[Passage] = []
    for path in paths:
        if path.stat().st_size > MAX_FILE or path.stat().st_size < 400:
            continue
        passages += read_source(path, folder, language, package, rng)[: limit // 3]
        if len(passages) > 2 * limit:
            break
    return passages


def read_source(path: Path, folder: Path, language: str, package: str, rng: random.Random) -> list[Passage]:
    text = path.read_text("utf-8", "replace").replace("\r\n", "\n")
    # Minified files are not read by people. Some files of a permissive package have another licence.
    if max(map(len, text.split("\n"))) > 500 or re.search(r"General Public License|Mozilla Public|\bL?GPL", text[:4000]):
        return []
    definitions = find_definitions(text, language)
    # A passage of the product has the file name as its heading, unless it is stored without one.
    headings = [path.name] if rng.random() < 0.6 else []
    passages = []
    for begin, end in cut_passages(text, rng.choice(SIZES)):
        passage = Passage(text[begin:end], begin, headings, package, str(path.relative_to(folder)), language)
        passage.definitions = [d for d in definitions if begin <= d.start + len(text[d.start : d.signature[0]]) < end]
        passages.append(passage)
    return [passage for passage in passages if len(passage.text) > 120]


def find_runs(text: str, length: int):
    """Yields hashes of all runs of a text, as it is and with single spaces: files may differ in indentation only."""
    for form in (text, " ".join(text.split())):
        yield from (hash(form[at : at + length]) for at in range(len(form) - length + 1))


def read_runs(path: Path, length: int) -> set:
    """Returns the runs of the documents that are measured with."""
    return {run for line in path.open() for run in find_runs(json.loads(line)["text"], length)}


def is_allowed(text: str) -> bool:
    """Fuzzing is the subject of documents that are measured with."""
    return "fuzz" not in text.lower()


def choose(passages: list[Passage], rng: random.Random, limit: int, per_passage: int) -> list[Passage]:
    """Keeps the passages with most questions, and few questions of each: with the same number of answers and of none."""
    for passage in passages:
        rng.shuffle(passage.questions)
        # Methods of the same name get the same questions; one must not have an answer and none at the same time.
        asked: dict[str, list] = {}
        for question in sorted(passage.questions, key=lambda entry: len(entry) == 2):
            asked.setdefault(question[1].lower().replace("`", ""), question)
        unique = list(asked.values())
        yes, no = [q for q in unique if len(q) > 2], [q for q in unique if len(q) == 2]
        # Forms other than purpose are rarer and come first.
        yes.sort(key=lambda entry: entry[0] in ("purpose", "parameters"))
        passage.questions = yes[:per_passage] + no[: per_passage - 1]
    kept = [passage for passage in passages if passage.questions]
    rng.shuffle(kept)
    kept.sort(key=lambda passage: -min(2, len(passage.questions)))
    return kept[:limit]


def add_written(passages: list[Passage], path: Path) -> None:
    """Adds the questions that were written by hand: the begin of a passage, a question and its answer."""
    by_text = {passage.text: passage for passage in passages}
    for line in path.open():
        entry = json.loads(line)
        passage = by_text.get(entry["passage"])
        if passage is None:
            passage = Passage(entry["passage"], 0, entry["headings"], entry["package"], "", entry["language"])
            by_text[passage.text] = passage
            passages.append(passage)
        begin = passage.text.find(entry["answer"]) if entry["answer"] else -1
        if entry["answer"] and begin < 0:
            raise ValueError(f"answer is not in its passage: {entry}")
        span = [begin, begin + len(entry["answer"])] if entry["answer"] else []
        passage.questions.append(["written" if span else "not written", entry["question"], *span])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="list of packages and their folders")
    parser.add_argument("--measured", type=Path, required=True, help="documents that are measured with, as JSON Lines")
    parser.add_argument("--written", type=Path, help="questions written by hand, as JSON Lines")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    rng = random.Random(1)
    runs = read_runs(arguments.measured, 100)
    chosen: list[Passage] = []
    # Packages contain copies of each other; a copy must not be on both sides of held-out data.
    seen: set[str] = set()
    for line in arguments.packages.read_text().splitlines():
        language, package, _, _, folder = line.split("\t")
        limit = LIMITS[language]
        passages = read_package(Path(folder), language, package, rng, limit)
        passages = [p for p in passages if p.text not in seen and is_allowed(p.text) and runs.isdisjoint(find_runs(p.text, 100))]
        seen.update(p.text for p in passages)
        for passage in passages:
            make_questions(passage, rng)
        add_negatives(passages, rng)
        kept = choose(passages, rng, limit, 3)
        print(language, package, len(passages), "passages, kept", len(kept), flush=True)
        chosen += kept
    if arguments.written:
        add_written(chosen, arguments.written)
    with gzip.open(arguments.out, "wt", encoding="utf-8", compresslevel=9) as file:
        for passage in chosen:
            entry = {"passage": passage.text, "headings": passage.headings, "package": passage.package, "language": passage.language}
            file.write(json.dumps(entry | {"questions": passage.questions}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
