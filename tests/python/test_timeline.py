"""The picture of memory over time, as a browser shows it: `inlay explain --memory=map.html` and `inlay plan --html`.

The page is opened twice in headless Chromium, with a probe before and behind its own scripts: once with nothing moved, once
with the mouse over a buffer. Skipped where there is no Chromium (Debian: apt-get install chromium).
"""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TOOL = Path(os.environ.get("INLAY_TOOL", ROOT / "build" / "release" / "bin" / "inlay"))
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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
  found.picture = box(document.querySelector('svg'));
  found.rects = [...document.querySelectorAll('rect[data-name]')].map((r) => ({...r.dataset, box: box(r)}));
  found.peak = box(document.getElementById('peak'));
  found.heading = text(document.querySelector('h2'));
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
    dom = browse(copy, "--dump-dom", "--window-size=1100,900")
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


@needs_browser
def test_in_a_browser(page):
    found = probed(page, "e")
    assert found["mistakes"] == [] and found["requests"] == [] and found["width"]

    assert found["hover"].split("  ")[0].strip() == "e"
    for part in ("type f64[64, 64]", "bytes 32768", "lives [3, 8)", "in s0", "why takes over p"):
        assert part in found["hover"]
    assert found["marked"] == ["p", "e"]  # all that lies in s0
    assert found["after"] == found["idle"] == "Time goes across, bytes go up. Move the mouse over a buffer."
    assert found["left"] == 0

    # Rectangles are where bytes and times are.
    left, top, right, bottom = found["picture"]
    times = [tuple(map(int, re.findall(r"\d+", rect["lives"]))) for rect in found["rects"]]
    begin, end = min(t[0] for t in times), max(t[1] for t in times)
    height = max(int(rect["offset"]) + int(rect["bytes"]) for rect in found["rects"])
    for rect, (first, last) in zip(found["rects"], times, strict=True):
        low, high = int(rect["offset"]), int(rect["offset"]) + int(rect["bytes"])
        want = [
            left + (right - left) * (first - begin) / (end - begin),
            bottom - (bottom - top) * high / height,
            left + (right - left) * (last - begin) / (end - begin),
            bottom - (bottom - top) * low / height,
        ]
        assert rect["box"] == pytest.approx(want, abs=3)

    # The peak is marked over what lives there, which is listed, the largest first, with reasons.
    peak = int(re.search(r"at (\d+)", found["heading"])[1])
    live = [rect for rect, (first, last) in zip(found["rects"], times, strict=True) if first <= peak < last]
    assert all(rect["box"][0] <= found["peak"][0] <= rect["box"][2] for rect in live)
    header, *rows = found["rows"]
    assert header == ["buffer", "type", "bytes", "at", "lives", "storage", "why"]
    sizes = [int(row[2]) for row in rows]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) > 1
    assert {row[0] for row in rows} == {rect["name"] for rect in live}
    assert all(row[6] for row in rows)
    assert found["heading"].startswith(f"At the peak: {sum(sizes)} bytes at {peak} (")


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
def test_buffers_with_names_that_are_html(tmp_path):
    buffers = tmp_path / "buffers.csv"
    buffers.write_text('id,lower,upper,size\n"<script>alert(1)</script> ""a"" & b",0,4,8\nc,2,6,16\n')
    made = tmp_path / "plan.html"
    subprocess.run([TOOL, "plan", buffers, "--html", made], check=True, capture_output=True, timeout=60)
    found = probed(made, "c")
    assert found["mistakes"] == []
    assert [row[0] for row in found["rows"][1:]] == ["c", '<script>alert(1)</script> "a" & b']
    assert found["hover"].split("  ")[0].strip() == "c" and "bytes 16" in found["hover"]
