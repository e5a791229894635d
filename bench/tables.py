"""What the runs of bench/run.py come to: medians, standings and verdicts, as text and as the README's tables."""

import statistics

COLUMNS = [  # key, title, format, whether the spread stands beside it
    ("cpu_us", "CPU us/request", "{:,.2f}", True),
    ("rate", "requests/s", "{:,.0f}", False),
    ("results_s", "results/s", "{:,.0f}", True),
    ("peak_mb", "peak MB", "{:,.1f}", False),
    ("bytes_per_result", "bytes/result", "{:,.1f}", False),
    ("result_kb", "results kB", "{:,.0f}", False),
    ("reached", "rate reached", "{:.4f}", False),
    ("error_p50_us", "late p50 us", "{:,.0f}", False),
    ("error_p99_us", "late p99 us", "{:,.0f}", True),
    ("error_max_us", "late max us", "{:,.0f}", False),
    ("lag_p50_us", "lag p50 us", "{:,.0f}", False),
    ("lag_p99_us", "lag p99 us", "{:,.0f}", False),
    ("lag_max_us", "lag max us", "{:,.0f}", False),
    ("latency_p50_us", "latency p50 us", "{:,.0f}", False),
    ("latency_p99_us", "latency p99 us", "{:,.0f}", False),
    ("syscalls", "syscalls/request", "{:.3f}", False),
    ("threads", "threads", "{:.0f}", False),
    ("wall_ms", "wall ms", "{:.2f}", True),
    ("cpu_ms", "CPU ms", "{:.2f}", False),
    ("request_ms", "the request ms", "{:.2f}", False),
    ("output_said", "said why", "{:.0f}", False),
    ("unread", "results lost", "{:.0f}", False),
    ("rss_growth", "memory end/start", "{:.3f}", False),
    ("rss_mb", "memory MB", "{:.1f}", False),
    ("drift_us", "drift us", "{:,.0f}", False),
    ("lost", "hits lost", "{:,.0f}", False),
    ("growth_kb", "growth kB", "{:,.0f}", False),
    ("descriptor_growth", "more descriptors", "{:,.0f}", False),
    ("p99_ratio", "p99 end/start", "{:.3f}", False),
    ("unreadable", "reports failed", "{:.0f}", False),
    ("reports", "reports", "{:.0f}", False),
    ("failed", "failed", "{:,.0f}", False),
]
FORMS = {key: form for key, _, form, _ in COLUMNS}
TITLES = {key: title for key, title, _, _ in COLUMNS}
# Where the results in all can be compared: at a fixed rate every tool keeps as many. Elsewhere bytes/result tells more.
RESULT_SIZES = ("body-open", "unique-open")
LEVEL = 0.03  # figures less than this apart count as level


def summarize(runs):
    """{row: {figure: {median, min, max}}}"""
    summary = {}
    for name, figures in runs.items():
        summary[name] = {}
        for key in FORMS:
            values = [run[key] for run in figures if key in run]
            if values:
                summary[name][key] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return summary


def median(summary, row, figure):
    return summary.get(row, {}).get(figure, {}).get("median")


def judge(scenario, entries):
    """The verdict on each goal of a scenario; `entries` are the records of all scenarios, by name."""
    return [judge_goal(goal, scenario.name, entries) for goal in scenario.goals]


def judge_goal(goal, name, entries):
    summary = entries[name]["summary"]
    ours = median(summary, goal.row, goal.figure)
    theirs = None
    if goal.than:
        other = entries.get(goal.scenario or name, {"summary": {}})["summary"]
        theirs = median(other, goal.than, goal.figure)
    measured = None if ours is None else ours if not goal.than else ours / theirs if theirs else None
    verdict = {
        "asked": asked_text(goal),
        "measured": measured,
        "shown": "-",
        "verdict": "not measured",
        "aim": goal.aim,
    }
    if measured is not None:
        verdict["shown"] = f"{measured:.3f}" if goal.than else FORMS[goal.figure].format(measured)
        reached = measured >= goal.limit if goal.at_least else measured <= goal.limit
        verdict["verdict"] = "reached" if reached else "missed"
    return verdict


def asked_text(goal):
    sign = ">=" if goal.at_least else "<="
    than = f" x {goal.than}'s" if goal.than else ""
    place = f" in {goal.scenario}" if goal.scenario else ""
    row = f"{goal.row}: " if goal.row != "pepe" else ""
    aim = " (an aim)" if goal.aim else ""
    return f"{row}{TITLES[goal.figure]} {sign} {goal.limit:g}{than}{place}{aim}"


def standing(summary, row, figure="cpu_us"):
    """Where pepe stands beside another row: its figure over the other's, in words."""
    ours, theirs = median(summary, "pepe", figure), median(summary, row, figure)
    if row == "pepe" or not ours or not theirs:
        return ""
    ratio = ours / theirs
    word = "level" if abs(ratio - 1) <= LEVEL else "ahead" if ratio < 1 else "behind"
    return f"{ratio:.2f} {word}"


def table(entry):
    """Lines of cells, the head first."""
    summary = entry["summary"]
    shown = [c for c in COLUMNS if any(c[0] in row for row in summary.values())]
    shown = [c for c in shown if c[0] != "result_kb" or entry["name"] in RESULT_SIZES]
    compared = "pepe" in summary and any("cpu_us" in row for row in summary.values())
    head = ["", *(title.replace("request", "result") if entry["kind"] == "read" else title for _, title, _, _ in shown)]
    lines = [head + (["pepe's CPU to it"] if compared else [])]
    for name, row in summary.items():
        cells = [cell_text(row.get(key), form, spread) for key, _, form, spread in shown]
        lines.append([name, *cells] + ([standing(summary, name)] if compared else []))
    return lines


def cell_text(cell, form, spread):
    if not cell:
        return ""
    text = form.format(cell["median"])
    if spread and cell["min"] != cell["max"]:
        text += f" ({form.format(cell['min'])}-{form.format(cell['max'])})"
    return text


def print_entry(entry):
    print(f"\n{entry['name']}: {entry['what']}{server_text(entry)}")
    lines = table(entry)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  " + line[0].ljust(widths[0]) + "".join("  " + cell.rjust(w) for cell, w in zip(line[1:], widths[1:])))
    for row, why in entry["failures"].items():
        print(f"  {row} failed: {why}")
    for goal in entry["goals"]:
        print(f"  {goal['verdict']}: asked {goal['asked']}, measured {goal['shown']}")


def server_text(entry):
    cost = (entry.get("server") or {}).get("cpu_us_per_request")
    return f" (server: {cost:.2f} CPU us/request)" if cost else ""


def markdown(lines):
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return [rows[0], "|" + "---|" * len(lines[0]), *rows[1:]]


def summary_markdown(entries):
    """The asked figures of all scenarios in one table, the missed ones marked."""
    lines = [["workload", "asked of pepe", "measured", ""]]
    for entry in entries.values():
        for goal in entry["goals"]:
            verdict = f"**{goal['verdict']}**" if goal["verdict"] == "missed" and not goal["aim"] else goal["verdict"]
            lines.append([entry["name"], goal["asked"], goal["shown"], verdict])
    return markdown(lines)


def standings_markdown(entries):
    """pepe's CPU time per request over that of each other row, for all workloads at a glance."""
    compared = {name: entry["summary"] for name, entry in entries.items() if median(entry["summary"], "pepe", "cpu_us")}
    others = list(dict.fromkeys(row for summary in compared.values() for row in summary if row != "pepe"))
    lines = [["workload", *others]]
    for name, summary in compared.items():
        if len(summary) == 1:
            continue
        lines.append([name, *(standing(summary, row) for row in others)])
    return markdown(lines) if others else []


def entry_markdown(entry):
    rounds = max((len(figures) for figures in entry["runs"].values()), default=0)
    shown = f"{entry['what'][0].upper()}{entry['what'][1:]}"
    spread = " (smallest-largest)" if rounds > 1 else ""
    lines = [
        f"### {entry['name']}",
        "",
        f"{shown}{server_text(entry)}. Median of {rounds} run{'s' if rounds != 1 else ''}{spread}.",
        "",
    ]
    lines += markdown(table(entry))
    for row, why in entry["failures"].items():
        lines += ["", f"`{row}` did not get through it: {why.splitlines()[0][:200]}"]
    return lines
