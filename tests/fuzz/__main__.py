"""Run cases one by one, for a look: python -m fuzz SEED FIRST LAST [CALL], from tests/."""

import os
import sys
import tempfile
import time

from fuzz.cases import complaints

seed, first, last = map(int, sys.argv[1:4])
only = sys.argv[4] if len(sys.argv) > 4 else None
os.chdir(tempfile.mkdtemp())
start, count = time.process_time(), 0
for line in complaints(seed, range(first, last), only):
    count += 1
    print(line, flush=True)
print(f"{count} complaints of {last - first} cases, {time.process_time() - start:.1f} CPU-seconds")
