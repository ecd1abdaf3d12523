"""``python -m synapse_ls`` is ``synapse-ls``."""

import sys

from synapse_ls.cli import main

sys.exit(main())
