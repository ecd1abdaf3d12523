"""The folder of notes that a bench keeps."""

from pathlib import Path

from asking import write_notes


def test_notes_that_are_as_they_should_be_are_not_touched(tmp_path: Path) -> None:
    """Others are written, and what does not belong there goes."""
    write_notes(tmp_path, {"same.md": b"1", "sub/changed.md": b"2", "gone.md": b"3"})
    before = (tmp_path / "same.md").stat().st_mtime_ns
    write_notes(tmp_path, {"same.md": b"1", "sub/changed.md": b"4", "new/deep.md": b"5"})
    files = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*.md")}
    assert files == {"same.md": b"1", "sub/changed.md": b"4", "new/deep.md": b"5"}
    assert (tmp_path / "same.md").stat().st_mtime_ns == before
