"""The page of `inlay.report` as headless Chromium shows it: on a telephone and on a desk, in light and in dark, by the
keyboard, to a screen reader.

Skipped where there is no Chromium, but not with INLAY_BROWSER=1, as the part `browser` of scripts/check runs it. The
pictures are of a page of fixed numbers (report_data.json), and one of them is docs/report.png. With
INLAY_NEW_PICTURES=1 they are made anew: look at them.
"""

import dataclasses
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import report_data
from browser import BROWSER, browser
from inlay.reporting.page import page_of

image = pytest.importorskip("matplotlib.image")
Image = pytest.importorskip("PIL.Image")
ROOT = Path(__file__).parents[2]
PICTURES = Path(__file__).with_name("pictures")
REQUIRED = os.environ.get("INLAY_BROWSER") == "1"
pytestmark = pytest.mark.skipif(BROWSER is None and not REQUIRED, reason="no Chromium is installed")

TELEPHONE, DESK = 390, 1100
HEIGHTS = {TELEPHONE: 2400, DESK: 2400}  # of the part of the page that is compared
VIEWS = [(width, scheme) for width in (TELEPHONE, DESK) for scheme in ("light", "dark")]
SMALLER = 2  # how many times, in the pictures that are kept
ON_PAPER = ROOT / "docs" / "report.png"  # as large as it is seen, and what stands under "At a glance"
ON_PAPER_HEIGHT = 1060

# The fonts of the part `browser`, whatever else this machine has.
SANS, MONO = "DejaVu Sans", "DejaVu Sans Mono"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def page(folder):
    return page_in(folder, "report.html", *report_data.fixed())


@pytest.fixture(scope="module")
def static_page(folder):
    """Not measured, and with sizes that a call brings."""
    name, e, _ = report_data.fixed()
    sizes = {"bytes_read": "16*x_0 + 8*x_0*x_1 + 8*b_0*y_0", "bytes_written": "8*x_0"}
    steps = [dataclasses.replace(step, **sizes) for step in e.steps]
    return page_in(folder, "static.html", name, dataclasses.replace(e, steps=steps, plan=None, buffers=None))


def page_in(folder, file_name, *of):
    html = page_of(*of)
    for font, stack in (SANS, r'system-ui, [^;}]*'), (MONO, r"ui-monospace, [^;}]*"):
        html, times = re.subn(stack, f'"{font}"', html, count=1)
        assert times == 1
    path = folder / file_name
    path.write_text(re.sub(r"Made by inlay [^ ]*\. ", "Made by inlay. ", html))
    return path


@pytest.fixture(scope="module")
def tab(folder):
    with browser(folder) as it:
        yield it


@pytest.mark.parametrize("which", ["page", "static_page"])
@pytest.mark.parametrize("width, scheme", VIEWS)
def test_it_fits_and_says_nothing_to_the_console(tab, request, which, width, scheme):
    page = request.getfixturevalue(which)
    tab.show(page, width, scheme=scheme)
    assert tab.ask("document.documentElement.scrollWidth") == width
    open_all(tab)
    assert tab.ask("document.documentElement.scrollWidth") == width
    # Nothing but the listings, which scroll by themselves, is wider than its place.
    wide = """[...document.querySelectorAll('main *')].filter(e => !e.closest('pre, svg, .bar') &&
        e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.outerHTML.slice(0, 200))"""
    assert tab.ask(wide) == []
    # No text runs out of its cell into the next.
    out = "[...document.querySelectorAll('td, tbody th')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert tab.ask(out) == 0
    told = {event["method"] for event in tab.events}
    assert not told & {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
    asked = [e["params"]["request"]["url"] for e in tab.events if e["method"] == "Network.requestWillBeSent"]
    assert asked == [page.as_uri()]


def open_all(tab):
    tab.ask("document.querySelectorAll('details').forEach(d => d.open = true)")


def test_a_page_that_does_not_fit_is_found(tab, page, folder):
    spoiled = folder / "spoiled.html"
    spoiled.write_text(page.read_text().replace("<h3>", '<h3 style="width: 500px">', 1))
    tab.show(spoiled, TELEPHONE)
    assert tab.ask("document.documentElement.scrollWidth") > TELEPHONE


CONTRAST = """
(() => {
  const parse = c => { const n = c.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => [r, g, b].map(v => linear(v / 255))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); };
  const least = {};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || e.closest('title')) continue;
    const style = getComputedStyle(e), of_svg = e.closest('svg');
    const box = of_svg && e.parentElement.querySelector('rect');
    const found = ratio(parse(of_svg ? style.fill : style.color), box ? parse(getComputedStyle(box).fill) : behind(e));
    const name = e.tagName + '.' + (e.getAttribute('class') || '');
    least[name] = Math.min(least[name] ?? 99, found);
  }
  return least;
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(tab, page, scheme):
    """At least 4.5 to 1, for each text."""
    tab.show(page, DESK, scheme=scheme)
    open_all(tab)
    least = tab.ask(CONTRAST)
    assert {"P.", "A.", "SMALL.", "TH.", "text.", "text.size", "SUMMARY."} <= set(least)
    assert {name: ratio for name, ratio in least.items() if ratio < 4.5} == {}


def test_by_the_keyboard(tab, page):
    tab.show(page, DESK)
    focused = "document.activeElement.outerHTML"
    tab.press("Tab")
    assert tab.ask("document.activeElement.className") == "skip"
    assert tab.ask("document.activeElement.getBoundingClientRect().left >= 0")  # it is seen once it has the focus
    for _ in range(60):
        tab.press("Tab")
        assert tab.ask("getComputedStyle(document.activeElement).outlineStyle") != "none", tab.ask(focused)
        if tab.ask("document.activeElement.tagName") == "SUMMARY":
            break
    opened = "document.activeElement.parentElement.open"
    assert tab.ask(opened) is False, tab.ask(focused)
    tab.press("Enter")
    assert tab.ask(opened) is True
    tab.press(" ")
    assert tab.ask(opened) is False

    # What scrolls can be reached, and so can everything that is a link.
    assert tab.ask("[...document.querySelectorAll('pre')].every(e => e.tabIndex === 0)")
    assert tab.ask("[...document.querySelectorAll('a')].every(e => e.tabIndex === 0)")


def test_a_link_into_what_is_folded_opens_it(tab, page):
    tab.show(page, DESK)
    link = "document.querySelector('#steps a[href^=\"#kernel-\"]')"
    folded = f"document.querySelector({link}.hash).closest('details').open"
    assert tab.ask(folded) is False
    tab.ask(f"{link}.focus()")
    tab.press("Enter")
    assert tab.ask(f"new Promise(done => setTimeout(() => done(1), 0)) && {folded}") is True


@pytest.mark.parametrize("width", [TELEPHONE, DESK])
def test_what_a_screen_reader_is_told(tab, page, width):
    """A table stays a table where its rows are boxes."""
    tab.show(page, width)
    told = tab.told()
    roles = [role for role, _ in told]
    for role in ("banner", "navigation", "main", "contentinfo"):
        assert roles.count(role) == 1
    headings = [name for role, name in told if role == "heading"]
    assert headings[:3] == ["newton", "At a glance", "What takes the time"]
    regions = [name for role, name in told if role == "region"]
    assert regions == [
        "At a glance", "The steps", "Working memory over time", "What was not done, and why", "The kernels' text",
        "The graph", "How it was compiled",
    ]  # fmt: skip
    _, e, _ = report_data.fixed()
    begin = told.index(("region", "The steps"))
    steps = told[begin : told.index(("region", "Working memory over time"))]
    assert [role for role, _ in steps].count("rowheader") == len(e.steps)
    heads = [name for role, name in steps if role == "columnheader"]
    assert heads == ["step", "computes", "time", "reads", "writes", "GB/s", "GFlop/s"]
    cells = [name for role, name in steps if role == "cell"]
    empty = tab.ask("document.querySelectorAll('.steps td:empty').length")  # which a telephone leaves out
    assert len(cells) == (len(heads) - 1) * len(e.steps) - (empty if width == TELEPHONE else 0)
    pictures = [name for role, name in told if role in ("image", "img")]
    assert len(pictures) == 1 and pictures[0].startswith(f"{len(e.buffers)} values in ")
    # Heads are not told once more as labels of boxes.
    assert steps.count(("StaticText", "reads")) == 1


def seen(tab, page, width, scheme, folder):
    """The upper part of the page, as numbers from 0 to 1."""
    tab.show(page, width, scheme=scheme)
    shot = folder / f"{width}-{scheme}.png"
    tab.shot(shot, HEIGHTS[width])
    return image.imread(shot)[..., :3]


def smaller(pixels, times):
    height, width = (n // times * times for n in pixels.shape[:2])
    return pixels[:height, :width].reshape(height // times, times, width // times, times, 3).mean(axis=(1, 3))


def differing(one, other):
    """The share of the picture, a tenth as wide and as high, that is another colour by an eighth: of letters little
    more than their place is left."""
    return (abs(smaller(one, 10) - smaller(other, 10)).max(axis=2) > 1 / 8).mean()


# Fonts and browsers of other versions set letters elsewhere by a pixel or two: that changes few of the tenths by so
# much. A line more or less above moves all that is below it, which is beyond this bound, as is another colour.
MOST = 0.02


@pytest.mark.parametrize("width, scheme", VIEWS)
def test_it_looks_as_it_did(tab, page, folder, width, scheme):
    require_fonts()
    now = seen(tab, page, width, scheme, folder)
    before = kept(PICTURES / f"report-{width}-{scheme}.png", smaller(now, SMALLER))
    assert differing(now, before.repeat(SMALLER, axis=0).repeat(SMALLER, axis=1)) <= MOST


def test_the_picture_of_the_pages_is_what_it_looks_like(tab, page, folder):
    require_fonts()
    now = seen(tab, page, DESK, "light", folder)[:ON_PAPER_HEIGHT]
    assert differing(now, kept(ON_PAPER, now)) <= MOST


def kept(path, now):
    """The picture in a file, which is `now` where pictures are to be made anew."""
    if os.environ.get("INLAY_NEW_PICTURES"):
        pixels = np.rint(255 * now).astype(np.uint8)
        Image.fromarray(pixels).quantize(256, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)
    assert path.stat().st_size < 100_000
    return image.imread(path)[..., :3]


@pytest.mark.parametrize(
    "from_text, to_text",
    [
        ("h2 { margin: 0 0 .75rem", "h2 { margin: 0 0 4rem"),
        ("--kernel: #2f74b5", "--page: #d0d0d0"),
        ("display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr))", "display: block"),
    ],
)
def test_a_page_that_looks_otherwise_is_found(tab, page, folder, from_text, to_text):
    require_fonts()
    spoiled = folder / "spoiled.html"
    assert from_text in page.read_text()
    spoiled.write_text(page.read_text().replace(from_text, to_text, 1))
    before = seen(tab, page, DESK, "light", folder)
    now = seen(tab, spoiled, DESK, "light", folder)
    assert differing(now, before) > MOST


def require_fonts():
    found = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=False).stdout
    if not {SANS, MONO} <= set(re.split("[,\n]", found)):
        assert not REQUIRED, "install fonts-dejavu-core"
        pytest.skip("the fonts of the pictures are not installed")


def test_it_prints_without_what_only_a_screen_needs(tab, page):
    tab.show(page, DESK)
    tab.say("Emulation.setEmulatedMedia", media="print")
    assert tab.ask("getComputedStyle(document.querySelector('nav')).display") == "none"
    tab.say("Emulation.setEmulatedMedia", media="")
