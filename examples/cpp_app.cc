// Option prices by Black and Scholes (1973), from C++11.
//
// Build: c++ -std=c++11 -O2 -I. examples/cpp_app.cc -o cpp_app -lpthread -ldl
// Prints calls and puts for a few strikes, and the largest violation of put-call parity
// over 100000 contracts. Exit status 1 if that is above 5e-5, or if the textbook's prices
// are missed (Hull: spot 42, strike 40, rate 10 %, volatility 20 %, half a year: call 4.76,
// put 0.81).
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

// Owns a context.
struct Close {
    void operator()(tc_ctx *tc) const { tc_close(tc); }
};
typedef std::unique_ptr<tc_ctx, Close> Context;

// A region that ends with its block, whatever way the block ends.
class Region {
  public:
    Region(tc_ctx *tc, const char *name) : tc_(tc) { tc_trace_begin(tc, name); }
    ~Region() { tc_trace_end(tc_); }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;

  private:
    tc_ctx *tc_;
};

// Errors become exceptions where results are read.
std::vector<float> read(tc_ctx *tc, tc_tensor t) {
    std::vector<float> v(static_cast<size_t>(tc_numel(t) > 0 ? tc_numel(t) : 0));
    tc_status s = tc_read(t, v.data(), v.size() * sizeof(float));
    if (s != TC_OK || tc_error(tc)) throw std::runtime_error(tc_error_text(tc));
    return v;
}

// Distribution function of the standard normal.
tc_tensor normal_cdf(tc_tensor x) {
    return tc_mul_s(tc_add_s(tc_erf(tc_mul_s(x, 0.70710678118654752)), 1), 0.5);
}

struct Prices {
    tc_tensor call, put;
};

// Spot, strike, time in years: [N]. Rate and volatility per year.
Prices black_scholes(tc_tensor spot, tc_tensor strike, tc_tensor years, double rate,
                     double volatility) {
    tc_tensor spread = tc_mul_s(tc_sqrt(years), volatility);
    tc_tensor drift = tc_mul_s(years, rate + volatility * volatility / 2);
    tc_tensor d1 = tc_div(tc_add(tc_log(tc_div(spot, strike)), drift), spread);
    tc_tensor d2 = tc_sub(d1, spread);
    tc_tensor present = tc_mul(strike, tc_exp(tc_mul_s(years, -rate)));
    Prices p;
    p.call = tc_sub(tc_mul(spot, normal_cdf(d1)), tc_mul(present, normal_cdf(d2)));
    p.put = tc_sub(tc_mul(present, normal_cdf(tc_neg(d2))),
                   tc_mul(spot, normal_cdf(tc_neg(d1))));
    return p;
}

tc_tensor wrap(tc_ctx *tc, std::vector<float> &v) {
    return tc_wrap(tc, v.data(), TC_DIMS(v.size()), TC_F32);
}

bool run() {
    const double rate = 0.10, volatility = 0.20;
    const size_t n = 100000;
    std::vector<float> spot(n), strike(n), years(n);
    for (size_t i = 0; i < n; i++) {
        spot[i] = 42.0f;
        strike[i] = 40.0f + 10.0f * static_cast<float>(i % 1000) / 1000.0f;
        years[i] = 0.5f + static_cast<float>(i / 1000) / 50.0f;
    }
    Context tc(tc_open(nullptr));
    if (!tc) throw std::runtime_error("no context");
    tc_tensor s = wrap(tc.get(), spot), k = wrap(tc.get(), strike),
              t = wrap(tc.get(), years);

    Prices p;
    {
        Region region(tc.get(), "black_scholes");
        p = black_scholes(s, k, t, rate, volatility);
    }
    std::vector<float> call = read(tc.get(), p.call), put = read(tc.get(), p.put);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double parity = spot[i] - strike[i] * std::exp(-rate * years[i]);
        worst = std::fmax(worst, std::fabs(call[i] - put[i] - parity));
    }
    for (size_t i = 0; i < 1000; i += 250)
        std::printf("strike %5.2f, half a year: call %.2f, put %.2f\n",
                    static_cast<double>(strike[i]), static_cast<double>(call[i]),
                    static_cast<double>(put[i]));
    std::printf("%d kernels; largest violation of put-call parity %.1e\n",
                tc_region_kernels(tc.get(), "black_scholes"), worst);
    return worst < 5e-5 && std::fabs(call[0] - 4.76) < 0.005 &&
           std::fabs(put[0] - 0.81) < 0.005;
}

} // namespace

int main() {
    try {
        return run() ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
}
