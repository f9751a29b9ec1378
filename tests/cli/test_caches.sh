#!/usr/bin/env bash
# --caches: sizes of caches on every command that runs a subject, in kernels, in cases, in the database.
. "$(dirname "$0")/common.sh"
cat >k.simt <<'END'
launch(threads = 2, warp = 2, blocks = 1);
global int a[8], r[2];
kernel k() { r[tid] = a[0] + a[4] + a[tid + 1]; }
expect terminates;
END
subject=crs:caches:printed

# Lines of eight words hold all of `a`: two loads hit. Lines of one word are filled one by one.
steps() { # CACHES [FILE]: how many steps the sequential execution has
    expect 0 trace "${2:-k.simt}" --subject $subject --caches "$1"
    sed -n 's/^terminated after \([0-9]*\) steps$/\1/p' out
}
large=$(steps lines=4,words=8) small=$(steps lines=1,words=1)
[ -n "$large" ] && [ "$large" -lt "$small" ] || failed "steps with large caches '$large', with small ones '$small'"
expect 0 step k.simt --subject $subject --caches lines=1,words=1 --commands 'f 14; show all'
says out 'L1 of SM 0: a[4] awaited'
# An L1 with one line and two that are asked for: one is waited for, or both are there.
for lines in 1 2; do
    expect 0 view k.simt --subject $subject --caches lines=$lines,words=1 --output v$lines.html
done
cmp -s v1.html v2.html && failed "view looks the same with one line and with two"
expect 0 check k.simt --subjects crs,$subject --caches lines=2,words=2,sets=2,sms=2,policy=lowest

# In the text of a kernel, of both languages; --caches beats it, a size at a time.
sed 's/blocks = 1/blocks = 1, lines = 4, words = 8, policy = first/' k.simt >own.simt
expect 0 trace own.simt --subject $subject
says out "terminated after $large steps"
[ "$(steps words=1,lines=1 own.simt)" = "$small" ] || failed "--caches does not beat the kernel's own sizes"
expect 0 lower own.simt --to ptx
cp out own.ptx
says own.ptx 'caches=lines=4,words=8,policy=first'
expect 0 trace own.ptx --subject $subject
says out "terminated after $large steps"
[ "$(steps words=1,lines=1 own.ptx)" = "$small" ] || failed "--caches does not beat PTX's own sizes"

# A campaign: in its options, each kernel, what it stores, and what is run again from there.
expect 0 gen --seed 3 --caches lines=2,words=4,policy=lowest --first 7
says out '--caches lines=2,words=4,policy=lowest --first 7' 'lines=2, words=4, policy=lowest'
cat >c.ini <<'END'
[check]
subjects = crs,crs:caches:printed
oracles = memory-model
caches = lines=2,words=1
END
expect 0 run -c c.ini --check
says out 'caches = lines=2,words=1'
expect 0 run -c c.ini --spin --cases 60 --seed 6 -j 1 --db c.db --no-minimise
says out 'STALE'
expect 0 triage --db c.db show 1
says out 'caches=lines=2,words=1'
expect 0 replay --db c.db 1
says out 'stale-spin'
expect 0 triage --db c.db export 1 --output found.simt
says found.simt 'lines=2, words=1'
expect 0 reduce --db c.db 1
expect 0 triage --db c.db export 1 --output small.simt
says small.simt 'lines=2, words=1'
expect 0 digest --cases 4 --seed 1 --subjects crs:caches:coherent --oracles memory-model --caches lines=1,words=1
cp out digest
expect 0 digest --cases 4 --seed 1 --subjects crs:caches:coherent --oracles memory-model --caches lines=4,words=8
cmp -s out digest && failed "digests do not depend on the caches"

# At a call what the L1 has of a local word goes over an older value that the L2 has.
cat >call.ptx <<'END'
// simtfuzz: threads=1 blocks=1 warp=1
.version 7.5
.target sm_70
.address_size 32
.global .align 4 .u32 g[1];
.func f() { ret; }
.entry k()
{
    .local .align 4 .u32 l[1];
    .reg .u32 %a;
    st.local.u32 [l], 1;
    membar.cta;
    st.local.u32 [l], 2;
    call f;
    ld.local.u32 %a, [l];
    st.global.u32 [g], %a;
    exit;
}
END
expect 0 check call.ptx --subjects crs,crs:caches:coherent --oracles reductions --json
says out 'compared: 4'

# A search that is cut off is followed by one for outcomes alone: three threads, more than 2^18 states.
cat >three.simt <<'END'
launch(threads = 3, warp = 1, blocks = 1);
global int x, y, r[4];
kernel k() {
    if (tid == 0) {
        x = 1;
        r[0] = y;
    } else {
        if (tid == 1) {
            y = 1;
            r[1] = x;
        } else {
            r[2] = x;
        }
    }
}
END
expect 1 check three.simt --exhaustive --subjects crs,$subject
says out "$subject: NOT all executions" "$subject: outcomes alone: all executions searched, 8 outcomes"
expect 1 check three.simt --exhaustive --subjects crs,$subject --json
says out '"reduced": {"method": "sleep", ' '"outcomes": 8, "cut": null}'

# Each PTX subject has each profile: two stores, and two loads beside a store, tell the three apart.
cat >stores.simt <<'END'
launch(threads = 1, warp = 1, blocks = 1);
global int x;
kernel k() {
    x = 1;
    x = 2;
}
END
cat >loads.simt <<'END'
launch(threads = 1, warp = 1, blocks = 2, sms = 2, lines = 1, words = 1);
global int x, r[2];
kernel k() {
    private int a, b;
    if (bid == 0) {
        x = 1;
    } else {
        a = x;
        b = x;
        r[0] = a;
        r[1] = b;
    }
}
END
for base in crs thread-pc block; do
    for profile in printed:2:4 llh:1:4 coherent:1:3; do
        IFS=: read -r name stores loads <<<"$profile"
        [ "$stores" = 1 ] && ends=outcome || ends=outcomes
        expect 0 check stores.simt --exhaustive --subjects "$base,$base:caches:$name"
        says out "$base:caches:$name: all executions searched, $stores $ends "
        expect 1 check loads.simt --exhaustive --subjects "$base,$base:caches:$name"
        says out "$base:caches:$name: all executions searched, $loads outcomes "
    done
done

# What the report of 2011 knows nothing of.
expect 0 check "$source/corpus/ptx/stages.nvcc.ptx" --subjects crs,crs:caches:coherent
says out "crs:caches:coherent did not run: unsupported instruction 'mbarrier' over caches at line 49 (stages.cu:11)"
expect 0 check "$source/corpus/ptx/product-mma.nvcc.ptx" --subjects crs,block:caches:printed
says out "block:caches:printed did not run: unsupported instruction 'ldmatrix' over caches at line 172"

# What is wrong has a name, and its line where it stands in a kernel.
bad() { # CACHES MESSAGE
    expect 2 check k.simt --subjects $subject --caches "$1"
    says err "$2"
}
bad lines=0 "'lines' of a cache must be 1 to 1024"
bad lines=1025 "'lines' of a cache must be 1 to 1024"
bad words=3 "'words' of a cache line must be 1, 2, 4 or 8"
bad lines=4,sets=3 "'sets' of a cache must divide its 'lines'"
bad sets=2 "'sets' of a cache must divide its 'lines'"
bad sms=65 "'sms' must be 1 to 64"
bad policy=lru "'policy' of a cache must be any, first or lowest"
bad '' "not ''"
bad lines "not 'lines'"
bad ways=2 "not 'ways=2'"
bad lines=2,words=2,lines=2 "'lines' is given twice"
sed 's/blocks = 1/blocks = 1, words = 3/' k.simt >bad.simt
expect 2 check bad.simt
says err "bad.simt:1:" "'words' of a cache line must be 1, 2, 4 or 8"
sed 's/blocks = 1/blocks = 1, words = 2, words = 4/' k.simt >bad.simt
expect 2 check bad.simt
says err "bad.simt:1:" "'words' is given twice"
sed 's/caches=lines=4/caches=lines=0/' own.ptx >bad.ptx
expect 2 check bad.ptx
says err 'bad.ptx:' "'lines' of a cache must be 1 to 1024"
finish
