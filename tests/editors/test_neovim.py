"""The real Neovim, configured as the README says, against the real server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.queries import LIFE

_HERE = Path(__file__).parent
_README = _HERE.parents[1] / "README.md"
_NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


@pytest.mark.skipif(_NVIM is None, reason="no Neovim for this platform among the test dependencies")
def test_the_readmes_configuration_gives_symbols_search_and_hover(tmp_path: Path) -> None:
    """A newcomer pastes the README's lines into Neovim and everything shown there works."""
    assert _NVIM is not None
    vault = tmp_path / "life"
    shutil.copytree(LIFE, vault)
    configuration = re.search(r"```lua\n(.*?)```", _README.read_text("utf-8"), re.DOTALL)
    assert configuration is not None
    init = tmp_path / "init.lua"
    init.write_text(configuration[1], "utf-8")
    environment = {
        **os.environ,
        **{f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
        "SYNAPSE_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "HF_HUB_OFFLINE": "1",
    }
    run = subprocess.run(
        [_NVIM, "--headless", "-u", str(init), "-l", str(_HERE / "readme_in_neovim.lua"), str(vault)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
