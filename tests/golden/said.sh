#!/usr/bin/env bash
# What every command says of texts that are drawn, as it was when said.txt was blessed: lowered to each language,
# transformed, traced, proved with a solver that knows nothing, checked, all results of litmus tests, host programs, texts
# that end too early. A line a text, a hash a command. Where one is another than it was, the command is printed: run it
# with the build before and with this one, and read the difference.
#
#     said.sh SIMTFUZZ [--bless]
set -u
simtfuzz=$(realpath "${1:?the program}")
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir said
export LC_ALL=C

# What the program says, and its exit status, under the names of the text and of the column.
say() { # text, column, arguments
    local to=said/$1.$2
    shift 2
    { "$simtfuzz" "$@"; echo "exit status $?"; } >"$to" 2>&1 </dev/null
    echo "$to	$*" >>commands
}

draw() { # name, ending, arguments of gen
    local name=$1 ending=$2
    shift 2
    "$simtfuzz" gen "$@" --count 1 >drawn 2>&1
    if [ "$ending" = simt ] && grep -q '^\.version' drawn; then ending=ptx; fi
    mv drawn "$name.$ending"
    text=$name.$ending
}

# A solver that answers every question as a person would who does not know.
cat >solver <<'EOF'
#!/usr/bin/env bash
while read -r line; do
    case $line in
    *check-sat*) echo unknown ;;
    *'(echo "'*) line=${line#*'"'} && echo "${line%%'"'*}" ;;
    *'(exit'*) exit ;;
    esac
done
EOF
chmod +x solver

subjects=(threads simt simt:then-first interleave predicated lockstep crs thread-pc block interleave:literal
    lockstep:paper-entry lockstep:anchored two-thread two-thread:adv two-thread:keep crs:late crs:lanes crs:aligned
    crs:exit-arrives convergence its crs:caches:printed crs:caches:llh crs:caches:coherent thread-pc:caches:coherent
    block:caches:printed block:caches:coherent)
schedules=(uniform pct:3 pos surw rr reverse starve:0 unfair:7 stackless:minpc stackless:dws stackless:majority
    stackless:dpc stackless:oldest)

lowered() { # text
    local to
    for to in core predicated lockstep ptx crs two-thread boogie horn opencl cuda glsl wgsl blocks plain-ptx; do
        say "$1" "$to" lower "$1" --to "$to"
    done
    say "$1" cfg lower "$1" --to cfg --anchored --then-first --logic-blocks --keep-calls --normalise
    say "$1" cuda-knobs lower "$1" --to cuda --expose --knobs outlined,mixed
    say "$1" wgsl-exposed lower "$1" --to wgsl --expose
}

executed() { # text, number
    local i subject
    for i in 0 1 2 3 4 5; do
        subject=${subjects[($2 * 6 + i) % ${#subjects[@]}]}
        say "$1" "trace$i" trace "$1" --subject "$subject" --schedule "${schedules[($2 + i) % ${#schedules[@]}]}" \
            --seed "$2" --max-steps 300
    done
    say "$1" check check "$1" --json --schedules 3 --budget 4000
    say "$1" transform transform "$1" --seed "$2"
}

proved() { # text
    mkdir queries
    say "$1" prove prove "$1" --solver ./solver --dump queries --invariants --json
    cat queries/* >"said/$1.queries" 2>/dev/null
    rm -r queries
}

for number in {0..35}; do
    draw "k$number" simt --seed 2024 --first "$number"
    lowered "$text"
    executed "$text" "$number"
    proved "$text"
done
for number in {0..11}; do
    draw "p$number" simt --seed 2025 --first "$number" --features portable
    lowered "$text"
    proved "$text"
done
for number in {0..7}; do
    draw "w$number" simt --seed 2026 --first "$number" --spin
    executed "$text" "$number"
    say "$text" progress progress "$text" --json --max-states 400 --samples 2000 --budget 2000
    say "$text" outcomes check "$text" --outcomes --budget 2000
    draw "t$number" simt --seed 2027 --first $((number * 977 + 5)) --enumerate
    executed "$text" $((number + 9))
    say "$text" outcomes check "$text" --outcomes
    say "$text" exhaustive check "$text" --exhaustive --json
    draw "h$number" host --host --seed 2028 --first "$number"
    say "$text" check check "$text" --json
    say "$text" trace trace "$text" --seed "$number"
    say "$text" few trace "$text" --seed "$number" --device 'sms=1 order=any'
done
for number in {0..63}; do
    draw "l$number" litmus --litmus --seed 2029 --first "$number"
    say "$text" results litmus "$text" --json
done
# Texts that end too early, each at another place.
for number in {0..35}; do
    text=$(ls k"$number".*)
    bytes=$(stat -c %s "$text")
    for part in 1 2 3; do
        head -c $(((bytes * (7 * part + number) + 11 * number) / 64 % bytes)) "$text" >"cut$part.$text"
        say "cut$part.$text" check check "cut$part.$text" --subjects simt,crs --schedules 1
    done
done
for text in "$corpus"/prove/*; do
    cp "$text" .
    text=$(basename "$text")
    lowered "$text"
    proved "$text"
done

sha1sum said/* | awk '{ path = $2; sub(/^said\//, "", path); column = path; sub(/.*\./, "", column)
        text = substr(path, 1, length(path) - length(column) - 1)
        if (text != last) printf "%s%s", last == "" ? "" : "\n", text
        printf " %s=%s", column, substr($1, 1, 8); last = text }
    END { print "" }' >said.txt
if [ "${2:-}" = --bless ]; then
    cp said.txt "$here/said.txt"
    exit
fi
cmp -s said.txt "$here/said.txt" && echo "$(wc -l <said.txt) texts, $(wc -l <commands) commands" && exit
# Each text and column that differs, with its command.
diff <(tr ' ' '\n' <"$here/said.txt" | awk '!/=/ { text = $0; next } { print text, $0 }') \
    <(tr ' ' '\n' <said.txt | awk '!/=/ { text = $0; next } { print text, $0 }') |
    awk '/^[<>]/ { sub(/=.*/, "", $3); print $2 "." $3 }' | sort -u | while read -r which; do
    echo "FAILED $which: simtfuzz $(awk -F'\t' -v of="said/$which" '$1 == of { print $2 }' commands)"
done
exit 1
