"""Print the README's N-th command (1 or 2): its fenced bash blocks, so that CI runs what a stranger reads."""

import pathlib
import re
import sys

readme = pathlib.Path(__file__).parent.parent / "README.md"
blocks = re.findall(r"^```bash\n(.*?)^```", readme.read_text(encoding="utf-8"), re.M | re.S)
which = int(sys.argv[1])
if len(blocks) < which:
    sys.exit(f"README.md has {len(blocks)} bash blocks, command {which} was asked for")
print(blocks[which - 1].strip())
