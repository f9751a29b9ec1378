/* What is no text of the kernel language, and why. */
#include "engine/input/annotate.h"
#include "engine/input/input.h"
#include "engine/language/parse.h"
#include "oracle/refusals/refusals.h"

#include <string.h>

static const struct refusal rows[] = {
    {"`", NULL, "expected a kernel, found the end of the text"},
    {"   // nothing`", NULL, "expected a kernel, found the end of the text"},
    {"shared int x;`", NULL, "expected a kernel after ';', found the end of the text"},
    {"kernel k() {`", NULL, "expected '}' after '{', found the end of the text"},
    {"kernel k() { `x = 1; x = 2; `y++; }", NULL, "'x' is not declared\n'y' is not declared"},
    {"shared int x; kernel k() { x = 1`\n x = 2; }", NULL, "expected ';' after '1', found 'x'"},
    {"shared int x; kernel k() { x = `; x = 1 +`; x = (1`; x = 2` 3; }", NULL,
     "expected an expression after '=', found ';'\nexpected an expression after '+', found "
     "';'\nexpected ')' after '1', found ';'\nexpected ';' after '2', found '3'"},
    {"shared int x; kernel k() { x = `010; x = `0x; x = `5u; x = `4294967296; x = "
     "`0x1ffffffffffffffff; }",
     NULL,
     "a number does not start with 0: there is no octal\nmalformed number\nmalformed "
     "number\nnumber '4294967296' does not fit in 32 bits\nthis number is too large"},
    {"shared int x; kernel k() { if (x `y) x = 1; else x = 2; while `x; do x = 1; while (x)` }",
     NULL,
     "expected ')' after 'x', found 'y'\nexpected '(' after 'while', found 'x'\nexpected ';' after "
     "')', found '}'"},
    {"shared int x; kernel k() { if ((x `@)) { x = 1; } else { `y = 2; } }", NULL,
     "unexpected character '@'\n'y' is not declared"},
    {"kernel k() { `/* open`", NULL,
     "this comment is not closed\nexpected '}' after '{', found the end of the text"},
    {"kernel k() { `\001\002\377 } `$", NULL, "unexpected byte 0x01\nunexpected character '$'"},
    {"shared int x; kernel k() { x = 1 `\200 2; }", NULL, "unexpected byte 0x80"},
    {"shared int x; kernel k() { x = 1 `\177 + 2; }", NULL, "unexpected byte 0x7f"},
    {"kernel k() { `break; `continue; while (1) { break; continue; } switch (1) { case 1: break; "
     "`continue; } }",
     NULL,
     "'break' outside of a loop or switch\n'continue' outside of a loop\n'continue' outside of a "
     "loop"},
    {"int f() { `return; } void g() { `return 1; } kernel k() { `return 2; }", NULL,
     "function 'f' must return a value\nfunction 'g' returns no value\na kernel returns no value"},
    {"int f(int a) { return a; } shared int s; kernel k() { private int p; `p = f(); `s = f(1); "
     "`f(1, 2); p = f(1); p = `h(1); p = 1 + `f(2); }",
     NULL,
     "function 'f' takes 1 argument, not 0\nthe value of a call goes only into a private variable; "
     "'s' is shared\nfunction 'f' takes 1 argument, not 2\nfunction 'h' is not defined\na call is "
     "a statement of its own, not part of an expression: x = f(...);"},
    {"void f() { } kernel k() { private int p; `p = f(); `p(); `f = 1; }", NULL,
     "function 'f' returns no value\n'p' is a variable, not a function\n'f' is not declared"},
    {"shared int a[4], x; kernel k() { `a = 1; `x[0] = 1; x = `a; x = `x[1]; atomic_add(`a, 1); }",
     NULL,
     "array 'a' is used without an index\n'x' is not an array\narray 'a' is used without an "
     "index\n'x' is not an array\narray 'a' is used without an index"},
    {"shared int a[`0], b[`65537], c[`n], d[2] = {1, 2, 3}, e = {1, 2}; kernel k() { a[0] = b[0]; "
     "}",
     NULL,
     "an array has 1 to 65536 elements\nan array has 1 to 65536 elements\nexpected a number of "
     "elements after '[', found 'n'"},
    {"shared int x, `x; private int y; global int `y; kernel k() { private int x, z, `z; }", NULL,
     "'x' is already declared in this scope\n'y' is already declared in this scope\n'z' is already "
     "declared in this scope"},
    {"shared int `if; int `while() { } kernel k() { private int `tid; }", NULL,
     "expected the name of a variable, found the reserved word 'if'\nexpected the name of a "
     "function, found the reserved word 'while'\nexpected the name of a variable, found the "
     "reserved word 'tid'"},
    {"launch(threads=`0); kernel k() { }", NULL, "'threads' must be 1 to 1024"},
    {"launch(threads=`1000000000); kernel k() { }", NULL, "'threads' must be 1 to 1024"},
    {"`launch(threads=1024, blocks=64); kernel k() { }", NULL,
     "1024 threads in 64 blocks are more than 4096"},
    {"launch(threads=4, `threads=5); kernel k() { }", NULL, "'threads' is given twice"},
    {"launch(`lanes=4); kernel k() { }", NULL,
     "expected 'threads', 'warp', 'blocks', 'seed' or a size of caches after '(', found 'lanes'"},
    {"launch(threads`); kernel k() { }", NULL, "expected '=' after 'threads', found ')'"},
    {"launch(threads=4)` kernel k() { }", NULL, "expected ';' after ')', found 'kernel'"},
    {"`launch(threads=1024, blocks=4); private int a[65536]; kernel k() { }", NULL,
     "variables and frames of all threads take 268435456 words, more than 4194304"},
    {"shared int x = `y; kernel k() { switch (1) { case `x: case `tid: case 1: case 1: default: "
     "case 2: } }",
     NULL, "'y' is not a constant\n'x' is not a constant\n'tid' is not a constant"},
    {"kernel k() { `int x = 3; `private int y; `goto A; `else ; `case 1: ; }", NULL,
     "variables of a body are declared at its start, as 'private int'\nvariables are declared at "
     "the start of a body\n'goto' stands only at the end of a block of a block-form kernel\n'else' "
     "without 'if'\n'case' outside of a switch"},
    {"kernel k() { `shared int x; private input int `y; `++x; }", NULL,
     "variables of a body are private, not shared\n'y': input variables are declared outside "
     "functions\n'++' stands behind its variable"},
    {"shared input int `x = 3; kernel k() { }", NULL, "input variable 'x' has an initial value"},
    {"kernel k() { barrier`; barrier(`1); `sync(1); arrive(1, 2`, 3); `vote_all(1); havoc(`3); "
     "assert(`); }",
     NULL,
     "expected '(' after 'barrier', found ';'\nexpected ')' after '(', found '1'\n'sync(e)' stands "
     "only in a kernel in lock-step form; a named barrier is sync(b, n)\nexpected ')' after '2', "
     "found ','\nthe value of 'vote_all' must go into a variable\nexpected a variable after '(', "
     "found '3'\nexpected an expression after '(', found ')'"},
    {"shared int x; kernel k() { `atomic_add(x); `atomic_cas(x, 1); `x = atomic_exch(x, 1, 2); "
     "atomic_add(`1, 2); }",
     NULL,
     "atomic_add takes a location and 1 value, not 0\natomic_cas takes a location and 2 values, "
     "not 1\natomic_exch takes a location and 1 value, not 2\nexpected a variable after '(', found "
     "'1'"},
    {"kernel k() blocks { `A: goto A; }", NULL, "the first block must be named 'Start'"},
    {"kernel k() blocks { Start: goto `B, End; }", NULL, "block 'B' is not defined"},
    {"kernel k() blocks { Start: ; `}", NULL, "expected 'goto' or 'return' after ';', found '}'"},
    {"kernel k() blocks { `}", NULL, "expected the name of a block after '{', found '}'"},
    {"kernel k() blocks { Start: `if (1) ; goto End; `Start: goto End; `End: goto End; }", NULL,
     "'if' cannot stand in a block of a block-form kernel\nblock 'Start' is already defined\n'End' "
     "names the end of a thread, not a block"},
    {"shared int x; kernel k() blocks { Start: x = 1` goto Start; }", NULL,
     "expected ';' after '1', found 'goto'"},
    {"kernel k() { } `kernel j() { }", NULL, "a file has one kernel"},
    {"kernel k() { } `shared int x;", NULL, "expected 'expect' after '}', found 'shared'"},
    {"kernel k() { } expect`;", NULL, "expected a subject or a claim after 'expect', found ';'"},
    {"kernel k() { } expect `foo;", NULL, "'foo' is not a claim"},
    {"kernel k() { } expect simt: `;", NULL, "expected an option or a claim after ':', found ';'"},
    {"kernel k() { } expect simt:`then-first, race;", NULL, "'then-first' is not a claim"},
    {"shared int x, a[2]; private int p; kernel k() { } expect final x`; expect final `y == 1; "
     "expect `final a == 1, `final x == {1, 2}, `race p;",
     NULL,
     "expected '==' after 'x', found ';'\n'y' is not declared\n'a' has 2 elements, not 1\n'x' has "
     "1 element, not 2\n'p' is not a shared or global variable"},
    {"`foo bar; shared int x` kernel k() { x = 1; }", NULL,
     "expected a declaration, a function or a kernel, found 'foo'\nexpected ';' after 'x', found "
     "'kernel'"},
    {"void f( `{ } kernel k() { f(1); }", NULL, "expected 'int' after '(', found '{'"},
    {"void f(int a, int `a) { } kernel k() { f(1, 2); }", NULL,
     "'a' is already declared in this scope"},
    {"shared int x; void f() { if (x) { x = 1; `kernel k() { x = 2; } expect terminates;", NULL,
     "expected '}' after ';', found 'kernel'"},
    {"shared int x; kernel k() { x = 1; } `}", NULL, "expected 'expect' after '}', found '}'"},
    {"shared int x; kernel k() { for (x = 0; x < 3`, x++) x = 1; for (x = 0; x < 3`) { x = 2; } }",
     NULL, "expected ';' after '3', found ','\nexpected ';' after '3', found ')'"},
    {"shared int x; kernel k() { x `+ 1; x `== 2; `3; x = `y = 2; }", NULL,
     "expected an assignment after 'x', found '+'\nexpected an assignment after 'x', found "
     "'=='\nexpected a statement after ';', found '3'\n'y' is not declared"},
    {"kernel k() { switch (1) { `barrier(); } }", NULL,
     "expected 'case', 'default' or '}' after '{', found 'barrier'"},
    {"shared int `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; kernel "
     "k() { }",
     NULL, "name is longer than 64 characters"},
    {"shared int x; kernel k() { do { x = 1; } `}", NULL, "expected 'while' after '}', found '}'"},
    {"shared int x; kernel k() { while (1) { x = 1; if (x `{ x = 2; } }`", NULL,
     "expected ')' after 'x', found '{'\nexpected '}' after '}', found the end of the text"},
    {"kernel k() { private int a[`n] = {1, 2}, b; private int c = {1, `; `b = 1; }", NULL,
     "expected a number of elements after '[', found 'n'\nexpected an expression after ',', found "
     "';'\n'b' is not declared"},
    {"int f(int a, int b `{ return a; } kernel k() { }", NULL, "expected ')' after 'b', found '{'"},
    {"kernel k() blocks { `A: goto A; B: goto A; }", NULL, "the first block must be named 'Start'"},
    {"kernel k() blocks { A: goto A; `Start: goto A; }", NULL, "'Start' must be the first block"},
    {"kernel k() lockstep { Start: goto A, `B, End; A: goto `C; `End: goto Start; `A: goto A; }",
     NULL,
     "block 'B' is not defined\nblock 'C' is not defined\n'End' names the end of a thread, not a "
     "block\nblock 'A' is already defined"},
    {"void p() blocks { `End: return; A: goto `End; `A: return; }\nkernel k() blocks { Start: "
     "`return; }",
     NULL,
     "'End' names the end of a thread, not a block\na procedure ends with 'return', not 'goto "
     "End'\nblock 'A' is already defined\na kernel in block form ends with 'goto End', not "
     "'return'"},
    {"void p() blocks { A: goto `Start; } kernel k() blocks { Start: goto `A; }", NULL,
     "block 'Start' is not defined\nblock 'A' is not defined"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nStart: s = 1` goto `A; B: s = `; "
     "goto`; C: goto `if; D: v = `; `E: goto B; }",
     NULL,
     "expected ';' after '1', found 'goto'\nblock 'A' is not defined\nexpected an expression after "
     "'=', found ';'\nexpected the name of a block after 'goto', found ';'\nexpected the name of a "
     "block, found the reserved word 'if'\nexpected an expression after '=', found ';'\nexpected "
     "'goto' or 'return' after ';', found 'E'"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nStart: v = 1; `B: `if (v) s = 1; "
     "`{ v = 2; `} `goto End; }",
     NULL,
     "expected 'goto' or 'return' after ';', found 'B'\n'if' cannot stand in a block of a "
     "block-form kernel\n'{' cannot stand in a block of a block-form kernel\nexpected 'goto' or "
     "'return' after ';', found '}'\nexpected 'expect' after '}', found 'goto'"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nprivate `shared int x; private "
     "int v[`0]; Start: `int i; `private int j; goto End; }",
     NULL,
     "expected 'int' after 'private', found 'shared'\nan array has 1 to 65536 elements\n'int' "
     "cannot stand in a block of a block-form kernel\n'private' cannot stand in a block of a "
     "block-form kernel"},
    {"shared int x; kernel k() { x = 1 if (`x); x = 2` if (x) x = 3; barrier() if (`tid); }", NULL,
     "a guard stands only behind a statement of a kernel in block or lock-step form\nexpected ';' "
     "after '2', found 'if'\na guard stands only behind a statement of a kernel in block or "
     "lock-step form"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nStart: v += 1 if (`v); v++ if "
     "(`w); assume(v) if (`v); assert(1) if (`v); ; skip if (`v);\nmembar() if (`v); w = "
     "vote_all(v) if (`v); sync(1, 2) if (`v); v = 1 if (`y);\nv = 1 if `v; v = 1 if (v`; v = 1 if "
     "(`); goto End; }",
     NULL,
     "an assignment with a guard is written with '='\nan assignment with a guard is written with "
     "'='\n'assume' takes no guard\n'assert' takes no guard\n'skip' takes no guard\n'membar' takes "
     "no guard\n'vote' takes no guard\n'sync' takes no guard\n'y' is not declared\nexpected '(' "
     "after 'if', found 'v'\nexpected ')' after 'v', found ';'\nexpected an expression after '(', "
     "found ')'"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nStart: pick(`s, 1 : 1); "
     "pick(`a[0], 1 : 1); pick(v`); pick(v, 1`); pick(v, `w : 1);\npick(v, 1 : 1, `); pick(`1, 1 : "
     "1); v = `pick(v, 1 : 1); goto End; }",
     NULL,
     "'pick' needs a private variable that is no array\n'pick' needs a private variable that is no "
     "array\nexpected ',' after 'v', found ')'\nexpected ':' after '1', found ')'\n'w' is not a "
     "constant\nexpected an expression after ',', found ')'\nexpected a variable after '(', found "
     "'1'\n'pick' has no value: its variable stands in the parentheses"},
    {"private int v; kernel k() { `pick(v, 1 : 1); v = 1; }", NULL,
     "'pick' stands only in a kernel in block or lock-step form"},
    {"private int v; void `pick(int n) blocks { E: return; } kernel k() blocks { Start: goto End; "
     "}",
     NULL, "no procedure is named 'pick': it is a statement"},
    {"shared int s, a[2]; private int v, w; kernel k() blocks {\nStart: v = `all(w); v = 1 + "
     "`any(w); assume(`all(w)); `sync(v); goto End; }",
     NULL,
     "'all(..)' stands only in a kernel in lock-step form\n'any(..)' stands only in a kernel in "
     "lock-step form\n'all(..)' stands only in a kernel in lock-step form\n'sync(e)' stands only "
     "in a kernel in lock-step form; a named barrier is sync(b, n)"},
    {"shared int s, a[2]; private int v, w; kernel k() lockstep {\nStart: v = all(1 + `any(w)); v "
     "= all(`any(`all(v))); sync(`); sync(all(v)`; v = any(`,); goto End; }",
     NULL,
     "'any(..)' stands inside of another 'all(..)' or 'any(..)'\n'any(..)' stands inside of "
     "another 'all(..)' or 'any(..)'\n'all(..)' stands inside of another 'all(..)' or "
     "'any(..)'\nexpected an expression after '(', found ')'\nexpected ',' after ')', found "
     "';'\nexpected an expression after '(', found ','"},
    {"shared int v; kernel k() { v = 1 + `all(v); }", NULL,
     "a call is a statement of its own, not part of an expression: x = all(...);"},
    {"void p(int a, out int r, out int t) blocks { E: return; }\nshared int s, a[2]; private int "
     "v, w; kernel k() blocks {\nStart: `p(1, v); `p(1, v, w, 2); p(1, v, `v); p(v, `s, w); p(1, "
     "`a[0], `w + 1);\n`v = p(1, v, w); p(1, v, `y); `q(1); p(v, v, w); goto End; }",
     NULL,
     "procedure 'p' takes 3 arguments, not 2\nprocedure 'p' takes 3 arguments, not 4\n'v' takes "
     "two out-parameters of one call\nout-parameter 'r' of 'p' needs a private variable; 's' is "
     "shared\nout-parameter 'r' of 'p' needs a private variable\nout-parameter 't' of 'p' needs a "
     "private variable\nfunction 'p' returns no value\n'y' is not declared\nfunction 'q' is not "
     "defined"},
    {"int `f() blocks { E: return; } void `g(out int `r) { r = 1; }\nkernel k() blocks { Start: "
     "goto End; }",
     NULL,
     "procedure 'f' gives values back through out-parameters, not as 'int'\nfunction 'g' is not "
     "made of blocks, its kernel is\n'r': only a procedure in block form has out-parameters"},
    {"void `f() { } void `g() blocks { E: return; } void h() lockstep { E: return; }\nkernel k() "
     "lockstep { Start: goto End; }",
     NULL,
     "function 'f' is not made of blocks, its kernel is\nprocedure 'g' is in block form, its "
     "kernel in lock-step form"},
    {"void `g() lockstep { E: return; } kernel k() blocks { Start: goto End; }", NULL,
     "procedure 'g' is in lock-step form, its kernel in block form"},
    {"void `g(out int r, int `r) lockstep { E: return; } kernel k() { }", NULL,
     "procedure 'g' is made of blocks, its kernel is not\n'r' is already declared in this scope"},
    {"void g(out `r) blocks { E: return; } kernel k() blocks { Start: goto End; }", NULL,
     "expected 'int' after 'out', found 'r'"},
    {"kernel k() lockstep`", NULL, "expected '{' after 'lockstep', found the end of the text"},
    {"kernel k() lockstep { Start: goto End;`", NULL,
     "expected '}' after ';', found the end of the text"},
    {"kernel k() blocks { Start: ; `if: goto End; "
     "`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: goto End; }",
     NULL,
     "'if' cannot stand in a block of a block-form kernel\nname is longer than 64 characters"},
    FRAME("<>"),
    {"shared int a[`65537]; kernel k() { }", "shared int a[65536]; kernel k() { }",
     "an array has 1 to 65536 elements"},
    {"shared int `x[2] = {1, 2, 3}; kernel k() { }", "shared int x[3] = {1, 2, 3}; kernel k() { }",
     "too many initial values for 'x'"},
    {"shared int a`*1023 , v#`, `z; kernel k() { }", "shared int a`*1022 , v#`, z; kernel k() { }",
     "more than 1024 variables in one scope"},
    {"kernel k() { private int a`*1023 , v#`, `z; }",
     "kernel k() { private int a`*1022 , v#`, z; }", "more than 1024 variables in one scope"},
    {"`*256 void f#() { } `void `g() { } kernel k() { }",
     "`*255 void f#() { } `void g() { } kernel k() { }", "more than 256 functions"},
    {"void f() { } int `f() { return 1; } kernel k() { }",
     "void f() { } int g() { return 1; } kernel k() { }", "function 'f' is already defined"},
    {"shared int f; void `f() { } kernel k() { }", "shared int f; void g() { } kernel k() { }",
     "'f' is already declared as a variable"},
    {"void `f(int a`*16 , int p#`) { } kernel k() { }",
     "void f(int a`*15 , int p#`) { } kernel k() { }", "function 'f' has more than 16 parameters"},
    {"launch(threads=`1025, blocks=1); kernel k() { }",
     "launch(threads=1024, blocks=1); kernel k() { }", "'threads' must be 1 to 1024"},
    {"launch(threads=2, blocks=`65); kernel k() { }",
     "launch(threads=2, blocks=64); kernel k() { }", "'blocks' must be 1 to 64"},
    {"launch(threads=2, warp=`65); kernel k() { }", "launch(threads=2, warp=64); kernel k() { }",
     "'warp' must be 1 to 64"},
    {"launch(threads=2, warp=`0); kernel k() { }", "launch(threads=2, warp=1); kernel k() { }",
     "'warp' must be 1 to 64"},
    {"launch(threads=2, blocks=`0); kernel k() { }", "launch(threads=2, blocks=1); kernel k() { }",
     "'blocks' must be 1 to 64"},
    {"`launch(threads=1024, blocks=5); kernel k() { }",
     "launch(threads=1024, blocks=4); kernel k() { }",
     "1024 threads in 5 blocks are more than 4096"},
    {"`launch(threads=1, blocks=1); private int a[65536]`*63 , v#[65536]`, z; kernel k() { }",
     "launch(threads=1, blocks=1); private int a[65536]`*63 , v#[65536]`; kernel k() { }",
     "variables and frames of all threads take 4194305 words, more than 4194304"},
    {"`launch(threads=1, blocks=2); shared int a[65536]`*31 , v#[65536]`, z; kernel k() { }",
     "launch(threads=1, blocks=2); shared int a[65536]`*31 , v#[65536]`; kernel k() { }",
     "variables and frames of all threads take 4194306 words, more than 4194304"},
    {"kernel k() { switch (1) { `default: ; case 2: ; } }",
     "kernel k() { switch (1) { case 2: ; default: ; } }", "'default' must be the last case"},
    {"kernel k() { switch (1) { case 1: ; case 2: ; `case 1: ; } }",
     "kernel k() { switch (1) { case 1: ; case 2: ; case 3: ; } }", "duplicate case value 1"},
    {"kernel k() { switch (1) { case -1: ; `case 0xffffffff: ; } }",
     "kernel k() { switch (1) { case -1: ; case 0xfffffffe: ; } }", "duplicate case value -1"},
    {"kernel k() { switch (1) { `*1024 case #: ; ``case 5000: ; } }",
     "kernel k() { switch (1) { `*1023 case #: ; `case 5000: ; } }",
     "more than 1024 cases in one switch"},
    {"shared int x; kernel k() { x = ``*200 ~`x; }", "shared int x; kernel k() { x = `*199 ~`x; }",
     "expression is nested more than 200 deep"},
    {"shared int x; kernel k() { x = ``*200 ~`x; }",
     "shared int x; kernel k() { x = 1`*401  + ~x`; }", "expression is nested more than 200 deep"},
    {"shared int ``*65 x`; kernel k() { }", "shared int `*64 x`; kernel k() { }",
     "name is longer than 64 characters"},
    {"kernel ``*65 x`() { }", "kernel `*64 x`() { }", "name is longer than 64 characters"},
    {"kernel k() blocks { Start: goto `*64 x`; `*64 x`: goto ``*65 x`; }",
     "kernel k() blocks { Start: goto `*64 x`; `*64 x`: goto End; }",
     "name is longer than 64 characters"},
    {"shared int x; kernel k() { x = `*401 (``x`*401 )`; }",
     "shared int x; kernel k() { x = `*399 (`x`*399 )`; }",
     "expression is nested more than 200 deep"},
    {"kernel k() { `*200 {``;`*200 }` }", "kernel k() { `*199 {`;`*199 }` }",
     "statements are nested more than 200 deep"},
    {"kernel k() { `*199 if (1) { `if (1) `{ }`*199 }` }",
     "kernel k() { `*199 if (1) { ` `*199 }` }", "statements are nested more than 200 deep"},
    {"private int v; void p(out int r) blocks { E: return; } kernel k() blocks { Start: p(`1); "
     "goto End; }",
     "private int v; void p(out int r) blocks { E: return; } kernel k() blocks { Start: p(v); goto "
     "End; }",
     "out-parameter 'r' of 'p' needs a private variable"},
    {"void f(int `) { } kernel k() { }", "void f(int a) { } kernel k() { }",
     "expected the name of a parameter after 'int', found ')'"},
    {"kernel `() { }", "kernel k() { }",
     "expected the name of the kernel after 'kernel', found '('"},
    {"kernel k() { `default: ; }", NULL, "'default' outside of a switch"},
    {"shared int x; kernel k() { y = 1; x = `__global__(1); }", NULL,
     "'__global__' is CUDA C or OpenCL C; in the kernel language a kernel is written 'kernel k() { "
     "... }' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__kernel(1); }", NULL,
     "'__kernel' is CUDA C or OpenCL C; in the kernel language a kernel is written 'kernel k() { "
     "... }' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__device__(1); }", NULL,
     "'__device__' is CUDA C or OpenCL C; in the kernel language a function is written 'int f(int "
     "x) { ... }' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__shared__(1); }", NULL,
     "'__shared__' is CUDA C or OpenCL C; in the kernel language memory of a block is written "
     "'shared int s[32];', in front of the kernel (docs/kernel-language.md). Or compile it and "
     "give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__local(1); }", NULL,
     "'__local' is CUDA C or OpenCL C; in the kernel language memory of a block is written 'shared "
     "int s[32];', in front of the kernel (docs/kernel-language.md). Or compile it and give the "
     "PTX"},
    {"shared int x; kernel k() { y = 1; x = `__constant__(1); }", NULL,
     "'__constant__' is CUDA C or OpenCL C; in the kernel language memory of the grid is written "
     "'global int c[32] = {1, 2};' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `threadIdx(1); }", NULL,
     "'threadIdx' is CUDA C or OpenCL C; in the kernel language a thread's number in its block is "
     "'tid' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `get_local_id(1); }", NULL,
     "'get_local_id' is CUDA C or OpenCL C; in the kernel language a thread's number in its block "
     "is 'tid' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `get_global_id(1); }", NULL,
     "'get_global_id' is CUDA C or OpenCL C; in the kernel language a thread's number in the grid "
     "is 'bid * threads + tid' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `blockIdx(1); }", NULL,
     "'blockIdx' is CUDA C or OpenCL C; in the kernel language the block's number is 'bid' "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `blockDim(1); }", NULL,
     "'blockDim' is CUDA C or OpenCL C; in the kernel language the number of threads of a block is "
     "'threads' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `gridDim(1); }", NULL,
     "'gridDim' is CUDA C or OpenCL C; in the kernel language the number of blocks is 'blocks' "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__syncthreads(1); }", NULL,
     "'__syncthreads' is CUDA C or OpenCL C; in the kernel language a barrier of the block is "
     "'barrier();' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__threadfence(1); }", NULL,
     "'__threadfence' is CUDA C or OpenCL C; in the kernel language a fence is 'membar();' "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `atomicAdd(1); }", NULL,
     "'atomicAdd' is CUDA C or OpenCL C; in the kernel language atomics are 'x = atomic_add(a[i], "
     "1);' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `atomicCAS(1); }", NULL,
     "'atomicCAS' is CUDA C or OpenCL C; in the kernel language atomics are 'x = atomic_cas(a[i], "
     "0, 1);' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__threadfence_block(1); }", NULL,
     "'__threadfence_block' is CUDA C or OpenCL C; in the kernel language a fence is 'membar();' "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__syncwarp(1); }", NULL,
     "'__syncwarp' is CUDA C or OpenCL C; in the kernel language a warp runs in lock-step under "
     "`simt`, and single threads under `threads`: there is no such barrier "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__shfl_sync(1); }", NULL,
     "'__shfl_sync' is CUDA C or OpenCL C; in the kernel language there are no shuffles: write to "
     "shared memory and read it behind a barrier (docs/kernel-language.md). Or compile it and give "
     "the PTX"},
    {"shared int x; kernel k() { y = 1; x = `atomicExch(1); }", NULL,
     "'atomicExch' is CUDA C or OpenCL C; in the kernel language atomics are 'x = "
     "atomic_exch(a[i], 1);' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `atomicMax(1); }", NULL,
     "'atomicMax' is CUDA C or OpenCL C; in the kernel language atomics are 'x = atomic_max(a[i], "
     "1);' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `atomicMin(1); }", NULL,
     "'atomicMin' is CUDA C or OpenCL C; in the kernel language atomics are 'x = atomic_min(a[i], "
     "1);' (docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `warpSize(1); }", NULL,
     "'warpSize' is CUDA C or OpenCL C; in the kernel language the lanes of a warp are 'warp_size' "
     "(docs/kernel-language.md). Or compile it and give the PTX"},
    {"shared int x; kernel k() { y = 1; x = `__ballot_sync(1); }", NULL,
     "'__ballot_sync' is CUDA C or OpenCL C; in the kernel language votes are 'x = "
     "vote_ballot(e);' (docs/kernel-language.md). Or compile it and give the PTX"},
    FRAME("kernel k() { } expect progress<>;"),
    {" within 8`", ": ends *", "expected ':' after '8', found ';'"},
    {": `", ": hangs *", "expected a verdict after ':', found ';'"},
    {": `hang *", ": hangs *", "'hang' is no verdict; 'hangs' is meant?"},
    {": ends `", ": ends threads *", "expected a unit or '*' after 'ends', found ';'"},
    {": ends threads `", ": ends threads fair",
     "expected an execution model or '*' after 'threads', found ';'"},
    {": ends threads `fairr", ": ends threads fair",
     "'fairr' is no execution model; 'fair' is meant?"},
    {": ends threads `zzzzzzzzzzz", ": ends threads unfair",
     "'zzzzzzzzzzz' is no execution model; there are: those of `simtfuzz progress`"},
    {": ends `warpss fair", ": ends warps fair", "'warpss' is no unit; 'warps' is meant?"},
    {": ends *, hangs `*", ": ends *, hangs warps *",
     "these rows have a verdict already, in line 1"},
    {" within `: ends *", " within 8: ends *",
     "expected a number of states after 'within', found ':'"},
    {" within `0: ends *", " within 1: ends *", "a search keeps 1 to 16777216 states"},
    {" within `16777217: ends *", " within 16777216: ends *",
     "a search keeps 1 to 16777216 states"},
    {" within 8: ends *; expect progress within `9: hangs warps *",
     " within 8: ends *; expect progress within 8: hangs warps *", "another line says 8 states"},
    FRAME("<>"),
    {"kernel k() blocks { Start: goto End; `*1023 B#: goto End; ``C: goto End; }",
     "kernel k() blocks { Start: goto End; `*1022 B#: goto End; `C: goto End; }",
     "more than 1024 blocks"},
    {"kernel k() { } expect `*100 a:``b:race_free;", "kernel k() { } expect `*99 a:`b:race_free;",
     "subject is longer than 200 characters"},
};

static bool read(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    return parse_kernel(arena, text, length, diag) != NULL;
}

const struct refusals refusals_language = {
    .name = "language", .rows = rows, .count = sizeof rows / sizeof *rows, .read = read};

/* ---- as large as a text may be: each kind of what counts is there ---- */

static const struct refusal largest[] = {
    {"shared int x; private int v; kernel k() blocks { Start: ;;;;;;; x = v; v++; v = v + 1; "
     "atomic_add(x, 1); goto `*65514 B, `B; B: goto End`; }",
     "shared int x; private int v; kernel k() blocks { Start: ;;;;;;; x = v; v++; v = v + 1; "
     "atomic_add(x, 1); goto `*65513 B, `B; B: goto End; }",
     "more than 65536 statements, expressions and declarations"},
    {"shared int x; void f(int a) { x = a; } kernel k() { private int v; if (v) x = 1; else x++; "
     "for (v = 0; v < 3; v++) x = -v; f(1); switch (v) { case 1: break; default: x = 2; } "
     "`*65502 ;` } expect race_free, terminates; expect progress: ends *`;",
     "shared int x; void f(int a) { x = a; } kernel k() { private int v; if (v) x = 1; else x++; "
     "for (v = 0; v < 3; v++) x = -v; f(1); switch (v) { case 1: break; default: x = 2; } "
     "`*65501 ;` } expect race_free, terminates; expect progress: ends *;",
     "more than 65536 statements, expressions and declarations"},
};

const struct refusals refusals_largest = {.name = "language",
                                          .rows = largest,
                                          .count = sizeof largest / sizeof *largest,
                                          .rare = 4,
                                          .read = read};

/* ---- what a kernel requires of its launch ---- */

#define NO_LAUNCH "this launch is none of the kernel's"

static const struct refusal requirements[] = {
    FRAME("launch(threads=6, warp=4, blocks=3); shared int s; private int p; <>"),
    {"kernel k() { `requires threads == 5; s = 1; }",
     "kernel k() { requires threads == 6; /* met */ s = 1; }", NO_LAUNCH},
    {"kernel k() { `requires warp_size == 3; }",
     "kernel k() { requires warp_size == 4; /* met */ }", NO_LAUNCH},
    {"kernel k() { `requires blocks == 2; }", "kernel k() { requires blocks == 3; /* met */ }",
     NO_LAUNCH},
    {"kernel k() { requires threads == 6; /* met */ `requires blocks > threads; }",
     "kernel k() { requires threads == 6; /* met */ requires blocks < threads; /* met */ while (p "
     "< 3) { invariant p < 4; p++; } }",
     NO_LAUNCH},
    {"kernel k() { requires s == 0; `requires 0; }",
     "kernel k() { requires s == 0; requires 1; /* met */ }", NO_LAUNCH},
    {"kernel k() { requires tid == 9; `requires 0 * blocks; }",
     "kernel k() { requires tid == 9; requires lane == 9; requires warp == 9; requires bid == 9; }",
     NO_LAUNCH},
    {"kernel k() { `requires threads && !blocks; }",
     "kernel k() { requires threads || !blocks; /* met */ }", NO_LAUNCH},
    {"kernel k() { `requires threads ? blocks - 3 : 1; }",
     "kernel k() { requires !threads ? blocks - 3 : 1; /* met */ }", NO_LAUNCH},
    {"kernel k() { `requires -threads + 6; }",
     "kernel k() { requires ~threads + 6; /* met */ for (p = 0; p < 2; p++) { invariant 0 < 1; /* "
     "a guess */ p++; } }",
     NO_LAUNCH},
    {"kernel k() { `requires blocks / 4; requires 0; }",
     "kernel k() { requires blocks % 4; /* met */ assume(0); s = 1; }", NO_LAUNCH},
};

static uint32_t occurrences(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

struct annotated {
    const struct ast_kernel *kernel;
    uint32_t count, met;
};

static void note_annotation(void *context, const struct ast_stm *stm)
{
    struct annotated *a = context;
    a->count++;
    a->met += annotate_is_met(a->kernel, stm);
}

/* Of what is required, that is known to be met which is followed by a remark that says so. */
static bool read_requirements(struct arena *arena, const char *text, size_t length,
                              struct diag *diag)
{
    struct annotated a = {.kernel = parse_kernel(arena, text, length, diag)};
    if (!a.kernel)
        return false;
    const struct ast_stm *broken = annotate_broken(a.kernel);
    annotate_visit(a.kernel, note_annotation, &a);
    if (broken)
        diag_error(diag, broken->at, NO_LAUNCH);
    if (a.count != occurrences(text, "requires ") + occurrences(text, "invariant ") ||
        a.met != occurrences(text, "/* met */"))
        diag_error(diag, (struct location){1, 1}, "%u annotations, of which %u are met",
                   (unsigned)a.count, (unsigned)a.met);
    return diag->count == 0;
}

const struct refusals refusals_requirements = {.name = "requirements",
                                               .rows = requirements,
                                               .count = sizeof requirements / sizeof *requirements,
                                               .read = read_requirements};

/* ---- what a kernel is assumed to be given ---- */

static const struct refusal assumptions[] = {
    {"x == 1 `y", "x == 1 || y", "expected an operator or the end after '1', found 'y'"},
    {"x == `", "x == y", "expected an expression after '==', found the end of the text"},
    {"x == 1 && `z", "x == 1 && y", "'z' is not declared"},
    {"`", "1", "expected an expression, found the end of the text"},
};

/* It stands before the first statement then, as what is not to be judged. */
static bool read_assumption(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    (void)length;
    struct ast_kernel *kernel =
        parse_printed(arena, "shared input int x, y; kernel k() { x = 1; }");
    if (!language_assume(arena, kernel, text, diag))
        return false;
    const struct ast_stm *first = kernel->main->body;
    if (first->kind != STM_ASSUME || !first->annotation || !first->next ||
        first->next->kind != STM_ASSIGN)
        diag_error(diag, (struct location){1, 1}, "the assumption is not the first statement");
    return diag->count == 0;
}

const struct refusals refusals_assumptions = {.name = "assumptions",
                                              .rows = assumptions,
                                              .count = sizeof assumptions / sizeof *assumptions,
                                              .read = read_assumption};
