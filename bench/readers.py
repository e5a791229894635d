"""Reading results, for bench/run.py: report, encode and plot over files of many results, in pepe and in vegeta."""

import subprocess
from pathlib import Path

from measuring import run_measured
from scenarios import SIZES

RESULTS_SHORT = 100_000  # instead of the usual numbers, with --seconds


class ResultFiles:
    """Files of made-up results, each made when it is first asked for. vegeta's are written by vegeta itself."""

    def __init__(self, options, pepe, vegeta):
        self.options, self.pepe, self.vegeta = options, pepe, vegeta
        self.folder = Path(options.scratch) / "files"

    def size(self, row):
        return min(SIZES[row], RESULTS_SHORT) if self.options.seconds else SIZES[row]

    def native(self, results):
        path = self.folder / f"{results}.bin"
        if not path.exists():
            self.folder.mkdir(exist_ok=True)
            subprocess.run(
                [self.options.build / "bench/generate", f"-results={results}", f"-output={path}"], check=True
            )
        return path

    def foreign(self, results, encoding):
        path = self.folder / f"{results}.{encoding}"
        if not path.exists():
            if encoding == "gob":
                first = self.folder / f"{results}.first"
                subprocess.run(
                    [self.pepe.program(), "encode", "-to=gob", f"-output={first}", self.native(results)], check=True
                )
                source = first
            else:
                source = self.foreign(results, "gob")
            writer = self.vegeta if self.vegeta.program() else self.pepe
            subprocess.run([writer.program(), "encode", f"-to={encoding}", f"-output={path}", source], check=True)
        return path


class Reading:
    """One row of a reading scenario: "pepe 10m" is pepe over ten million results."""

    def __init__(self, row, scenario, files):
        self.files, self.row = files, row
        command, _, encoding = scenario.name.partition("-")
        tool = row.split()[0]
        self.program = (files.pepe if tool == "pepe" else files.vegeta).program()
        self.arguments = [command, *([f"-to={encoding}"] if command == "encode" else [])]
        # vegeta's own encoding for vegeta; what report-ENCODING names for both; else each tool reads its own.
        self.encoding = encoding if command == "report" and encoding else "gob" if tool == "vegeta" else ""

    def __call__(self):
        results = self.files.size(self.row)
        path = self.files.foreign(results, self.encoding) if self.encoding else self.files.native(results)
        command = [self.program, *self.arguments, "-output=/dev/null", path]
        used = run_measured(
            command, self.files.options, self.files.folder, cpu=self.files.options.client_cpu, limit=300
        )
        shown = f"{Path(self.program).name} {' '.join(self.arguments)} -output=/dev/null {path.name}"
        return {"done": results, "results_s": results / used.wall_s, **used.cost(results), "command": shown}


def reading_rows(scenario, files):
    """{row: callable}; rows of a tool that is not there are left out."""
    rows = {row: Reading(row, scenario, files) for row in scenario.rows}
    return {row: reading for row, reading in rows.items() if reading.program is not None}
