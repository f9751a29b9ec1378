/* Kernels in block form that are not well-formed (Def. 5.1 of lockstep-cfg), or not known to be, and why. */
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "oracle/refusals/refusals.h"

static const struct refusal rows[] = {
    FRAME("launch(threads=4, warp=2, blocks=2); shared int s; private int p, q; <>"),
    {"kernel k() blocks { Start: `assume(p == 1); goto End; }",
     "kernel k() blocks { Start: assume(p < 1 || p >= 1); goto End; }",
     "WF.0: the guard of 'Start' is not true"},
    {"kernel k() blocks { Start: `assume(tid < 3); goto End; }",
     "kernel k() blocks { Start: assume(tid < 4); goto End; }",
     "WF.0: the guard of 'Start' is not true"},
    {"void f() blocks { E: `assume(bid); return; } kernel k() blocks { Start: f(); goto End; }",
     "void f() blocks { E: assume(bid < 2); return; } kernel k() blocks { Start: f(); goto End; }",
     "WF.0: the guard of 'E' is not true"},
    {"kernel k() blocks { Start: goto A, B; A: `assume(s); goto End; B: assume(1); goto End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(p); goto End; B: assume(1); goto End; }",
     "WF.1: the guard of 'A' at line 1 is not on private variables only"},
    {"kernel k() blocks { Start: goto A; A: p = 1; `assume(p); goto End; }",
     "kernel k() blocks { Start: goto A; A: p = 1; goto End; }", "WF.2: a second assume at line 1"},
    {"kernel k() blocks { Start: goto A; A: assume(1); q = 2; `assume(1); goto End; }",
     "kernel k() blocks { Start: goto A; A: assume(1); q = 2; goto End; }",
     "WF.2: a second assume at line 1"},
    {"kernel k() blocks { `Start: goto A, B; A: assume(p < 1); goto End; B: assume(p > 1); goto "
     "End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(p < 1); goto End; B: assume(1 <= p); goto "
     "End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"kernel k() blocks { `Start: goto A, B; A: assume(p && q); goto End; B: assume(!p); goto End; "
     "}",
     "kernel k() blocks { Start: goto A, B; A: assume(p && q); goto End; B: assume(!p || !q); goto "
     "End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"kernel k() blocks { `Start: goto A, B; A: assume(p * q > 3); goto End; B: assume(q); goto "
     "End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(p * q > 3); goto End; B: assume(3 >= p * q); "
     "goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},

    /* The first of the worst is told, in whichever function it stands. */
    {"void f() blocks { E: p = 1; `assume(p); return; } kernel k() blocks { Start: goto A; A: "
     "assume(p * q); f(); goto End; }",
     "void f() blocks { E: p = 1; return; } kernel k() blocks { Start: goto A; A: f(); goto End; }",
     "WF.2: a second assume at line 1"},
    {"void f() blocks { `E: goto A; A: assume(p * q); return; } void g() blocks { E: goto A; A: "
     "assume(q * p); return; } kernel k() blocks { Start: f(); goto G; G: g(); goto End; }",
     "void f() blocks { E: goto A; A: return; } void g() blocks { E: goto A; A: return; } kernel "
     "k() blocks { Start: f(); goto G; G: g(); goto End; }",
     "WF.3: not known whether the guards of the targets of 'E' cover everything"},
    {"void f() blocks { E: goto A; A: assume(p * q); return; } void g() blocks { E: p = q; "
     "`assume(p); return; } void h() blocks { E: q = p; assume(q); return; } kernel k() blocks { "
     "Start: f(); goto G; G: g(); goto H; H: h(); goto End; }",
     NULL, "WF.2: a second assume at line 1"},

    /* Guards of which one holds where the other does not, as they are written; and what a builtin can be. */
    FRAME("launch(threads=6, warp=4, blocks=2); private int p, q, v[3], w[3]; kernel k() blocks { "
          "<>"),
    {"`Start: goto A, B; A: assume(v[p] < 1); goto End; B: assume(v[q] >= 1); goto End; }",
     "Start: goto A, B; A: assume(v[p] < 1); goto End; B: assume(v[p] >= 1); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[p + 1] == 1); goto End; B: assume(v[p + 2] != 1); goto End; }",
     "Start: goto A, B; A: assume(v[p + 1] == 1); goto End; B: assume(v[p + 1] != 1); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[p] < 1); goto End; B: assume(w[p] >= 1); goto End; }",
     "Start: goto A, B; A: assume(v[p] < 1); goto End; B: assume(v[p] >= 1); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(p ? v[0] : 2)); goto End; "
     "}",
     "Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(p ? v[0] : 1)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(p ? v[1] : 1)); goto End; "
     "}",
     "Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(p ? v[0] : 1)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(q ? v[0] : 1)); goto End; "
     "}",
     "Start: goto A, B; A: assume(p ? v[0] : 1); goto End; B: assume(!(p ? v[0] : 1)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(-v[0]); goto End; B: assume(!(~v[0])); goto End; }",
     "Start: goto A, B; A: assume(-v[0]); goto End; B: assume(!(-v[0])); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[0] + q)); goto End; }",
     "Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[0] + p)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[1] + p)); goto End; }",
     "Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[0] + p)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[0] - p)); goto End; }",
     "Start: goto A, B; A: assume(v[0] + p); goto End; B: assume(!(v[0] + p)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] + tid); goto End; B: assume(!(v[0] + lane)); goto End; }",
     "Start: goto A, B; A: assume(v[0] + tid); goto End; B: assume(!(v[0] + tid)); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(!v[0]); goto End; B: assume(!v[0]); goto End; }",
     "Start: goto A, B; A: assume(!v[0]); goto End; B: assume(!!v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] < p); goto End; B: assume(p < v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] < p); goto End; B: assume(p <= v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] <= p); goto End; B: assume(p >= v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] <= p); goto End; B: assume(p < v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] == p); goto End; B: assume(p == v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] == p); goto End; B: assume(p != v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] > p); goto End; B: assume(p > v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] > p); goto End; B: assume(p >= v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] >= p); goto End; B: assume(p <= v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] >= p); goto End; B: assume(p > v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] != p); goto End; B: assume(p != v[0]); goto End; }",
     "Start: goto A, B; A: assume(v[0] != p); goto End; B: assume(p == v[0]); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] < p); goto End; B: assume(v[0] > p); goto End; }",
     "Start: goto A, B; A: assume(v[0] < p); goto End; B: assume(v[0] >= p); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A, B; A: assume(v[0] <= p); goto End; B: assume(v[0] >= p); goto End; }",
     "Start: goto A, B; A: assume(v[0] <= p); goto End; B: assume(v[0] > p); goto End; }",
     "WF.3: not known whether the guards of the targets of 'Start' cover everything"},
    {"`Start: goto A; A: assume(tid < 5); goto End; }",
     "Start: goto A; A: assume(tid < 6); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(lane <= 2); goto End; }",
     "Start: goto A; A: assume(lane <= 3); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(warp < 1); goto End; }",
     "Start: goto A; A: assume(warp < 2); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(bid < 1); goto End; }",
     "Start: goto A; A: assume(bid < 2); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(threads == 5); goto End; }",
     "Start: goto A; A: assume(threads == 6); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(warp_size == 3); goto End; }",
     "Start: goto A; A: assume(warp_size == 4); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(blocks == 1); goto End; }",
     "Start: goto A; A: assume(blocks == 2); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(tid >= 1); goto End; }",
     "Start: goto A; A: assume(tid >= 0); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(lane > 0); goto End; }",
     "Start: goto A; A: assume(lane >= 0); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    FRAME("launch(threads=3, warp=4, blocks=1); private int p; kernel k() blocks { <>"),
    {"`Start: goto A; A: assume(lane < 2); goto End; }",
     "Start: goto A; A: assume(lane < 3); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(warp == 1); goto End; }",
     "Start: goto A; A: assume(warp == 0); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
    {"`Start: goto A; A: assume(bid != 0); goto End; }",
     "Start: goto A; A: assume(bid == 0); goto End; }",
     "WF.3: where 'Start' ends, the guards of its targets may all be false"},
};

static bool read(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    const struct ast_kernel *kernel = parse_kernel(arena, text, length, diag);
    const char *reason;
    struct location at;
    if (!kernel || well_formed(arena, kernel, &reason, &at) == WELL_FORMED)
        return kernel != NULL;
    diag_error(diag, at, "%s", reason);
    return false;
}

const struct refusals refusals_forms = {
    .name = "well-formed", .rows = rows, .count = sizeof rows / sizeof *rows, .read = read};
