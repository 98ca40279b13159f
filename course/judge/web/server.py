"""The server of ./grade --web: it answers this machine alone, and no page but its own.

Other users of the machine, and pages of other sites that the same browser shows, shall neither read results nor start a grade. So the
address has a secret that the terminal alone prints; a request must name this server as its host, which a name that was bent to
127.0.0.1 does not; and what a browser says of where a request comes from must be this page."""
import hmac
import http.server
import json
import secrets
import socketserver
import urllib.parse

from . import page

_WAIT = 20  # seconds that an answer waits for something new
_LONGEST = 200  # bytes of a request's body
_POLICY = ("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
           "frame-ancestors 'none'")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, desk):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.desk, self.secret = desk, secrets.token_urlsafe(12)
        port = self.server_address[1]
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.address = f"http://127.0.0.1:{port}/{self.secret}/"

    def handle_error(self, request, client_address):
        pass  # a browser that went away


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = 60
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "grade", ""

    def do_GET(self):
        asked = self._asked(may_navigate=True)
        if asked is None:
            return
        where, query = asked
        if where == "":
            nonce = secrets.token_urlsafe(12)
            self._answer(200, "text/html; charset=utf-8", page.whole(self.server.desk, nonce), _POLICY.format(nonce))
        elif where == "state" and self._is_own():
            after = query.get("after", "0")
            after = int(after) if after.isascii() and after.isdigit() and len(after) < 12 else 0
            self.server.desk.wait(after, _WAIT)
            self._answer(200, "application/json", json.dumps(page.state(self.server.desk, after)))
        else:
            self._refuse(404, "there is no such page")

    def do_POST(self):
        asked = self._asked(may_navigate=False)
        if asked is None:
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and int(length) <= _LONGEST) or self.headers.get("Transfer-Encoding"):
            return self._refuse(413, "the request is too long")
        form = _first(self.rfile.read(int(length)).decode(errors="replace"))
        tasks = self.server.desk.tasks
        names = list(tasks) if form.get("task") == "all" else [each for each in tasks if each == form.get("task")]
        if asked[0] != "grade" or not names:
            return self._refuse(404, "there is no such task")
        self.server.desk.ask(names)
        self._answer(303, "text/plain; charset=utf-8", "", location=f"/{self.server.secret}/")

    def _asked(self, may_navigate):
        """(the path behind the secret, its query); None where the request was refused."""
        origins = self.headers.get_all("Origin", [])
        if self.headers.get_all("Host", []) != [self.headers.get("Host")] or self.headers["Host"] not in self.server.hosts:
            return self._refuse(403, "the host of the address is not this page's")
        if any(each not in {"http://" + host for host in self.server.hosts} for each in origins) or (not origins and not may_navigate):
            return self._refuse(403, "the request comes from another page")
        site = self.headers.get("Sec-Fetch-Site", "none")
        # A link, as in a terminal that is itself a page, may open the page in a tab of its own.
        opened = may_navigate and (self.headers.get("Sec-Fetch-Mode"), self.headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
        if site not in ("same-origin", "none") and not opened:
            return self._refuse(403, "the request comes from another page")
        path, _, query = self.path.partition("?")
        secret, _, where = path[1:].partition("/")
        if not path.startswith("/" + secret + "/") or not hmac.compare_digest(secret.encode(), self.server.secret.encode()):
            return self._refuse(404, "there is no such page; take the address that ./grade --web printed")
        return where, _first(query)

    def _is_own(self):
        """Whether the page itself asks, as far as the browser says."""
        return self.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")

    def _refuse(self, status, text):
        self.close_connection = True  # a body may be left unread
        self._answer(status, "text/plain; charset=utf-8", text + "\n")

    def send_error(self, code, message=None, explain=None):
        self._refuse(code, message or "refused")

    def _answer(self, status, kind, text, policy=_POLICY.format("none"), location=None):
        data = text.encode()
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(data))), ("Content-Security-Policy", policy),
                            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
                            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
                            ("Cross-Origin-Opener-Policy", "same-origin"), *([("Location", location)] if location else []),
                            *([("Connection", "close")] if self.close_connection else [])):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


def _first(query):
    """The first value of each name; nothing where there are many."""
    try:
        return {name: values[0] for name, values in urllib.parse.parse_qs(query, keep_blank_values=True, max_num_fields=8).items()}
    except ValueError:
        return {}
