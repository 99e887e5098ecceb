#!/bin/sh
# The pieces of code in the manual (the heads of the headers) and in README.md: each compiles without a
# warning as C99 and as C++11, runs, and leaves no error in its context. ./build.sh test manual
#   manual.sh OBJECT   the implementation, compiled
# A piece stands between ```c and ```. One with main is a program; of another, what begins in the first
# column with static, enum or typedef is declarations, the rest the body of a function that has `tc`. What
# needs tcompile_cuda.h is compiled and not run. README's commands are run as they stand, but by the compiler that
# is done soonest.
set -u
cd "$(dirname "$0")/.." || exit 2
object=$1
out=build/manual
CC=${CC:-cc} CXX=${CXX:-}
WARN='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Werror'
passed=0 failed=0

rm -rf $out
mkdir -p $out/cache $out/readme
chmod 700 $out/cache
TC_CACHE_DIR=$PWD/$out/cache
export TC_CACHE_DIR

# pieces FILE PREFIX LEAD: $out/PREFIX1.c and so on, without the LEAD characters of each line.
pieces() {
    awk -v out="$out/$2" -v file="$1" -v lead="$3" '
        function open_piece() {
            n++; text = ""; outside = ""; inside = ""; deep = 0; whole = 0; begun = NR + 1; was = -1
        }
        function close_piece(  name) {
            name = out n ".c"
            printf "#include <stdio.h>\n#include <string.h>\n" > name
            if (whole) {
                printf "#line %d \"%s\"\n%s", begun, file, text > name
            } else {
                cuda = file ~ /cuda/ ? "_cuda" : ""
                printf "#include \"tcompile%s.h\"\n%s", cuda, outside > name
                printf "static void piece(tc_ctx *tc) {\n%s}\n", inside > name
                printf "int main(void) {\n    tc_ctx *tc = tc_open(NULL);\n" > name
                printf "    if (!tc) return 2;\n    piece(tc);\n    int bad = tc_error(tc) != TC_OK;\n" > name
                printf "    if (bad) puts(tc_error_text(tc));\n    tc_close(tc);\n    return bad;\n}\n" > name
            }
            close(name)
        }
        {
            line = substr($0, lead + 1)
            if (lead && substr($0, 1, 2) != "//") line = ""
        }
        line == "```c" { open_piece(); on = 1; next }
        line == "```" && on { close_piece(); on = 0; next }
        on {
            text = text line "\n"
            if (line ~ /int main\(|TCOMPILE_IMPLEMENTATION/) whole = 1
            if (line ~ /^(static|enum|typedef)/) deep = 1
            where = (deep != was ? sprintf("#line %d \"%s\"\n", NR, file) : "") line "\n"
            was = deep
            if (deep) outside = outside where
            else inside = inside where
            if (deep && (line ~ /^}/ || line ~ /;$/ && line ~ /^(static|enum|typedef)/)) deep = 0
        }' "$1"
}

# check NAME COMMAND...
check() {
    name=$1
    shift
    if "$@" >$out/log 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL  $name"
    head -n 12 $out/log | sed 's/^/      /'
    return 1
}

run_piece() { # SOURCE
    program=${1%.c}
    # shellcheck disable=SC2086
    case $program in
    *cuda*) check "$1" "$CC" -std=c99 $WARN -I. -fsyntax-only "$1" ;;
    *)
        check "$1" "$CC" -std=c99 $WARN -I. "$1" "$object" -o "$program" -lpthread -ldl &&
            check "$program" sh -c 'cd "$1" && exec "./${2##*/}"' sh "$out" "$program" # files stay there
        ;;
    esac
    # shellcheck disable=SC2086
    [ -z "$CXX" ] || check "$1 as C++" "$CXX" -std=c++11 $WARN -I. -fsyntax-only -x c++ "$1"
}

pieces tcompile.h manual 7
pieces tcompile_cuda.h cuda 7
pieces README.md readme/piece 0

found=0
for source in $out/manual*.c $out/cuda*.c; do
    [ -f "$source" ] || continue
    found=$((found + 1))
    run_piece "$source"
done
check "the manual has its pieces" [ $found -ge 12 ]

# README's: the implementation and the program, by its own commands.
cp tcompile.h $out/readme
sed 1,2d $out/readme/piece1.c >$out/readme/tcompile.c
sed 1,2d $out/readme/piece2.c >$out/readme/app.c
sed -n 's/^    \(cc .*\)/\1/p' README.md | sed "s|^cc -O2|${SOON_CC:-$CC} -O0|" >$out/readme/commands
check "README has its commands" grep -q tcompile.o $out/readme/commands
check "README's commands" sh -c "cd $out/readme && sh -e ./commands" &&
    check "README's program" $out/readme/app

echo "$passed passed, $failed failed"
[ $failed = 0 ]
