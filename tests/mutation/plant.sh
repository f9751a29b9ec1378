#!/usr/bin/env bash
# Plants each fault of faults.txt in a copy of the sources, builds it, and hunts with the named oracle:
# the campaign must end with status 1 and a finding, minimised to the given size, which replays. A fault
# in what all semantics share must make an expectation of the corpus fail. A control must find nothing,
# with all oracles.
#
#     plant.sh SOURCES WORK-FOLDER CASES            the faults that do not say `sample: no`: CTest's test
#     plant.sh SOURCES WORK-FOLDER CASES all        every fault
#     plant.sh SOURCES WORK-FOLDER CASES NAME...    these
#     plant.sh SOURCES WORK-FOLDER 0 all            plants nothing: only whether the texts to replace are there
#
# A hunt looks at few cases first, and at all CASES when these do not suffice: both depend on the seed
# alone. The next fault is built during the hunt for the one before.
set -u
export LC_ALL=C
sources=${1:?sources} work=${2:?work folder} cases=${3:?cases}
shift 3
wanted=("$@")
tree=$work/tree build=$work/build objects=$work/objects failed=$work/failed
planted=0 hunter=''

complain() {
    echo "FAILED $name: $*"
    echo "$name" >>"$failed"
}

# How often $old stands in the file.
count_old() {
    old=$old awk 'BEGIN { RS = "\001"; old = ENVIRON["old"] }
        { for (text = $0; (at = index(text, old)) > 0; text = substr(text, at + 1)) n++ }
        END { print n + 0 }' "$tree/$file"
}

stands_once() {
    local n
    n=$(count_old)
    [ "$n" -eq 1 ] || { complain "the text to replace stands in $file $n times"; return 1; }
}

# Replaces $old by $new.
plant() {
    stands_once || return 1
    old=$old new=$new awk 'BEGIN { RS = "\001"; old = ENVIRON["old"] }
        { at = index($0, old)
          printf "%s%s%s", substr($0, 1, at - 1), ENVIRON["new"], substr($0, at + length(old)) }' \
        "$sources/$file" >"$tree/$file"
}

# The original with its old time, and the objects that were made of it: nothing is compiled again.
heal() {
    local object
    cp -p "$sources/$file" "$tree/$file"
    while IFS= read -r object; do
        cp "$objects/${object#"$build"/}" "$object"
    done < <(find "$build" -name '*.o' -newer "$work/stamp")
}

# "oracle id statements" of each open finding.
findings() {
    "$simtfuzz" triage list open --json --db "$db" |
        sed -n 's/.*"id": *\([0-9]*\).*"oracle": *"\([^"]*\)".*"minimised_statements": *\([0-9]*\).*/\2 \1 \3/p'
}

# "id statements" of the oracle's smallest finding. Without a minimised kernel the statements are 0, too.
smallest() {
    local number statements
    findings | sort -k3n | sed -n "s/^$oracle //p" | while read -r number statements; do
        "$simtfuzz" triage show "$number" --db "$db" | grep -q '^minimised kernel (' || continue
        echo "$number $statements"
        break
    done
}

# A campaign of so many cases, with these options more; its status.
hunt() {
    rm -f "$db" "$db-wal" "$db-shm"
    "$simtfuzz" run --cases "$1" --seed "$seed" --jobs 2 --db "$db" "${@:2}" >>"$log" 2>&1
}

judge_control() {
    hunt "$cases"
    local status=$?
    if [ "$status" -eq 0 ]; then
        echo "ok $name: silence"
    else
        complain "a harmless change alarmed (status $status): $(findings | head -n 3)"
    fi
}

judge_fault() {
    local number id size status
    for number in $((cases / 40)) $((cases / 5)) "$cases"; do
        hunt "$number" --oracles "$oracle"
        status=$?
        [ "$status" -eq 0 ] || break
    done
    [ "$status" -eq 1 ] || { complain "status $status, expected 1"; tail -n 5 "$log"; return; }
    read -r id size <<<"$(smallest)"
    [ -n "$id" ] || { complain "no minimised finding of oracle $oracle: $(findings | head -n 3)"; return; }
    [ "$size" -le "$size_limit" ] || complain "the smallest kernel has $size statements, expected $size_limit at most"
    "$simtfuzz" replay "$id" --db "$db" >"$work/$name.replay" 2>&1
    status=$?
    [ "$status" -eq 0 ] || { complain "replay $id: status $status, expected 0 (the same)"; cat "$work/$name.replay"; }
    echo "ok $name: $oracle, $size statements, within $number cases"
}

# What all semantics share is out of the oracles' sight: the corpus knows what must come out.
judge_corpus() {
    "$simtfuzz" check "$sources/corpus" >>"$log" 2>&1
    local status=$?
    [ "$status" -eq 1 ] || { complain "check corpus: status $status, expected 1"; return; }
    echo "ok $name: $(tail -n 1 "$log")"
}

judge() {
    case $oracle in
    none) judge_control ;;
    expectations) judge_corpus ;;
    *) judge_fault ;;
    esac
    rm -f "$simtfuzz"
}

run_fault() {
    planted=$((planted + 1))
    [ "$cases" -gt 0 ] || { stands_once; return; }
    db=$work/$name.db log=$work/$name.log simtfuzz=$work/$name.simtfuzz
    touch "$work/stamp"
    if plant; then
        if cmake --build "$build" --target simtfuzz -j2 >"$log" 2>&1; then
            cp "$build/simtfuzz" "$simtfuzz"
            wait $hunter
            judge &
            hunter=$!
        else
            complain "does not build: $(grep -m 3 error "$log")"
        fi
    fi
    heal
}

selected() {
    [ "${#wanted[@]}" -eq 0 ] && { [ "$sample" != no ]; return; }
    local w
    for w in "${wanted[@]}"; do [ "$w" = "$name" ] || [ "$w" = all ] && return 0; done
    return 1
}

prepare() {
    mkdir -p "$tree" "$objects"
    for part in engine oracle db fuzz CMakeLists.txt; do
        rm -rf "${tree:?}/$part"
        cp -rp "$sources/$part" "$tree/$part"
    done
    cmake -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 >/dev/null &&
        cmake --build "$build" --target simtfuzz -j2 >"$work/build.log" 2>&1 || { tail "$work/build.log"; exit 1; }
    (cd "$build" && find . -name '*.o' -exec cp --parents -t "$objects" {} +)
}

mkdir -p "$work"
: >"$failed"
if [ "$cases" -gt 0 ]; then prepare; else tree=$sources; fi

name='' file='' old='' new='' oracle='' size_limit=0 seed=0 sample=''
while IFS= read -r line || [ -n "$line" ]; do
    value=${line#*: }
    case $line in
    'name: '*) name=$value sample='' ;;
    'file: '*) file=$value ;;
    'old: '*) old=${value//'\n'/$'\n'} ;;
    'new: '*) new=${value//'\n'/$'\n'} ;;
    'oracle: '*) oracle=$value ;;
    'size: '*) size_limit=$value ;;
    'seed: '*) seed=$value ;;
    'sample: '*) sample=$value ;;
    'why: '*) if selected; then run_fault; fi ;; # the last line of a record
    esac
done <"$(dirname "$0")/faults.txt"
wait

failures=$(sort -u "$failed" | wc -l)
echo "$planted planted, $failures failed"
[ "$planted" -gt 0 ] && [ "$failures" -eq 0 ]
