#!/usr/bin/env bash
# lower --to cfg, predicated, lockstep: kernels of the corpus under every option; refusals; block programs. Every third of
# the papers' and every twentieth of the others; all of them every night (SIMTFUZZ_WHOLE=1).
. "$(dirname "$0")/common.sh"

# What is printed parses, is well-formed (no note), and is its own block form. A few generated kernels (the
# distilled ones) grow beyond the limit when && and || become blocks.
too_large=0
lowers_to_itself() {
    if [[ "$file $* " = */corpus/distilled/*' --logic-blocks '* ]] && ! "$simtfuzz" lower "$@" >/dev/null 2>err && grep -q 'more than 1024 blocks$' err; then
        too_large=$((too_large + 1))
        return
    fi
    expect 0 lower "$@"
    silent err
    cp out once.simt
    expect 0 lower once.simt --to cfg
    silent err
    cmp -s out once.simt || failed "lower $*: its block form lowers to something else"
}

# pi(P) and phi(P) parse; each is its own block or lock-step form.
transforms_to_itself() {
    expect 0 lower "$1" --to predicated
    cp out once.simt
    expect 0 lower once.simt --to cfg
    cmp -s out once.simt || failed "lower $1 --to predicated: lowers to something else"
    expect 0 lower "$1" --to lockstep
    grep -q '^kernel .*) lockstep$' out || failed "lower $1 --to lockstep: not in lock-step form"
    cp out once.simt
    expect 0 lower once.simt --to lockstep
    cmp -s out once.simt || failed "lower $1 --to lockstep: lowers to something else"
    expect 2 lower once.simt --to predicated
    grep -q 'a lock-step program has no block form' err || failed "predicated: $(cat err)"
}

lowered=0 refused=0 number=0
while read -r file; do
    number=$((number + 1))
    [[ $file = */corpus/p* ]] && every=3 || every=20
    [ -n "${SIMTFUZZ_WHOLE:-}" ] || [ $((number % every)) -eq 0 ] || continue
    # Statements without a block form, and exit in a recursive function.
    if "$simtfuzz" lower "$file" --to cfg >out 2>err; then
        grep -q ') blocks$' out || failed "$file: no blocks"
        # Not all are well-formed, by intention: an assume of a kernel is a second one in its block.
        grep -qE '^kernel .*\) (blocks|lockstep)|assume\(' "$file" && continue
        lowered=$((lowered + 1))
        lowers_to_itself "$file" --to cfg
        lowers_to_itself "$file" --to cfg --anchored --then-first
        lowers_to_itself "$file" --to cfg --logic-blocks
        lowers_to_itself "$file" --to cfg --anchored --logic-blocks --normalise
        "$simtfuzz" lower "$file" --to cfg --keep-calls >kept.simt 2>err ||
            grep -q "exit in a procedure at line" err || failed "$file: $(cat err)"
        [ -s kept.simt ] && lowers_to_itself kept.simt --to cfg --normalise
        # Normalised once is normalised for good.
        expect 0 lower once.simt --to cfg --normalise
        cp out twice.simt
        expect 0 lower twice.simt --to cfg --normalise
        cmp -s out twice.simt || failed "$file: a second normalisation changes something"
        # Named barriers have a block form, which PTX is made of, and nothing to predicate.
        if grep -qE '\b(sync|arrive)\(' "$file"; then
            expect 2 lower "$file" --to lockstep
            grep -qE "unsupported statement '(sync|arrive)' at line" err || failed "$file: $(cat err)"
        else
            transforms_to_itself "$file"
        fi
    else
        refused=$((refused + 1))
        grep -qE "unsupported statement '[a-z]+' at line|exit in a procedure at line|more than 1024 blocks$" err ||
            failed "$file: $(cat err)"
    fi
done < <(find "$source/corpus" -name '*.simt' | sort)
[ "$lowered" -ge "$([ -n "${SIMTFUZZ_WHOLE:-}" ] && echo 60 || echo 20)" ] || failed "only $lowered kernels of the corpus have a block form"
[ "$too_large" -le 8 ] || failed "$too_large times a kernel of the corpus is too large"
echo "$lowered kernels lowered, $refused refused"

cat >vote.simt <<'END'
kernel k() {
    private int v;
    if (tid == 0)
        v = vote_any(tid);
}
END
expect 2 lower vote.simt --to cfg
says err vote.simt "unsupported statement 'vote' at line 4"
silent out

cat >exit.simt <<'END'
void down(int n) {
    if (n == 0)
        exit;
    down(n - 1);
}
kernel k() { down(tid); }
END
expect 2 lower exit.simt --to cfg
says err "exit in a procedure at line 3"

cat >large.simt <<'END'
shared int x;
void f0() { if (x == 0) x = 1; }
END
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "void f$i() { f$((i - 1))(); f$((i - 1))(); }" >>large.simt
done
echo "kernel k() { f12(); }" >>large.simt
expect 2 lower large.simt --to cfg
says err "more than 1024 blocks"
expect 0 lower large.simt --to cfg --keep-calls

# Block programs: graphs are refused with the place, ill-formed kernels run all the same.
cat >irreducible.simt <<'END'
private int i;
kernel k() blocks {
    Start: goto A, B;
    A: assume(i == 0); goto B;
    B: assume(i != 0); goto A, X;
    X: goto End;
}
END
expect 2 lower irreducible.simt --to cfg
says err "irreducible.simt:3:5: error: irreducible: the edge from 'Start' to 'B' enters a loop past its head 'A'"
cat >unreachable.simt <<'END'
kernel k() blocks {
    Start: goto End;
    A: goto End;
}
END
expect 2 lower unreachable.simt --to cfg
says err "unreachable.simt:3:5: error: block 'A' is not reachable from 'Start'"
expect 2 lower "$source/corpus/papers/lockstep-ck3.simt"
says err "a block program has no core form"
cat >ck1.simt <<'END'
shared int v;
kernel ck1() blocks {
    Start: goto B1, B2;
    B1: assume(tid == 1); v = 4; assume(v == 5); goto End;
    B2: assume(tid != 1); v = 5; goto End;
}
END
expect 0 lower ck1.simt --to cfg
says err "note: WF.2: a second assume at line 4"
says out "B1:" "assume(v == 5);"
expect 0 lower ck1.simt --to cfg --normalise --json
says out "Exit:" '"form": "cfg"'
json
finish
