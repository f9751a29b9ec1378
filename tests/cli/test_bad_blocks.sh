#!/usr/bin/env bash
# Bad programs in block form: a named error with its place or a named bound, by every command; what is
# merely ill-formed (Def. 5.1) runs, and is said to be.
. "$(dirname "$0")/common.sh"

commands=("check" "check --json" "check --exhaustive" "trace --subject interleave" "trace --subject predicated"
    "trace --subject lockstep" "lower" "lower --to cfg" "lower --to cfg --normalise" "lower --to predicated"
    "lower --to lockstep")

# kernel NAME: standard input is the text of NAME.simt.
kernel() {
    name=$1.simt
    cat >"$name"
}

# wrong ERROR: every command refuses the kernel with `name:ERROR`, and prints nothing else.
wrong() {
    local command
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        expect 2 $command "$name"
        says err "$name:$1"
        silent out
    done
}

# runs STATUS... : check is content, and the traces of interleave, predicated, lockstep end so.
runs() {
    local subject
    expect 0 check "$name"
    says out " $name  ("
    expect 0 check --json "$name"
    json
    for subject in interleave predicated lockstep; do
        expect 0 trace "$name" --subject "$subject" --max-steps "${steps:-1000}"
        says out "$1 after "
        [ $# -eq 1 ] || shift
    done
}

# ill CLAUSE: every lowering says so, and lowers it all the same.
ill() {
    local form
    for form in "cfg" "cfg --normalise" "predicated" "lockstep"; do
        # shellcheck disable=SC2086
        expect 0 lower "$name" --to $form
        says err "note: $1"
        grep -q '^kernel ' out || failed "lower $name --to $form prints no kernel"
    done
}

# ---- graphs ----

kernel irreducible <<'END'
private int i;
kernel k() blocks {
    Start: goto A, B;
    A: assume(i == 0); goto B;
    B: assume(i != 0); goto A, X;
    X: goto End;
}
END
wrong "3:5: error: irreducible: the edge from 'Start' to 'B' enters a loop past its head 'A'"
says err "Start: goto A, B;" "    ^"

kernel irreducible-twice <<'END'
void p(int n) blocks {
    E: goto A, B;
    A: assume(n == 0); goto B, R;
    B: assume(n != 0); goto A, R;
    R: return;
}
kernel k() blocks {
    Start: goto C;
    C: p(tid); goto D;
    D: goto End;
    F: goto End;
}
END
wrong "2:5: error: irreducible: the edge from 'E' to 'B' enters a loop past its head 'A'"
says err "$name:11:5: error: block 'F' is not reachable from 'Start'"

kernel unreachable-loop <<'END'
kernel k() blocks {
    Start: goto End;
    A: goto B;
    B: goto A;
}
expect terminates;
END
wrong "3:5: error: block 'A' is not reachable from 'Start'"

# ---- names ----

kernel no-start <<'END'
kernel k() blocks { A: goto End; }
END
wrong "1:21: error: the first block must be named 'Start'"

kernel start-second <<'END'
kernel k() blocks { A: goto End; Start: goto A; }
END
wrong "1:34: error: 'Start' must be the first block"

kernel no-blocks <<'END'
kernel k() blocks { }
END
wrong "1:21: error: expected the name of a block after '{', found '}'"

kernel nowhere <<'END'
kernel k() blocks { Start: goto Nowhere; }
END
wrong "1:33: error: block 'Nowhere' is not defined"

kernel end-block <<'END'
kernel k() blocks { Start: goto End; End: goto Start; }
END
wrong "1:38: error: 'End' names the end of a thread, not a block"

kernel twice <<'END'
kernel k() blocks { Start: goto A; A: goto End; A: goto End; }
END
wrong "1:49: error: block 'A' is already defined"

kernel no-goto <<'END'
kernel k() blocks { Start: skip; }
END
wrong "1:34: error: expected 'goto' or 'return' after ';', found '}'"

kernel return-in-kernel <<'END'
kernel k() blocks { Start: return; }
END
wrong "1:28: error: a kernel in block form ends with 'goto End', not 'return'"

kernel end-in-procedure <<'END'
void p() blocks { E: goto End; }
kernel k() blocks { Start: p(); goto End; }
END
wrong "1:27: error: a procedure ends with 'return', not 'goto End'"

kernel other-procedure <<'END'
void p() blocks { E: goto Start; }
kernel k() blocks { Start: p(); goto End; }
END
wrong "1:27: error: block 'Start' is not defined"

kernel shared-out <<'END'
shared int y;
void p(out int r) blocks { E: r = 1; return; }
kernel k() blocks { Start: p(y); goto End; }
END
wrong "3:30: error: out-parameter 'r' of 'p' needs a private variable; 'y' is shared"

# ---- guards ----

kernel guards-gap <<'END'
private int c;
kernel k() blocks {
    Start: goto A, B;
    A: assume(c == 1); goto End;
    B: assume(c == 2); goto End;
}
expect infeasible, race_free;
END
ill "WF.3: where 'Start' ends, the guards of its targets may all be false"
runs infeasible

kernel guard-shared <<'END'
shared int s;
kernel k() blocks {
    Start: goto A, B;
    A: assume(s == 0); s = 1; goto End;
    B: assume(s != 0); goto End;
}
expect race s;
END
ill "WF.1: the guard of 'A' at line 4 is not on private variables only"
runs terminated

kernel guard-late <<'END'
private int c;
kernel k() blocks { Start: c = tid; assume(c == 0); goto End; }
expect infeasible;
END
ill "WF.2: a second assume at line 2"
runs infeasible

kernel guard-start <<'END'
kernel k() blocks { Start: assume(0); goto End; }
expect infeasible;
END
ill "WF.0: the guard of 'Start' is not true"
runs infeasible

# ---- no end ----

kernel recursion <<'END'
void p(int n) blocks { E: goto C; C: p(n + 1); goto R; R: return; }
kernel k() blocks { Start: goto C; C: p(tid); goto D; D: goto End; }
expect call_depth;
END
runs call_depth

kernel recursion-mutual <<'END'
void p(int n) blocks { E: q(n); return; }
void q(int n) blocks { E: p(n); return; }
kernel k() blocks { Start: p(tid); goto End; }
expect call_depth;
END
runs call_depth

kernel recursion-of-one <<'END'
void p(int n) blocks {
    E: goto Down, Up;
    Down: assume(n == 3); p(n); return;
    Up: assume(n != 3); return;
}
kernel k() blocks { Start: p(tid); goto End; }
expect call_depth;
END
runs call_depth

kernel endless <<'END'
kernel k() blocks { Start: goto A; A: goto A; }
expect nonterminating, race_free;
END
runs step_limit

kernel endless-barriers <<'END'
kernel k() blocks { Start: goto A; A: barrier(); goto A; }
expect nonterminating, race_free;
END
runs step_limit

# ---- sizes ----

kernel wide <<'END'
launch(threads = 1024, warp = 32);
shared int out[1024];
kernel k() blocks {
    Start: goto A, B;
    A: assume(tid % 2 == 0); out[tid] = 1; goto J;
    B: assume(tid % 2 != 0); out[tid] = 2; goto J;
    J: barrier(); out[tid] = out[tid] + 1; goto End;
}
expect race_free, terminates;
END
steps=200000 runs terminated

kernel wide-divergent <<'END'
launch(threads = 1024, warp = 32);
kernel k() blocks {
    Start: goto A, B;
    A: assume(tid == 1023); goto End;
    B: assume(tid != 1023); barrier(); goto End;
}
expect race_free, barrier_divergence;
END
steps=200000 runs barrier_divergence

kernel too-wide <<'END'
launch(threads = 1025);
kernel k() blocks { Start: goto End; }
END
wrong "1:18: error: 'threads' must be 1 to 1024"

chain() { # N: N blocks, one after the other
    local i
    echo "private int c;"
    echo "kernel k() blocks {"
    echo "Start: goto B2;"
    for ((i = 2; i < $1; i++)); do echo "B$i: c = c + 1; goto B$((i + 1));"; done
    echo "B$1: goto End; }"
}

name=too-many.simt
chain 1025 >"$name"
wrong "1027:1: error: more than 1024 blocks"

# Normalised, this one has a block too many. PTX takes it as it is, without the havoc.
name=full.simt
chain 1024 >"$name"
expect 0 check "$name"
says out " $name  (" "interleave did not run: more than 1024 blocks"
sed -i 's/Start: goto/Start: havoc(c); goto/' "$name"
expect 0 lower "$name" --to cfg
for form in "cfg --normalise" predicated lockstep; do
    # shellcheck disable=SC2086
    expect 2 lower "$name" --to $form
    says err "more than 1024 blocks"
done
expect 0 check "$name"
says out "refused   $name  more than 1024 blocks"
echo "expect terminates;" >>"$name"
expect 1 check "$name"
says out "the kernel was refused: more than 1024 blocks"

# A call a block, and two more blocks a call for pi and phi; P runs without them.
name=calls.simt
{
    echo "void p() blocks { E: return; }"
    echo "kernel k() blocks { Start: "
    for ((i = 0; i < 600; i++)); do echo "p();"; done
    echo "goto End; }"
    echo "expect terminates, race_free;"
} >"$name"
expect 0 lower "$name" --to cfg --normalise
for form in predicated lockstep; do
    expect 2 lower "$name" --to $form
    says err "the result is no kernel: more than 1024 blocks"
    expect 2 trace "$name" --subject $form
    says err "more than 1024 blocks"
done
expect 0 check "$name"
says out "agree" "predicated did not run: the result is no kernel: more than 1024 blocks" "lockstep did not run: "

# 120 loops with one last block; a choice of 900 targets: what pi says of them are long chains.
{
    echo "kernel k() blocks { Start: goto H0;"
    for ((i = 0; i < 120; i++)); do echo "H$i: goto H$((i + 1));"; done
    echo "H120: goto"
    for ((i = 0; i < 120; i++)); do echo "H$i,"; done
    echo "End; }"
} >loops.simt
{
    echo "private int c;"
    echo "kernel k() blocks { Start: goto"
    for ((i = 0; i < 900; i++)); do echo "T$i,"; done
    echo "End;"
    for ((i = 0; i < 900; i++)); do echo "T$i: assume(c == $i); goto End;"; done
    echo "}"
} >fan.simt
for name in loops.simt fan.simt; do
    expect 0 lower "$name" --to cfg --normalise
    for form in predicated lockstep; do
        expect 0 lower "$name" --to $form
        expect 0 trace "$name" --subject $form --max-steps 100
    done
    expect 0 trace "$name" --subject interleave
    expect 0 check "$name"
    says out "predicated " "lockstep " "crs did not run: a goto with very many targets"
    silent err
done

nested() { # N OPEN CLOSE: N times each
    local i
    for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done
    printf '1'
    for ((i = 0; i < $1; i++)); do printf '%s' "$3"; done
}

kernel deep-guard <<END
private int c;
kernel k() blocks {
    Start: goto A, B;
    A: assume($(nested 150 'c == 0 && (' ')')); goto End;
    B: assume(!($(nested 150 'c == 0 && (' ')'))); goto End;
}
expect race_free, terminates;
END
runs terminated
for form in cfg predicated lockstep; do expect 0 lower "$name" --to $form; done

kernel too-deep-guard <<END
kernel k() blocks { Start: assume($(nested 1000 '(' ')')); goto End; }
END
wrong "1:436: error: expression is nested more than 200 deep"

# Structured: the loops of the block form are as deep as those of the text. When the innermost loop has ended,
# pi walks through its blocks once more for each loop around it.
loop_nest() { # DEPTH
    echo "private int c;"
    echo "kernel k() { $(nested "$1" 'while (c < 1) {' '}' | sed 's/1}/ c++; }/') }"
}

name=deep-loops.simt
{
    loop_nest 30
    echo "expect race_free, terminates;"
} >"$name"
steps=100000 runs terminated

loop_nest 150 >"$name"
for form in core cfg "cfg --anchored" predicated lockstep; do
    # shellcheck disable=SC2086
    expect 0 lower "$name" --to $form
done

name=too-deep-loops.simt
loop_nest 300 >"$name"
wrong "2:3014: error: statements are nested more than 200 deep"
finish
