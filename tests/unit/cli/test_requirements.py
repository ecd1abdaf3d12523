"""What our own metadata asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.cli.requirements import Requirement, parse


def test_metadata_lines_are_read_and_those_of_extras_left_out() -> None:
    """In the ways that build tools write them."""
    assert parse(
        [
            "apsw>=3.46.0",
            "fastembed<1,>=0.7.4",
            "model==1.0.0",
            "typing-extensions (>=4.0) ; python_version < '3.12'",
            "pandas[excel]>=2; extra == 'tables'",
            "plain",
        ]
    ) == [
        Requirement("apsw", ((">=", "3.46.0"),)),
        Requirement("fastembed", (("<", "1"), (">=", "0.7.4"))),
        Requirement("model", (("==", "1.0.0"),)),
        Requirement("typing-extensions", ((">=", "4.0"),)),
        Requirement("plain", ()),
    ]
    assert [required.text for required in parse(["fastembed<1,>=0.7.4", "plain"])] == ["fastembed<1,>=0.7.4", "plain"]


@pytest.mark.parametrize(
    ("line", "version", "allowed"),
    [
        ("a>=1.18", "1.18", True),
        ("a>=1.18", "1.18.0", True),
        ("a>=1.18", "1.9.9", False),
        ("a>=1.18", "2.0rc1", True),
        ("a<0.2,>=0.1.9", "0.1.10", True),
        ("a<0.2,>=0.1.9", "0.2.0", False),
        ("a<0.2,>=0.1.9", "0.1.8", False),
        ("a==1.0.0", "1.0", True),
        ("a==1.0.0", "1.0.1", False),
        ("a==1.0.0", "1.0.0+local", True),
        ("a!=2,<=3", "2.0", False),
        ("a>2025.0", "2025.0.1", True),
        ("a", "anything", True),
    ],
)
def test_versions_are_compared_by_their_numbers(line: str, version: str, *, allowed: bool) -> None:
    """Not as text, and whatever their length."""
    (requirement,) = parse([line])
    assert requirement.allows(version) is allowed


@given(st.text(), st.text())
def test_no_metadata_is_too_odd(line: str, version: str) -> None:
    """Whatever stands there, nothing is raised."""
    for requirement in parse([line]):
        assert requirement.allows(version) in (True, False)
