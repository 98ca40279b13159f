"""Hooks of mkdocs: the pages of the course, by module, in the navigation in place of course/index.md; the index of the search."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from course import MODULES  # noqa: E402


def course(pages):
    """The navigation of the course: its first page, a section for each module that has texts, and those for teachers."""
    out = [{"The course": "course/index.md"}]
    for number, title in enumerate(MODULES):
        texts = sorted(page for page in pages if re.match(rf"{number}\.\d+_", page))
        out += [{f"{number} {title}": ["course/" + page for page in texts]}] if texts else []
    return out + [{"For teachers": [{"How it works": "course/teach.md"}, {"Graders": "course/staff.md"}]}]


def on_config(config):
    for section in config.nav:
        for name, to in section.items():
            if to == "course/index.md":
                section[name] = course(os.listdir(os.path.join(config.docs_dir, "course")))
    return config


def on_post_build(config):
    """Writes the index of the search as a script, for a site that is opened as files (docs/make/site.js)."""
    index = os.path.join(config.site_dir, "search", "search_index")
    with open(index + ".js", "w") as out:
        out.write("const searchIndex = " + open(index + ".json").read() + ";\n")
