"""Reading Rocq sources without trusting them: comments as Rocq's lexer sees them, what a proof must not contain, and
the statements that `Claims.v` pins.

A scan alone proves nothing; it is the second lock on the door. The first is `Print Assumptions` in kernel.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Words that let a statement stand without a proof, switch a check of the kernel off, or print what nobody proved. None
# has an innocent use here.
FORBIDDEN = re.compile(
    r"\b(?:Admitted|admit|give_up|Admit\s+Obligations|Axioms?|Parameters?|Conjectures?|Primitive|bypass_check|deprecated|"
    r"Declare\s+(?:Module|Instance|ML\s+Module)|Include|Load|Add\s+(?:Rec\s+)?LoadPath|Drop|Redirect|Register|Symbols?|"
    r"Rewrite\s+Rules?|Definitional\s+UIP|native_\w+|type-in-type|impredicative-set)\b|"
    r"\b(?:Guard|Positivity|Universe)\s+Checking\b|<<:|#\s*\["
)
# All that a proof needs: any other command is refused, for nobody can list what Rocq's commands may do. A command
# starts with a capital, a tactic does not.
COMMANDS = re.compile(
    r"(?:Definition|Fixpoint|Inductive|Record|Lemma|Theorem|Corollary|Let|Proof|Qed|Defined|Section|Module|End|Variables?|"
    r"Hypothes[ie]s|Context|Implicit\s+Types?|Notation|Ltac|Add\s+Ring|From|Require|Import|Open\s+Scope|"
    r"Set\s+Implicit\s+Arguments|Unset\s+Strict\s+Implicit|Unset\s+Printing\s+Implicit\s+Defensive)\b"
)
CLAIMS_COMMANDS = re.compile(r"(?:Check|Arguments)\b")  # Claims.v needs these as well
# Commands that add an axiom when they stand outside a section.
ASSUMING = re.compile(r"(?:Variables?|Hypothes[ie]s|Context)\b")
OPENING = re.compile(r"(?:Section|Module(?:\s+Type)?)\s+(?:Import\s+|Export\s+)?(\w+)")
# What may stand before a command or tactic: `Local`, and marks that structure a proof.
PREFIX = re.compile(r"(?:Local\b|[-+*{}]+|\d+:|\[\s*[\w']+\s*\]\s*:\s*\{)\s*")
CLAIM = re.compile(r"\(\*\*\s*\*\s*(T\d+)\.\s*(.*?)\s*\*\)", re.DOTALL)
PINNED = re.compile(r"Check\s*\(\s*@?([\w.']+)\s*:(?!=)(.*)\)\s*(%\w+)?\Z", re.DOTALL)
WHOLE_FILE = (
    "imports a whole file, which could change what a statement means; "
    "write `From AttnProof Require file.` and `Import file(name, …).`"
)
PROJECT_LINE = re.compile(r"-R \. AttnProof|[A-Za-z]\w*\.v")
WARNING = re.compile(r"-arg -[a-z]+(?:-[a-z]+)*")  # a warning to silence, after the line `-arg -w`


class SourceError(ValueError):
    """A source that cannot be read: a comment or a string that does not end."""


def strip_comments(text: str, *, strings: bool = True) -> str:
    """The text with every comment turned into blanks, line breaks kept; strings too unless `strings` is false.

    Comments nest, and a string inside a comment hides whatever it holds, as in Rocq's lexer, where a doubled quote
    stands for one quote. Raises SourceError when a comment or string does not end.

    >>> strip_comments('a (* b (* c *) " *) " d *) e')
    'a                          e'
    """
    out, i, depth = [], 0, 0
    while i < len(text):
        if text.startswith("(*", i):
            depth, i = depth + 1, i + 2
            out.append("  ")
        elif depth and text.startswith("*)", i):
            depth, i = depth - 1, i + 2
            out.append("  ")
        elif text[i] == '"':
            end = i + 1
            while text.startswith('""', end) or (end < len(text) and text[end] != '"'):
                end += 2 if text.startswith('""', end) else 1
            if end >= len(text):
                raise SourceError(f"line {text.count(chr(10), 0, i) + 1}: a string does not end; close its quote")
            piece, i = text[i : end + 1], end + 1
            out.append(_blank(piece) if depth or strings else piece)
        else:
            out.append(_blank(text[i]) if depth else text[i])
            i += 1
    if depth:
        raise SourceError("a comment does not end; close it with *)")
    return "".join(out)


def _blank(piece: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in piece)


@dataclass(frozen=True)
class Sentence:
    """One command, without its full stop, and where it starts and ends in the source."""

    text: str
    start: int
    end: int


def sentences(stripped: str) -> list[Sentence]:
    """The commands of a source whose comments are blanks: Rocq ends one at a full stop before a blank.

    >>> [s.text for s in sentences("Check a.b. Qed.")]
    ['Check a.b', 'Qed']
    """
    found, start = [], 0
    for stop in re.finditer(r"(?<!\.)\.(?=\s|\Z)|\.\.\.(?=\s|\Z)", stripped):
        piece = stripped[start : stop.start()]
        if piece.strip():
            lead = len(piece) - len(piece.lstrip())
            found.append(Sentence(piece.strip(), start + lead, stop.end()))
        start = stop.end()
    return found


@dataclass(frozen=True)
class Finding:
    """Something that a file of the development must not contain."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def scan(file: str, text: str) -> list[Finding]:
    """What in this source could let a statement stand without proof, by line.

    >>> [str(f) for f in scan("x.v", "Lemma l : False.\\nAdmitted. (* Axiom *)")]
    ['x.v:2: Admitted']
    """
    try:
        stripped = strip_comments(text)
    except SourceError as error:
        return [Finding(file, 1, str(error))]

    def line(at: int) -> int:
        return stripped.count("\n", 0, at) + 1

    found = [Finding(file, line(m.start()), " ".join(m[0].split())) for m in FORBIDDEN.finditer(stripped)]
    open_sections: list[tuple[str, bool]] = []
    for sentence in sentences(stripped):
        bare = sentence.text
        while (prefix := PREFIX.match(bare)) is not None:
            bare = bare[prefix.end() :]
        if (opened := OPENING.match(bare)) and ":=" not in bare:
            open_sections.append((opened[1], bare.startswith("Section")))
        elif (closed := re.match(r"End\s+(\w+)", bare)) and open_sections and open_sections[-1][0] == closed[1]:
            open_sections.pop()
        elif (assumed := ASSUMING.match(bare)) and not any(is_section for _, is_section in open_sections):
            found.append(Finding(file, line(sentence.start), f"{assumed[0]} outside a section"))
        elif (unknown := _unknown_command(file, bare)) and FORBIDDEN.search(sentence.text) is None:
            found.append(Finding(file, line(sentence.start), f"{unknown} is no command that the gate lets through"))
    return sorted(found, key=lambda f: f.line)


def _unknown_command(file: str, bare: str) -> str | None:
    """The first word of a command that is not among those that proofs need, or None."""
    if COMMANDS.match(bare) or (file == "Claims.v" and CLAIMS_COMMANDS.match(bare)):
        return None
    word = re.match(r"[A-Z]\w*", bare)
    return word and word[0]


def project_files(project: str) -> tuple[list[str], list[Finding]]:
    """The files that `_CoqProject` lists, in its order, and every line of it that the gate does not allow.

    Allowed are `-R . AttnProof`, file names, and `-arg -w` with a line `-arg -name` after it that silences a warning:
    any other option could weaken the kernel.

    >>> [str(f) for f in project_files("-arg -w\\n-arg -ambiguous-paths\\n-arg -type-in-type\\nx.v")[1]]
    ["_CoqProject:3: unexpected line '-arg -type-in-type'"]
    """
    lines = [(number, line.strip()) for number, line in enumerate(project.splitlines(), 1) if line.strip()]
    files: list[str] = []
    bad: list[Finding] = []
    before = ""
    for number, line in lines:
        good = WARNING.fullmatch(line) if before == "-arg -w" else PROJECT_LINE.fullmatch(line)
        if good is None and line != "-arg -w":
            bad.append(Finding("_CoqProject", number, f"unexpected line {line!r}"))
        elif line.endswith(".v"):
            files.append(line)
        before = "" if before == "-arg -w" else line
    if before == "-arg -w":
        bad.append(Finding("_CoqProject", lines[-1][0], "unexpected line '-arg -w', which names no warning"))
    return files, bad


@dataclass(frozen=True)
class Pin:
    """One `Check (file.name : statement)` of Claims.v, under the heading of its claim.

    Attributes: `claim` ("T3"); `title` of its heading; `theorem`, qualified by its file; `statement`, as written;
    `start` and `end` of the whole sentence in the source; `line` and `last_line`.
    """

    claim: str
    title: str
    theorem: str
    statement: str
    start: int
    end: int
    line: int
    last_line: int

    @property
    def name(self) -> str:
        """The theorem's name without its file."""
        return self.theorem.rpartition(".")[2]

    @property
    def file(self) -> str:
        """The file that proves it."""
        return self.theorem.partition(".")[0] + ".v"


def pins(text: str) -> tuple[list[Pin], list[Finding]]:
    """The pinned statements of Claims.v in order, and what is wrong with it.

    Wrong are a `Check` without a heading `(** * Tk. title *)` above it, one in another form than
    `Check (file.name : statement).`, and a name that two checks pin: claims refer to a theorem by it.
    """
    stripped = strip_comments(text, strings=False)
    headings = [(m.start(), m[1], " ".join(m[2].split())) for m in CLAIM.finditer(text)]
    found: list[Pin] = []
    wrong: list[Finding] = []
    own = {
        file for names in re.findall(r"From\s+AttnProof\s+Require\s+([\w\s]+)\.", stripped) for file in names.split()
    }
    for sentence in sentences(stripped):
        line = stripped.count("\n", 0, sentence.start) + 1
        if _imports_whole_file(sentence.text, own):
            wrong.append(Finding("Claims.v", line, WHOLE_FILE))
        if not re.match(r"(?:\S+\s+)?Check\b", sentence.text):
            continue
        above = [h for h in headings if h[0] < sentence.start]
        match = PINNED.match(sentence.text)
        if match is None or "." not in match[1]:
            wrong.append(Finding("Claims.v", line, "a Check in another form than `Check (file.name : statement).`"))
        elif not above:
            wrong.append(Finding("Claims.v", line, f"{match[1]} stands under no heading `(** * Tk. title *)`"))
        elif any(match[1].rpartition(".")[2] == pin.name for pin in found):
            wrong.append(Finding("Claims.v", line, f"a theorem called {match[1].rpartition('.')[2]} is pinned twice"))
        else:
            scope = f"  ({match[3]})" if match[3] else ""
            statement = re.sub(r"\n\s*\n+", "\n", match[2]).strip() + scope
            last = stripped.count("\n", 0, sentence.end) + 1
            found.append(Pin(above[-1][1], above[-1][2], match[1], statement, sentence.start, sentence.end, line, last))
    return found, wrong


def _imports_whole_file(command: str, own: set[str]) -> bool:
    """Whether a command of Claims.v makes all names and notations of a file of the development visible."""
    if re.match(r"(?:From\s+AttnProof\s+)?Require\s+(?:Import|Export)\b", command):
        return "AttnProof" in command
    imported = re.match(r"(?:Import|Export)\b(.*)", command, re.DOTALL)
    bare = re.sub(r"\([^)]*\)", "()", imported[1]).split() if imported else []
    return any(name in own or (name.startswith("AttnProof.") and "()" not in name) for name in bare)


def sections(text: str) -> list[tuple[str, str]]:
    """Claims.v cut at its headings: (claim id, source from its heading to the next), and ("", what stands before).

    >>> sections("Definition a := 0.\\n(** * T1. One *)\\nCheck (f.g : True).\\n")
    [('', 'Definition a := 0.'), ('T1', 'Check (f.g : True).')]
    """
    headings = list(CLAIM.finditer(text))
    starts = [(m[1], m.end()) for m in headings]
    ends = [m.start() for m in headings] + [len(text)]
    return [(claim, text[start:end].strip()) for (claim, start), end in zip([("", 0), *starts], ends, strict=True)]
