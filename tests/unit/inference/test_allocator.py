"""Freed memory goes back to the system."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from pathlib import Path
from synapse_ls.inference import allocator

allocator.give_back()


def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


before = resident()
kept = []
for size in (8, 4, 2, 1):  # by itself glibc keeps what is freed once it has seen such sizes come and go
    blocks = [bytearray(size * 2**20) for _ in range(20)]
    kept.append(bytearray(200_000))
    del blocks
print(resident() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_large_blocks_go_back_to_the_system_when_they_are_freed() -> None:
    """Whatever sizes were freed before."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 4_000
