"""What the scripts of bench/ read, work out and write."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import measuring  # noqa: E402
import native  # noqa: E402
import records  # noqa: E402
import tables  # noqa: E402
from scenarios import SCENARIOS, Goal, Scenario  # noqa: E402


def entry(name, goals, rows):
    scenario = Scenario(name, "a workload", list(rows), goals)
    return records.make_entry(scenario, {row: [figures] for row, figures in rows.items()}, {}, None)


class Scenarios(unittest.TestCase):
    def test_names_are_unique(self):
        names = [scenario.name for scenario in SCENARIOS]
        self.assertEqual(len(names), len(set(names)))

    def test_every_goal_names_a_figure_and_rows_that_there_are(self):
        rows = {scenario.name: scenario.rows for scenario in SCENARIOS}
        for scenario in SCENARIOS:
            for goal in scenario.goals:
                with self.subTest(scenario=scenario.name, goal=goal):
                    self.assertIn(goal.figure, tables.FORMS)
                    self.assertIn(goal.row, scenario.rows)
                    if goal.than:
                        self.assertIn(goal.than, rows[goal.scenario or scenario.name])


class Verdicts(unittest.TestCase):
    CASES = [
        ("at the limit", Goal("cpu_us", 1.1, "floor"), {"pepe": 11, "floor": 10}, "reached"),
        ("over the limit", Goal("cpu_us", 1.1, "floor"), {"pepe": 11.1, "floor": 10}, "missed"),
        ("at least", Goal("cpu_us", 5, "floor", at_least=True), {"pepe": 49, "floor": 10}, "missed"),
        ("of itself", Goal("cpu_us", 16), {"pepe": 16}, "reached"),
        ("without the other row", Goal("cpu_us", 1.1, "floor"), {"pepe": 1}, "not measured"),
        ("without its own row", Goal("cpu_us", 1.1, "floor"), {"floor": 1}, "not measured"),
        ("beside a zero", Goal("cpu_us", 1.1, "floor"), {"pepe": 1, "floor": 0}, "not measured"),
    ]

    def test_a_goal_is_judged_by_medians(self):
        for name, goal, rows, verdict in self.CASES:
            with self.subTest(name):
                made = entry("it", [goal], {row: {"cpu_us": value} for row, value in rows.items()})
                self.assertEqual(tables.judge_goal(goal, "it", {"it": made})["verdict"], verdict)

    def test_a_goal_may_compare_with_another_scenario(self):
        goal = Goal("peak_mb", 1.05, "pepe", scenario="short")
        both = {
            "long": entry("long", [goal], {"pepe": {"peak_mb": 7}}),
            "short": entry("short", [], {"pepe": {"peak_mb": 5}}),
        }
        self.assertEqual(tables.judge_goal(goal, "long", both)["shown"], "1.400")
        self.assertEqual(tables.judge_goal(goal, "long", {"long": both["long"]})["verdict"], "not measured")


class Punctuality(unittest.TestCase):
    def test_is_the_distance_to_the_schedule_from_the_most_punctual_hit(self):
        times = [(0, 1_000_000), (1, 3_000_500), (2, 5_040_000)]  # 500/s, begun at 1 ms
        self.assertEqual(
            measuring.schedule_error(times, 500), {"error_p50_us": 0.5, "error_p99_us": 40, "error_max_us": 40}
        )


class NativeFiles(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("PEPE_BENCH_GENERATE"), "bench/generate is not built")
    def test_every_hit_is_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.bin"
            command = [os.environ["PEPE_BENCH_GENERATE"], "-results=20000", f"-output={path}"]
            subprocess.run(command, check=True)
            self.assertEqual(list(native.hits_of(path, "lag")), [(seq, seq % 7 * 1000) for seq in range(20000)])
            self.assertEqual(measuring.quantiles_by(path, "lag", 7, 0.5), [3.0] * (20000 // 7) + [0.0])


class Readme(unittest.TestCase):
    def test_has_the_newest_figures_of_each_workload_and_keeps_its_text(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(records, "HERE", Path(folder)):
            readme = Path(folder) / "README.md"
            readme.write_text(f"before\n{records.BEGIN}\nold\n{records.END}\nafter\n")
            facts = {"command": "run.py", "commit": "abc", "versions": {"wrk": "4"}, "machine": records.machine()}
            for day, cost in (("2026-01-02T00:00:00", 4.5), ("2026-01-01T00:00:00", 7.5)):
                made = entry("get-64", [], {"pepe": {"cpu_us": cost}})
                records.write_record("it", {"date": day, **facts, "scenarios": [made]})
            records.write_readme()
            text = readme.read_text()
            self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
            self.assertIn("4.50", text)
            self.assertNotIn("7.50", text)
            self.assertNotIn("old\n", text)


if __name__ == "__main__":
    unittest.main()
