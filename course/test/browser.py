"""Drives a headless Chromium by its DevTools protocol, for browser_test.py. No library is needed."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab, for use as a context manager."""

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="browser-")
        self._process = subprocess.Popen([PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                                          "--hide-scrollbars", "--remote-debugging-port=0", f"--user-data-dir={self._folder}", "about:blank"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            port = self._port()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                address = next(each["webSocketDebuggerUrl"] for each in json.load(answer) if each["type"] == "page")
            self._connect(port, address.partition(str(port))[2])
        except BaseException:
            self.__exit__()
            raise
        self._number, self.events = 0, []
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _port(self):
        path = os.path.join(self._folder, "DevToolsActivePort")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if os.path.exists(path):
                with open(path) as file:
                    text = file.read().split("\n")
                if len(text) > 1:
                    return int(text[0])
            time.sleep(0.05)
        raise RuntimeError("the browser does not start")

    # --- The protocol: JSON in frames of a web socket
    def _connect(self, port, path):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self._file = self._socket.makefile("rb")
        while self._file.readline().strip():
            pass

    def _send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = struct.pack("!B", 0x80 | len(data)) if len(data) < 126 else struct.pack("!BH", 0xfe, len(data)) if len(data) < 1 << 16 else struct.pack("!BQ", 0xff, len(data))
        self._socket.sendall(b"\x81" + size + mask + bytes(each ^ mask[i % 4] for i, each in enumerate(data)))

    def _receive(self):
        data = b""
        while True:
            head, size = self._file.read(2)
            size &= 0x7f
            size = struct.unpack("!H", self._file.read(2))[0] if size == 126 else struct.unpack("!Q", self._file.read(8))[0] if size == 127 else size
            data += self._file.read(size)
            if head & 0x80:
                return json.loads(data)

    def call(self, method, **parameters):
        """The result of a command; what happens meanwhile is added to `events`."""
        self._number += 1
        self._send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            reply = self._receive()
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']}")
                return reply["result"]
            self.events.append(reply)

    # --- A tab
    def open(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of a script's expression, or of its promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait(self, condition, seconds=60):
        """Waits until the expression holds."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise RuntimeError(f"after {seconds} s it does not hold that {condition}")
            time.sleep(0.05)

    def press(self, key, code=None, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code or 0,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        """Writes a PNG of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
