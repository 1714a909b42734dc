"""The picture of memory over time: `inlay.memory_page`, `inlay explain --memory=map.html` and `inlay plan --html`.

What it is made of is read from its text. How a browser shows it is seen in headless Chromium, with a probe before and
behind the page's own scripts: once with nothing moved, once with the mouse over a buffer. Those tests are skipped where
there is no Chromium (scripts/setup --dev installs one).
"""

import html
import json
import os
import re
import resource
import subprocess
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import inlay
import inlay.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from browser import BROWSER

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
PROGRAM = """
graph @main(%a: f64[64, 64], %b: f64[64, 64]) {
  %p = matmul %a, %b
  %e = exp %p
  %q = matmul %e, %b
  %s = slice %q[0:32, :]
  %u = matmul %s, %e
  %w = matmul %u, %q
  return %w
}
"""

BEFORE = """<script>
  const mistakes = [];
  addEventListener('error', (event) => mistakes.push(event.message));
</script>"""
BEHIND = """<script>
  const text = (node) => node ? node.textContent : null;
  const found = {idle: text(document.getElementById('over'))};
  const one = document.querySelector('rect[data-name="NAME"]');
  one.dispatchEvent(new MouseEvent('mouseenter'));
  found.hover = text(document.getElementById('over'));
  found.marked = [...document.querySelectorAll('rect.on')].map((r) => r.dataset.name);
  one.dispatchEvent(new MouseEvent('mouseleave'));
  found.after = text(document.getElementById('over'));
  found.left = document.querySelectorAll('rect.on').length;
  const box = (node) => { const b = node.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  found.labels = [...document.querySelectorAll('text.name, text.bytes')].map((t) => [t.textContent, box(t)]);
  found.bands = [...document.querySelectorAll('rect.band')].map(box);
  found.rects = [...document.querySelectorAll('rect[data-name]')].map((r) => ({...r.dataset, box: box(r), fill: getComputedStyle(r).fill}));
  found.peak = box(document.getElementById('peak'));
  found.heading = text(document.getElementById('at-peak'));
  found.rows = [...document.querySelectorAll('#live tr')].map((row) => [...row.children].map(text));
  found.width = document.documentElement.scrollWidth <= innerWidth;
  found.requests = performance.getEntriesByType('resource').map((entry) => entry.name);
  found.mistakes = mistakes;
  const out = document.createElement('pre');
  out.id = 'found'; out.textContent = JSON.stringify(found);
  document.body.append(out);
</script>"""


def browse(page, *arguments):
    """Chromium on a file, with every name of a host unknown."""
    folder = page.parent
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, *arguments, page.as_uri()], capture_output=True, text=True, timeout=120, cwd=folder, check=True
    )
    return done.stdout


def probed(page, name):
    """What the probe finds in the page, with the mouse once over the buffer `name`."""
    text = page.read_text().replace("<head>", "<head>" + BEFORE).replace("</body>", BEHIND + "</body>")
    copy = page.with_name("probed.html")
    copy.write_text(text.replace("NAME", name))
    dom = browse(copy, "--dump-dom", "--window-size=1100,900", "--hide-scrollbars")
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))


@pytest.fixture
def page(tmp_path):
    program = tmp_path / "products.inlay"
    program.write_text(PROGRAM)
    made = tmp_path / "map.html"
    subprocess.run([TOOL, "explain", program, f"--memory={made}"], check=True, capture_output=True, timeout=120)
    return made


def test_the_page_holds_all_that_it_needs(page):
    text = page.read_text()
    for word in ("src=", "href", "url(", "@import", "http", "fetch", "XMLHttpRequest", "import("):
        assert word not in text


class Picture:
    """The parts of a page's picture."""

    def __init__(self, text):
        self.text = text
        svg = ElementTree.fromstring(re.search(r"<svg.*?</svg>", text, re.S)[0])
        self.rects, self.words = list(svg.iter("rect")), list(svg.iter("text"))
        self.boxes = [r for r in self.rects if "data-name" in r.attrib]

    def of_class(self, name):
        return [r for r in self.rects if r.get("class") == name]

    def said(self, name):
        return ["".join(w.itertext()) for w in self.words if name in w.get("class").split()]


def place(rect):
    x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def overlap(a, b):
    (left, top, right, bottom), (x, y, end, low) = place(a), place(b)
    return min(right, end) - max(left, x) > 0.02 and min(bottom, low) - max(top, y) > 0.02


def of_text(tmp_path):
    return inlay.compile(PROGRAM, "products.inlay")


def of_pytensor(tmp_path):
    a, b = pt.matrix("a", shape=(64, 64)), pt.matrix("b", shape=(64, 64))
    q = pt.exp(a @ b) @ b
    return pytensor.function([a, b], pt.exp(q[:32]) @ q, mode="INLAY")


@pytest.mark.parametrize("make", [of_text, of_pytensor])
def test_what_the_picture_is_made_of(make, tmp_path):
    inlay.memory_page(make(tmp_path), tmp_path / "page.html")
    picture = Picture((tmp_path / "page.html").read_text())
    assert len(picture.boxes) >= 4 and len(picture.of_class("band")) >= 3

    # Nothing lies over something else, and each box lies in one frame.
    for boxes in (picture.boxes, picture.of_class("band")):
        assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    for box in picture.boxes:
        assert sum(inside(place(box), place(band), slack=0.02) for band in picture.of_class("band")) == 1

    # Names and bytes begin in a box, and end there by a generous width of letters.
    names = {box.get("data-name") for box in picture.boxes}
    for word in picture.words:
        if word.get("class") in ("name", "bytes"):
            x, y, text = float(word.get("x")), float(word.get("y")), "".join(word.itertext())
            extent = (x, y - 8, x + 6 * len(text), y)
            assert any(inside(extent, place(box)) for box in picture.boxes), text
    assert {text.split("  ")[0] for text in picture.said("name")} <= names
    assert any(re.search(r"\d (KiB|bytes)$", text) for text in picture.said("name"))

    # Axes: bytes with their unit, steps by what they compute, with the line.
    assert "bytes of working memory" in picture.said("unit") and "step" in picture.said("unit")
    assert all(re.search(r"\d (bytes|KiB)$", tick) for tick in picture.said("tick"))
    for op in ("matmul(", "exp("):
        assert any(op in step for step in picture.said("does"))
    lines = [step for step in picture.said("does") if re.fullmatch(r".*\[\S+\.(inlay|py):\d+.*\]", step)]
    assert lines

    # Arguments and results are rows; the legend says what is there.
    assert len(picture.of_class("row")) == 3
    legend = re.search(r'<p id="legend">(.*?)</p>', picture.text, re.S)[1]
    for style in {rect.get("class") for rect in picture.rects} - {"band"}:
        assert f'class="{style}"' in legend
    assert "@media print" in picture.text and "print-color-adjust: exact" in picture.text


def test_sizes_that_a_call_brings(tmp_path):
    f = inlay.compile(PROGRAM.replace("[64, 64]", "[n, n]").replace("0:32", "0:n"))
    with pytest.raises(inlay.InlayError, match="whose number is not given"):
        inlay.memory_page(f)
    for ask in (inlay.explain, inlay.memory_page):
        with pytest.raises(inlay.errors.UnknownName, match="the program has no size called m, but n"):
            ask(f, sizes={"m": 20})
    text = inlay.memory_page(f, sizes={"n": 20}, title="twenty & more")
    assert "<h1>twenty &amp; more</h1>" in text and 'data-bytes="3200"' in text
    assert len(Picture(text).of_class("row")) == 3


def test_a_page_that_finds_no_room_leaves_what_was_there(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("old")
    f = of_text(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="page.html'"):
            inlay.memory_page(f, page)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert page.read_text() == "old" and list(tmp_path.glob("*.html*")) == [page]

    page.chmod(0o640)
    (tmp_path / "link.html").symlink_to(page)
    inlay.memory_page(f, tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink() and page.read_text().startswith("<!DOCTYPE html>")
    assert page.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError, match="none/page.html'"):
        inlay.memory_page(f, tmp_path / "none" / "page.html")
    assert inlay.memory_page(f, "/dev/null") is None


def test_sizes_within_upper_bounds():
    """One layout for all: it is shown with the most that each may be, whatever sizes are asked for."""
    f = inlay.compile(PROGRAM.replace("[64, 64]", "[n, n]").replace("0:32", "0:n"), upper={"n": 64})
    text = inlay.memory_page(f)
    assert f'data-bytes="{64 * 64 * 8}"' in text
    assert inlay.memory_page(f, sizes={}) == inlay.memory_page(f, sizes={"n": 20}) == text
    assert inlay.explain(f, sizes={"n": 20}).plan.peak == inlay.explain(f).plan.peak
    for ask in (inlay.explain, inlay.memory_page):
        with pytest.raises(inlay.errors.UpperBound, match="n is 500, but the program was compiled for at most 64"):
            ask(f, sizes={"n": 500})


def test_of_no_function_of_inlay():
    for ask in (inlay.explain, inlay.memory_page):
        with pytest.raises(TypeError, match="^an object of type list is not a function that inlay compiled, by"):
            ask([1.0] * 1000)


@needs_browser
def test_in_a_browser(page):
    found = probed(page, "e")
    assert found["mistakes"] == [] and found["requests"] == [] and found["width"]

    assert found["hover"].split("  ")[0].strip() == "e"
    for part in ("type f64[64, 64]", "bytes 32768", "lives step 2, @k0 to step 4, matmul", "in s0", "why takes over p"):
        assert part in found["hover"]
    assert found["marked"] == ["p", "e"]  # all that lies in s0
    assert found["after"] == found["idle"] == "Move the mouse over a box to see what it is."
    assert found["left"] == 0

    # Words lie in the boxes that they are about, as the browser's font has them.
    named = {rect["name"]: rect["box"] for rect in found["rects"]}
    labels = {words: place for words, place in found["labels"] if words.split()[0] in named}
    assert len(labels) >= 4
    for words, place in labels.items():
        assert inside(place, named[words.split()[0]], slack=2), words

    # The peak is marked over what lives there, which is listed, the largest first, with reasons.
    live = [rect["name"] for rect in found["rects"] if rect["box"][0] <= found["peak"][0] <= rect["box"][2]]
    header, *rows = found["rows"]
    assert header == ["value", "type", "bytes", "at", "lives", "storage", "why"]
    sizes = [int(row[2]) for row in rows]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) > 1
    assert {row[0] for row in rows} == set(live)
    assert all(row[6] for row in rows)
    assert re.fullmatch(rf"At the peak: .*\({sum(sizes)} bytes\) at step \d+, \S+", found["heading"])


def inside(inner, outer, slack=0.0):
    return all(a >= b - slack for a, b in zip(inner[:2], outer[:2])) and all(
        a <= b + slack for a, b in zip(inner[2:], outer[2:])
    )


@needs_browser
def test_it_can_be_looked_at(page):
    image = pytest.importorskip("matplotlib.image")
    browse(page, f"--screenshot={page.with_name('shot.png')}", "--window-size=1100,900")
    pixels = (255 * image.imread(page.with_name("shot.png"))[..., :3]).astype(int).reshape(-1, 3)
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    large = [tuple(colour) for colour, count in zip(colours.tolist(), counts, strict=True) if count > 5000]
    assert len(large) >= 4  # the background, and the rectangles of three storages or more
    assert (abs(pixels - [204, 0, 0]).max(1) < 40).sum() > 100  # the line at the peak


@needs_browser
def test_boxes_have_their_colours_where_they_lie(page):
    """As pixels, at places that the page's own data name: right of the words, left and right of the peak's line."""
    image = pytest.importorskip("matplotlib.image")
    browse(page, f"--screenshot={page.with_name('shot.png')}", "--window-size=1100,900", "--hide-scrollbars")
    shot = np.rint(255 * image.imread(page.with_name("shot.png"))[..., :3]).astype(int)
    rects = probed(page, "e")["rects"]
    assert len({rect["fill"] for rect in rects}) >= 2
    for rect in rects:
        left, top, right, bottom = rect["box"]
        inside_box = shot[int(top) + 2 : int(bottom) - 1, int(left) + 2 : int(right) - 1].reshape(-1, 3)
        fill = [int(number) for number in re.findall(r"\d+", rect["fill"])]
        assert (abs(inside_box - fill).max(axis=1) <= 2).mean() > 0.8, rect["name"]


PICTURE = Path(__file__).with_name("memory_page.png")


def small_picture(page, image):
    """The page as a browser shows it, in grey, a tenth as wide and as high: of letters little more than their place."""
    shot = page.with_suffix(".png")
    browse(page, f"--screenshot={shot}", "--window-size=1100,900", "--hide-scrollbars")
    grey = image.imread(shot)[..., :3].mean(axis=2)
    return grey.reshape(90, 10, 110, 10).mean(axis=(1, 3))


@needs_browser
def test_it_looks_as_it_did(page):
    """INLAY_NEW_PICTURES=1 makes the picture that it is compared with anew: look at it."""
    image = pytest.importorskip("matplotlib.image")
    page.write_text(re.sub("<h1>.*?</h1>", "<h1>products</h1>", page.read_text()))  # where the file lies
    now = small_picture(page, image)
    if os.environ.get("INLAY_NEW_PICTURES"):
        image.imsave(PICTURE, now, cmap="gray", vmin=0, vmax=1)
    before = image.imread(PICTURE)[..., :3].mean(axis=2)
    # Fonts of another version set letters elsewhere within their lines; a box that moves by a tenth is beyond this bound.
    assert differing(now, before) <= 0.01

    moved = page.with_name("moved.html")
    moved.write_text(re.sub(r'x="470.00"([^>]*data-name="e")', r'x="530.00"\1', page.read_text()))
    assert moved.read_text() != page.read_text()
    assert differing(small_picture(moved, image), before) > 0.01


def differing(one, other):
    """The share of the picture that is lighter or darker by an eighth."""
    return (abs(one - other) > 1 / 8).mean()


@needs_browser
def test_buffers_with_names_that_are_html(tmp_path):
    buffers = tmp_path / "buffers.csv"
    buffers.write_text('id,lower,upper,size\n"<script>alert(1)</script> ""a"" & b",0,4,8\nc,2,6,16\n')
    made = tmp_path / "plan.html"
    subprocess.run([TOOL, "plan", buffers, "--html", made], check=True, capture_output=True, timeout=60)
    found = probed(made, "c")
    assert found["mistakes"] == []
    assert [row[0] for row in found["rows"][1:]] == ["c", '<script>alert(1)</script> "a" & b']
    assert found["hover"].split("  ")[0].strip() == "c" and "bytes 16" in found["hover"]
