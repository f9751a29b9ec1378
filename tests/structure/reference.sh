#!/usr/bin/env bash
# engine/reference, _policy, _ptx, _caches, _device and _axiom are a second account only as long as they compute nothing by the first one: it includes the trees, the
# names of the rules, arenas and the mixing function of random streams, and calls nothing there that evaluates.
#
#     reference.sh SOURCE
set -u
cd "${1:?source directory}" || exit 2
allowed='engine/base/arena.h engine/base/pcg.h engine/language/ast.h engine/machine/rules.h engine/ptx/ptx.h engine/crs/crs_switches.def engine/kernel/stackless.def engine/host/host.h engine/litmus/litmus.h'
computes='ast_eval_|ast_assigned_value|eval_binary|eval_unary|eval_atomic|litmus_atom|litmus_run|choice_value|choice_index|pcg_(next|below|seed|derive)'

failures=$(
    [ -e engine/reference/reference.h ] && [ -e engine/reference_ptx/ref_ptx.h ] || echo "there is no engine/reference"
    grep -Ho '#include "[^"]*"' engine/reference*/*.[ch] | sed 's/:#include "/ /; s/"$//' | while read -r file header; do
        case " $allowed $(echo engine/reference*/*.h) " in
        *" $header "*) ;;
        *) echo "$file: includes $header, which is none of: $allowed" ;;
        esac
    done
    grep -nwE "($computes)[a-z_]*" engine/reference*/*.[ch] | grep -v 'ref_choice_' |
        sed 's/$/   <- the engine computes this/'
    grep -lnE '"engine/reference(_[a-z]+)?/' engine/*/*.[ch] | grep -vE '^engine/reference(_[a-z]+)?/' |
        sed 's/$/: the engine does not know its reference/'
)
if [ -n "$failures" ]; then
    echo "$failures"
    exit 1
fi
echo "$(cat engine/reference*/*.[ch] | wc -l) lines that share the trees with the engine, and nothing else"
