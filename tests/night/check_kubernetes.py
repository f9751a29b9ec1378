# The manifests of docs/nightly.md: what an indexed Job must have, and that what it mounts is there. Writes what their
# containers run into a folder: check_kubernetes.py SHARDS MERGE FOLDER
import os
import sys

import yaml

shards_path, merge_path, folder = sys.argv[1:]
failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


def job(document):
    """A Job's spec and its one container, after what holds for all Jobs."""
    name = document["metadata"]["name"]
    check(document["apiVersion"] == "batch/v1" and document["kind"] == "Job", f"{name}: kind")
    spec = document["spec"]
    known = {"completionMode", "completions", "parallelism", "backoffLimit", "template"}
    check(set(spec) <= known, f"{name}: fields {set(spec) - known}")
    pod = spec["template"]["spec"]
    check(pod["restartPolicy"] in ("OnFailure", "Never"), f"{name}: a Job's pods restart on failure or never")
    (container,) = pod["containers"]
    known = {"name", "image", "workingDir", "command", "args", "resources", "volumeMounts"}
    check(set(container) <= known, f"{name}: fields {set(container) - known}")
    check("/" not in container["image"], f"{name}: an image with a registry")
    for field in ("command", "args"):
        check(all(isinstance(word, str) for word in container[field]), f"{name}: {field} are texts")
    check(container["command"] == ["/bin/sh", "-c"] and len(container["args"]) == 1, f"{name}: one command for a shell")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    check(set(volumes) == set(mounts), f"{name}: volumes {set(volumes)}, mounted {set(mounts)}")
    check(container["workingDir"] in mounts.values(), f"{name}: it works in no volume")
    return spec, container, volumes, mounts


with open(shards_path) as file:
    config, shards = yaml.safe_load_all(file)
with open(merge_path) as file:
    merge = yaml.safe_load(file)

check(config["kind"] == "ConfigMap" and "preset = nightly" in config["data"]["night.ini"], "the configuration")
spec, container, volumes, mounts = job(shards)
check(spec["completionMode"] == "Indexed", "the Job is not indexed")
count = spec["completions"]
check(isinstance(count, int) and 0 < spec["parallelism"] <= count, "completions and parallelism")
command = container["args"][0]
check(f'--shard "$JOB_COMPLETION_INDEX/{count}"' in command, f"{count} completions, but: {command}")
check(volumes["config"]["configMap"]["name"] == config["metadata"]["name"], "the configuration is not mounted")
check(f'{mounts["config"]}/night.ini' in command, "the command reads another configuration")
shard_claim = volumes["night"]["persistentVolumeClaim"]["claimName"]

_, merging, volumes, _ = job(merge)
check(volumes["night"]["persistentVolumeClaim"]["claimName"] == shard_claim, "what is merged is not what the shards wrote")
check(merging["image"] == container["image"], "two images")

os.makedirs(folder)
for name, text in (("shard", command), ("merge", merging["args"][0]), ("completions", str(count))):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text + "\n")
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
