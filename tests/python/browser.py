"""Headless Chromium, by the DevTools protocol over a pair of pipes: what it shows, what a keyboard does, what a screen
reader is told."""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess

BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " ")}


class Browser:
    """One tab. Every name of a host is unknown to it."""

    def __init__(self, folder):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command += ["--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder / 'profile'}"]
        # Letters look the same whatever screens the system knows of.
        command += ["--font-render-hinting=none", "--disable-lcd-text", "--remote-debugging-pipe", "about:blank"]
        low, self._out = os.pipe()
        self._in, lower = os.pipe()
        # It reads commands from 3, and writes what it has to say to 4: out of the way of which are the pipes.
        ends = tuple(fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (low, lower))
        shell = ["bash", "-c", f'exec 3<&{ends[0]} 4>&{ends[1]}; exec "$@"', "bash", *command]
        self._process = subprocess.Popen(shell, pass_fds=ends, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for end in (low, lower, *ends):
            os.close(end)
        self._read, self._number, self._session, self.events = b"", 0, None, []
        tab = next(t for t in self.say("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.say("Target.attachToTarget", targetId=tab["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility", "DOM"):
            self.say(f"{domain}.enable")

    def close(self):
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait(timeout=60)

    def say(self, method, **params):
        """Its answer; what else it tells meanwhile is in `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self):
        while b"\0" not in self._read:
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has ended"
            self._read += data
        message, _, self._read = self._read.partition(b"\0")
        answer = json.loads(message)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def show(self, page, width, height=800, scheme="light"):
        """A file, in a window of that size."""
        self.say("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.say("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.say("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._next()

    def ask(self, script):
        """The value of a script."""
        answer = self.say("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key):
        code, text = _KEYS[key]
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.say("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.say("Input.dispatchKeyEvent", type="keyUp", **common)

    def shot(self, path, height=None):
        """A picture of the window, or of so much of the page."""
        clip = {}
        if height is not None:
            width = self.ask("innerWidth")
            box = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
            clip = {"clip": box, "captureBeyondViewport": True}
        path.write_bytes(base64.b64decode(self.say("Page.captureScreenshot", **clip)["data"]))

    def told(self):
        """What a screen reader is told, as pairs of roles and names, in order."""
        nodes = {node["nodeId"]: node for node in self.say("Accessibility.getFullAXTree")["nodes"]}
        told, ahead = [], [next(node for node in nodes.values() if "parentId" not in node)]
        while ahead:
            node = ahead.pop()
            if not node.get("ignored"):
                told.append((node["role"]["value"], node.get("name", {}).get("value", "")))
            ahead += [nodes[child] for child in reversed(node.get("childIds", [])) if child in nodes]
        return told


@contextlib.contextmanager
def browser(folder):
    it = Browser(folder)
    try:
        yield it
    finally:
        it.close()
