"""Tests the page of ./grade --web in a real browser, where Chromium is installed: what its script does, by mouse and by keyboard, that it loads
nothing, and that a page of another site neither reads results nor starts a grade."""
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [COURSE, os.path.dirname(os.path.realpath(__file__))]
import browser  # noqa: E402
from checks import common, handout  # noqa: E402


@unittest.skipUnless(browser.PROGRAM, "there is no Chromium")
class BrowserTest(unittest.TestCase):
    def setUp(self):
        made = handout.Handout()
        self.folder = made.__enter__()
        self.addCleanup(made.__exit__)
        os.makedirs(common.BUILD, exist_ok=True)
        os.symlink(common.BUILD, os.path.join(self.folder, "build"))
        self.tasks = {each.name: each for each in common.tasks(names=["0.1", "0.2", "0.3"])}
        solution = common.solution(self.tasks["0.1"])
        self.put("0.1", solution.replace("return", "if (sizes.size() == 3) return {1, 2, 3};\n  return", 1))
        self.put("0.2", common.solution(self.tasks["0.2"]).replace("return", 'printf("<b id=own>bold</b>"); return', 1))
        self.put("0.3", "this is no C++\n")

    def put(self, name, text):
        with open(os.path.join(self.folder, "core", self.tasks[name].file), "w") as file:
            file.write(text)

    def start(self):
        """The address of a page, of a process of its own."""
        self.process = subprocess.Popen([sys.executable, os.path.join(self.folder, "grade"), "--web", *self.tasks], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.addCleanup(lambda: (self.process.kill(), self.process.wait(), self.process.stdout.close()))
        address = re.search(r"http://\S+", self.process.stdout.readline()).group(0)
        self.drain = threading.Thread(target=lambda: self.process.stdout.read(), daemon=True)
        self.drain.start()
        return address

    def test_a_student_works_with_it(self):
        address = self.start()
        with browser.Browser() as tab:
            tab.open(address)
            tab.wait("document.getElementById('status').textContent.startsWith('All is graded')", 120)
            text = tab.run("document.body.innerText")
            for part in ("does not compile", "Grade all again", "seed 1"):
                self.assertIn(part, text)
            # A change of the file opens the task and grades it again, and the text of the page follows.
            self.assertTrue(tab.run("document.getElementById('task-0.1').open"))
            self.assertGreater(tab.run("document.querySelectorAll('#task-0\\\\.1 .failed svg[role=img]').length"), 0)
            self.put("0.1", common.solution(self.tasks["0.1"]))
            tab.wait("document.querySelector('#task-0\\\\.1 .why').textContent === 'solved'", 60)
            # By keyboard alone: the first stop is the button of all, then what can be opened.
            tab.run("document.activeElement.blur()")
            tab.press("Tab", 9)
            self.assertEqual("button-all", tab.run("document.activeElement.id"))
            tab.run("document.getElementById('summary-0.3').focus()")
            was = tab.run("document.getElementById('task-0.3').open")
            tab.press("Enter", 13, "\r")
            self.assertNotEqual(was, tab.run("document.getElementById('task-0.3').open"))
            tab.run("document.getElementById('task-0.3').open = true")
            version = tab.run("version")
            tab.run("document.getElementById('button-0.3').focus()")
            tab.press("Enter", 13, "\r")
            tab.wait(f"version > {version} && document.getElementById('status').textContent.startsWith('All is graded')", 60)
            self.assertEqual("button-0.3", tab.run("document.activeElement.id"))  # though its part of the page is new
            self.assertTrue(tab.run("document.getElementById('task-0.3').open"))
            # What the program printed is text.
            self.assertIsNone(tab.run("document.getElementById('own')"))
            self.assertEqual(1, tab.run("document.querySelectorAll('script').length"))
            # All that it needs came from its own address; nothing was refused, and nothing failed.
            asked = {each["params"]["request"]["url"] for each in tab.events if each["method"] == "Network.requestWillBeSent"}
            self.assertTrue(all(each.startswith((address, "data:")) for each in asked), asked)
            self.assertEqual([], [each["params"] for each in tab.events if each["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")])
            for width in (1280, 400):
                for dark in (False, True):
                    tab.resize(width, 900, dark)
                    self.assertLessEqual(tab.run("document.documentElement.scrollWidth"), width)
            self.process.send_signal(signal.SIGINT)
            self.assertEqual(0, self.process.wait(20))
            tab.wait("document.body.className === 'ended'", 60)

    def test_a_page_of_another_site_gets_nothing(self):
        address = self.start()
        evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        self.addCleanup(lambda: (evil.shutdown(), evil.server_close()))
        with browser.Browser() as tab:
            tab.open(address)
            tab.wait("document.getElementById('status').textContent.startsWith('All is graded')", 120)
            version = tab.run("version")
            tab.open(f"http://127.0.0.1:{evil.server_address[1]}/")
            # Even one that knows the address, which it does not.
            for ask in ("fetch(a)", "fetch(a + 'state?after=0')", "fetch(a + 'grade', {method: 'POST', body: new URLSearchParams({task: 'all'})})"):
                self.assertEqual("refused", tab.run(f"(a => {ask}.then(r => r.text(), () => 'refused'))('{address}')"), ask)
            for ask in ("fetch(a + 'state?after=0', {mode: 'no-cors'})", "fetch(a + 'grade', {method: 'POST', mode: 'no-cors', body: new URLSearchParams({task: 'all'})})"):
                self.assertIn(tab.run(f"(a => {ask}.then(r => r.type + r.status, () => 'refused'))('{address}')"), ("refused", "opaque0"), ask)
            framed = tab.run(f"new Promise(done => {{ const f = document.createElement('iframe'); f.src = '{address}'; f.onload = () => "
                             "{ try { done(f.contentDocument ? f.contentDocument.body.innerText : 'closed'); } catch (e) { done('closed'); } }; document.body.append(f); })")
            self.assertEqual("closed", framed)
            tab.run(f"const form = document.createElement('form'); form.method = 'post'; form.action = '{address}grade'; "
                    "form.innerHTML = '<input name=task value=all>'; document.body.append(form); form.submit()")
            tab.wait("document.body && document.body.innerText.includes('comes from another page')")
            tab.open(address)
            self.assertEqual(version, tab.run("Number(document.body.dataset.version)"))  # nothing was graded


class Evil(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>another site</title><body>")

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    unittest.main()
