"""A verdict's page: what it shows, that it stands by itself, that no name in it is markup, how a browser shows it."""

from __future__ import annotations

import html.parser
import re
import string
import subprocess
from collections import Counter
from dataclasses import replace

import attnproof as ap
import numpy as np
import pytest
from attnproof.causal.grid import grid
from attnproof.causal.page import page
from attnproof.causal.verdict import Column, Evidence, Status, Verdict
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need, need_chromium

LEAK = ap.check_projection([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "section", "h1", "h2", "p", "b", "ul", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "details", "summary"),
    *("svg", "defs", "pattern", "rect", "circle", "text"),
}


class Reader(html.parser.HTMLParser):
    """Tags, attributes and text of a page; complains of what is no part of one."""

    def __init__(self, source):
        super().__init__()
        self.met, self.open, self.text, self.handlers = Counter(), [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.met[tag] += 1
        self.handlers += [name for name, _ in attributes if name.startswith("on") or name in ("href", "src")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def table(pandas):
    days = pandas.date_range("2024-01-01", periods=30)
    return pandas.DataFrame({"close": np.random.default_rng(0).normal(size=30).cumsum()}, index=days)


def ahead(d):
    return d.assign(**{"next <b>day</b>": d["close"].shift(-1)})


def replayed(path, **names):
    """What the lines that the page names print."""
    lines = Reader(path.read_text()).text
    command = (
        next(text for text in lines if "from_report" in text).replace("FILE", str(path)).replace("print(", "said = (")
    )
    exec(command, names)
    return names["said"]


def test_the_replay_that_the_page_names_confirms(tmp_path):
    LEAK.report(tmp_path / "leak.html")
    assert Verdict.from_report(tmp_path / "leak.html") == LEAK
    assert replayed(tmp_path / "leak.html") is True
    data = table(need("pandas"))
    ap.check_pipeline(ahead, data).report(tmp_path / "pipeline.html")
    assert replayed(tmp_path / "pipeline.html", function=ahead, data=data) is True
    assert (
        replayed(tmp_path / "pipeline.html", function=lambda d: d.assign(**{"next <b>day</b>": 0.0}), data=data)
        is False
    )


def test_a_model_s_page_shows_the_chain_with_its_source(tmp_path):
    torch = need("torch")

    def mixing(x):
        return x + x.mean(1, keepdim=True)  # the line that is blamed

    verdict = ap.check_model(mixing, torch.randn(1, 6, 4))
    verdict.report(tmp_path / "model.html")
    shown = Reader((tmp_path / "model.html").read_text()).text
    assert any("# the line that is blamed" in text for text in shown)
    assert any("forbidden, read or not excluded" in text for text in shown)
    assert replayed(tmp_path / "model.html", model=mixing) is True


def test_the_page_says_all_parts_of_a_verdict():
    verdict = replace(
        LEAK,
        reasons=("a remark",),
        assumptions=("what is assumed",),
        evidence=(Evidence("exact", True, "what was done", 1.25), Evidence("kernel", None, "no coqc")),
        columns=(Column("entry", Status.UNDECIDED, "no leak"),),
        suppressed="a reason",
    )
    text = " ".join(Reader(page(verdict)).text)
    for part in ("a remark", "what is assumed", "what was done", "1.2", "– not run", "entry", "a reason", "attnproof "):
        assert part in text
    assert "Witness" not in " ".join(Reader(page(ap.check_projection([[1.0, 0.0]], visible="largest"))).text)


@settings(max_examples=25)
@given(st.text(alphabet=st.characters() | st.sampled_from("<>&'\"/-=`"), min_size=1, max_size=30))
def test_names_are_text_whatever_they_hold(name):
    column = Column(name, Status.REFUTED, name, 0, 1, (name, name), name)
    verdict = replace(LEAK, about=name, columns=(column,), reasons=(name,), versions={name: name}, input_hash=name)
    source = page(verdict)
    source.encode("utf-8")
    read = Reader(source)
    assert set(read.met) <= TAGS
    assert not read.handlers
    assert read.open == []
    assert read.met == Reader(page(replace(verdict, columns=(replace(column, name="n"),)))).met
    if set(name) <= set(string.printable) - set("\r\x0b\x0c"):
        assert name in read.text


def test_a_page_needs_no_network_and_only_html_is_written(tmp_path):
    source = page(LEAK)
    assert not re.search(r"(src|href)=|@import|url\((?!#hatch)", source)
    assert "default-src 'none'" in source
    with pytest.raises(ValueError, match=r"report = '.*page\.pdf' has no ending of a page; use \.html"):
        LEAK.report(tmp_path / "page.pdf")
    (tmp_path / "other.html").write_text("<p>nothing</p>")
    with pytest.raises(ValueError, match="holds no verdict; name a page that a report wrote"):
        Verdict.from_report(tmp_path / "other.html")


def test_a_model_that_was_not_traced_is_not_said_to_read_nothing():
    boundary = ap.Boundary.resolve(None, 3, 3)
    for status, details in ((Status.UNDECIDED, {"earliest": [0, 0, 0], "latest": [0, 1, 2]}), (Status.REFUTED, {})):
        shown = page(Verdict("model", "it", status, boundary=boundary, details=details))
        assert "forbidden, no reading traced" in shown
        assert "cannot be read" not in shown
    details = {"earliest": [0, 0, 0], "latest": [0, 1, 2]}
    assert "forbidden, cannot be read" in page(
        Verdict("model", "it", Status.PROVED, boundary=boundary, details=details)
    )


def test_what_is_left_out_of_a_picture_is_said():
    codes = np.zeros((300, 300), int)
    codes[250, 251] = 3
    drawn = grid(codes, np.arange(300), np.arange(300), (250, 251))
    assert "query 250, position 251: forbidden, read or not excluded" in drawn
    assert "as far as drawn" in drawn
    assert "others left out" in drawn
    assert "left out" not in grid(codes[:3, :3], np.arange(3), np.arange(3))


FRAME = """<iframe id=f src={name} width=390 height=800></iframe><pre id=o></pre><script>
onload = () => {{ const d = f.contentDocument; o.textContent = [d.documentElement.scrollWidth, d.scripts.length,
  d.getElementsByTagName('h2').length, getComputedStyle(d.querySelector('thead')).display].join(' ') }}</script>"""


def test_a_browser_shows_it_on_a_phone(tmp_path):
    chromium = need_chromium()
    name = f"{'a_column_of_a_long_name' * 8}<script>document.title = 'run'</script>"
    column = Column(name, Status.REFUTED, "looks ahead", 0, 1, (0.5, 1.5), "close")
    replace(LEAK, columns=(column,)).report(tmp_path / "page.html")
    (tmp_path / "frame.html").write_text(FRAME.format(name="page.html"))
    command = [
        *(chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom"),
        (tmp_path / "frame.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = re.search(r'<pre id="o">(\d+) (\d+) (\d+) (\w+)</pre>', done.stdout)
    assert said, done.stdout
    width, scripts, headings, head = int(said[1]), int(said[2]), int(said[3]), said[4]
    assert width <= 390
    assert scripts == 0
    assert headings >= 6
    assert head == "none"  # tables are read row by row
