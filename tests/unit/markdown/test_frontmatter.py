"""Front matter."""

import pytest

from synapse_ls.markdown.frontmatter import read


def test_names_tags_and_properties_are_read() -> None:
    """Names tags and properties are read."""
    text = (
        "---\ntitle: 0.10\naliases: [a b, 'No']\ntags: '#x, y/z'\ndate: 2024-1-05\nn: 3\nok: true\nat: 12:30\n---\nbody"
    )
    front = read(text)
    assert (front.title, front.aliases, front.tags) == ("0.10", ("a b", "No"), ("x", "y/z"))
    assert front.properties["n"] == 3
    assert front.properties["ok"] is True
    assert front.properties["at"] == "12:30"
    assert text[front.body :] == "body"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\n---\nx", "x"),
        ("---\r\ntitle: a\r\n---\r\nx", "x"),
        ("\ufeff---\ntitle: a\n...\nx", "x"),
        ("---\ntitle: a\n---", ""),
        ("---\ntitle: a\n", "---\ntitle: a\n"),
        ("---\njust prose\n---\nx", "---\njust prose\n---\nx"),
        ("\n---\na: b\n---\n", "\n---\na: b\n---\n"),
        ("\ufeffx", "x"),
        ("", ""),
    ],
)
def test_the_body_starts_behind_it(text: str, body: str) -> None:
    """The body starts behind it."""
    front = read(text)
    assert text[front.body :] == body
    assert front.problem is None


def test_a_placeholder_is_text() -> None:
    """A placeholder is text."""
    assert read("---\ncreated: {{date}}\ntitle: t\n---\n").properties == {"created": "{{date}}", "title": "t"}


def test_bad_yaml_is_named_with_its_line() -> None:
    """Bad yaml is named with its line."""
    front = read("---\ntitle: a\nb: [1\n---\nbody")
    assert front.problem is not None
    assert front.problem.startswith("front matter is not valid YAML: ")
    assert "(line 4)" in front.problem


@pytest.mark.parametrize(
    "yaml",
    [
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{n}: &{n} [{', '.join([f'*{p}'] * 10)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)),
        "a: &a [*a]\n",
        f"a: &x {'w' * 20_000}\nb: [{'*x, ' * 100}]\n",
        f"a: &x {'w' * 20_000}\nb: [{'{*x : 1}, ' * 100}]\n",
        "a: " + "[" * 50_000 + "\n",
        "a: \ud800\n",
        "a: \0\n",
        "- a\n- b\n",
    ],
    ids=["bomb", "loop", "repeated", "repeated names", "depth", "surrogate", "nul", "list"],
)
def test_hostile_yaml_is_a_problem_and_no_more(yaml: str) -> None:
    """Hostile yaml is a problem and no more."""
    front = read(f"---\n{yaml}---\nbody")
    assert front.problem is not None
    assert front.body == len(yaml) + 8


def test_numbers_that_json_lacks_stay_text() -> None:
    """Numbers that json lacks stay text."""
    assert read(f"---\na: .inf\nb: .nan\nc: {'9' * 5000}\nd: 1e999\n---\n").properties["a"] == ".inf"
