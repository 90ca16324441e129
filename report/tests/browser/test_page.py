"""The page of `lanecrypt report` in headless Chromium: it draws, answers the pointer, and prints.

LANECRYPT_PROGRAM names the program, and LANECRYPT_RESULTS files or folders of results.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

# Seconds until a browser that does not answer fails the test.
PATIENCE = 60


class Browser:
    """Chromium without a window, told what to do through two pipes: JSON with zero bytes between."""

    def __init__(self, program, folder):
        ours_out, theirs_in = os.pipe()
        theirs_out, ours_in = os.pipe()

        def pipes():
            # Chromium reads descriptor 3 and writes 4.
            first, second = os.dup(theirs_out), os.dup(theirs_in)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
            + ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
            + [f"--user-data-dir={folder}", "--remote-debugging-pipe"],
            preexec_fn=pipes, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.write, self.read = os.fdopen(ours_in, "wb", buffering=0), os.fdopen(ours_out, "rb")
        self.number, self.pending, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    session = None

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.write.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def next(self):
        while b"\0" not in self.pending:
            more = os.read(self.read.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.next())

    def ask(self, expression):
        """What a piece of JavaScript in the page says."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.write.close()
        self.read.close()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        if program is None:
            print("SKIPPED chromium: apt install chromium", flush=True)
            raise unittest.SkipTest("no chromium")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lanecrypt-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # Two machines with all tables: the machine that has most of them, and another like it.
        machines = [pathlib.Path(name) for name in os.environ["LANECRYPT_RESULTS"].split(":")]
        whole = max(machines, key=lambda machine: len(list(machine.glob("*.json"))))
        another = shutil.copytree(whole, cls.folder / "another")
        command = [os.environ["LANECRYPT_PROGRAM"], "report", whole, another]
        cls.text = subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE).stdout
        cls.file = cls.folder / "page.html"
        cls.file.write_bytes(cls.text)
        cls.browser = Browser(program, cls.folder / "profile")
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.call("Emulation.setEmulatedMedia", media="", features=[])
        self.show(1200, 900)

    def show(self, width, height):
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )
        self.browser.open(self.file.as_uri())

    def test_size(self):
        self.assertLess(len(self.text), 1_000_000)

    def test_console_and_network(self):
        """Nothing is said on the console, and nothing but the file is loaded."""
        self.browser.ask("window.scrollTo(0, document.body.scrollHeight)")
        for event in self.browser.events:
            self.assertNotIn(
                event["method"],
                ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"),
            )
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                self.assertTrue(url.startswith(("file:", "data:")), url)

    def test_charts(self):
        """Each figure has a picture with lines and marks that take up room."""
        charts = self.browser.ask("""
            [...document.querySelectorAll("figure[id]")].map(figure => {
                const svg = figure.querySelector("svg").getBoundingClientRect();
                const lines = [...figure.querySelectorAll("[data-column] > path:first-child")];
                return {
                    id: figure.id, width: svg.width, height: svg.height,
                    lines: lines.length,
                    drawn: lines.filter(line => line.getTotalLength() > 20).length,
                    marks: figure.querySelectorAll("circle").length,
                    names: figure.querySelectorAll(".names li").length,
                    rows: figure.querySelectorAll("tr").length,
                };
            })
        """)
        self.assertGreater(len(charts), 20)
        for chart in charts:
            self.assertGreater(chart["width"], 300, chart)
            self.assertGreater(chart["height"], 150, chart)
            self.assertGreater(chart["drawn"], 0, chart)
            self.assertGreaterEqual(chart["marks"], chart["lines"], chart)
            self.assertEqual(chart["names"], chart["lines"], chart)
            self.assertGreater(chart["rows"], 1, chart)

    def test_headline(self):
        """The first picture answers before anybody scrolls."""
        seen = self.browser.ask("""
            (() => {
                const figure = document.querySelector("figure.headline");
                const box = figure.getBoundingClientRect();
                return {top: box.top, bottom: box.bottom,
                        marks: figure.querySelectorAll("circle").length};
            })()
        """)
        self.assertGreaterEqual(seen["top"], 0)
        self.assertLessEqual(seen["bottom"], 900)
        self.assertGreater(seen["marks"], 20)

    def test_documents(self):
        """What the source documents measured stands beside what is measured here."""
        rows = self.browser.ask("""
            [...document.querySelectorAll("figure.document tr")].slice(1).map(
                row => [...row.querySelectorAll("td")].map(cell => cell.textContent))
        """)
        self.assertGreater(len([row for row in rows if len(row) == 5 and row[1] and row[3]]), 10, rows)

    def test_pointer(self):
        place = self.browser.ask("""
            (() => {
                const mark = document.querySelector("circle");
                mark.scrollIntoView({block: "center"});
                const box = mark.getBoundingClientRect();
                return {x: box.x + box.width / 2, y: box.y + box.height / 2,
                        text: mark.getAttribute("aria-label")};
            })()
        """)
        hidden = "document.getElementById('tip').hidden"
        self.assertTrue(self.browser.ask(hidden))
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=place["x"], y=place["y"])
        self.assertFalse(self.browser.ask(hidden))
        self.assertEqual(self.browser.ask("document.getElementById('tip').textContent"), place["text"])
        self.assertRegex(place["text"], r"^\S+.*, .+: [0-9]")
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        self.assertTrue(self.browser.ask(hidden))

    def test_themes(self):
        colours = "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color"
        seen = set()
        for theme in ("light", "dark"):
            feature = {"name": "prefers-color-scheme", "value": theme}
            self.browser.call("Emulation.setEmulatedMedia", features=[feature])
            seen.add(self.browser.ask(colours))
        self.assertEqual(len(seen), 2, seen)

    def test_narrow(self):
        """On a phone, nothing is wider than the screen."""
        self.show(360, 800)
        self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), 360)
        self.assertGreater(self.browser.ask("[...document.querySelectorAll('svg')].find(svg => svg.clientWidth > 0).clientWidth"), 250)

    def test_phone(self):
        """On a phone, all charts are stacked, and all text is large enough to read."""
        self.show(390, 844)
        self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), 390)
        seen = self.browser.ask("""
            [...document.querySelectorAll("svg")].filter(svg => svg.clientWidth > 0).map(svg => {
                const box = svg.getBoundingClientRect();
                const scale = box.width / svg.viewBox.baseVal.width;
                const texts = [...svg.querySelectorAll("text")];
                return {left: box.left, right: box.right, texts: texts.length, type: Math.min(
                    ...texts.map(text => scale * parseFloat(getComputedStyle(text).fontSize)))};
            })
        """)
        self.assertGreater(len(seen), 20)
        for picture in seen:
            self.assertGreaterEqual(picture["left"], 0, picture)
            self.assertLessEqual(picture["right"], 390, picture)
            self.assertGreater(picture["texts"], 3, picture)
            self.assertGreaterEqual(picture["type"], 11, picture)

    def test_verdict(self):
        """The page begins with the outcome in one sentence for each machine."""
        sentences = self.browser.ask("""
            [...document.querySelectorAll("h1 ~ p")].slice(0, 2).map(p => p.textContent)
        """)
        for sentence in sentences:
            self.assertRegex(sentence, r"First in \d+ of \d+ usual requests")

    def test_print(self):
        printed = self.browser.call("Page.printToPDF")
        self.assertGreater(len(base64.b64decode(printed["data"])), 50_000)


class Site(unittest.TestCase):
    """The pages of `make site`."""

    @classmethod
    def setUpClass(cls):
        cls.site = pathlib.Path(os.environ["LANECRYPT_SITE"])
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lanecrypt-site-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.browser = Browser(shutil.which("chromium") or shutil.which("google-chrome"), cls.folder)
        cls.addClassCleanup(cls.browser.close)

    def show(self, page, width=1200):
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )
        self.browser.open(page.as_uri())

    def test_first_page(self):
        """It says what this is and how to begin, and its pictures are there."""
        self.show(self.site / "index.html")
        text = self.browser.ask("document.body.innerText")
        for part in ("small cryptographic requests", "cargo add lanecrypt", "API"):
            self.assertIn(part, text)
        pictures = self.browser.ask("[...document.images].map(image => image.naturalWidth)")
        self.assertGreaterEqual(len(pictures), 2)
        self.assertTrue(all(pictures), pictures)

    def test_links(self):
        """Each link within the site leads to a page that is there, and to a place in it."""
        pages = sorted(self.site.rglob("*.html"))
        self.assertGreater(len(pages), 8)
        places, links = {}, []
        for page in pages:
            self.show(page)
            places[page] = set(self.browser.ask("[...document.querySelectorAll('[id]')].map(e => e.id)"))
            hrefs = self.browser.ask("[...document.querySelectorAll('a[href]')].map(a => a.href)")
            links += [(page, href) for href in hrefs if href.startswith("file:")]
        self.assertGreater(len(links), 50)
        for page, href in links:
            path, _, place = href.removeprefix("file://").partition("#")
            self.assertIn(pathlib.Path(path), places, (page.name, href))
            if place and page.name != "report.html":
                self.assertIn(place, places[pathlib.Path(path)], (page.name, href))

    def test_phone(self):
        for page in ("index.html", "GUIDE.html", "SECURITY.html"):
            self.show(self.site / page, 390)
            self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), 390, page)


if __name__ == "__main__":
    unittest.main()
