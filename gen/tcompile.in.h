// tcompile.h - fused, compiled, cached tensor kernels for C - v0.1.0 - MIT or public domain
//
// torch.compile for C: put tc_trace_begin/end around tensor code and get kernels that are fused,
// compiled by the system's C compiler, cached on disk and run on all cores; without a compiler the
// same code runs in the built-in interpreter, with the same bits. Licence at the end of the file.
//
// QUICK START
//     In one .c (or .cc) file, before other includes:
//         #define TCOMPILE_IMPLEMENTATION
//         #include "tcompile.h"
//     Everywhere else just include it. Link with -lpthread -ldl. No other files, no install.
//
//         tc_ctx *tc = tc_open(NULL);
//         tc_tensor x = tc_randn(tc, TC_DIMS(32, 196, 768), TC_F32);
//         tc_trace_begin(tc, "entropy");
//         tc_tensor p = tc_softmax(x, -1);
//         tc_tensor h = tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
//         tc_trace_end(tc);                  // one kernel was compiled and run; h has data
//         tc_print(h);
//         tc_close(tc);
//
// YOUR OWN CODE IN A GRAPH
//     tc_register_op makes a C function over whole buffers, or its text, an op like the others:
//     tc_custom calls it, in regions, functions and outside; ops around it are fused as ever.
//     tc_host_call runs host code with the values of tensors at its place inside a region.
//
// MORE THAN THAT
//     tc_compile, tc_call       a function compiled once, its body skipped while its guards hold
//     tc_set_stance             e.g. run interpreted while threads in the background compile
//     tc_open_shared            a context for another thread, with this one's tensors and kernels
//     tc_precompile, tc_freeze  warm up without data; then no memory, lock or system call
//     tc_lazy, tc_eval          no regions at all
//     tc_register_backend, tc_register_op     your own
//
// WHAT IT DOES NOT DO
//     It is no array library with every function, no model format, and it never calls Python, BLAS
//     or a vendor library. GPUs and gradients come in tcompile_cuda.h and later versions.
//
// OPTIONS, each a macro before the include that has the implementation
//     TCOMPILE_STATIC      public functions are static to that file
//     TC_NO_SITES          ops do not pass __FILE__ and __LINE__ (define it in every file)
//     TC_NO_THREADS        no worker threads, no pthread
//     TC_NO_JIT            never run a compiler: interpreter only
//     TC_NO_DISK_CACHE     compiled kernels live in memory only
//     TC_ASSERT(cond)      checks for our own bugs; off unless defined
//     TC_DEBUG             every graph is verified between stages; on with TC_ASSERT
//
// ENVIRONMENT (read by tc_open; ignored in setuid programs)
//     Every field of tc_config and tc_options that decides something has a variable, which counts
//     where the field is zero. tc_list_options has all of them, with their values. The usual ones:
//     CC                   the compiler to use, default cc, gcc, clang in this order
//     TC_CACHE_DIR         where compiled kernels are kept; default $XDG_CACHE_HOME/tcompile or
//                          ~/.cache/tcompile
//     TC_LOGS              comma list: graph, fusion, output_code, recompiles, graph_breaks, cache,
//                          guards, perf, autotune, or all
//     TC_THREADS           worker threads, default all cores the process may use
//     TC_DISABLE=1         regions and functions run eagerly
//     TC_BACKEND           eager, aot_eager, cpu (default), or one that is registered
//     TC_VERIFY=1          first runs of compiled code are compared with the interpreter's
//     TC_FULLGRAPH=1       a graph break is an error
//     And one that is no option:
//     TC_CACHE_KEY         a secret: files of the disk cache that were made without it are refused
//
// SEEING WHAT HAPPENS
//     tc_explain           text: programs, guards, kernels, breaks; tc_explain_counts: as numbers
//     tc_explain_html      the same as a page with graphs, memory plans and the emitted C
//     tc_profile_begin, tc_profile_end, tc_profile_text
//                          times of kernels, bytes, share of what the memory can do
//     tc_profile_trace     the events as a file for ui.perfetto.dev
//     tc_stats_get         counters and times of the context
//
// STEP BY STEP, ERRORS, LIFETIMES: see the comments of the declarations below, in the order of use.

#if defined(TCOMPILE_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#  define _GNU_SOURCE 1
#endif

#ifndef TCOMPILE_H
#define TCOMPILE_H

#include "api/config.h"

#include "out/status.inc"

#include "out/dtype_enum.inc"

#include "api/tensor.h"

#include "out/op_api.inc"

#include "api/device.h"
#include "api/spec.h"
#include "api/options.h"
#include "api/compile.h"
#include "api/extend.h"
#include "api/function.h"
#include "api/control.h"
#include "api/profile.h"

#endif  // TCOMPILE_H

#if defined(TCOMPILE_IMPLEMENTATION) && !defined(TCOMPILE_IMPLEMENTED)
#define TCOMPILE_IMPLEMENTED

#include "out/build_id.inc"

#include "base/prelude.c"
#include "base/error.c"
#include "base/mem.c"
#include "base/text.c"
#include "base/hash.c"
#include "base/os.c"
#include "base/export.c"

#include "value/dtype.c"
#include "value/ix.c"
#include "value/ix_walk.c"
#include "value/buffer.c"
#include "value/family.c"

#include "graph/node.c"
#include "graph/custom.c"
#include "graph/infer.c"
#include "graph/view.c"
#include "graph/trace.c"
#include "graph/follow.c"
#include "graph/record.c"
#include "graph/make.c"
#include "graph/move.c"
#include "out/op_calls.inc"

#include "graph/scalar.c"
#include "graph/extend.c"

#include "base/once_begin.c"
#include "graph/promote.c"
#include "graph/compose.c"
#include "graph/product.c"
#include "graph/rows.c"
#include "graph/optim.c"
#include "graph/build.c"
#include "graph/dump.c"
#include "graph/read.c"
#include "graph/verify.c"

#include "pass/split.c"
#include "pass/rules.c"

#include "kernel/group.c"
#include "kernel/space.c"
#include "kernel/lower.c"
#include "kernel/outline.c"
#include "kernel/roots.c"
#include "kernel/merge.c"
#include "kernel/schedule.c"
#include "kernel/access.c"
#include "kernel/plan.c"
#include "kernel/list.c"
#include "kernel/report.c"
#include "kernel/lanes.c"
#include "kernel/range.c"
#include "kernel/print_custom.c"
#include "kernel/print.c"
#include "kernel/join.c"
#include "kernel/print_matmul.c"
#include "kernel/print_c_acc.c"
#include "kernel/print_c.c"
#include "kernel/print_prelude.c"
#include "kernel/print_cuda_product.c"
#include "kernel/print_cuda_opaque_plan.c"
#include "kernel/print_cuda_plan.c"
#include "kernel/print_cuda_window_plan.c"
#include "kernel/print_cuda_hold.c"
#include "kernel/print_cuda_form.c"
#include "kernel/print_cuda_fast.c"
#include "kernel/tune.c"
#include "kernel/print_cuda_check.c"
#include "kernel/print_cuda_value.c"
#include "kernel/print_cuda_rows.c"
#include "kernel/print_cuda_columns.c"
#include "kernel/print_cuda_matmul.c"
#include "kernel/print_cuda_tiles.c"
#include "kernel/print_cuda_few.c"
#include "kernel/print_cuda_prologue.c"
#include "kernel/print_cuda_custom.c"
#include "kernel/print_cuda_opaque.c"
#include "kernel/print_cuda_list.c"
#include "kernel/print_cuda_window.c"
#include "kernel/print_cuda.c"
#include "kernel/print_cuda_text.c"
#include "kernel/print_cuda_product_text.c"
#include "kernel/print_cuda_opaque_text.c"
#include "kernel/print_cuda_divide.c"
#include "kernel/print_cuda_prelude.c"
#include "kernel/print_cuda_spread.c"
#include "base/once_end.c"

#include "exec/interp_block.c"
#include "exec/interp_isa.c"
#include "exec/interp.c"
#include "exec/interp_contract.c"
#include "exec/pool.c"
#include "exec/opaque.c"

#include "base/once_begin.c"
#include "exec/interp_plan.c"
#include "exec/cache.c"
#include "exec/cc.c"
#include "exec/library.c"
#include "exec/workshop.c"
#include "exec/state.c"
#include "exec/backend.c"
#include "exec/options.c"
#include "exec/custom.c"
#include "exec/events.c"
#include "exec/remote_order.c"
#include "exec/remote.c"
#include "exec/program.c"
#include "exec/choice.c"
#include "exec/kernels.c"
#include "exec/remote_code.c"
#include "exec/remote_choice.c"
#include "exec/foreign.c"
#include "exec/tier.c"
#include "exec/guards.c"
#include "exec/profile.c"
#include "exec/profile_remote.c"
#include "base/once_end.c"

#include "exec/launch.c"

#include "base/once_begin.c"
#include "exec/heat.c"
#include "exec/tune.c"
#include "base/once_end.c"

#include "exec/remote_run.c"
#include "exec/remote_view.c"

#include "base/once_begin.c"
#include "exec/tune_remote.c"
#include "base/once_end.c"

#include "exec/run.c"
#include "exec/region.c"
#include "exec/entry.c"
#include "exec/miss.c"
#include "exec/function.c"
#include "exec/call.c"
#include "exec/device.c"
#include "io/show.c"

#include "base/once_begin.c"
#include "exec/profile_report.c"
#include "base/once_end.c"

#include "exec/context.c"
#include "exec/control.c"
#include "exec/host.c"

#include "base/once_begin.c"
#include "exec/explain.c"
#include "io/svg.c"
#include "io/html.c"
#include "io/npy.c"
#include "base/once_end.c"

#endif  // TCOMPILE_IMPLEMENTATION

// LICENCE: choose one.
//
// A. MIT. Copyright (c) 2026 the tcompile authors.
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
// associated documentation files (the "Software"), to deal in the Software without restriction,
// including without limitation the rights to use, copy, modify, merge, publish, distribute,
// sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions: The above copyright notice and this
// permission notice shall be included in all copies or substantial portions of the Software.
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
// NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
// DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
// OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
//
// B. Public domain (www.unlicense.org). This is free and unencumbered software released into the
// public domain. Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
// software, either in source code form or as a compiled binary, for any purpose, commercial or
// non-commercial, and by any means. In jurisdictions that recognize copyright laws, the authors
// dedicate any and all copyright interest in the software to the public domain. THE SOFTWARE IS
// PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, AS ABOVE.
