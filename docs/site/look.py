"""Open every page of the built site in Chromium: `python docs/site/look.py SITE SCREENSHOTS [PAGE…]`.

At the width of a desk and of a phone, without network: no error on the console, no request that fails, no formula left
raw, nothing wider than the page unless it scrolls in a frame of its own. The search is tried as well. The screenshots
are for people.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, sync_playwright

WIDTHS = (1280, 390)
HERE = ("http://127.0.0.1", "data:")
LEFT_OUT = {"search", "genindex", "py-modindex"}
RAW = r"""() => {
  const texts = document.createTreeWalker(document.querySelector('article') ?? document.body, NodeFilter.SHOW_TEXT);
  const tex = /\\(frac|begin|bar|sum|text|mathbb|operatorname|le|ge|in)\b|\$\$|\$\\|\\\(|\\\[/;
  const found = [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map(e => e.textContent);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (tex.test(node.data) && !node.parentElement.closest('pre, code, script, style, mjx-container'))
      found.push(node.data.trim());
  }
  return found.map(text => 'raw: ' + text.slice(0, 80));
}"""
CUT = r"""() => {
  const width = document.documentElement.clientWidth;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const framed = e => e.tagName !== 'ARTICLE' && (scrolls(e) || framed(e.parentElement));
  const wide = [...document.querySelectorAll('article *')].filter(e => e.offsetParent !== null
    && !e.closest('svg, mjx-container') && e.getBoundingClientRect().right > width + 1 && !framed(e));
  const whole = document.documentElement.scrollWidth;
  return [...(whole > width ? [`the page is ${whole} px wide`] : []),
          ...wide.slice(0, 2).map(e => 'cut off: ' + e.outerHTML.slice(0, 120))];
}"""


def serve(folder: Path) -> http.server.ThreadingHTTPServer:
    """The site at a port of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def faults(page: Page, address: str, picture: str) -> list[str]:
    """What is wrong with one page, which is loaded once and looked at in both widths."""
    said: list[str] = []
    page.on("console", lambda message: said.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("requestfailed", lambda request: said.append(f"not loaded: {request.url}"))
    page.on("request", lambda r: None if r.url.startswith(HERE) else said.append(f"network: {r.url}"))
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(address)
    page.evaluate("() => window.MathJax?.startup?.promise")
    said += page.evaluate(RAW)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        said += [f"{width} px: {fault}" for fault in page.evaluate(CUT)]
        page.screenshot(path=f"{picture}-{width}.png", full_page=True)
    return said


def search_fails(page: Page, base: str) -> list[str]:
    """A search for a word of the mathematics leads to its page."""
    page.goto(f"{base}/search.html?q=starved")
    wanted = "#search-results li a:is([href*=theory], [href*=guarantee])"
    try:
        page.wait_for_selector(wanted, timeout=20_000)  # results are shown one after the other
    except TimeoutError:
        found = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.getAttribute('href'))")
        return [f"search finds {found}"]
    return []


def main() -> int:
    """Look at everything; the status is 1 where something is wrong."""
    site, pictures = Path(sys.argv[1]), Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    pages = [p.relative_to(site) for p in site.rglob("*.html")]
    names = sorted(p.as_posix() for p in pages if p.stem not in LEFT_OUT and "_static" not in p.parts)
    names = [name for name in names if not sys.argv[3:] or name.startswith(tuple(sys.argv[3:]))]
    server, wrong = serve(site), 0
    base = f"http://127.0.0.1:{server.server_address[1]}"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names:
            page = browser.new_page()
            found = faults(page, f"{base}/{name}", str(pictures / name.replace("/", "-")[:-5]))
            page.close()
            wrong += len(found)
            for fault in found:
                print(f"{name}: {fault}")
        for fault in search_fails(browser.new_page(), base):
            wrong += 1
            print(fault)
        browser.close()
    print(f"{len(names)} pages at {' and '.join(map(str, WIDTHS))} px: {wrong or 'no'} fault{'s' * (wrong != 1)}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
