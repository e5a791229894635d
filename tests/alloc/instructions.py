#!/usr/bin/env python3
"""Counts the instructions that a worker spends on a hit, and holds them against budgets.json.

    instructions.py check --load BINARY --compiler "GNU 12.2.0"    fails when a load costs over its budget
    instructions.py renew --load BINARY --compiler "GNU 12.2.0"    writes what they cost now as the budgets

Each load runs under callgrind with two numbers of hits: the difference leaves the start out. Only what the worker's
thread does in user mode counts, so neither the machine's speed nor what else it does matters.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUDGETS = Path(__file__).resolve().parent / "budgets.json"
FEW, MANY = 400, 1600
LOOKS = 4  # at a load that seems to cost too much
SKIPPED = 77


def instructions(binary, load, hits):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=pepe::Worker::run()",
               "--fair-sched=yes", binary, load, str(hits)]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not collected or int(collected[1]) == 0:
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}\n{run.stderr[-1000:]}")
    return int(collected[1])


def per_hit(binary, load):
    """What interrupts a run only adds to it, so the lesser of two counts."""
    few, many = (min(instructions(binary, load, hits) for _ in range(2)) for hits in (FEW, MANY))
    return round((many - few) / (MANY - FEW))


def least_per_hit(binary, load, count, budget):
    """Once more, and alone, while it seems to be over its budget: a machine that is busy with other things interrupts."""
    for _ in range(1, LOOKS):
        if count <= budget:
            break
        count = min(count, per_hit(binary, load))
    return count


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["check", "renew"])
    parser.add_argument("--load", required=True, help="the program alloc_load")
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    budgets = json.loads(BUDGETS.read_text())
    if not shutil.which("valgrind"):
        skip("no valgrind")
    made_with = f"{options.compiler.split('.')[0]} {platform.machine()}"
    if options.action == "check" and made_with != budgets["made_with"]:
        skip(f"the budgets are of {budgets['made_with']}, this is {made_with}")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda load: per_hit(options.load, load), budgets["instructions"]))
    highest = 1 + budgets["tolerance"]
    over = False
    for (load, budget), count in zip(budgets["instructions"].items(), counts):
        verdict = ""
        count = least_per_hit(options.load, load, count, budget * highest)
        if options.action == "renew":
            verdict = "  renewed"
        elif count > budget * highest:
            verdict, over = "  OVER ITS BUDGET", True
        elif count < budget * (1 - budgets["tolerance"]):
            verdict = "  far below: renew the budget"
        print(f"{load:24} {count:8} instructions per hit, budget {budget:8}{verdict}")
        budgets["instructions"][load] = count
    if options.action == "renew":
        budgets["made_with"] = made_with
        BUDGETS.write_text(json.dumps(budgets, indent=2) + "\n")
    elif over:
        sys.exit(1)


if __name__ == "__main__":
    main()
