#!/usr/bin/env bash
# What every command says of texts that are drawn, as it was when said.txt was blessed: lowered to each language,
# transformed, traced, proved with a solver that knows nothing, checked, all results of litmus tests, host programs, texts
# that end too early; texts that are a little other than those of the corpus (vary.awk), cases with all that they show,
# every scheduler, cache and device, texts of just as many parts as a bound allows. A line a text, a hash a command.
# Where one is another than it was, the command is printed: run it with the build before and with this one, and read the
# difference.
#
#     said.sh SIMTFUZZ [--bless]
# shellcheck disable=SC2317 # the functions varied_..: their names are put together
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

forms=(core predicated lockstep ptx crs two-thread boogie horn opencl cuda glsl wgsl blocks plain-ptx)
caches=(crs:caches:printed crs:caches:llh crs:caches:coherent thread-pc:caches:coherent block:caches:printed
    block:caches:coherent)
subjects=(threads simt simt:then-first interleave predicated lockstep crs thread-pc block interleave:literal
    lockstep:paper-entry lockstep:anchored two-thread two-thread:adv two-thread:keep crs:late crs:lanes crs:aligned
    crs:exit-arrives convergence its "${caches[@]}")
schedules=(uniform pct:3 pos surw rr reverse starve:0 unfair:7 stackless:minpc stackless:dws stackless:majority
    stackless:dpc stackless:oldest)

lowered() { # text
    local to
    for to in "${forms[@]}"; do
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

# ---- texts that are a little other than those of the corpus (vary.awk) ----

devices=('' 'printed' 'llh' 'coherent' 'sc sms=1 blocks=1' 'sc order=any pick=any' 'coherent memory=caches words=4'
    'printed memory=caches lines=1' 'llh memory=caches lines=2 words=2' 'printed drain=block flush=start'
    'coherent ends=keep frozen=yes' 'sc occupancy=context switch=sticky grids=1' 'printed flags=kept threads=4')

# Of each text of a folder eight others, to be checked, and of half of them one lowered or run; of those before `of`
# only tokens are taken.
vary() { # folder, ending, texts that only give tokens.. of texts..
    local to=$1 ending=$2 given=() text name last
    shift 2
    while [ "$1" != of ]; do given+=("$1") && shift; done
    shift
    mkdir "$to"
    (cd "$to" && awk -v count=8 -v giving=${#given[@]} -v ending="$ending" -f "$here/vary.awk" "${given[@]/#/../}" "$@")
    for text; do
        name=${text##*/} && name=${name%."$ending"}
        printf -v last %d "'${name: -1}"
        "varied_$ending" "$to/$name" $((${#name} + last)) "$to-$name"
    done
}

varied_kernel() { # its path and name, number, name for its answers, ending, subjects
    say "$3" check check --json --schedules 1 --budget 400 --subjects "$5" "$1".[0-7]."$4"
    if (($2 % 4 == 1)); then
        say "$3" lowered lower "$1.$(($2 / 4 % 4 * 2)).$4" --to "${forms[$2 % ${#forms[@]}]}"
    elif (($2 % 4 == 2)); then
        say "$3" trace trace "$1.$(($2 / 4 % 4 * 2 + 1)).$4" --json --max-steps 200 --seed "$2" \
            --schedule "${schedules[$2 % ${#schedules[@]}]}"
    fi
}

varied_simt() {
    local count=${#subjects[@]}
    varied_kernel "$@" simt \
        "${subjects[$2 % count]},${subjects[($2 + 5) % count]},${subjects[($2 + 11) % count]}"
}

varied_ptx() {
    varied_kernel "$@" ptx crs,thread-pc,block
}

varied_litmus() {
    say "$3" results litmus --json "$1".[0-7].litmus
}

varied_host() {
    say "$3" check check --json "$1".[0-7].host --device "${devices[$2 % ${#devices[@]}]}"
    say "$3" trace trace "$1.$(($2 % 8)).host" --seed "$2"
}

# shellcheck disable=SC2046 # names without spaces
{
    vary simt simt $(ls k*.simt t*.simt) of $(ls "$corpus"/{papers,progress,prove,regress,rules}/*.simt)
    vary ptx ptx $(ls k*.ptx) of $(ls "$corpus"/{papers/crs,progress,prove,ptx,regress,rules}/*.ptx)
    # Of two threads that do not branch: some others have too many executions.
    vary litmus litmus $(ls l*.litmus) of $(grep -LE 'P2@|:[^=]*;| b(eq|ne|z|ra)' "$corpus"/litmus/ptx/*.litmus)
    vary host host $(ls h*.host) of $(ls "$corpus"/host/dv/*.host)
}

# ---- cases and tests as campaigns draw them: all that they show, ten at a time ----

digests() { # name, numbers of tens, arguments of digest
    local name=$1 i
    for i in $2; do say "$name" "${i}0" digest --cases 10 --from "${i}0" "${@:3}"; done
}

digests cases "0 2 3 4 5 6 7" --seed 2031
digests rows "0 1 2 3 4 5 6 7 8 9 10 11" --seed 2032 --features none,instructions
digests graphs "0 1 3" --seed 2033 --features portable,graphs,illformed,oob,racy
digests bars "0 1 2" --seed 2034 --features crs,barriers,named,votes
digests waits 0 --seed 2035 --spin
digests tiny "0 1 2" --seed 2036 --enumerate --features all
digests mutated "0 1" --seed 2037 --features all --mutate 80
for number in {0..7}; do say laws "$number" litmus --cases 50 --seed "$((2040 + number))"; done
mkdir pictures
cp -r "$corpus/litmus" tests
say pictures litmus litmus --dot pictures tests
cat pictures/* >said/pictures.dot

# ---- settings: schedules, caches, devices, launches, questions of proofs ----

policies=(minpc oldest rr majority minority random its dws dws-loops dws-ifs dws-none dmaj dmin dtime dpdpri dpc)
schedules=(pct:1 pct:7 starve:1 starve:5 unfair:1 unfair:40)
for policy in "${policies[@]}"; do
    for how in '' :literal :then-first; do schedules+=("stackless:$policy$how"); done
done
plain=(threads interleave its block thread-pc)
texts=(w*.* t*.*)
for number in "${!schedules[@]}"; do
    text=${texts[number % ${#texts[@]}]}
    for subject in "${plain[number % 5]}" "${plain[(number + 2) % 5]}"; do
        say "$text" "$subject-$number" trace "$text" --subject "$subject" --schedule "${schedules[number]}" --seed "$number" \
            --max-steps 200 --against reference
    done
done
number=0
for lines in 1 2 4 64; do
    for words in 1 2 4 8; do
        for policy in any first lowest; do
            number=$((number + 1))
            text=${texts[number % ${#texts[@]}]}
            say "$text" "caches-$number" trace "$text" --subject "${caches[number % ${#caches[@]}]}" --seed "$number" --max-steps 300 \
                --schedule uniform --caches "lines=$lines,words=$words,policy=$policy,sets=$((1 + number % 2)),sms=$((1 + number % 3))"
        done
    done
done
for number in "${!devices[@]}"; do
    device=${devices[number]}
    for text in h[0-3].host; do
        say "$text" "device-$number" trace "$text" --seed "$number" --device "$device"
    done
    say "h$((number % 8)).host" "checked-$number" check "h$((number % 8)).host" --json --device "$device"
done
questions=('--threads any' '--threads 2..64' '--memory adv' '--inputs file' '--unroll 0' '--annotations assume')
for text in "$corpus"/prove/* k1?.* w?.*; do
    [ -e "${text##*/}" ] || cp "$text" .
    text=${text##*/}
    number=$((number + 1))
    mkdir queries
    # shellcheck disable=SC2086 # words
    say "$text" asked prove "$text" --solver ./solver --dump queries --json ${questions[number % ${#questions[@]}]}
    cat queries/* >"said/$text.queries-asked" 2>/dev/null
    rm -r queries
done

# ---- bounds: texts made with as many parts as a bound allows, one less and one more ----

repeat() { # how many times, text with # for the number and @ for the next one
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) { t = text; gsub(/#/, i, t); gsub(/@/, i + 1, t); printf "%s", t } }'
}

mkdir bounds
bound() { # name, bound, text with $N for the number and repeat in $(..)
    local N over
    for over in -1 0 1; do
        # shellcheck disable=SC2034 # the text asks for it
        N=$(($2 + over))
        eval "echo \"$3\"" >"bounds/$1.$over.simt"
        grep -q launch "bounds/$1.$over.simt" || sed -i '1i launch(threads = 2, warp = 2);' "bounds/$1.$over.simt"
        say "bound-$1" "lowered$over" lower "bounds/$1.$over.simt" --to "${forms[(${#1} + $2 + over * 5) % ${#forms[@]}]}"
    done
    say "bound-$1" check check --json --schedules 1 --budget 60 --subjects simt "bounds/$1".*.simt
}
K='private int x; kernel k() {'
B='private int x; kernel k() blocks { Start: goto L0;'
bound parentheses 199 "$K x = \$(repeat \$N '(')1\$(repeat \$N ')'); }"
bound complements 199 "$K x = \$(repeat \$N '~')1; }"
bound indices 199 "shared int a[4]; $K x = \$(repeat \$N 'a[')1\$(repeat \$N ']'); }"
bound choices 199 "$K x = \$(repeat \$N 'x ? # : (')1\$(repeat \$N ')'); }"
bound sums 3168 "$K x = \$(repeat \$N 'x + ')1; }"
bound ifs 199 "$K \$(repeat \$N 'if (x == #) { ')x = 1;\$(repeat \$N '}') }"
bound elses 3168 "$K \$(repeat \$N 'if (x == #) x = 1; else ')x = 2; }"
bound whiles 199 "$K \$(repeat \$N 'while (x < #) { ')x = x + 1;\$(repeat \$N '}') }"
bound functions 256 "\$(repeat \$N 'void f#() { } ') $K f0(); }"
bound parameters 16 "int f(int a\$(repeat \$((N - 1)) ', int p#')) { return a; } $K x = f(1\$(repeat \$((N - 1)) ', #')); }"
bound variables 1024 "\$(repeat \$((N - 1)) 'private int v#; ') $K v1 = 1; }"
bound cases 1024 "$K switch (x) { \$(repeat \$N 'case #: x = 2; break; ') } }"
bound names 64 "private int \$(repeat \$N n); int \$(repeat \$N f)(int v) { private int \$(repeat \$N n);
    \$(repeat \$N n) = v; while (v) { v = v - 1; if (v == 3) break; } return \$(repeat \$N n); }
    kernel k() { \$(repeat \$N n) = \$(repeat \$N f)(5); switch (\$(repeat \$N n)) { case 1: exit; default: barrier(); } }"
bound labels 1024 "$B \$(repeat \$((N - 2)) 'L#: x = #; goto L@; ') L\$((N - 2)): goto End; }"
bound targets 64 "$B L0: goto \$(repeat \$((N - 1)) 'M#, ')M\$((N - 1)); \$(repeat \$N 'M#: assume(x == #); goto End; ') }"
bound array 65536 "shared int a[\$N]; $K a[\$N - 1] = 1; }"
bound memory 64 "launch(threads = 1, blocks = \$N); \$(repeat 64 'shared int a#[1024]; ') $K a0[1] = 1; }"
bound depth 32 "private int x; int f(int n) { private int r; if (n == 0) return 0; r = f(n - 1); return r + 1; }
    kernel k() { x = f(\$((N - 2))); }"
# What calls are replaced with, and copies of loops, may be too much.
for copies in 70 100; do bound "copies$copies" 180 "private int x; void f() { \$(repeat \$N 'x = x + #;') }
    void g() { \$(repeat $copies 'f(); ') } kernel k() { g(); }"; done
for setting in threads=1023 threads=1024 threads=1025 warp=63 warp=64 warp=65 blocks=63 blocks=64 blocks=65 \
    threads=64,blocks=64 threads=65,blocks=63 threads=1024,blocks=4 threads=819,blocks=5 threads=820,blocks=5 warp=0 threads=0; do
    say bound-launch "$setting" check bounds/depth.0.simt --json --schedules 1 --budget 20 --set "$setting" --subjects simt,crs
done
for words in '0*16777215' '0*16777216' '0*16777217' '0*16777214 1 1' '0*16777215 1 1' '!0*3 1*2 4294967295' '0 4294967296' '1*0' '!' '2 *3'; do
    echo "$words" >tape
    say bound-tape "${words//[ *!]/-}" trace k0.* --schedule tape:tape --max-steps 20
done

# ---- grids of many blocks, whose kernels have variables of their own in several places ----

for blocks in 1 2 63 64 65 127 128 129 200; do
    cat >"grid$blocks.host" <<END
kernel many
    launch(threads = 4, warp = 2);
    global int out[$((blocks * 4))];
    global int own[3];
    global int sum[2];
    input int table[5];
    shared int part[4];
    shared int last[2];
    private int i;
    kernel many() {
        part[tid] = table[(bid + tid) % 5] + bid;
        last[tid % 2] = own[1];
        barrier();
        i = atomic_add(own[bid % 3], part[3 - tid]);
        if (tid == bid % 4) {
            atomic_add(sum[1], 1);
            last[0] = 7;
        }
        out[bid * 4 + tid] = part[(tid + 1) % 4];
    }
end
host back[$((blocks * 4))]
buffer a[$((blocks * 4))]
stream s
stream t
event e
launch one: many grid=$blocks block=4 stream=s out=a
launch many grid=$((1 + blocks / 2)) block=4 stream=t out=a
record e stream=t
wait e stream=s
launch many grid=$blocks block=4 stream=s out=a
copy a -> back stream=s
sync
END
    for device in '' 'sms=1 blocks=1' 'order=any pick=any sms=3 blocks=7' 'sms=1 blocks=100 threads=400' 'sms=64 shared=64'; do
        say "grid$blocks" "${device//[ =]/-}" trace "grid$blocks.host" --seed "$blocks" --device "$device"
    done
    say "grid$blocks" check check "grid$blocks.host" --json
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
