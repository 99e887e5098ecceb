#!/bin/sh
# Every way to include the headers, with every warning an error. ./build.sh test compile
#   run.sh             every compiler, JOBS of them (2) at a time
#   run.sh COMPILER    one of gcc clang g++ clang++, or "install"
#   run.sh bits        those of other options, compilers and architectures; what is missing is skipped
set -u
cd "$(dirname "$0")/../.." || exit 2

BASE='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef
    -Wvla -Wwrite-strings -Wdouble-promotion -Werror'
ONLY_C='-Wstrict-prototypes -Wmissing-prototypes'
ONLY_CXX='-fno-exceptions -fno-rtti'
OPTIONS='TC_NO_THREADS TC_NO_DISK_CACHE TC_NO_JIT TC_NO_SITES TC_NO_REPORT'
EVERY=$(printf ' -D%s' $OPTIONS)
LIBS='-lpthread -ldl'
here=tests/compile
all=build/compile
out=$all/${1:-}
log=$out/log
passed=0 failed=0 skipped=0

rm -rf $out
mkdir -p $out/cache
chmod 700 $out/cache
TC_CACHE_DIR=${TC_CACHE_DIR:-$PWD/$out/cache}
export TC_CACHE_DIR

have() { command -v "$1" >/dev/null 2>&1; }

skip() {
    echo "skip  $*"
    skipped=$((skipped + 1))
}

# try NAME COMMAND...: a test is a command that succeeds without a word.
try() {
    name=$1
    shift
    if "$@" >$log 2>&1 && [ ! -s $log ]; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL  $name"
    head -n 12 $log | sed 's/^/      /'
    return 1
}

# flags COMPILER STANDARD: the words before the source file.
flags() {
    case $2 in
    *++*) echo "-std=$2 $BASE $ONLY_CXX -I. -x c++" ;;
    *)
        words="-std=$2 $BASE $ONLY_C -I. -x c"
        case $1 in *clang*) ;; *) words="-Wc++-compat $words" ;; esac
        echo "$words"
        ;;
    esac
}

# check COMPILER STANDARD SOURCE DEFINES...: front end only, all warnings it knows; of the packed header's
# indentation, which takes gcc five times as long as all others, `object` asks once.
check() {
    compiler=$1 standard=$2 source=$3
    shift 3
    # shellcheck disable=SC2046
    try "$compiler $standard $source $*" "$compiler" $(flags "$compiler" "$standard") \
        -Wno-misleading-indentation "$@" -fsyntax-only "$here/$source"
}

# object COMPILER STANDARD SOURCE OUTPUT ARGUMENTS...
object() {
    compiler=$1 standard=$2 source=$3 output=$4
    shift 4
    # shellcheck disable=SC2046
    try "$compiler $standard $source -c $*" \
        "$compiler" $(flags "$compiler" "$standard") "$@" -c "$here/$source" \
        -o "$out/$output"
}

# run NAME COMPILER OBJECTS...: links without libm and runs.
run() {
    name=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2086
    try "link $name" "$compiler" "$@" -o $out/program $LIBS && try "run $name" $out/program
}

# Guards and order are the preprocessor's, and options take out what is in all others: one C and one C++
# compiler see each alone. Both implementations in one file are asked of each compiler, in each standard.
every_way() {
    for standard in $2; do
        check "$1" "$standard" declarations.c
        check "$1" "$standard" cuda.c
    done
    check "$1" "${2%% *}" cuda.c -DTCOMPILE_STATIC -Wno-unused-function
    check "$1" "${2%% *}" cuda_only.c -DTC_NO_THREADS
    case $1 in gcc | clang++) ;; *) return ;; esac
    check "$1" "${2%% *}" twice.c
    check "$1" "${2%% *}" twice_reversed.c
    check "$1" "${2%% *}" libc_first.c -D_GNU_SOURCE
    for option in $OPTIONS; do check "$1" "${2%% *}" implementation.c "-D$option"; done
}

# What links and runs: both implementations by each, and by clang, which is the quickest, the one without the other and
# with all options. The optimiser knows more warnings than the front end: gcc's is asked at -O2 of both
# implementations, and for bits (`reference`) of what all options leave; g++ has the same one.
every_program() {
    case $1 in gcc) most=-O2 ;; *) most=-O0 ;; esac
    object "$1" "$2" declarations.c user.o -O2
    object "$1" "$2" no_sites.c quiet.o -O2
    object "$1" "$2" cuda_only.c cuda.o $most &&
        run "$1 $2 cuda_only.c declarations.c" "$1" $out/user.o $out/cuda.o &&
        run "$1 $2 cuda_only.c no_sites.c" "$1" $out/quiet.o $out/cuda.o
    try "$1 $2 no_sites.c names no file" names_no_file "$1"
    case $1 in
    clang)
        object "$1" "$2" only.c only.o -O0 &&
            run "$1 $2 only.c declarations.c" "$1" $out/only.o $out/user.o &&
            run "$1 $2 only.c no_sites.c" "$1" $out/only.o $out/quiet.o
        # shellcheck disable=SC2086
        object "$1" "$2" implementation.c all.o -O0 $EVERY && run "$1 $2 $EVERY" "$1" $out/all.o
        ;;
    gcc)
        check "$1" "$2" implementation.c
        have g++ || return
        object g++ c++11 declarations.c user++.o -O0 &&
            run "C++ on C" g++ $out/cuda.o $out/user++.o
        ;;
    esac
}

# With TC_NO_SITES no macro leaves __FILE__ in the user's code.
names_no_file() { ! "$1" -w -E -P -I. $here/no_sites.c | grep 'no_sites[.]c'; }

# -std=c99 with libc first must say what to do.
needs_gnu_source() {
    if "$1" -std=c99 -I. -fsyntax-only $here/libc_first.c >$out/refused 2>&1; then
        echo "compiled, although memfd_create and others are not declared"
    fi
    grep -q 'error.*_GNU_SOURCE\|error.*libc header' $out/refused || cat $out/refused
}

# The device's implementation without the other must say where it belongs.
needs_implementation() {
    if "$1" -std=c99 -I. -fsyntax-only $here/cuda_alone.c >$out/refused 2>&1; then
        echo "compiled, although nothing of tcompile.h's inside is there"
    fi
    grep -q 'error.*TCOMPILE_IMPLEMENTATION\|error.*inside of tcompile.h' $out/refused ||
        head -n 3 $out/refused
}

# ---- bits -----------------------------------------------------------------
# Interpreted, alone, without what reports: the arithmetic and its way to it. Where gcc compiles, pragmas of the
# header say how the arithmetic is optimised (gen/exec/interp_isa.c), at -O0, too.
DIGEST="-I. -Igen$EVERY"

# The lines that all others have to have, by a build that has every option and every warning of the optimiser.
reference() {
    # shellcheck disable=SC2046,SC2086
    try "digest.c" gcc $DIGEST -O1 $(flags gcc c99) -Wno-misleading-indentation \
        $here/digest.c -o $out/digest &&
        $out/digest >$out/expected && [ "$(wc -l <$out/expected)" -gt 500 ]
}

# digest NAME RUNNER COMPILER...: its lines are in $out/got; what it says in $out/said.
digest() {
    name=$1 runner=$2
    shift 2
    # shellcheck disable=SC2086
    "$@" -w $DIGEST $here/digest.c -o $out/other >$out/said 2>&1 &&
        $runner $out/other >$out/got 2>$out/said
}

# Nothing is said and all lines are equal, or the first that differ are shown.
as_expected() { cmp -s $out/got $out/expected || diff $out/expected $out/got | head -n 6; }

same() { # NAME RUNNER COMPILER...
    digest "$@" || { try "$1" cat $out/said; return; }
    try "$1: the same bits" as_expected
}

refused() { # WORDS NAME RUNNER COMPILER...
    words=$1
    shift
    digest "$@" && try "$1: is refused" echo "it was not"
    try "$1: the error has \"$words\"" sh -c "grep -q -e '$words' $out/said || cat $out/said"
}

native() { # COMPILER FLAGS...
    have "$1" || { skip "$1 is not installed"; return; }
    same "$1" '' "$@"
}

# cross NAME QEMU COMPILER LEVEL
cross() {
    have "$2" || { skip "$1: no $2"; return; }
    have "$3" || { skip "$1: no $3"; return; }
    same "$1" "$2" "$3" -std=c99 "$4" -static
}

# keeps_floats COMPILER FLAGS...: nothing of the options is left in arithmetic by the instructions of this machine; or
# what is left stands in $out/said.
keeps_floats() {
    wide=''
    ! grep -qw fma /proc/cpuinfo 2>/dev/null || wide='-mavx2 -mfma'
    # shellcheck disable=SC2086
    "$@" $wide -w -Igen $here/floats.c -o $out/other >$out/said 2>&1 && $out/other >$out/said
}

# Each takes a minute or more: one build has all the options of floats, at the level that uses them most, and its bits
# stand for each of them and for none. What a version of a compiler does not set back is asked of the little
# program that has the header's own question, and is left out there.
other_options() {
    same "gcc -Ofast" '' gcc -std=c99 -Ofast -funsafe-math-optimizations
    refused mfpmath "gcc -mfpmath=387" '' \
        gcc -std=c99 -fsyntax-only -Wfatal-errors -mfpmath=387
    refused single-precision "gcc -fsingle-precision-constant" '' \
        gcc -std=c99 -O0 -fsingle-precision-constant
    have clang || { skip "clang is not installed"; return; }
    refused fno-fast-math "clang -ffast-math" '' clang -std=c99 -fsyntax-only -ffast-math
    options=''
    for option in -funsafe-math-optimizations -ffp-contract=fast; do
        if keeps_floats clang -std=c99 -O2 $option; then
            options="$options $option"
        else
            try "clang $option: it is named" sh -c "grep -q '^-f' $out/said || cat $out/said"
        fi
    done
    # The arithmetic is inlined by force; what else clang would inline has no floats and takes half of the time.
    # shellcheck disable=SC2086
    same "clang$options" '' clang -std=c99 -O2 -fno-inline-functions $options
}

other_machines() {
    for isa in avx2 baseline; do
        name="TC_ISA=$isa"
        TC_ISA=$isa $out/digest >$out/got
        try "$name: the same bits" as_expected
    done
    native g++ -std=c++11 -O0 -x c++
    native musl-gcc -std=c99 -O0 -static
    native tcc
    cross "AArch64" qemu-aarch64 aarch64-linux-gnu-gcc -O1
    cross "RISC-V" qemu-riscv64 riscv64-linux-gnu-gcc -O0
}

if [ ! -f tcompile.h ]; then
    echo "no tcompile.h: ./build.sh gen"
    echo "0 passed, 1 failed"
    exit 1
fi

CLAIMS='bits gcc g++ clang++ clang install'

# Workers claim compilers by making a folder, which only one of them can.
worker() {
    for claim in $CLAIMS; do
        mkdir "$all/$claim.claim" 2>/dev/null || continue
        sh $here/run.sh $claim >"$all/$claim.claim/text" 2>&1
    done
}

every_compiler() {
    number=0
    while [ $number -lt "${JOBS:-2}" ]; do
        worker &
        number=$((number + 1))
    done
    wait
    for claim in $CLAIMS; do
        text=$all/$claim.claim/text
        sed '$d' "$text"
        # shellcheck disable=SC2046
        set -- $(tail -n 1 "$text" | grep -E '^[0-9]+ passed, [0-9]+ failed' | tr -d , ||
            echo 0 passed 1 failed)
        passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
    done
}

case ${1:-} in
'') every_compiler ;;
bits) reference && { other_options; other_machines; } ;;
install)
    # As a user of an installed header does it, with pkg-config where there is one.
    compiler=gcc # clang, which does it sooner
    have clang && compiler=clang
    if have pkg-config && have $compiler; then
        PKG_CONFIG_PATH=$PWD/$out/prefix/lib/pkgconfig
        export PKG_CONFIG_PATH
        printf '#define TCOMPILE_IMPLEMENTATION\n#include <tcompile.h>\n%s\n' \
            'int main(void) { return tc_version()[0] != 48; }' >$out/installed.c
        ./build.sh install $out/prefix >$log 2>&1
        # shellcheck disable=SC2046
        try "compile against the installed header" $compiler $out/installed.c -o $out/installed \
            $(pkg-config --cflags --libs tcompile) && try "run it" $out/installed
    else
        skip "install: no pkg-config or no compiler"
    fi
    ;;
*++)
    if have "$1"; then
        every_way "$1" 'c++11 c++17'
        every_program "$1" c++11
    else
        skip "$1 is not installed"
    fi
    ;;
*)
    if have "$1"; then
        every_way "$1" 'c99 c11'
        every_program "$1" c99
        try "$1: libc first without _GNU_SOURCE" needs_gnu_source "$1"
        try "$1: tcompile_cuda.h alone" needs_implementation "$1"
    else
        skip "$1 is not installed"
    fi
    ;;
esac

printf '%d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
