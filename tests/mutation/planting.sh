# planting.sh - sourced by plant.sh and grade.sh: the records of planted faults, and programs with one.
#
# A program with a fault takes seconds: what the changed file is part of is compiled again, out of the
# tree; everything else are the objects and libraries of an ordinary build folder. So faults are planted
# side by side, and the build folder stays as it is.
#
# Variables of the caller: sources (root of the tree), build (folder in which simtfuzz was built), wanted (names of
# faults and classes).
# Tests that look at a part of their cases by day are asked about all.
export LC_ALL=C SIMTFUZZ_WHOLE=1

# Calls "$1" for each record of faults/*.txt, or of what the caller's records names, in the order of the files, with the
# record in the variables class (the file's name), name, file, old, new, oracle, subjects, size, seed, sample, place, why.
each_fault() {
    local record line value
    # shellcheck disable=SC2086 # a pattern
    for record in ${records:-"$sources"/tests/mutation/faults/*.txt}; do
        class=${record##*/} class=${class%.txt}
        while IFS= read -r line || [ -n "$line" ]; do
            value=${line#*: }
            case $line in
            'name: '*) name=$value sample='' size=0 seed=1 subjects=all ;;
            'file: '*) file=$value ;;
            'old: '*) old=${value//'\n'/$'\n'} ;;
            'new: '*) new=${value//'\n'/$'\n'} ;;
            'oracle: '*) oracle=$value ;;
            'size: '*) size=$value ;;
            'seed: '*) seed=$value ;;
            'subjects: '*) subjects=$value ;;
            'sample: '*) sample=$value ;;
            'place: '*) place=$value ;;
            'why: '*) why=$value && "$1" ;; # the last line of a record
            esac
        done <"$record"
    done
}

# Whether the caller's array wanted names the fault, its class, or all.
named() {
    local w
    for w in "${wanted[@]}"; do [ "$w" = "$name" ] || [ "$w" = "$class" ] || [ "$w" = all ] && return; done
    return 1
}

# How often $old stands in the file.
count_old() {
    old=$old awk 'BEGIN { RS = "\001"; old = ENVIRON["old"] }
        { for (text = $0; (at = index(text, old)) > 0; text = substr(text, at + 1)) n++ }
        END { print n + 0 }' "$sources/$file"
}

# The file with $new in the place of $old, under the folder $1.
plant() {
    mkdir -p "$1/$(dirname "$file")"
    old=$old new=$new awk 'BEGIN { RS = "\001"; old = ENVIRON["old"] }
        { at = index($0, old)
          printf "%s%s%s", substr($0, 1, at - 1), ENVIRON["new"], substr($0, at + length(old)) }' \
        "$sources/$file" >"$1/$file"
}

# The first and the last line in the file that $old stands in.
lines_of_old() {
    old=$old awk 'BEGIN { RS = "\001"; old = ENVIRON["old"] }
        { at = index($0, old); before = substr($0, 1, at - 1)
          first = gsub(/\n/, "", before) + 1
          print first, first + gsub(/\n/, "", old) }' "$sources/$file"
}

# "object<TAB>folder<TAB>command" of everything that the programs are made of.
list_objects() {
    awk -F'"' '$2 == "directory" { folder = $4 }
        $2 == "command" { command = $0; sub(/^[^:]*: "/, "", command); sub(/",?$/, "", command)
            object = command; sub(/.* -o /, "", object); sub(/ .*/, "", object)
            print folder "/" object "\t" folder "\t" command }' "$build/compile_commands.json" |
        grep -E "^$build/(engine|oracle|db|fuzz)/"
}

# The objects that $file is part of, by the dependencies that the compiler wrote; not those that an older build left.
objects_of_file() {
    grep -rlF --include='*.o.d' "/$file" "$build/engine" "$build/oracle" "$build/db" "$build/fuzz" |
        sed 's/\.d$//' | sort | join -t $'\t' - <(cut -f 1 "$objects_list" | sort)
}

# Compiles these objects with the file under $1 in the place of the original; they are $1/N.o, from 0.
# SIMTFUZZ_SANITIZED: as for sanitizers, nothing is inlined by force, which takes the compiler most of its time.
compile_planted() {
    local overlay=$1 object folder command source n=0
    while read -r object; do
        IFS=$'\t' read -r _ folder command < <(grep -F "$object"$'\t' "$objects_list")
        source=${command##* -c }
        [ -f "$overlay/${source#"$sources"/}" ] && source=$overlay/${source#"$sources"/}
        command=${command% -o *}
        (cd "$folder" && eval "${command/ -I/ -I$overlay -I} -O1 -g0 -w -DSIMTFUZZ_SANITIZED -o $overlay/$n.o -c $source") || return 1
        n=$((n + 1))
    done < <(objects_of_file)
    [ "$n" -gt 0 ]
}

# Links the program $2 (simtfuzz, or a unit test) with the objects of $1 before the libraries. What they
# define is taken from them.
link_planted() {
    local overlay=$1 program=$2 folder=$build/tests command
    case $program in
    simtfuzz) folder=$build/fuzz ;;
    run_cases) folder=$build/tests/cases ;;
    esac
    command=$(sed "s| -o [^ ]*| -s $overlay/*.o -o $overlay/$program|" "$folder/CMakeFiles/$program.dir/link.txt")
    (cd "$folder" && eval "$command")
}

# Whether the test that the record names fails with the objects and the program in the folder $1: "test
# test_reduce" is one of tests/unit, "test cli replay" of tests/cli, "test cases fuzz/reduce" a room of tests/cases.
test_speaks() {
    local folder=$1 wanted=${oracle#test }
    case $wanted in
    cli\ *)
        (cd "$folder" && ulimit -t 240 -c 0 &&
            bash "$sources/tests/cli/test_${wanted#cli }.sh" "$folder/simtfuzz" "$build/tests/cli/cli_helper" "$sources") ;;
    cases\ *)
        link_planted "$folder" run_cases || return 1
        (cd "$folder" && ulimit -t 240 -c 0 && exec "$folder/run_cases" "$sources/tests/cases/${wanted#cases }"/*.case) ;;
    *)
        link_planted "$folder" "$wanted" || return 1
        (cd "$folder" && ulimit -t 240 -c 0 && exec "$folder/$wanted") ;;
    esac >"$folder/test.log" 2>&1
    [ $? -ne 0 ]
}
