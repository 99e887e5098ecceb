// Kernels for tests/cuda/emulate.c, which runs them in the emulator; NVRTC compiles them too.
// The helpers are as the prelude of emitted kernels has them.
#define TC_FN static __device__ __forceinline__
#define TC_N(name) tc_##name
typedef unsigned short tc_u16;
typedef long long tc_i64;
typedef unsigned long long tc_u64;

template <class T, int V> struct __align__(sizeof(T) * V) tc_pack {
    T at[V];
};

TC_FN float TC_N(of_f16)(tc_u16 b) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
    return f;
}

TC_FN tc_u16 TC_N(bits_f16)(float f) {
    tc_u16 b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
}

TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

TC_FN tc_u16 TC_N(bits_bf16)(float f) {
    tc_u16 b;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
}

TC_FN int tc_cast_f32_i32(float x) { return (int)(x); }
TC_FN tc_i64 tc_cast_f64_i64(double x) { return x != x ? 0 : (tc_i64)x; }

TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

TC_FN unsigned TC_N(bits_tf32)(float f) {
    unsigned b;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(f));
    return b;
}

TC_FN void TC_N(mma_tf32)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#define SHARED(p) ((unsigned)__cvta_generic_to_shared(p))

TC_FN void TC_N(ldmatrix1)(unsigned (&r)[1], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(SHARED(row)));
}

TC_FN void TC_N(ldmatrix2)(unsigned (&r)[2], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(SHARED(row)));
}

TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(SHARED(row)));
}

TC_FN void TC_N(ldmatrix1_trans)(unsigned (&r)[1], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(SHARED(row)));
}

TC_FN void TC_N(ldmatrix2_trans)(unsigned (&r)[2], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(SHARED(row)));
}

TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(SHARED(row)));
}

TC_FN void TC_N(copy_async16)(void *shared, const void *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(SHARED(shared)), "l"(global) : "memory");
}

TC_FN void TC_N(copy_async16_of)(void *shared, const void *global, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(SHARED(shared)), "l"(global), "r"(bytes) : "memory");
}

TC_FN void TC_N(copy_commit)(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

// Of 16 bytes, or a multiple.
template <class P> TC_FN P TC_N(load_words)(const P *p) {
    union words { P v; unsigned w[sizeof(P) / 4]; __device__ words() {} } u;
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
            : "=r"(u.w[4 * i]), "=r"(u.w[4 * i + 1]), "=r"(u.w[4 * i + 2]), "=r"(u.w[4 * i + 3])
            : "l"((const unsigned *)p + 4 * i));
    return u.v;
}

TC_FN unsigned TC_N(load_acquire)(const unsigned *p) {
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

TC_FN void TC_N(store_release)(unsigned *p, unsigned v) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}

TC_FN void TC_N(bar_sync)(int id, int threads) {
    asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}

TC_FN void TC_N(grid_wait)() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#if __CUDA_ARCH__ >= 900
TC_FN unsigned TC_N(cluster_rank)() {
    unsigned r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

TC_FN void TC_N(cluster_sync)() {
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

template <class T> TC_FN T *TC_N(cluster_map)(T *p, unsigned rank) {
    unsigned long long r;
    asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
    return (T *)r;
}
#endif

// ---- values

extern "C" __global__ void halves(float *of_f16, float *of_bf16, const float *x, tc_u16 *f16, tc_u16 *bf16, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (i < 65536) of_f16[i] = tc_of_f16((tc_u16)i), of_bf16[i] = tc_of_bf16((tc_u16)i);
        f16[i] = tc_bits_f16(x[i]);
        bf16[i] = tc_bits_bf16(x[i]);
    }
}

extern "C" __global__ void casts(const double *x, int *i32, tc_i64 *i64, int n) {
    if (threadIdx.x >= n) return;
    i32[threadIdx.x] = tc_cast_f32_i32((float)x[threadIdx.x]);
    i64[threadIdx.x] = tc_cast_f64_i64(x[threadIdx.x]);
}

// The place of each thread: threads of three dimensions in blocks of three.
extern "C" __global__ void __launch_bounds__(64) places(unsigned *out) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] += block * 1000 + thread;
}

extern "C" __global__ void bits(unsigned *out) {
    if (threadIdx.x) return;
    out[0] = __popc(0xf0f0u);
    out[1] = __clz(1);
    out[2] = __clz(0);
    out[3] = __ffs(8);
    out[4] = __brev(1u);
    out[5] = __umulhi(0xffffffffu, 0xffffffffu);
    out[6] = (unsigned)__umul64hi(~0ull, 1ull << 33);
    out[7] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
    out[8] = __funnelshift_l(0x80000000u, 1u, 1);
    out[9] = __float_as_uint(1.0f);
    out[10] = (unsigned)__float2int_rn(2.5f);
    out[11] = (unsigned)__float2int_rz(-2.5f);
}

// ---- threads of a warp

extern "C" __global__ void turns(const double *in, double *out) {
    out[2 * threadIdx.x] = cospi(in[threadIdx.x]);
    out[2 * threadIdx.x + 1] = sinpi(in[threadIdx.x]);
}

extern "C" __global__ void shuffles(int *down, int *up, int *by_xor, int *at, double *wide, unsigned *votes) {
    const int x = threadIdx.x;
    down[x] = __shfl_down_sync(~0u, 100 + x, 3);
    up[x] = __shfl_up_sync(~0u, 100 + x, 5u, 16);
    by_xor[x] = __shfl_xor_sync(~0u, 100 + x, 9);
    at[x] = __shfl_sync(~0u, 100 + x, x * 7, 8);
    wide[x] = __shfl_sync(~0u, x + 0.25, 31 - x % 32);
    votes[x] = __ballot_sync(~0u, x % 3 == 0);
    if (x % 32 < 16) votes[x] += (unsigned)__reduce_add_sync(0xffffu, x % 32); // half a warp by itself
    else votes[x] += (unsigned)__any_sync(0xffff0000u, x == 20) * 1000u;
}

// Not all threads of the last warp exist.
extern "C" __global__ void part_of_a_warp(int *out) {
    int x = threadIdx.x;
    for (int o = 16; o; o /= 2) x += __shfl_xor_sync(~0u, x, o);
    out[threadIdx.x] = x;
}

// ---- threads of a block

extern "C" __global__ void reverse(float *at, int n) {
    extern __shared__ __align__(16) char shared[];
    float *row = (float *)shared;
    __shared__ float last, sums[2][4];
    const int x = threadIdx.x;
    row[x] = at[blockIdx.x * n + x];
    if (x == n - 1) last = row[x];
    if (x < 8) sums[x / 4][x % 4] = (float)x;
    __syncthreads();
    at[blockIdx.x * n + x] = row[n - 1 - x] + last + sums[1][3];
}

// A race, which rising threads would win.
extern "C" __global__ void race(float *at, int n) {
    __shared__ float row[256];
    const int x = threadIdx.x;
    row[x] = (float)x;
    at[blockIdx.x * n + x] = row[x / 2];
}

extern "C" __global__ void counts(int *out) {
    const int x = threadIdx.x;
    const int n = __syncthreads_count(x % 3 == 0);
    const int any = __syncthreads_or(x == 77);
    out[x] = n * 100 + any * 10 + __syncthreads_and(x != 77);
    // Two halves of the block, each with a barrier of its own.
    __shared__ int half[128];
    half[x] = x;
    tc_bar_sync(1 + x / 64, 64);
    out[x] += 100000 * half[x ^ 63];
}

extern "C" __global__ void atomics(unsigned *at, float *sum, tc_u64 *key) {
    __shared__ unsigned inside;
    if (threadIdx.x == 0) inside = 0;
    __syncthreads();
    atomicAdd(&inside, 1u);
    atomicMax(&at[0], blockIdx.x * 100 + threadIdx.x);
    atomicMin(&at[1], 1000u - threadIdx.x);
    atomicAdd(sum, 0.5f);
    atomicMax(key, (tc_u64)threadIdx.x << 32 | blockIdx.x);
    __syncthreads();
    if (threadIdx.x) return;
    atomicAdd(&at[2], inside);
    __threadfence();
    const unsigned ticket = atomicAdd(&at[3], 1u);
    if (ticket == gridDim.x - 1) at[4] = at[2], at[3] = 0; // the last one
    if (atomicCAS(&at[5], 7u, 8u) == 7u) at[6] += atomicExch(&at[5], 9u);
}

// Sums of all before, of one pass: each block waits for the one before it.
extern "C" __global__ void look_back(const unsigned *in, unsigned *out, unsigned *work) {
    __shared__ unsigned tile, before, part[64];
    const unsigned x = threadIdx.x;
    tc_grid_wait();
    if (x == 0) tile = atomicAdd(work, 1u);
    __syncthreads();
    unsigned *state = work + 1; // sum << 1 | is there
    part[x] = in[tile * 64 + x];
    __syncthreads();
    for (unsigned o = 1; o < 64; o *= 2) {
        const unsigned v = x >= o ? part[x - o] : 0;
        __syncthreads();
        part[x] += v;
        __syncthreads();
    }
    if (x == 0) {
        unsigned v = 1;
        if (tile) do v = tc_load_acquire(&state[tile - 1]); while (!(v & 1));
        before = v >> 1;
        tc_store_release(&state[tile], (before + part[63]) << 1 | 1);
    }
    __syncthreads();
    out[tile * 64 + x] = before + part[x];
}

extern "C" __global__ void twice(float *at, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] = 2 * at[i] + 1;
}

// ---- matrices: d[16][8] += a[16][K] * b[K][8], row-major, by what PTX says of fragments

template <int KIND> TC_FN void multiply(const tc_u16 *a, const tc_u16 *b, float *d) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned ra[4], rb[2];
    float rd[4];
    for (int i = 0; i < 4; i++) {
        const tc_u16 *at = &a[(g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8];
        ra[i] = at[0] | (unsigned)at[1] << 16;
        rd[i] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    }
    for (int i = 0; i < 2; i++) {
        const tc_u16 *at = &b[(2 * t + i * 8) * 8 + g];
        rb[i] = at[0] | (unsigned)at[8] << 16;
    }
    if (KIND == 0) tc_mma_f16(rd, ra, rb);
    if (KIND == 1) tc_mma_bf16(rd, ra, rb);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = rd[i];
}

extern "C" __global__ void multiply_f16(const tc_u16 *a, const tc_u16 *b, float *d) { multiply<0>(a, b, d); }

extern "C" __global__ void multiply_bf16(const tc_u16 *a, const tc_u16 *b, float *d) { multiply<1>(a, b, d); }

extern "C" __global__ void multiply_tf32(const float *a, const float *b, float *d) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned ra[4], rb[2];
    float rd[4];
    for (int i = 0; i < 4; i++) {
        ra[i] = __float_as_uint(a[(g + i % 2 * 8) * 8 + t + i / 2 * 4]);
        rd[i] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    }
    for (int i = 0; i < 2; i++) rb[i] = __float_as_uint(b[(t + i * 4) * 8 + g]);
    tc_mma_tf32(rd, ra, rb);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = rd[i];
}

extern "C" __global__ void round_tf32(const float *x, unsigned *y) { y[threadIdx.x] = tc_bits_tf32(x[threadIdx.x]); }

// A product as kernels do it: tiles by cp.async, fragments by ldmatrix. b is [16][8], row-major.
extern "C" __global__ void multiply_tiles(const tc_u16 *a, const tc_u16 *b, float *d) {
    __shared__ __align__(16) tc_u16 ta[16][16], tb[16][8];
    const int x = threadIdx.x, g = x / 4, t = x % 4;
    unsigned ra[4], rb[2];
    float rd[4] = {0, 0, 0, 0};
    tc_copy_async16(&ta[x / 2][x % 2 * 8], &a[x * 8]);
    if (x < 16) tc_copy_async16(&tb[x][0], &b[x * 8]);
    tc_copy_commit();
    tc_copy_wait<0>();
    __syncthreads();
    tc_ldmatrix4(ra, &ta[x % 16][x / 16 * 8]);
    tc_ldmatrix2_trans(rb, &tb[x % 16][0]);
    tc_mma_f16(rd, ra, rb);
    for (int i = 0; i < 4; i++) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = rd[i];
}

// Registers of each lane: x1, x2, x4, then the same transposed, of rows that are numbered.
extern "C" __global__ void fragments(unsigned *out) {
    __shared__ __align__(16) tc_u16 rows[32][8];
    const int x = threadIdx.x;
    unsigned r1[1], r2[2], r4[4], *to = out + x * 14;
    for (int c = 0; c < 8; c++) rows[x][c] = (tc_u16)(x * 8 + c);
    __syncthreads();
    tc_ldmatrix1(r1, rows[x % 8]);
    tc_ldmatrix2(r2, rows[x % 16]);
    tc_ldmatrix4(r4, rows[x]);
    to[0] = r1[0];
    for (int i = 0; i < 2; i++) to[1 + i] = r2[i];
    for (int i = 0; i < 4; i++) to[3 + i] = r4[i];
    tc_ldmatrix1_trans(r1, rows[x % 8]);
    tc_ldmatrix2_trans(r2, rows[x % 16]);
    tc_ldmatrix4_trans(r4, rows[x]);
    to[7] = r1[0];
    for (int i = 0; i < 2; i++) to[8 + i] = r2[i];
    for (int i = 0; i < 4; i++) to[10 + i] = r4[i];
}

// Two groups of copies: what is there after each wait. The last one is of zeroes.
extern "C" __global__ void copies(const float *in, float *out) {
    __shared__ __align__(16) float at[3][4];
    const float *p = &at[0][0];
    if (threadIdx.x) return;
    tc_copy_async16(at[0], in);
    tc_copy_commit();
    tc_copy_async16(at[1], in + 4);
    tc_copy_async16_of(at[2], in + 8, 0);
    tc_copy_commit();
    for (int i = 0; i < 12; i++) out[i] = p[i];
    tc_copy_wait<1>();
    for (int i = 0; i < 12; i++) out[12 + i] = p[i];
    tc_copy_wait<0>();
    for (int i = 0; i < 12; i++) out[24 + i] = p[i];
}

// ---- clusters

#if __CUDA_ARCH__ >= 900
// Each block gives its sum to the others of its cluster.
extern "C" __global__ void together(const int *in, int *out) {
    __shared__ int mine, sums[4];
    const unsigned rank = tc_cluster_rank();
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 4) *tc_cluster_map(&sums[rank], threadIdx.x) = mine;
    tc_cluster_sync();
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0] + 10 * sums[1] + 100 * sums[2] + 1000 * sums[3];
}
#endif

// ---- what is not initialised

extern "C" __global__ void poison(unsigned *out) {
    extern __shared__ unsigned dynamic[];
    __shared__ unsigned fixed[32];
    out[blockIdx.x * 64 + threadIdx.x] = fixed[threadIdx.x];
    out[blockIdx.x * 64 + 32 + threadIdx.x] = dynamic[threadIdx.x];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = 5;
}

// ---- errors: what the launch is to report stands in emulate.c

extern "C" __global__ void write_at(float *at, int i) {
    if (threadIdx.x == 3) at[i] = 1;
}

extern "C" __global__ void read_at(float *at, int i) {
    if (threadIdx.x == 3) at[0] = at[i];
}

extern "C" __global__ void wide_at(float *at, int i) { *(tc_pack<float, 4> *)&at[i] = {1, 2, 3, 4}; }

extern "C" __global__ void shared_at(float *at, int i) {
    __shared__ float row[8];
    for (int k = 0; k < 8; k++) row[k] = 0;
    if (threadIdx.x == 3) row[i] = at[0];
    __syncthreads();
    at[0] = row[0];
}

extern "C" __global__ void pointer_at(float *at, int i) {
    __shared__ float row[8];
    float *p = row;
    if (threadIdx.x == 3) p[i] = at[0];
    __syncthreads();
    at[0] = row[0];
}

extern "C" __global__ void dynamic_at(float *at, int i) {
    extern __shared__ char shared[];
    float *row = (float *)shared;
    row[threadIdx.x == 3 ? i : 0] = at[0];
    __syncthreads();
    at[0] = row[0];
}

extern "C" __global__ void load_at(float *at, int i) {
    const tc_pack<float, 8> v = tc_load_words((const tc_pack<float, 8> *)&at[i]);
    for (int k = 0; k < 8; k++) at[k] = v.at[k];
}

extern "C" __global__ void half_waits(float *at, int i) {
    if (threadIdx.x < i) __syncthreads();
    at[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(float *at, int i) {
    if (threadIdx.x < i)
        __syncthreads();
    else
        __syncthreads();
    at[threadIdx.x] = 1;
}

extern "C" __global__ void half_shuffles(float *at, int i) {
    float x = at[threadIdx.x];
    if (threadIdx.x < i) x = __shfl_xor_sync(~0u, x, 1);
    __syncthreads();
    at[threadIdx.x] = x;
}

extern "C" __global__ void two_shuffles(float *at, int i) {
    float x = at[threadIdx.x];
    if (threadIdx.x < i)
        x = __shfl_xor_sync(~0u, x, 1);
    else
        x = __shfl_xor_sync(~0u, x, 2);
    at[threadIdx.x] = x;
}

extern "C" __global__ void not_in_mask(float *at, int i) {
    at[threadIdx.x] = __shfl_sync(1u << i, at[threadIdx.x], 0);
}

extern "C" __global__ void waits_for_nobody(float *at, int i) {
    if (threadIdx.x == 0) while (tc_load_acquire((const unsigned *)at) != (unsigned)i) {}
}

extern "C" __global__ void no_end(float *at, int i) {
    volatile float *p = at;
    while (*p != (float)i) {}
}

extern "C" __global__ void divide(int *at, int i) { at[0] = at[1] / i; }

extern "C" __global__ void shift(int *at, int i) { at[0] = at[1] << i; }

extern "C" __global__ void saturate(float *at, int i) { ((int *)at)[0] = (int)((float)i * 1e9f); }

extern "C" __global__ void copy_elsewhere(float *at, int i) {
    tc_copy_async16(at + i, at);
    tc_copy_commit();
    tc_copy_wait<0>();
}

extern "C" __global__ void misaligned_rows(float *at, int i) {
    __shared__ __align__(16) tc_u16 rows[9][8];
    unsigned r[1];
    tc_ldmatrix1(r, &rows[threadIdx.x % 8][i]);
    at[threadIdx.x] = (float)r[0];
}
