/*
 * What threads wait for, as people write it: patterns of gen_spin.h. Some are wrong in some place or under some
 * scheduler: which, is for the searches to say.
 */
#include "fuzz/waiting/gen_spin.h"

#define UNLOCK(lock) " $(" lock " = 0;$|atomic_exch(" lock ", 0);$) "

const struct spin_idiom spin_idioms[] = {
#define ITEM(item) [W_LOCK_IDIOM_##item - W_LOCK_IDIOM_FIRST]
    ITEM(FLAG) = {"$S int f@; $S int d@;", "int e@;",
                  "$("
                  "if ($W == $F) { d@ = 1; $(f@ = 1;$|atomic_exch(f@, 1);$) }"
                  " else { while (f@ $(== 0$|!= 1$)) ; e@ = d@; }"
                  "$|"
                  "if ($W != $F) { while (f@ $(== 0$|!= 1$)) ; e@ = d@; } else { d@ = 1; f@ = 1; }"
                  "$|"
                  "if ($W == $F) { d@ = 1; f@ = 1; } while (f@ == 0) ; e@ = d@;"
                  "$|"
                  "if ($W != $F) do e@ = atomic_add(f@, 0); while (e@ == 0);"
                  " else atomic_exch(f@, 1);"
                  "$)"},
    ITEM(EXCHANGE) =
        {"$S int l@; $S int d@;", "int e@;",
         "$("
         "do e@ = atomic_exch(l@, 1); while (e@ != 0); $C" UNLOCK(
             "l@") "$|"
                   "e@ = 1; while (e@ != 0) { e@ = atomic_exch(l@, 1);"
                   " if (e@ == 0) { $C" UNLOCK(
                       "l@") "} }"
                             "$|"
                             "e@ = 1; while (e@ != 0) { e@ = atomic_exch(l@, 1);"
                             " if (e@ != 0) ; else { $C" UNLOCK(
                                 "l@") "} }"
                                       "$|"
                                       "do { while (l@ != 0) ; e@ = atomic_exch(l@, 1); } while "
                                       "(e@ != 0); $C" UNLOCK(
                                           "l@") "$|"
                                                 "for (;;) { e@ = atomic_exch(l@, 1); if (e@ == 0) "
                                                 "{ $C" UNLOCK(
                                                     "l@") "break; } }"
                                                           "$|"
                                                           "for (;;) { e@ = atomic_exch(l@, 1); if "
                                                           "(e@ == 0) break; } $C" UNLOCK(
                                                               "l@") "$)"},
    ITEM(COMPARE) = {"$S int l@; $S int d@;", "int e@;",
                     "$("
                     "do e@ = atomic_cas(l@, 0, 1); while (e@ != 0); $C" UNLOCK(
                         "l@") "$|"
                               "e@ = 1; while (e@ != 0) { e@ = atomic_cas(l@, 0, 1);"
                               " if (e@ == 0) { $C" UNLOCK(
                                   "l@") "} }"
                                         "$|"
                                         "do e@ = atomic_cas(l@, 0, $W + 1); while (e@ != 0); $C "
                                         "atomic_cas(l@, $W + 1, 0);"
                                         "$|"
                                         "do { while (l@ != 0) ; e@ = atomic_cas(l@, 0, 1); } "
                                         "while (e@ != 0); $C" UNLOCK("l@") "$)"},
    ITEM(TICKET) = {"$S int n@; $S int s@; $S int d@;", "int e@, g@;",
                    "e@ = atomic_add(n@, 1); "
                    "$("
                    "while (s@ != e@) ; $C $(s@ = s@ + 1;$|s@ = e@ + 1;$|atomic_add(s@, 1);$)"
                    "$|"
                    "g@ = 0; while (g@ == 0) if (s@ == e@) { $C s@ = e@ + 1; g@ = 1; }"
                    "$)"},
    ITEM(HANDOFF) = {"$S int f@; $S int d@;", "int e@, i@;",
                     "if ($W == $(0$|$N - 1$)) for (i@ = 0; i@ < $N - 1; i@++)"
                     " { while (f@ != 0) ; d@ = i@; f@ = 1; }"
                     " else "
                     "$("
                     "{ do e@ = atomic_cas(f@, 1, 2); while (e@ != 1); e@ = d@; f@ = 0; }"
                     "$|"
                     "{ while (f@ == 0) ; e@ = d@; f@ = 0; }"
                     "$)"},
    ITEM(BARRIER) = {"$S int c@; $S int g@;", "int e@;",
                     "$(atomic_add(c@, 1);$|c@ = c@ + 1;$) "
                     "$("
                     "while (c@ $(<$|!=$) $N) ;"
                     "$|"
                     "if ($W == $F) { while (c@ != $N) ; g@ = 1; } else while (g@ == 0) ;"
                     "$|"
                     "do e@ = atomic_add(c@, 0); while (e@ < $N);"
                     "$)"},
    ITEM(SENSE) = {"$S int c@; $S int g@;", "int e@, i@;",
                   "$("
                   "for (i@ = 0; i@ < 2; i@++) { e@ = atomic_add(c@, 1);"
                   " if (e@ == $N - 1) { c@ = 0; g@ = i@ + 1; } else while (g@ $(==$|<=$) i@) ; }"
                   "$|"
                   "i@ = g@; e@ = atomic_add(c@, 1);"
                   " if (e@ == $N - 1) { $(c@ = 0; g@ = 1 - i@;$|g@ = 1 - i@; c@ = 0;$) }"
                   " else while (g@ == i@) ;"
                   "$)"},
    ITEM(LOOKBACK) =
        {"$S int n@; $S int s@[4]; $S int a@[4]; $S int p@[4];", "int e@, i@, j@;",
         "$(i@ = $W;$|i@ = atomic_add(n@, 1);$) "
         "if (i@ == 0) { p@[0] = 1; s@[0] = 2; }"
         " else { $(a@[i@] = 1; s@[i@] = 1;$|;$) e@ = 1; j@ = i@ - 1; while (j@ >= 0) {"
         " while (s@[j@] == 0) ;"
         " if (s@[j@] == 2) { e@ = e@ + p@[j@]; j@ = 0 - 1; } else { e@ = e@ + a@[j@]; j@--; } }"
         " p@[i@] = e@; s@[i@] = 2; }"},
    ITEM(LEADER) =
        {"$S int l@; $S int r@; $S int d@;", "int e@;",
         "$(e@ = atomic_exch(l@, 1);$|e@ = atomic_cas(l@, 0, $W + 1);$|e@ = atomic_add(l@, 1);$) "
         "$("
         "if (e@ == 0) { $C r@ = 1; } else while (r@ == 0) ;"
         "$|"
         "if (e@ != 0) { while (r@ == 0) ; e@ = d@; } else { $C r@ = 1; }"
         "$|"
         "if (e@ == 0) { $C r@ = 1; } while (r@ == 0) ;"
         "$)"},
    ITEM(
        CHECKED) = {"$S int l@; $S int r@; $S int d@;", "int e@;",
                    "if (r@ == 0) { do e@ = atomic_$(exch(l@, 1)$|cas(l@, 0, 1)$); while (e@ != 0);"
                    " if (r@ == 0) { d@ = 1; r@ = 1; }" UNLOCK("l@") "} e@ = d@;"},
    ITEM(TURN) = {"$S int t@; $S int d@;", "int e@;",
                  "while (t@ != $($W$|$N - 1 - $W$)) ; $C t@ = t@ + 1;"},
    ITEM(ROUND) = {"$S int t@; $S int d@;", "int e@;",
                   "while (t@ != $N) $(if (t@ == $W) { $C t@ = t@ + 1; }$|"
                   "if (t@ != $W) ; else { $C t@ = t@ + 1; }$)"},
    ITEM(PETERSON) = {"$S int w@[2]; $S int t@; $S int d@;", "int e@;",
                      "if ($W < 2) { w@[$W] = 1; t@ = 1 - $W;"
                      " while (w@[1 - $W] == 1 && t@ == 1 - $W) ; $C w@[$W] = 0; }"},
    ITEM(NOTIFY) = {"$S int f@[4];", "int e@;",
                    "f@[$W] = 1; while (f@[($W + $(1$|$N - 1$)) % $N] == 0) ;"},
    ITEM(RELAY) = {"$S int a@; $S int b@;", "int i@;",
                   "i@ = $($W$|($W + $F) % $N$); if (i@ == 0) { if (a@ != 0) while (b@ == 0) ; }"
                   " else if (i@ == 1) b@ = 1; else a@ = 1;"},
    ITEM(BOUNDED) = {"$S int l@; $S int d@;", "int e@, i@;",
                     "for (i@ = 0; i@ < 2; i@++) { e@ = atomic_exch(l@, 1);"
                     " if (e@ == 0) { $C l@ = 0; $(break;$|$) } }"},
    ITEM(OWN) = {"$S int d@;", "int e@, i@;",
                 "$("
                 "e@ = $(0$|$W$); while (e@ $(<$|!=$) $(2$|$W$|$N$)) e@ = (e@ + $(1$|2$)) & 3;"
                 "$|"
                 "for (i@ = 0; i@ < $(2$|$W$); i@++) { $C if (i@ == $F) $(break$|continue$); }"
                 "$|"
                 "while ($W == $F) ;"
                 "$) $(d@ = e@;$|$)"},
};
