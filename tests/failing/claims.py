"""The command line of the scripts here whose table of claims is judged one by one."""

import argparse
import tempfile
from pathlib import Path


def judge(doc, claims, make_bench):
    """Runs the claims that are asked for, on a bench made of the options and a folder of its own, and prints what each
    yields, which is what is wrong. Returns the status of the process."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the binary")
    parser.add_argument("--object", required=True, help="the object to preload")
    parser.add_argument("--only", default=",".join(claims), help="some of " + ", ".join(claims))
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="pepe-failing-") as folder:
        bench = make_bench(options, Path(folder))
        for name in options.only.split(","):
            for text in claims[name](bench):
                print(f"{name}: {text}", flush=True)
                wrong += 1
    return 1 if wrong else 0
