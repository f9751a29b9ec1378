#!/usr/bin/env bash
# Reports against their schemas (tests/data/schemas/README.md): schemas.sh junit|sarif PROGRAM SIMTFUZZ HELPER SOURCE, with xmllint or a
# Python that has jsonschema. The schemas can refuse: a damaged report is refused.
kind=$1 program=$2
shift 2
. "$(dirname "$0")/../cli/common.sh"
. "$source/tests/report/night.sh"
schemas=$source/tests/data/schemas

# valid FILE: is it what the schema says?
valid() {
    if [ "$kind" = junit ]; then
        "$program" --noout --schema "$schemas/junit.xsd" "$1" 2>errors
    else
        "$program" - "$schemas/sarif-2.1.0-rtm.5.json" "$1" 2>errors <<'END'
import json, sys
import jsonschema
schema, report = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
jsonschema.Draft4Validator.check_schema(schema)
errors = list(jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).iter_errors(report))
for error in errors[:5]:
    print(list(error.path), error.message[:300], file=sys.stderr)
sys.exit(len(errors) > 0)
END
    fi
}

accepted() {
    expect 0 report --db "$1" --$kind report.$kind
    valid report.$kind || {
        failed "$1: the schema refuses the report"
        sed 's/^/    /' errors | head -10
    }
}

refused() { # what is wrong, sed script
    sed "$2" report.$kind >damaged
    cmp -s damaged report.$kind && failed "the test damages nothing: $1"
    valid damaged && failed "the schema accepts $1"
}

night night.db
accepted night.db
if [ "$kind" = junit ]; then
    refused "a suite without a name" '0,/<testsuite name="[a-z]*"/s//<testsuite/'
    refused "a failure without a type" 's/<failure \(.*\) type="[a-z]*">/<failure \1>/'
    refused "an unknown element" 's/<system-out\/>/<said\/>/'
else
    refused "an unknown level" 's/"level": "error"/"level": "bad"/g'
    refused "a result without a message" 's/"message": {"text"/"massage": {"text"/g'
    refused "another version" 's/"version": "2.1.0"/"version": "2.2.0"/'
fi

# Settled findings, hostile words, a database without findings.
cp night.db settled.db
for id in 1 2 3 4 5; do
    "$simtfuzz" triage status $id known A-1 --db settled.db >/dev/null
done
accepted settled.db
cp night.db hostile.db
"$helper" sql hostile.db "UPDATE kernels SET text = char(1, 27, 8238, 65534) || CAST(x'c328f09f98ff80fe' AS TEXT) || ' ]]>';
    UPDATE findings SET note = CAST(x'ff00fe' AS TEXT), reference = char(7)" || failed "sql"
accepted hostile.db
"$simtfuzz" run --cases 1 --seed 1 --oracles lemmas --features none --db quiet.db >/dev/null 2>&1
accepted quiet.db
finish
