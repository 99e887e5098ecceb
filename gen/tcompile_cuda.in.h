// tcompile_cuda.h - the CUDA device of tcompile.h - v0.1.0 - MIT or public domain
//
// Kernels that tcompile.h makes, compiled by NVRTC and run on NVIDIA's GPUs. The driver and NVRTC are
// loaded when they are first needed; nothing of CUDA has to be installed to compile or to start a
// program that has this. Licence at the end of the file.
//
// QUICK START
//     Beside tcompile.h, in the one .c (or .cc) file that has its implementation, tcompile.c:
//         #define TCOMPILE_IMPLEMENTATION
//         #define TCOMPILE_CUDA_IMPLEMENTATION
//         #include "tcompile_cuda.h"
//     It includes tcompile.h. Elsewhere the header is included and that is all; link with -lpthread -ldl.
//
//     ```c
//     if (tc_cuda_open(tc, 0)) puts(tc_error_text(tc));  // why there is none; the CPU goes on
//     tc_tensor x = tc_to(tc_randn(tc, TC_DIMS(4096, 4096), TC_F32), "cuda:0");
//     tc_tensor y = tc_softmax(x, -1);                   // runs where x is: one kernel
//     tc_print(y);                                       // waits, copies, prints
//     ```
//
//     Regions, functions and eager ops run where their tensors are; all of one are on one device.
//     tc_to moves, tc_sync waits, tc_read and tc_item wait and copy. See tcompile.h, "Devices".
//     tc_set_default_device(tc, "cuda:0") has all that is made of nothing made there; a custom op runs
//     there by its cuda_source.
//
// MODES
//     In mode "default" a program of two kernels or more is a CUDA graph from its third run on, if
//     launching them takes the host a 64th of the device's time or more, as its second run told; in
//     "reduce-overhead", and with the backend "cudagraphs", any is from its second; in
//     "max-autotune-no-cudagraphs" none is. Both of "max-autotune" measure kernels at a program's first
//     run. Inputs may be other tensors each time: changed addresses are set in the graph, nothing is
//     copied to a fixed place, results are never overwritten.
//
// NEEDS
//     A driver for CUDA 12.0 or newer to run, NVRTC 12 or newer to compile.
//
// OPTIONS, each a macro before the include that has the implementation
//     TCOMPILE_STATIC      public functions are static to that file
//     TC_NO_THREADS        programs are compiled one after the other
//
// ENVIRONMENT (ignored in setuid programs)
//     TC_CUDA_LIBRARY      the driver's file, instead of libcuda.so.1
//     TC_NVRTC_LIBRARY     NVRTC's file, instead of libnvrtc.so.13, .12 in the loader's path, below
//                          CUDA_HOME, CUDA_PATH, /usr/local/cuda or a Python environment
//     CUDA_VISIBLE_DEVICES the driver's own: which devices there are
//     TC_CUDA_SYNC=1       waits after each kernel, so that its error has its name; no graphs
//     TC_CUDA_GRAPH_BRANCHES=1   kernels of a program that do not depend on each other run side by side.
//                          Processes that share a GPU did not end so with a driver of 2025
//     TC_CUDA_CHECK=1      kernels look at every access to a tensor: one outside of it is not made, and
//                          tc_sync, tc_read and tc_to tell the kernel, the tensor and the element
//     TC_CUDA_LINEINFO=1   code knows the lines of its text, for profilers

#if defined(TCOMPILE_CUDA_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#  define _GNU_SOURCE 1
#endif

#ifndef TCOMPILE_CUDA_H
#define TCOMPILE_CUDA_H

#include "tcompile.h"

#include "api/cuda.h"

#endif  // TCOMPILE_CUDA_H

#if defined(TCOMPILE_CUDA_IMPLEMENTATION) && !defined(TCOMPILE_CUDA_IMPLEMENTED)
#define TCOMPILE_CUDA_IMPLEMENTED

#ifndef TC__COUNT
#  error "tcompile_cuda.h stands on the inside of tcompile.h. Fix: define TCOMPILE_IMPLEMENTATION and \
TCOMPILE_CUDA_IMPLEMENTATION in the same file, before its includes."
#else

#include "out/cuda_ops.inc"
#include "out/text_cuda_types.inc"
#include "out/text_cuda_memory.inc"
#include "out/text_cuda_shared.inc"
#include "out/text_cuda_halves.inc"
#include "out/text_cuda_index.inc"
#include "out/text_cuda_math.inc"
#include "out/text_cuda_trig.inc"
#include "out/text_cuda_fast.inc"
#include "out/text_cuda_random.inc"
#include "out/text_cuda_divide.inc"
#include "out/text_cuda_product.inc"
#include "out/text_cuda_tiles.inc"
#include "out/text_cuda_mapped.inc"
#include "out/text_cuda_held.inc"
#include "out/text_cuda_chain.inc"
#include "out/text_cuda_mapped_chain.inc"
#include "out/text_cuda_decode.inc"
#include "out/text_cuda_skinny.inc"
#include "out/text_cuda_scan.inc"
#include "out/text_cuda_sort.inc"
#include "out/text_cuda_scatter.inc"
#include "out/text_cuda_runs.inc"
#include "out/text_cuda_check.inc"
#include "out/text_cuda_list.inc"
#include "out/text_cuda_spread.inc"
#include "out/text_cuda_custom.inc"

#include "base/once_begin.c"
#include "device/along.c"
#include "device/list.c"
#include "device/map.c"
#include "device/product_tiles.c"
#include "device/product_relay.c"
#include "device/product_operands.c"
#include "device/product.c"
#include "device/plan.c"
#include "device/hold.c"
#include "device/form.c"
#include "device/made.c"
#include "device/chain.c"
#include "device/decode.c"
#include "device/chain_plan.c"
#include "device/windows.c"
#include "device/vectors.c"
#include "device/flat.c"
#include "device/window.c"
#include "device/tile.c"
#include "device/rows.c"
#include "device/rows_make.c"
#include "device/columns.c"
#include "device/down_plan.c"
#include "device/down.c"
#include "device/template.c"
#include "device/chain_list.c"
#include "device/verify_threads.c"
#include "device/verify_template.c"
#include "device/verify.c"
#include "device/lower.c"
#include "cuda_print/opaque_plan.c"
#include "cuda_print/grids.c"
#include "cuda_print/fast.c"
#include "cuda_print/check.c"
#include "cuda_print/along.c"
#include "cuda_print/value.c"
#include "cuda_print/kept.c"
#include "cuda_print/combine.c"
#include "cuda_print/custom.c"
#include "cuda_print/opaque.c"
#include "cuda_print/list.c"
#include "cuda_print/sums.c"
#include "cuda_print/template.c"
#include "cuda_print/loops.c"
#include "cuda_print/launches.c"
#include "cuda_print/kernel.c"
#include "cuda_print/prelude.c"
#include "cuda_print/language.c"
#include "base/once_end.c"

#include "cuda/prelude.c"
#include "cuda/types.c"
#include "out/cuda_driver.inc"
#include "out/cuda_nvrtc.inc"

#include "cuda/error.c"
#include "cuda/library.c"
#include "cuda/device.c"
#include "cuda/memory.c"
#include "cuda/arena.c"
#include "cuda/staging.c"
#include "cuda/peer.c"
#include "cuda/nvrtc.c"
#include "cuda/module.c"
#include "cuda/graph.c"
#include "cuda/share.c"
#include "cuda/runtime.c"
#include "cuda/seam.c"

#endif  // TC__COUNT
#endif  // TCOMPILE_CUDA_IMPLEMENTATION

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
