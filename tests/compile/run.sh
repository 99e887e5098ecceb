#!/bin/sh
# Every way to include the headers, with every warning an error. ./build.sh test compile
#   run.sh             every compiler, JOBS of them (2) at a time
#   run.sh COMPILER    one of gcc clang g++ clang++, "mixed" for C++ on C, or "install"
#   run.sh options     what options of the compiler make of results
#   run.sh machines    the bits of other compilers and architectures; what is missing is skipped
set -u
cd "$(dirname "$0")/../.." || exit 2

BASE='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef
    -Wvla -Wwrite-strings -Wdouble-promotion -Werror'
ONLY_C='-Wstrict-prototypes -Wmissing-prototypes'
ONLY_CXX='-fno-exceptions -fno-rtti'
OPTIONS='TC_NO_THREADS TC_NO_DISK_CACHE TC_NO_JIT TC_NO_SITES TC_NO_REPORT'
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

# check COMPILER STANDARD SOURCE DEFINES...: front end only, all warnings it knows.
check() {
    compiler=$1 standard=$2 source=$3
    shift 3
    # shellcheck disable=SC2046
    try "$compiler $standard $source $*" \
        "$compiler" $(flags "$compiler" "$standard") "$@" -fsyntax-only "$here/$source"
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

every_way() {
    check "$1" "${2%% *}" twice.c
    check "$1" "${2%% *}" twice_reversed.c
    check "$1" "${2%% *}" libc_first.c -D_GNU_SOURCE
    check "$1" "${2%% *}" static.c -Wno-unused-function
    check "$1" "${2%% *}" cuda_only.c
    for standard in $2; do
        check "$1" "$standard" declarations.c
        check "$1" "$standard" cuda.c # both implementations
    done
    check "$1" "${2%% *}" implementation.c
}

every_option() {
    all=''
    for option in $OPTIONS; do
        # One C and one C++ compiler see each alone, every compiler sees them together.
        case $1 in gcc | clang++) check "$1" "$2" implementation.c "-D$option" ;; esac
        all="$all -D$option"
    done
    # shellcheck disable=SC2086
    check "$1" "$2" implementation.c $all
    [ -f tcompile_cuda.h ] || return 0
    check "$1" "$2" cuda_only.c -DTC_NO_THREADS
    check "$1" "$2" cuda.c -DTCOMPILE_STATIC -Wno-unused-function
}

# The optimiser knows more warnings than the front end, and cuda_only.c has both implementations; what it
# made has to link and run. For C++ it is the same optimiser, which need not work again.
every_program() {
    case $1 in *++*) most=-O0 more=-O0 ;; *) most=-O2 more=-O1 ;; esac
    object "$1" "$2" only.c only.o -O0 && object "$1" "$2" declarations.c user.o -O2 &&
        run "$1 $2 only.c declarations.c" "$1" $out/only.o $out/user.o
    object "$1" "$2" no_sites.c quiet.o -O2 &&
        run "$1 $2 only.c no_sites.c" "$1" $out/only.o $out/quiet.o
    try "$1 $2 no_sites.c names no file" names_no_file "$1"
    if [ -f tcompile_cuda.h ]; then
        object "$1" "$2" cuda_only.c cuda.o $most &&
            run "$1 $2 cuda_only.c declarations.c" "$1" $out/user.o $out/cuda.o
    fi
    all=''
    for option in $OPTIONS; do all="$all -D$option"; done
    # shellcheck disable=SC2086
    object "$1" "$2" implementation.c all.o $more $all && run "$1 $2 $all" "$1" $out/all.o
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
DIGEST="-w -DTC_NO_JIT -DTC_NO_THREADS -DTC_NO_DISK_CACHE -I. -Igen"

# The lines that all others have to have.
reference() {
    # shellcheck disable=SC2086
    try "digest.c" gcc -std=c99 -O1 $DIGEST $here/digest.c -o $out/digest &&
        $out/digest >$out/expected && [ "$(wc -l <$out/expected)" -gt 500 ]
}

# digest NAME RUNNER COMPILER...: its lines are in $out/got; what it says in $out/said.
digest() {
    name=$1 runner=$2
    shift 2
    # shellcheck disable=SC2086
    "$@" $DIGEST $here/digest.c -o $out/other >$out/said 2>&1 &&
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

# The same bits, or no context and a word about the option.
same_or_refused() { # WORDS NAME RUNNER COMPILER...
    words=$1
    shift
    digest "$@" && { try "$1: the same bits" as_expected; return; }
    try "$1: the error has \"$words\"" sh -c "grep -q -e '$words' $out/said || cat $out/said"
}

native() { # COMPILER FLAGS...
    have "$1" || { skip "$1 is not installed"; return; }
    same "$1" '' "$@"
}

# cross NAME QEMU COMPILER
cross() {
    have "$2" || { skip "$1: no $2"; return; }
    have "$3" || { skip "$1: no $3"; return; }
    same "$1" "$2" "$3" -std=c99 -O1 -static
}

other_options() {
    reference || return
    same "gcc -ffast-math" '' gcc -std=c99 -O1 -ffast-math
    same "gcc -Ofast" '' gcc -std=c99 -Ofast -funsafe-math-optimizations
    refused mfpmath "gcc -mfpmath=387" '' gcc -std=c99 -fsyntax-only -mfpmath=387
    refused single-precision "gcc -fsingle-precision-constant" '' \
        gcc -std=c99 -O1 -fsingle-precision-constant
    have clang || { skip "clang is not installed"; return; }
    refused fno-fast-math "clang -ffast-math" '' clang -std=c99 -fsyntax-only -ffast-math
    # A minute each: the first has all of the second, at the level that uses it most.
    same_or_refused 'compiled with -funsafe-math-optimizations' "clang -funsafe-math-optimizations" '' \
        clang -std=c99 -O2 -funsafe-math-optimizations
    same_or_refused 'compiled with -funsafe-math-optimizations' "clang -fassociative-math" '' \
        clang -std=c99 -O1 -fassociative-math -fno-signed-zeros -fno-trapping-math
    same_or_refused compiled.with "clang -ffp-contract=fast" '' \
        clang -std=c99 -O1 -ffp-contract=fast
}

other_machines() {
    reference || return
    for isa in avx2 baseline; do
        name="TC_ISA=$isa"
        TC_ISA=$isa $out/digest >$out/got
        try "$name: the same bits" as_expected
    done
    native g++ -std=c++11 -O1 -x c++
    native clang -std=c99 -O1
    native musl-gcc -std=c99 -O1 -static
    native tcc
    cross "AArch64" qemu-aarch64 aarch64-linux-gnu-gcc
    cross "RISC-V" qemu-riscv64 riscv64-linux-gnu-gcc
}

if [ ! -f tcompile.h ]; then
    echo "no tcompile.h: ./build.sh gen"
    echo "0 passed, 1 failed"
    exit 1
fi

CLAIMS='machines options gcc g++ clang clang++ mixed install'

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
options) other_options ;;
machines) other_machines ;;
install)
    # As a user of an installed header does it, with pkg-config where there is one.
    if have pkg-config && have gcc; then
        PKG_CONFIG_PATH=$PWD/$out/prefix/lib/pkgconfig
        export PKG_CONFIG_PATH
        printf '#define TCOMPILE_IMPLEMENTATION\n#include <tcompile.h>\n%s\n' \
            'int main(void) { return tc_version()[0] != 48; }' >$out/installed.c
        ./build.sh install $out/prefix >$log 2>&1
        # shellcheck disable=SC2046
        try "compile against the installed header" gcc $out/installed.c -o $out/installed \
            $(pkg-config --cflags --libs tcompile) && try "run it" $out/installed
    else
        skip "install: no pkg-config or no gcc"
    fi
    ;;
mixed)
    # C++ users of an implementation in C.
    if have gcc && have g++; then
        object gcc c99 only.c only.o -O0 && object g++ c++11 declarations.c user.o -O0 &&
            run "C++ on C" g++ $out/only.o $out/user.o
    fi
    ;;
*++)
    if have "$1"; then
        every_way "$1" 'c++11 c++17'
        every_option "$1" c++11
        every_program "$1" c++11
    else
        skip "$1 is not installed"
    fi
    ;;
*)
    if have "$1"; then
        every_way "$1" 'c99 c11'
        every_option "$1" c99
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
