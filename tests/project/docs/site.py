"""Checks that the site's search serves a site that is opened as files, and stays in sight: site.py ROOT.

Where there is node, docs/make/site.js is run on a made-up page.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

root = sys.argv[1]
make = os.path.join(root, "docs/make")
sys.path.insert(0, make)
import navigation  # noqa: E402

PAGES = [{"location": "matmul.html", "title": "Matmul", "text": "tiles in shared memory"},
         {"location": "data.html", "title": "Data", "text": "a loader; memory is pinned, memory is shared"},
         {"location": "fft.html", "title": "FFT", "text": "butterflies"}]
# The few parts of a browser that site.js uses. A script that is added is read from the site.
BROWSER = """
const fs = require("fs"), path = require("path"), vm = require("vm");
const [,, site, code] = process.argv;
const make = () => ({children: [], dataset: {noResultsText: "none"}, appendChild(c) { this.children.push(c); return c; },
                     replaceChildren(...c) { this.children = c; }});
const parts = {"mkdocs-search-results": make(), "mkdocs-search-query": make()};
const world = {location: {protocol: "file:", search: "?q=memory+shared"}, URLSearchParams, Math, globalThis: null,
  document: {addEventListener: (name, f) => { world.start = f; }, getElementById: id => parts[id], createElement: make,
             body: {appendChild: s => { vm.runInContext(fs.readFileSync(path.join(site, s.src), "utf8"), context); s.onload(); }}}};
const context = vm.createContext(world);
vm.runInContext(fs.readFileSync(code, "utf8"), context);
world.start();
console.log(parts["mkdocs-search-results"].children.map(a => a.children[0].children[0].href).join(" "));
"""

with tempfile.TemporaryDirectory() as site:
    os.mkdir(os.path.join(site, "search"))
    with open(os.path.join(site, "search/search_index.json"), "w") as out:
        json.dump({"docs": PAGES}, out)
    navigation.on_post_build(types.SimpleNamespace(site_dir=site))
    script = open(os.path.join(site, "search/search_index.js")).read()
    made = re.fullmatch(r"const searchIndex = (.*);\n", script, re.S)
    assert made and json.loads(made.group(1))["docs"] == PAGES, script
    node = shutil.which("node")
    if node:
        program = os.path.join(site, "browser.js")
        with open(program, "w") as out:
            out.write(BROWSER)
        found = subprocess.run([node, program, site, os.path.join(make, "site.js")], capture_output=True, text=True)
        assert found.stdout.split() == ["data.html", "matmul.html"], found.stdout + found.stderr
    else:
        print("without node: site.js was not run")

box = re.search(r"\.wy-side-nav-search \{([^}]*)\}", open(os.path.join(make, "site.css")).read())
assert box and "position: sticky" in box.group(1) and "top: 0" in box.group(1), "site.css: the box for a search scrolls away"
config = open(os.path.join(root, "mkdocs.yml")).read()
for name in ("site.css", "site.js", "docs/make/navigation.py"):
    assert name in config, f"mkdocs.yml does not name {name}"
