#!/bin/sh
# Everything there is to run. Needs a C compiler and a POSIX shell; what else a command can
# use (clang-format, a C++ compiler, nm) is skipped with a word when it is missing.
# Environment: CC, CXX, CFLAGS (-O1; "-O0 -g" for a debugger), SAN=1 (ASan + UBSan),
# SAN=thread (TSan), JOBS=2, TEST_SECONDS (per test), STACK (KB for each thread; 128 is enough without SAN), RUN (a
# command to run test programs under, such as "valgrind -q --error-exitcode=9") and TEST_KEPT (a folder for what
# compilers make of kernels, which the next suite, under a sanitizer, finds there).
set -u
cd "$(dirname "$0")" || exit 2

usage() {
    cat <<END
usage: ./build.sh COMMAND [ARGUMENTS]
  gen                 expand gen/tables and pack gen/ into tcompile.h and tcompile_cuda.h
  format              clang-format gen, tests, examples and bench in place
  check               headers fresh, format, lints, layers, symbols; prints lines per layer
  check all           the same, and each prefix of the parts compiles
  examples            build and run examples/*
  test                the suite, without what takes minutes; 12 of processor time
  test all            all of it, more combinations compiled
  test NAME...        a folder (unit), or programs (unit/mem, mem), with all they have
  test golden --update    rewrite the golden files; what begins with -- goes to the tests
  bench [NAME]        build and run bench/*.c
  fuzz [SECONDS]      run tests/fuzz/*.c, 60 seconds each
  emulator            build libraries that execute CUDA kernels without a GPU; prints how
                      to use them: eval "\$(./build.sh emulator)"
  install PREFIX      headers and tcompile.pc
END
}

say() { printf '%s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }
first_of() {
    for tool in "$@"; do have "$tool" && { say "$tool"; return; }; done
}

# What tests of internals see of the implementation (`build_inside`) takes clang 5 s where gcc takes 13 (with SAN=1: 21 and
# 50); where CC is given it is what compiles everything.
INSIDE_CC=${CC:-$(first_of clang cc gcc)}
CC=${CC:-$(first_of cc gcc clang)}
CXX=${CXX:-$(first_of c++ g++ clang++)}
INSIDE_CFLAGS=${CFLAGS:--O0}
# What interprets in the fuzzers runs a ninth faster by -O2, which gcc makes in the time of -O1; with a sanitizer it does not.
SHARED_CFLAGS=${CFLAGS:--O2}
ORACLE_CFLAGS=$SHARED_CFLAGS
[ "${SAN:-0}" = 0 ] || SHARED_CFLAGS=${CFLAGS:--O1}
CFLAGS=${CFLAGS:--O1}
JOBS=${JOBS:-2}
[ -z "${STACK:-}" ] || ulimit -Ss "$STACK" || exit 2
LIBS='-lpthread -ldl'
TEST_LIBS="$LIBS -lm" # oracles of tests and benches use libm
[ -n "$CC" ] || { say "no C compiler: install gcc or clang, or set CC"; exit 2; }
sanitizer=''
case ${SAN:-0} in
1)
    sanitizer='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
    sanitizer="$sanitizer -fno-omit-frame-pointer -g1"
    ;;
thread) sanitizer='-fsanitize=thread -g1' ;;
esac
# A twelfth of the time goes into stacks of who allocated; an empty ASAN_OPTIONS has 30 lines of them. A thread that exits in
# a call leaves marks of C's frames on its stack, on which ASan's own end of the thread stumbles with a stack for signals.
export ASAN_OPTIONS="${ASAN_OPTIONS-malloc_context_size=4:use_sigaltstack=0}"
# A clang may come without the libraries of its sanitizers. NULL + 0, which the next C defines, is for its
# UBSan an overflow, that has no switch of its own.
case ${SAN:-0},$INSIDE_CC in
1,*clang*) without='-fno-sanitize=pointer-overflow' ;;
*) without='' ;;
esac
[ -z "$sanitizer" ] || echo 'int main(void){return 0;}' |
    $INSIDE_CC $sanitizer -x c - -o /dev/null 2>/dev/null || INSIDE_CC=$CC
# Tests whose oracles are sums of products in C: by -O0, with fmaf a call, those took nine tenths of the time.
fma='-mfma -ffp-contract=off'
grep -qw fma /proc/cpuinfo 2>/dev/null || fma=-ffp-contract=off
for compiler in "$CC" "$INSIDE_CC"; do
    echo 'int main(void){return 0;}' | $compiler $fma -x c - -o /dev/null 2>/dev/null || fma=''
done
ORACLE_CFLAGS="$ORACLE_CFLAGS $fma $sanitizer"
CFLAGS="$CFLAGS $sanitizer" SHARED_CFLAGS="$SHARED_CFLAGS $sanitizer" INSIDE_CFLAGS="$INSIDE_CFLAGS $sanitizer $without"
# One folder per compiler and sanitizer, so that switching between them rebuilds nothing.
OUT=build/$(printf '%s%s' "$CC" "${SAN:+-san$SAN}" | tr -c 'A-Za-z0-9._-' '_')
# Tests of the public interface: by -O0 in half of the time, too. Sanitizers of two compilers do not link.
PUBLIC_CC=$INSIDE_CC PUBLIC_CFLAGS=$INSIDE_CFLAGS
[ -z "$sanitizer" ] || PUBLIC_CC=$CC
# gcc looks at the lines of the packed header for three seconds to tell of indentation, which clang-format keeps.
WARN='-Wall -Wextra -Wno-unused-function -Wno-misleading-indentation'
CHECKS='-include assert.h -DTC_ASSERT=assert' # and so the verifier between stages
# What nobody wrote is the same rubbish everywhere, so that a result that hangs on it differs from what it should be.
wild='-ftrivial-auto-var-init=pattern'
echo 'int main(void){return 0;}' | $CC $wild -Werror -x c - -o /dev/null 2>/dev/null || wild=''
CHECKS="$CHECKS $wild"

# ---- gen ------------------------------------------------------------------
GEN=build/gen

build_gen() {
    mkdir -p build
    $CC -std=c99 -D_GNU_SOURCE -O1 -Wall -Wextra -Wpedantic -Igen gen/gen.c -o $GEN ||
        exit 2
}

command_gen() {
    build_gen
    $GEN pack . . && $GEN kernels .
}

# ---- check ----------------------------------------------------------------
failed=0

# step NAME COMMAND...: runs it, says how it went, goes on.
step() {
    name=$1
    shift
    if "$@"; then say "ok    $name"; else say "FAIL  $name"; failed=$((failed + 1)); fi
}

# What clang-format looks after; not the tables, nor gen/api and gen/cpu, which are laid
# out by hand.
sources() {
    find gen tests examples bench -path gen/out -prune -o -name '*.c' -print \
        -o -name '*.h' -path 'tests/*' -print 2>/dev/null | sort
}

check_fresh() {
    rm -rf build/fresh
    mkdir -p build/fresh
    $GEN pack . build/fresh && $GEN fresh . build/fresh
}

check_format() {
    have clang-format || { say "skip  format: no clang-format"; return 0; }
    sources | xargs -n 40 -P "$JOBS" clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error.*/\1/p' | sort | uniq -c >build/format.txt
    [ -s build/format.txt ] || return 0
    sed 's/^ *\([0-9]*\) \(.*\)/\2: \1 places differ from .clang-format/' build/format.txt
    say "Fix: ./build.sh format"
    return 1
}

# The packer must change nothing: the compiler sees the same tokens packed and unpacked. A token a line, by
# the longest match, as C has it.
TOKEN='"([^"\\]|\\.)*"|'"'([^'\\\\]|\\\\.)*'"'|[A-Za-z0-9_.]+|<<=|>>=|->|##|\+\+|--|<<|>>|&&|[|][|]|[-+*/%&|^!<>=]=|[^ ]'

check_same() {
    [ -f "$2" ] || return 0
    for f in "$1" "$2"; do
        $CC -std=c99 -E -P -Igen -Ibuild/fresh -DTCOMPILE_IMPLEMENTATION \
            -DTCOMPILE_CUDA_IMPLEMENTATION \
            -w -Wno-builtin-macro-redefined -D__LINE__=0 -D__FILE__=0 -x c "$f" \
            -o - | LC_ALL=C grep -oE "$TOKEN" >"build/$(basename "$f").i" &
    done
    wait
    [ -s "build/$(basename "$1").i" ] && cmp "build/$(basename "$1").i" "build/$(basename "$2").i"
}

# Parts 1..k compile for every k: a part uses only what stands above it. That a name is used below its
# definition shows in one compilation of all parts in their order (`warnings`), so every EVERY'th k will do, to
# see that a part ends what it begins; `check all` has every fourth. Workers share them; each writes to its log what
# does not compile.
EVERY=16 EVERY_TEST=4

check_prefixes_of() { # WORKER MANIFEST MACRO
    k=0
    for part in $($GEN parts . "$2"); do
        k=$((k + 1))
        [ $((k % EVERY)) = 0 ] && [ $((k / EVERY % JOBS)) = "$1" ] || continue
        $GEN prefix . "$2" $k >"build/prefix$1.h"
        $CC -std=c99 -fsyntax-only -Werror=implicit-function-declaration -Igen -I. \
            -DTCOMPILE_IMPLEMENTATION "-D$3" -x c "build/prefix$1.h" 2>"build/prefix$1.log" && continue
        say "gen/$part does not compile with only the parts above it:"
        head -n 8 "build/prefix$1.log"
    done >"build/prefixes$1.log"
}

check_prefixes() { # MANIFEST MACRO
    worker=0
    while [ $worker -lt "$JOBS" ]; do
        check_prefixes_of $worker "$1" "$2" &
        worker=$((worker + 1))
    done
    wait
    worker=0
    bad=0
    while [ $worker -lt "$JOBS" ]; do
        [ -s "build/prefixes$worker.log" ] && cat "build/prefixes$worker.log" && bad=1
        worker=$((worker + 1))
    done
    say "      $(($($GEN parts . "$1" | wc -w) / EVERY)) prefixes"
    return $bad
}

# What reads the inside by name breaks when that changes: tests and benches are right C. `test` compiles its own
# in any case, so a part of the files will do, as with prefixes; `check all` has all of them, or with TESTS_FOLLOW=1,
# before `test all`, those of benches.
check_test() {
    seen=''
    test=${1#tests/}
    needs_inside "${test%.c}" && seen=-I$INSIDE
    # shellcheck disable=SC2086
    $CC -std=c99 -fsyntax-only $seen $TEST_FLAGS -w -I. "$1" 2>&1 | head -n 8
}

check_tests() {
    # shellcheck disable=SC2046
    jobs=$(grep -lE 'tcu?__' bench/*.c $([ "${TESTS_FOLLOW:-0}" = 1 ] || find tests -name '*.c' \
        ! -path 'tests/tools/*' ! -path 'tests/compile/*' | sort) |
        awk -v every="$EVERY_TEST" 'NR % every == 0')
    mkdir -p "$OUT"
    inside_headers || return 1
    all_jobs check_test >build/tests.log
    cat build/tests.log
    say "      $(echo $jobs | wc -w) files"
    [ ! -s build/tests.log ]
}

STRICT='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef
    -Wvla -Wwrite-strings -Wdouble-promotion -Wno-unused-function -Wno-misleading-indentation -Werror'

# The first of what tests/compile asks in every combination.
check_warnings() {
    printf '#define %s\n#include "%s"\n' TCOMPILE_IMPLEMENTATION tcompile.h \
        TCOMPILE_CUDA_IMPLEMENTATION tcompile_cuda.h >build/warnings.c
    waiting=
    for compiler in "$CC" $(first_of clang); do
        # shellcheck disable=SC2086
        "$compiler" -std=c99 $STRICT -Ibuild/fresh -fsyntax-only build/warnings.c &
        waiting="$waiting $!"
    done
    # shellcheck disable=SC2086
    [ -z "$CXX" ] ||
        "$CXX" -std=c++11 $STRICT -Ibuild/fresh -fsyntax-only -x c++ build/warnings.c || return 1
    for child in $waiting; do wait "$child" || return 1; done
}

# In gen/base/error.c: the table of contexts. In gen/cuda/library.c: who initialised CUDA.
GLOBALS='tc__live_contexts|tc__thread_number|tcu__owner'

public_names() { nm -g --defined-only "$1" | cut -d ' ' -f 3 | sort; }

# Only tc_ symbols leave the object, the same without reports, and there is no other writable data than GLOBALS:
# whoever compiles, so the fastest does.
check_symbols() {
    have nm || { say "skip  symbols: no nm"; return 0; }
    printf '#define TCOMPILE_IMPLEMENTATION\n#include "tcompile.h"\n' >build/symbols.c
    [ -f build/fresh/tcompile_cuda.h ] &&
        printf '#define TCOMPILE_CUDA_IMPLEMENTATION\n#include "tcompile_cuda.h"\n' \
            >>build/symbols.c
    $INSIDE_CC -std=c99 -O0 -DTC_NO_REPORT -Ibuild/fresh -c build/symbols.c -o build/no_report.o &
    $INSIDE_CC -std=c99 -O0 -fno-pic -Ibuild/fresh -c build/symbols.c -o build/symbols.o && wait $! ||
        return 1
    nm -g --defined-only build/symbols.o | grep -v ' tc_[a-z0-9]' && {
        say "Why: public names begin with tc_ and a letter"
        return 1
    }
    nm build/symbols.o | grep -E ' [bBdDC] ' | grep -vE " ($GLOBALS)\$" && {
        say "Why: the only writable globals are $GLOBALS"
        return 1
    }
    public_names build/symbols.o >build/symbols.txt
    public_names build/no_report.o | cmp - build/symbols.txt || {
        say "Why: gen/exec/no_report.c has what TC_NO_REPORT leaves out"
        return 1
    }
}

command_check() {
    [ "${1:-}" != all ] || EVERY=4 EVERY_TEST=1
    build_gen
    $GEN tables . . || exit 2
    step "headers fresh" check_fresh
    step "lints" $GEN lint . .
    step "format" check_format
    if [ -f build/fresh/tcompile.h ]; then
        step "packed and unpacked agree" check_same gen/tcompile.in.h build/fresh/tcompile.h
        step "cuda: packed and unpacked agree" check_same gen/tcompile_cuda.in.h \
            build/fresh/tcompile_cuda.h
        step "prefix builds" check_prefixes gen/tcompile.in.h TCOMPILE_IMPLEMENTATION
        step "cuda: prefix builds" check_prefixes gen/tcompile_cuda.in.h \
            TCOMPILE_CUDA_IMPLEMENTATION
        step "warnings" check_warnings
        step "tests and benches of the inside" check_tests
        step "symbols" check_symbols
    else
        say "skip  prefix builds, symbols: no packed header yet"
    fi
    say "lines per layer"
    $GEN layers .
    [ $failed = 0 ]
}

command_format() {
    have clang-format || { say "no clang-format: apt-get install clang-format"; exit 2; }
    # shellcheck disable=SC2046
    clang-format -i $(sources)
}

# ---- programs -------------------------------------------------------------
# Is the program newer than everything it could be made from?
is_new() {
    case $1 in tests/cuda/*) others='tests/ops tests/fuzz' ;; *) others='' ;; esac
    # shellcheck disable=SC2086
    [ -s "$2" ] && [ -z "$(find gen tests/*.h tests/tools tcompile*.h $others "$(dirname "$1")" -newer "$2" \
        \( -name '*.[ch]' -o -name '*.cc' -o -name '*.def' -o -name '*.inc' \) -print \
        2>/dev/null | head -n 1)" ]
}

# compile SOURCE PROGRAM FLAGS...: C or C++ by the ending.
compile() {
    source=$1 program=$2
    shift 2
    mkdir -p "$(dirname "$program")"
    is_new "$source" "$program" && return 0
    case $source in
    # shellcheck disable=SC2086
    *.cc) $CXX -std=c++11 "$@" -I. "$source" -o "$program" $TEST_LIBS ;;
    # shellcheck disable=SC2086
    *) ${COMPILER:-$CC} -std=c99 "$@" -I. "$source" -o "$program" $TEST_LIBS ;;
    esac
}

# A cache of its own for each program: a test run neither reads nor fills the user's.
fresh_cache() {
    rm -rf "$1"
    mkdir -p "$1"
    chmod 700 "$1"
    TC_CACHE_DIR=$PWD/$1
    export TC_CACHE_DIR
}

# Workers claim jobs by making a folder, which only one of them can.
worker() {
    action=$1
    shift
    for claim in $jobs; do
        said=$claims/$(say "$claim" | tr / _)
        mkdir "$said" 2>/dev/null || continue
        "$action" "$claim" "$@" >"$said/text"
        cat "$said/text"
    done
}

# all_jobs ACTION ARGUMENTS...: ACTION JOB ARGUMENTS for each of $jobs, $JOBS at a time.
all_jobs() {
    claims=$OUT/claims
    rm -rf "$claims"
    mkdir -p "$claims"
    worker_number=0
    while [ $worker_number -lt "$JOBS" ]; do
        worker "$@" &
        worker_number=$((worker_number + 1))
    done
    wait
}

SHOWN=60 # lines of an example's output

# The implementation is compiled once, by whom does it fastest and without optimising (its time goes to compilers of kernels
# and to kernels), and the examples with macros that say it is there; each compiles alone too, as its head says. That it
# is C++ as well is what tests/compile and `check` see.
EXAMPLE_PART=tests/tools/implementation.c
EXAMPLE_OBJECT=$OUT/examples/implementation.o

build_example() {
    object=$OUT/examples/$(basename "$1").o
    how="$CFLAGS -Wall -Wextra -Werror -DTCOMPILE_IMPLEMENTED -DTCOMPILE_CUDA_IMPLEMENTED"
    COMPILER=$CC
    [ "$1" != "$EXAMPLE_PART" ] || object=$EXAMPLE_OBJECT how=$INSIDE_CFLAGS COMPILER=$INSIDE_CC
    # shellcheck disable=SC2086
    compile "$1" "$object" $how -c 2>&1 || rm -f "$object"
}

link_example() {
    case $1 in *.cc) linker=$CXX ;; *) linker=$CC ;; esac
    # shellcheck disable=SC2086
    $linker "$OUT/examples/$(basename "$1").o" "$EXAMPLE_OBJECT" -o "$2" $TEST_LIBS
}

# Prints what the example prints, long texts cut, and how it went.
run_example() {
    program=$OUT/examples/$(basename "$1")
    fresh_cache "$program.cache"
    link_example "$1" "$program" >"$program.log" 2>&1 &&
        "$program" >>"$program.log" 2>&1
    status=$?
    head -n $SHOWN "$program.log" | sed 's/^/      /'
    lines=$(wc -l <"$program.log")
    [ "$lines" -le $SHOWN ] || say "      ... $((lines - SHOWN)) more lines in $program.log"
    [ $status = 0 ] && say "ok    $1" || say "FAIL  $1"
}

command_examples() {
    mkdir -p "$OUT/examples"
    in_cxx=''
    for source in examples/*.cc; do
        [ -n "$CXX" ] && in_cxx="$in_cxx $source" || say "skip  $source: no C++ compiler"
    done
    # What takes longest first, so that the others go on beside it.
    in_c="examples/char_gpt.c $(echo examples/*.c | sed 's, examples/char_gpt.c,,')"
    jobs="$EXAMPLE_PART $in_c$in_cxx"
    all_jobs build_example
    jobs=$in_c$in_cxx
    all_jobs run_example
    # shellcheck disable=SC2086
    failed=$(cat "$claims"/*/text | grep -c '^FAIL')
    # shellcheck disable=SC2086
    say "$(($(echo $jobs | wc -w) - failed)) passed, $failed failed"
    [ "$failed" = 0 ]
}

# ---- test -----------------------------------------------------------------
# A good part of a minute and more each: every compiler, the tiles of products, the texts of every op for every GPU.
# `test all` has them, and a name.
LONG='compile cuda/attention cuda/tiles cuda/products cuda/texts cuda/fuzz cuda/forms cuda/kept cuda/prologue
    cuda/rows cuda/device cuda/early cuda/large cuda/nvrtc cuda/autotune cuda/opaque cuda/emulate cuda/pitch
    cuda/across cuda/fuzz_across cuda/compiler cuda/down cuda/params cuda/custom cuda/border cuda/windows cuda/convolution
    function/autotune function/sizes function/optim_steps region/bits region/split region/border region/attention region/images
    grad/every grad/loops grad/checkpoint grad/blocks threads/modules unit/print unit/toy_device'
LONG=$(echo $LONG)

# The tests a name selects: all of them, a folder, folder/program or program; without a name
# all but LONG.
select_tests() {
    for source in tests/*.c tests/unit/*.c tests/ops/*.c tests/golden/*.c tests/errors/*.c \
        tests/fault/*.c tests/region/*.c tests/function/*.c tests/grad/*.c tests/threads/*.c tests/cuda/*.c tests/fuzz/*.c tests/compile/run.sh tests/manual.sh; do
        [ -f "$source" ] || continue
        test=${source#tests/}
        test=${test%.c}
        if [ "$source" = tests/compile/run.sh ]; then
            [ "${SAN:-0}" = 0 ] || continue
            test=compile
        fi
        if [ "$source" = tests/manual.sh ]; then
            [ "${SAN:-0}" = 0 ] || continue
            test=manual
        fi
        [ "$*" = all ] && say "$test" && continue
        # What these run is text for a GPU, or the same for every instruction set of the host: parts, errors, threads, derivatives.
        # region/dots and thirds name instruction sets themselves; what is together in region/together takes minutes of fmaf.
        case ${TC_ISA:-0},$#,$test in
            0,*) ;;
            *,0,unit/interp | *,0,unit/math) ;;
            *,0,cuda/* | *,0,unit/* | *,0,errors/* | *,0,fault/* | *,0,threads/* | *,0,grad/* | *,0,manual) continue ;;
            *,0,region/dots | *,0,region/thirds | *,0,region/together) continue ;;
        esac
        # What these test is text for a GPU, or the accuracy of compiled code: in neither does
        # a sanitizer of the host look. A folder or program that is asked for runs.
        case ${SAN:-0},$#,$test in
            0,*) ;;
            *,cuda/emulate | *,cuda/ops | *,cuda/rows | *,cuda/products | *,cuda/forms | *,cuda/texts | *,cuda/fuzz | *,cuda/opaque | *,cuda/nvrtc | *,cuda/prologue | *,cuda/large | *,cuda/kept) continue ;;
            *,0,ops/rows | *,0,function/numerics | *,0,region/bits | *,0,unit/math) continue ;;
            # What these ask of one part, others run under the sanitizer as well.
            *,0,unit/order | *,0,unit/plan | *,0,unit/schedule | *,0,unit/show | *,0,unit/tune) continue ;;
            *,0,unit/trace | *,0,unit/print | *,0,unit/ix | *,0,unit/toy_device) continue ;;
        esac
        case $#:" $LONG " in
        0:*" $test "*) ;;
        0:*) say "$test" ;;
        esac
        for name in "$@"; do
            case $test in "$name" | "$name"/* | */"$name") say "$test"; break ;; esac
        done
    done
}

# Tests of the public interface alone share an object of the implementation; those that define
# TCOMPILE_IMPLEMENTATION, or put parts of it together themselves, do not.
TEST_FLAGS="-D_GNU_SOURCE -include tests/hook.h $CHECKS $WARN -Igen -Itests"
SHARED=$OUT/tests/tcompile.o

needs_shared() {
    ! grep -q -e '^#define TCOMPILE_IMPLEMENTATION' -e '^#include "base/prelude.c"' \
        "tests/$1.c" 2>/dev/null
}

build_shared() {
    words="$CC $TEST_FLAGS $SHARED_CFLAGS"
    for test in $1; do
        needs_shared "$test" || continue
        [ "$(cat "$SHARED.words" 2>/dev/null)" = "$words" ] && is_new tests/tools/implementation.c "$SHARED" && break
        mkdir -p "$OUT/tests"
        rm -f "$SHARED" # what does not compile is not tested as it was before
        # shellcheck disable=SC2086
        compile tests/tools/implementation.c "$SHARED" -c $TEST_FLAGS $SHARED_CFLAGS && say "$words" >"$SHARED.words"
        break
    done
    : >"$OUT/shared.ready"
}

# It takes half a minute, in which others run: those that wait for it come behind them.
wait_for_shared() { while [ ! -e "$OUT/shared.ready" ]; do sleep 1; done; }

shared_last() {
    later=''
    for test in $1; do
        if needs_shared "$test"; then later="$later $test"; else say "$test"; fi
    done
    for test in $later; do say "$test"; done
}

# Tests of internals share an object too, whose functions are not static, and see declarations of them under the names of
# the headers (gen/gen_inside.c): half a second for each instead of six. Those with another implementation, or a
# part of it, compile theirs.
INSIDE=$OUT/inside
INSIDE_OBJECT=$INSIDE/tcompile.o

needs_inside() {
    grep -q '^#define TCOMPILE_IMPLEMENTATION' "tests/$1.c" 2>/dev/null &&
        ! grep -q -e '^#define TEST_LAST_PART' -e '^#define TC_NO_REPORT' "tests/$1.c"
}

# inside_text WHAT FLAGS...: the declarations or definitions.
inside_text() {
    what=$1
    shift
    # shellcheck disable=SC2086
    $INSIDE_CC -std=c99 -E "$@" $TEST_FLAGS $INSIDE_CFLAGS -I. tests/tools/inside.c >"$INSIDE/$what.i" &&
        $GEN inside "$what" <"$INSIDE/$what.i"
}

inside_headers() {
    mkdir -p "$INSIDE"
    for header in tcompile.in.h tcompile_cuda.h tcompile_cuda.in.h; do
        echo '#include "tcompile.h"' >"$INSIDE/$header"
    done
    { echo '#pragma once' && inside_text declarations -dD -dI; } >"$INSIDE/tcompile.h"
}

build_inside() {
    for test in $1; do
        needs_inside "$test" || continue
        is_new tests/tools/inside.c "$INSIDE_OBJECT" && return
        rm -f "$INSIDE_OBJECT"
        # shellcheck disable=SC2086
        inside_headers && inside_text definitions >"$INSIDE/tcompile.i" &&
            $INSIDE_CC -std=c99 -w $wild $INSIDE_CFLAGS -x cpp-output -c "$INSIDE/tcompile.i" -o "$INSIDE/part.o" &&
            mv "$INSIDE/part.o" "$INSIDE_OBJECT"
        return
    done
}

# The libraries of tests/tools/cuda_fake_use.h, once for all tests: fake_library FILE FLAGS... SOURCES
fake_library() {
    library=$1
    shift
    $CC -shared -fPIC -std=c99 -D_GNU_SOURCE -O2 -w -Igen -I. -Itests "$@" -o "$library" -ldl
}

build_fakes() {
    case " $1" in *' cuda/'* | *'
cuda/'*) ;; *) return ;; esac
    TEST_FAKES=$PWD/build/fakes/$(printf %s "$CC" | tr -c 'A-Za-z0-9._-' '_') # they have no sanitizer
    export TEST_FAKES
    is_new tests/tools/cuda_fake.c "$TEST_FAKES/new.so" && return
    rm -rf "$TEST_FAKES"
    mkdir -p "$TEST_FAKES"
    driver='tests/tools/cuda_fake.c tests/tools/cuda_emulate.c'
    # shellcheck disable=SC2086
    fake_library "$TEST_FAKES/nvrtc.so" "-DEMULATE_FOLDER=\"$PWD/tests/tools\"" tests/tools/nvrtc_fake.c &&
        fake_library "$TEST_FAKES/old.so" -DFAKE_OLD $driver && fake_library "$TEST_FAKES/new.so" $driver
}

# What compilers made of kernels is kept for the suite: code of the emulator, and assembly of gcc (tests/tools/cc1.c).
# All that tcompile does is done; its own caches are as they are.
build_kept() {
    kept=${TEST_KEPT:-$PWD/$OUT/kept}
    [ -n "${TEST_KEPT:-}" ] || rm -rf "$kept"
    mkdir -p "$kept/text" "$OUT/cc1"
    EMULATE_IMAGES=$kept
    export EMULATE_IMAGES
    real=$($CC -print-prog-name=cc1 2>/dev/null)
    case $real in
    /*) $CC -std=c99 -D_GNU_SOURCE -O1 -Wall "-DREAL=\"$real\"" "-DKEPT=\"$kept/text\"" tests/tools/cc1.c -o "$OUT/cc1/cc1" ;;
    *) rm -f "$OUT/cc1/cc1" ;;
    esac
    TEST_GCC='' # for tests that name their compilers
    [ "$(gcc -print-prog-name=cc1 2>/dev/null)" != "$real" ] || [ ! -x "$OUT/cc1/cc1" ] || TEST_GCC="gcc -B$PWD/$OUT/cc1/"
    export TEST_GCC
}

# Whose compiler is that of the suite, for kernels: all but tests of compilers, of caches and of what happens while one
# compiles.
keeps_kernels() {
    [ -x "$OUT/cc1/cc1" ] || return 1
    case $1 in
    unit/* | golden/* | errors/* | fault/* | threads/* | region/cache | region/profile) return 1 ;;
    function/autotune | function/options | function/tiers | backend_null) return 1 ;;
    esac
}

# A test that defines TEST_LAST_PART gets a manifest that ends there: what is tested is compiled, and what
# that needs. Prints the option that has it found; `needs_shared` tells of tests that take the whole.
parts_of() { # TEST FOLDER
    last=$(sed -n 's/^#define TEST_LAST_PART "\(.*\)"/\1/p' "tests/$1.c" 2>/dev/null)
    [ -n "$last" ] || return 0
    mkdir -p "$2" && $GEN prefix . gen/tcompile.in.h "$last" >"$2/tcompile.in.h" && say "-I$2"
}

# Sets `spent`: seconds of processor that all this shell has waited for has taken.
processor_time() { # FILE, for scratch
    times >"$1"
    spent=$(tail -n 1 "$1" | awk -F '[ms ]+' '{ print int($1 * 60 + $2 + $3 * 60 + $4) }')
}

# Runs one test; its log ends in a line `N passed, N failed`.
run_test() {
    test=$1
    shift
    program=$OUT/tests/$test
    log=$program.log
    begun=$(date +%s)
    mkdir -p "$(dirname "$program")"
    processor_time "$program.times"
    before=$spent
    fresh_cache "$program.cache"
    how=$INSIDE_CFLAGS COMPILER=$INSIDE_CC
    needs_shared "$test" && wait_for_shared && how="$PUBLIC_CFLAGS $SHARED" COMPILER=$PUBLIC_CC
    parts=$(parts_of "$test" "$program.parts")
    needs_inside "$test" && how="$INSIDE_CFLAGS $INSIDE_OBJECT" parts=-I$INSIDE
    # Their time goes to their own code: lists for devices, thread by thread; sums of products; references. Who cancels
    # a thread leaves what ASan knows of its stack as it is, which by -O0 is in the way of who is next there.
    case $test in
    unit/device) how="$CFLAGS $without $INSIDE_OBJECT" ;;
    cuda/products | region/dots | region/few | region/kept | region/panels | region/thirds)
        how="$ORACLE_CFLAGS $without $INSIDE_OBJECT"
        ;;
    fuzz/products | region/images | region/transposed | region/windows)
        how="$ORACLE_CFLAGS $SHARED" COMPILER=$CC
        ;;
    fuzz/* | ops/ops | threads/ended | cuda/attention | cuda/convolution | cuda/fuzz*)
        how="$CFLAGS $SHARED" COMPILER=$CC
        ;;
    esac
    if [ "$test" = compile ]; then
        sh tests/compile/run.sh >"$log" 2>&1
    elif [ "$test" = manual ]; then
        CC=$CC CXX=$CXX SOON_CC=$INSIDE_CC sh tests/manual.sh "$SHARED" >"$log" 2>&1
    # shellcheck disable=SC2086
    elif ! compile "tests/$test.c" "$program" $parts $TEST_FLAGS $how >"$log" 2>&1; then
        say "tests/$test.c does not compile" >>"$log"
        false
    else
        case $test in fuzz/*)
            graphs=700
            [ "${SAN:-0}${TEST_ALL:-}" != 01 ] || graphs=3000
            cpu=2 least='' # so many with gradients, or it fails
            [ "$test:$graphs" != fuzz/gradients:3000 ] || graphs=5200 cpu=1 least='--least 5000'
            [ "$test:$graphs" != fuzz/gradients:700 ] || graphs=500
            [ "$test:$graphs" != fuzz/products:3000 ] || graphs=2000 cpu=10
            [ "$test:$graphs" != fuzz/products:700 ] || graphs=240 cpu=4
            fast='' # percent that are compiled for fast numerics
            case $test in
            fuzz/products) fast='--fast 15' ;;
            fuzz/fuzz | fuzz/gradients) fast='--fast 2' ;;
            esac
            # shellcheck disable=SC2086
            [ $# -gt 0 ] || set -- --graphs $graphs --cpu $cpu $fast $least
            [ -z "${FUZZ_SECONDS:-}" ] || set -- "$FUZZ_SECONDS"
            ;;
        esac
        # shellcheck disable=SC2086
        if keeps_kernels "$test"; then
            CC="$CC -B$PWD/$OUT/cc1/" ${RUN:-} "$program" "$@" >>"$log" 2>&1
        else
            ${RUN:-} "$program" "$@" >>"$log" 2>&1
        fi
    fi
    status=$?
    # A kernel whose text the compiler refuses is interpreted, with the right bits: no other check sees it.
    ! grep -q 'a fault of tcompile, please' "$log" || status=1
    # What RUN names may have the last word.
    result=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    case $result in
    '0 passed, 0 failed')
        # A program that tests nothing is a mistake, unless names were asked for.
        [ $# = 0 ] && result='0 passed, 1 failed' &&
            printf 'no test ran\n%s\n' "$result" >>"$log"
        ;;
    *[0-9]' passed, '[0-9]*' failed'*) ;;
    *) result="0 passed, $((status != 0)) failed" && say "$result" >>"$log" ;;
    esac
    rm -rf "$program.cache"
    case $status:$result in
    0:*' passed, 0 failed'*) 
        processor_time "$program.times"
        say "ok    $test: $result, $(($(date +%s) - begun)) s ($((spent - before)) of processor)"
        ;;
    *)
        say "FAIL  $test: $result"
        # A program may fail after its closing line, in a sanitizer's last check.
        case $result in *', 0 failed'*) say "0 passed, 1 failed" >>"$log" ;; esac
        tail -n 40 "$log" | sed 's/^/      /'
        ;;
    esac
}

command_test() {
    names=''
    while [ $# -gt 0 ]; do
        case $1 in
        --) shift; break ;;
        -*) break ;;
        *) names="$names $1" ;;
        esac
        shift
    done
    build_gen
    $GEN tables . . || exit 2
    [ -z "$names" ] || export TEST_ALL=1
    # shellcheck disable=SC2086
    jobs=$(select_tests $names)
    [ -n "$jobs" ] || { say "no test is called$names"; exit 2; }
    mkdir -p "$OUT"
    rm -f "$OUT/shared.ready"
    build_shared "$jobs" &
    build_inside "$jobs"
    build_fakes "$jobs"
    build_kept
    jobs=$(shared_last "$jobs")
    all_jobs run_test "$@"
    case " $* " in *' --update '*) $GEN kernels . ;; esac
    passed=0 skipped=0
    for test in $jobs; do
        # shellcheck disable=SC2013
        while read -r p _ f _ s _; do
            passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
        done <<END
$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$OUT/tests/$test.log" ||
            say '0 passed, 1 failed')
END
    done
    processor_time "$OUT/tests/times"
    say "$((spent / 60)) minutes $((spent % 60)) s of processor"
    [ $skipped = 0 ] && say "$passed passed, $failed failed"
    [ $skipped = 0 ] || say "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
}

# ---- bench, fuzz, install -------------------------------------------------
command_bench() {
    for source in bench/*.c; do
        name=$(basename "$source" .c)
        [ -f "$source" ] || continue
        [ $# -gt 0 ] && [ "$name" != "$1" ] && continue
        say "== $name"
        fresh_cache "$OUT/bench/$name.cache"
        compile "$source" "$OUT/bench/$name" -D_GNU_SOURCE -O2 -Wall -Wextra &&
            "$OUT/bench/$name" || failed=$((failed + 1))
    done
    [ $failed = 0 ]
}

command_fuzz() {
    FUZZ_SECONDS=${1:-60}
    TEST_SECONDS=$((FUZZ_SECONDS + 60))
    export TEST_SECONDS
    command_test fuzz
}

# A driver and an NVRTC for any program that opens a CUDA device.
command_emulator() {
    build_fakes cuda/
    [ -s "$TEST_FAKES/new.so" ] || exit 1
    say "export TC_CUDA_LIBRARY=$TEST_FAKES/new.so TC_NVRTC_LIBRARY=$TEST_FAKES/nvrtc.so"
}

command_install() {
    [ $# = 1 ] || { say "usage: ./build.sh install PREFIX"; exit 2; }
    version=$(sed -n 's/^#define TC_VERSION "\(.*\)"/\1/p' gen/api/config.h)
    mkdir -p "$1/include" "$1/lib/pkgconfig" || exit 1
    prefix=$(cd "$1" && pwd) || exit 1 # pkg-config wants a path from the root
    for header in tcompile.h tcompile_cuda.h; do
        [ -f $header ] || continue
        cp $header "$prefix/include/" || exit 1
    done
    cat >"$prefix/lib/pkgconfig/tcompile.pc" <<END
prefix=$prefix
includedir=\${prefix}/include

Name: tcompile
Description: torch.compile for C, a single header
Version: $version
Cflags: -I\${includedir}
Libs: $LIBS
END
    say "installed in $prefix"
}

command=${1:-}
[ $# -gt 0 ] && shift
case $command in
gen | format | check | examples | test | bench | fuzz | emulator | install)
    "command_$command" "$@"
    ;;
'' | help | -h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
