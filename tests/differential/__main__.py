"""Compare cases one by one, for a look: python -m differential SEED FIRST LAST, from tests/."""

import sys
import time

from differential.cases import mismatches

seed, first, last = map(int, sys.argv[1:4])
start, count = time.process_time(), 0
for line in mismatches(seed, range(first, last)):
    count += 1
    print(line, flush=True)
seconds = time.process_time() - start
print(f"{count} mismatches of {last - first} cases from {first}, {seconds:.1f} CPU-seconds")
