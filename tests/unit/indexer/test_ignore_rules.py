"""What the lines of an ignore file mean."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse_ls.core.config import IndexSettings
from synapse_ls.indexer import ignore_rules, walk
from synapse_ls.indexer.ignore_rules import parse, verdict
from tests.support.indexing import write


def says(lines: list[str], path: str) -> bool | None:
    """Return what rules say of a path, of a folder if it ends with a slash."""
    return verdict(parse(lines)[0], path.removesuffix("/"), folder=path.endswith("/"))


@pytest.mark.parametrize(
    ("rule", "matched", "not_matched"),
    [
        ("a.md", ["a.md", "x/a.md", "a.md/"], ["a.md.md", "xa.md"]),
        ("/a.md", ["a.md"], ["x/a.md"]),
        ("x/a.md", ["x/a.md"], ["y/x/a.md", "a.md"]),
        ("a/", ["a/", "x/a/"], ["a"]),
        ("*.md", ["a.md", "x/.md"], ["a.mdx", "x.md/y"]),
        ("a*b*c", ["abc", "a-b-b-c", "abcbc"], ["ab", "acb", "abcd"]),
        ("*a*a*", ["aa", "xaxax"], ["a", "xax"]),
        ("x/*", ["x/a", "x/b/"], ["x/", "x/a/b"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["ab"]),
        ("x/**", ["x/a", "x/y/a"], ["x/", "y/x/a"]),
        ("x/**/a", ["x/a", "x/y/a", "x/y/z/a"], ["x/ya", "a"]),
        ("**/x/**/a/**", ["x/a/b", "q/x/y/a/b/c"], ["x/a/", "x/b"]),
        ("x/**/y/*/z", ["x/y/q/z", "x/y/y/q/z", "x/y/z/y/q/z"], ["x/y/z", "x/y/q/r/z"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("**", ["a", "x/a"], []),
        ("/**", ["a", "x/a"], []),
        ("**/", ["a/", "x/a/"], ["a"]),
        ("?.md", ["a.md", "ä.md"], [".md", "ab.md"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("[!a-c]x", ["dx"], ["ax", "x"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("[]-]x", ["]x", "-x"], ["ax"]),
        ("[a-]x", ["-x", "ax"], ["bx"]),
        ("[\\]a]x", ["]x", "ax"], ["\\x"]),
        ("[[:digit:]_]x", ["7x", "_x"], ["ax", ":x"]),
        ("[[:nonsense:]]x", [], ["nx", ":x"]),
        ("[z-a]", [], ["z", "a", "-"]),
        ("[!z-a]", ["z", "q"], []),
        ("[ab", [], ["a", "[ab"]),
        ("a\\", [], ["a", "a\\"]),
        ("\\*", ["*"], ["a"]),
        ("\\#a", ["#a"], ["a"]),
        ("\\!a", ["!a"], ["a"]),
        ("#a", [], ["#a", "a"]),
        ("a  ", ["a"], ["a  "]),
        ("a\\ ", ["a "], ["a"]),
        (" a", [" a"], ["a"]),
        ("a\r", ["a"], ["a\r"]),
        ("a.c(d)+", ["a.c(d)+"], ["abcdd"]),
        ("*", ["a", "a\nb", "x/a"], []),
        ("[/a]", ["a", "a/"], ["x/a", "b"]),
        ("x[/]a", [], ["x/a", "xa"]),
        ("[a/b", [], ["a", "[a/b"]),
        ("a\\/b", ["a/b"], ["x/a/b"]),
        ("", [], ["a"]),
        ("/", [], ["a", "a/"]),
        ("!", [], ["a", "!"]),
    ],
)
def test_what_a_rule_speaks_of(rule: str, matched: list[str], not_matched: list[str]) -> None:
    """Of a path itself, not of what lies below it."""
    assert [says([rule], path) for path in matched] == [True] * len(matched)
    assert [says([rule], path) for path in not_matched] == [None] * len(not_matched)


def test_last_rule_counts() -> None:
    """A rule that begins with an exclamation mark takes back."""
    assert says(["*.md", "!keep.md"], "keep.md") is False
    assert says(["!keep.md", "*.md"], "keep.md") is True
    assert says(["*.md", "!keep.md"], "x/a.md") is True


def test_more_rules_than_anyone_writes_are_named() -> None:
    """Those before are followed."""
    rules, problem = parse(["keep", *(f"n{number}" for number in range(ignore_rules.MOST_RULES))])
    assert len(rules) == ignore_rules.MOST_RULES
    assert problem == "only its first 2,000 rules are followed; join them by wildcards"
    assert parse(["# a comment", ""] * ignore_rules.MOST_RULES) == ((), None)


def test_rule_that_is_longer_than_anyone_writes_is_named() -> None:
    """The others are followed."""
    rules, problem = parse(["a" * 2_000, "b"])
    assert len(rules) == 1
    assert problem == "a rule of more than 1,024 characters is not followed; split it into shorter ones"


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("*a" * 100 + "b", "a" * 255),
        ("*a" * 12 + "*b", "a" * 255),
        ("*?" * 100 + "b", "a" * 255),
        ("**/a/" * 60 + "b", "/".join(["a"] * 2_000)),
        ("**/*/" * 60 + "*ab", "/".join(["a"] * 2_000)),
        ("**/*/**/*a*a*a*a*a*a*ab", "/".join(["a" * 250] * 15)),
        ("[!b]*" * 100 + "b", "a" * 255),
        ("[[:x" * 250, "a" * 255),
        ("[" * 1_000, "a" * 255),
    ],
)
def test_no_rule_takes_long(rule: str, path: str) -> None:
    """However many ways there are to share a name among its stars."""
    started = time.process_time()
    assert says([rule], path) is None
    assert time.process_time() - started < 0.2


RULES = st.lists(
    st.one_of(
        st.sampled_from(["a/", "/a", "a/**", "!a/**", "**/b", "a/**/c", "!*.md", "*", "!*/", "[ab]*", "a/b/", "/*/c"]),
        st.text("ab*/!.[]\\?^-# ", min_size=1, max_size=7),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what the rules are compared with")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(above=RULES, below=RULES)
def test_rules_mean_what_git_means_by_them(
    tmp_path_factory: pytest.TempPathFactory, above: list[str], below: list[str]
) -> None:
    """Over all files of a tree with two ignore files."""
    root = tmp_path_factory.mktemp("tree")
    folders = ["", "a/", "b/", "a/b/", "a/b/c/", "c/a/b/"]
    names = ["a.md", "b.md", "ab.md", "a-b.md", "c/n.md"]
    write(root, {folder + name: "" for folder in folders for name in names})
    write(root, {".gitignore": "\n".join(above), "a/.gitignore": "\n".join(below)})
    files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q"], cwd=root, env=environment, check=True)
    told = subprocess.run(
        ["git", "-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root, env=environment, input="\0".join(files), capture_output=True, text=True, check=False,
    )  # fmt: skip
    ignored = set(told.stdout.split("\0"))
    found = sorted(note.path for note in walk.walk(Path(root), IndexSettings()).notes)
    assert found == [path for path in files if path not in ignored]
