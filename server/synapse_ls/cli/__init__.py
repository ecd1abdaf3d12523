"""The command line: puts the parts together and shows answers on a terminal."""

import argparse
import importlib
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from synapse_ls import __version__
from synapse_ls.core.errors import SynapseError

# command -> (the module that has it, what it does)
_COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("serving", "serve an editor over standard input and output"),
    "index": ("commands", "bring a vault's index up to date"),
    "search": ("commands", "search a vault"),
    "status": ("commands", "show the state of a vault's index"),
    "doctor": ("doctor", "check the installation and say what to do"),
    "forget": ("commands", "remove a vault's index; the notes are not touched"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0 if it ran, 2 for a wrong call or an unfit environment."""
    options = _parsed(sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="synapse-ls: %(message)s")
    try:
        return _runner(options.command)(options)
    except SynapseError as error:
        print(f"synapse-ls: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("synapse-ls: stopped; what is indexed so far is kept", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _runner(command: str) -> Callable[[argparse.Namespace], int]:
    # Each command imports what it needs and no more: an editor waits for `serve`.
    module = importlib.import_module(f"synapse_ls.cli.{_COMMANDS[command][0]}")
    run: Callable[[argparse.Namespace], int] = getattr(module, command)
    return run


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser, search = _parsers()
    if arguments[:1] != ["search"]:
        return parser.parse_args(arguments)
    # Options may stand between the vault and the query.
    options = search.parse_intermixed_args(arguments[1:])
    options.command = "search"
    *vault, options.query = options.words
    if len(vault) > 1:
        search.error('put the query in quotes: synapse-ls search VAULT "several words"')
    if not vault and Path(options.query).is_dir():
        search.error(f"what is to be found in {options.query}? run: synapse-ls search {options.query} QUERY")
    options.vault = Path(vault[0]) if vault else Path()
    return options


class _Parser(argparse.ArgumentParser):
    """A parser that tells a wrong call in one line."""

    def error(self, message: str) -> NoReturn:
        hint = "" if "run: " in message or "quotes" in message else f" (see {self.prog} --help)"
        if "unrecognized arguments" in message and self.prog.endswith("search"):
            hint = "; put -- before a vault and a query that starts with a dash"
        self.exit(2, f"synapse-ls: {message}{hint}\n")


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """Return the parser of all commands and that of ``search``, which has its own way with words."""
    parser = _Parser(
        prog="synapse-ls",
        description="Search folders of Markdown notes by words, meaning and links. Everything stays here.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"synapse-ls {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    made = {
        name: commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        for name, (_, text) in _COMMANDS.items()
    }

    made["serve"].add_argument("--stdio", action="store_true", help="use standard input and output (the default)")
    for name in ("index", "status", "forget"):
        made[name].add_argument(
            "vault", nargs="?", type=Path, default=Path(), help="the folder of notes (default: the current folder)"
        )
    made["index"].add_argument("--rebuild", action="store_true", help="make the index anew")
    search = made["search"]
    search.usage = "synapse-ls search [VAULT] QUERY [-n N] [--mode MODE] [--near NOTE] [--explain] [--json]"
    search.add_argument(
        "words",
        nargs="+",
        metavar="[VAULT] QUERY",
        help='the folder of notes (default: the current folder); words, a question, "a phrase", -without, tag:x, '
        "path:folder/, title:x",
    )
    search.add_argument("-n", type=_count, default=None, metavar="N", dest="limit", help="at most N notes (1 to 100)")
    search.add_argument("--mode", choices=("hybrid", "lexical", "semantic"), default="hybrid", help="which legs search")
    search.add_argument("--near", metavar="NOTE", help="prefer notes near this one by links")
    search.add_argument("--explain", action="store_true", help="show each leg's rank")
    for name in ("index", "search", "status", "doctor", "forget"):
        made[name].add_argument("--json", action="store_true", help="print one JSON document")
    return parser, search


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:  # noqa: PLR2004 - the contract's bounds
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 100")
    return int(text)
