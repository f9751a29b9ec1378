# The workflow files: well-formed, pinned, and their steps those of packaging/nightly.sh, in its order.
import re
import sys

import yaml

source = sys.argv[1]
failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


def load(name):
    with open(f"{source}/.github/workflows/{name}") as file:
        workflow = yaml.safe_load(file)
    # YAML 1.1 reads the key `on` as true.
    workflow["on"] = workflow.pop(True, workflow.get("on"))
    check(set(workflow) <= {"name", "on", "permissions", "concurrency", "env", "jobs"}, f"{name}: keys {set(workflow)}")
    check(workflow.get("permissions") == {"contents": "read"}, f"{name}: permissions")
    for job in workflow["jobs"].values():
        check(isinstance(job.get("timeout-minutes"), int), f"{name}: a job without a limit")
        check(isinstance(job.get("runs-on"), str), f"{name}: a job that runs nowhere")
        for step in job["steps"]:
            check(("uses" in step) != ("run" in step), f"{name}: a step is either an action or a command: {step}")
            check(re.fullmatch(r"actions/[a-z/-]+@v\d+", step.get("uses", "actions/x@v0")), f"{name}: {step.get('uses')}")
    return workflow


with open(f"{source}/packaging/nightly.sh") as file:
    script = file.read()
steps_of_script = re.findall(r"^step_(\w+)\(\)", script, re.MULTILINE)

nightly = load("nightly.yml")
check({"schedule", "workflow_dispatch"} <= set(nightly["on"]), "nightly.yml: when it runs")
check(re.fullmatch(r"(\S+ ){4}\S+", nightly["on"]["schedule"][0]["cron"]), "nightly.yml: cron")
steps = nightly["jobs"]["night"]["steps"]
runs = [step["run"] for step in steps if "run" in step]
of_outside = ["implementations", "again"]  # steps for implementations that are not ours
own = [step for step in steps_of_script if step not in of_outside]
check(runs == [f"bash packaging/nightly.sh {step}" for step in own], f"nightly.yml runs {runs}, the script has {own}")
outside = nightly["jobs"]["outside"]["steps"]
words = [word for step in outside for word in step.get("run", "").removeprefix("bash packaging/nightly.sh ").split()
         if step.get("run", "").startswith("bash packaging/nightly.sh ")]
check(words == steps_of_script, f"nightly.yml, outside: runs {words}, the script has {steps_of_script}")
paths = {step["with"]["path"] for step in outside if "path" in step.get("with", {})}
check(paths == {nightly["jobs"]["outside"]["env"]["NIGHT"]}, f"nightly.yml, outside: paths {paths}")
uses = [step["uses"].split("@")[0] for step in steps if "uses" in step]
check(uses == ["actions/checkout", "actions/cache/restore", "actions/cache/save", "actions/upload-artifact"], f"nightly.yml uses {uses}")
names = [step.get("name", step.get("uses")) for step in steps]
check(steps[-1]["run"].endswith(" verdict"), "nightly.yml: the verdict is not the last step")
by_use = {step["uses"].split("@")[0]: step for step in steps if "uses" in step}
restored, saved = by_use["actions/cache/restore"]["with"], by_use["actions/cache/save"]["with"]
check(restored["path"] == saved["path"] == by_use["actions/upload-artifact"]["with"]["path"] == "night", "nightly.yml: paths")
check(restored["key"] == saved["key"], "nightly.yml: what is saved is not what is restored")
check(all("always()" in by_use[use]["if"] for use in ("actions/cache/save", "actions/upload-artifact")),
      "nightly.yml: a failing night loses its database")
check(names.index("hunt") < names.index("report") < names.index("verdict"), "nightly.yml: order")
check(nightly["jobs"]["sanitizers"]["steps"][-1]["run"] == ".ci/night", "nightly.yml does not run .ci/night")

ci = load("ci.yml")
check(ci["jobs"]["all"]["steps"][-1]["run"] == ".ci/run", "ci.yml does not run .ci/run")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
