"""Pages of a pipeline and of a model as a reviewer meets them: in Chromium, without scripts, on a phone and in print.

What the page says is read from the browser, and the command that it gives to replay the witness is run as it stands.
"""

from __future__ import annotations

import subprocess
import sys

import attnproof as ap
import pytest
from needs import need, need_chromium

MARKUP = "next <b>day</b><script>document.title = 'run'</script>"
PIPELINE = f"""
import numpy as np, pandas as pd

def function(d):
    return d.assign(**{{{MARKUP!r}: d["close"].shift(-1)}})

data = pd.DataFrame({{"close": np.random.default_rng(0).normal(size=30).cumsum()}},
                    index=pd.date_range("2024-01-01", periods=30))
"""
MODEL = """
import torch

class Mixing(torch.nn.Module):
    def forward(self, x):
        return x + x.mean(1, keepdim=True)  # <i>every</i> position

model, x = torch.nn.ModuleDict({"<script>layer</script>": Mixing()}), torch.linspace(0, 1, 24).reshape(1, 6, 4)
model.forward = model["<script>layer</script>"].forward
"""
WIDTHS = """() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"""


def made(source, path):
    """The names that a file of this source defines."""
    path.write_text(source)
    names: dict[str, object] = {}
    exec(compile(source, str(path), "exec"), names)
    return names


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Two pages, each with the file that defines what its witness replays on."""
    need("pandas")
    need("torch")
    folder = tmp_path_factory.mktemp("reports")
    names = made(PIPELINE, folder / "pipeline.py")
    ap.check_pipeline(names["function"], names["data"]).report(folder / "pipeline.html")
    names = made(MODEL, folder / "model.py")
    ap.check_model(names["model"], names["x"]).report(folder / "model.html")
    return folder


@pytest.fixture(scope="module")
def browser():
    playwright = need("playwright.sync_api")
    path = need_chromium()
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize("subject", ["pipeline", "model"])
def test_a_report_is_read_without_scripts_on_a_phone_and_in_print_and_its_command_replays(reports, browser, subject):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: said.append(request.url))
    address = (reports / f"{subject}.html").as_uri()
    page.goto(address)
    assert said == [address]  # nothing else is asked for, and nothing complains
    whole, seen = page.evaluate(WIDTHS)
    assert whole <= seen == 390
    verdict = ap.Verdict.from_report(reports / f"{subject}.html")
    assert page.title() == page.inner_text("h1") == verdict.headline()
    shown = page.inner_text("body")
    for heading in ("Witness", "Evidence", "For the record", "How to replay"):
        assert heading in shown
    assert page.locator("script, b:not(p > b)").count() == 0  # names are text
    assert (MARKUP if subject == "pipeline" else "<i>every</i> position") in shown

    page.emulate_media(media="print")
    assert page.locator("h1").is_visible()
    assert page.locator("details").is_hidden()  # the JSON is for programs
    assert page.locator("thead").first.evaluate("e => getComputedStyle(e).color") in ("rgb(31, 35, 40)", "rgb(0, 0, 0)")
    assert page.pdf().startswith(b"%PDF")

    command = page.locator("section pre").last.inner_text()
    assert "FILE" in command
    program = f"from {subject} import *\n{command.replace('FILE', f'{subject}.html')}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=reports, timeout=300)
    assert done.stdout == "True\n", done.stderr
    context.close()
