"""``synapse-ls doctor``: is everything there that Synapse needs, and what to do if not."""

import argparse
import json
import os
import platform
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from synapse_ls import __version__
from synapse_ls.cli import probe, terminal
from synapse_ls.cli.finding import Finding

# How long one check may take.
_PATIENCE = 4.0
_PIECE = 65_536


def doctor(options: argparse.Namespace) -> int:
    """Print what was found; returns 2 if something has to be done."""
    vault: Path | None = options.vault
    names = [*probe.CHECKS, *(probe.VAULT_CHECKS if vault is not None else ())]
    findings = [_python(), _text(), *_probed(names, vault or Path())]
    if options.json:
        terminal.print_json({"version": __version__, "checks": [asdict(finding) for finding in findings]})
    else:
        print(f"synapse-ls {__version__}")
        for finding in findings:
            mark = "BAD" if not finding.ok else "!  " if finding.advice else "ok "
            print(f"  {mark} {finding.name}: {finding.detail}")
            if finding.advice:
                print(f"      {finding.advice}")
    return 0 if all(finding.ok for finding in findings) else 2


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever forces an installation comes here
        return Finding("python", False, found, "install Synapse with Python 3.11 or later")
    return Finding("python", True, found)


def _text() -> Finding:
    names = sys.getfilesystemencoding()
    detail = f"{sys.stdout.encoding} on standard output, {names} in names of files"
    if terminal.shows_everything() and names == "utf-8":
        return Finding("text", True, detail)
    return Finding("text", True, detail, "set LC_ALL to a locale of UTF-8, or PYTHONUTF8=1, to see every character")


def _probed(names: list[str], vault: Path) -> Iterator[Finding]:
    """Yield the findings of checks in their order; one that crashes or hangs is itself a finding."""
    while names:
        command = [sys.executable, "-P", "-m", "synapse_ls.cli.probe", str(vault), *names]
        try:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            yield Finding("python", False, f"{sys.executable} cannot be started ({error.strerror})", "install it anew")
            return
        for finding in _lines(process):
            yield finding
            names = names[1:]
        if names:
            yield _ended(process, names[0])
            names = names[1:]
        else:
            process.wait()


def _lines(process: subprocess.Popen[bytes]) -> Iterator[Finding]:
    """Yield findings until the process ends or is silent for too long."""
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    held = b""
    late = time.monotonic() + _PATIENCE
    with process.stdout as output:
        while select.select([output], [], [], max(0, late - time.monotonic()))[0]:
            piece = os.read(output.fileno(), _PIECE)
            if not piece:
                return
            *whole, held = (held + piece).split(b"\n")
            for line in whole:
                yield Finding(**json.loads(line))
                late = time.monotonic() + _PATIENCE


def _ended(process: subprocess.Popen[bytes], name: str) -> Finding:
    """Return the finding of a check that gave none."""
    reinstall = "run: pip install --force-reinstall synapse-ls"
    try:
        code = process.wait(0.2)
    except subprocess.TimeoutExpired:
        process.kill()  # not waited for: it may be stuck in the system
        return Finding(name, False, f"no answer within {_PATIENCE:g} s", f"try again; if it stays so, {reinstall}")
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit code {code}"
    return Finding(name, False, f"the check crashed ({how})", reinstall)
