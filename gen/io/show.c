// Tensors as text, laid out as PyTorch prints them:
//
//     tensor([[ 0.1000, -2.0000], [ 3.0000,  0.2500]])
//
// Above 1000 elements every dimension longer than 6 shows its first and last 3. The number
// format is chosen once from the elements shown, in torch/_tensor_str.py's way. The locale
// has no influence: the decimal point that printf wrote is replaced.

enum {
    TC__SHOW_ALL = 1000, // elements; above, dimensions are cut
    TC__SHOW_EDGE = 3,   // elements kept at each end of a cut dimension
    TC__SHOW_LINE = 80,  // columns
    TC__SHOW_DIGITS = 64 // bytes of one number
};

typedef enum tc__show_form {
    TC__SHOW_WHOLE,
    TC__SHOW_FIXED,
    TC__SHOW_EXPONENT
} tc__show_form;

// Passes over the elements shown.
typedef enum tc__show_pass { TC__SHOW_PRINT, TC__SHOW_RANGE, TC__SHOW_WIDTH } tc__show_pass;

typedef struct tc__show_state {
    tc__text *out;
    const void *data;
    const tc__layout *l;
    int cut;            // dimensions are cut
    tc__show_form form; // of floats
    int width;          // of every number
    tc__show_pass pass;
    double low, high; // smallest and largest size of the finite elements that are not 0
    int fraction;     // some element shown is not whole
    int any;          // low and high are set
} tc__show_state;

// ---- numbers ----

// What printf wrote with its decimal point, whatever that is, replaced by ".".
static int tc__show_point(char *s) {
    char *from = s + (*s == '-'), *to;
    while (*from >= '0' && *from <= '9') from++;
    for (to = from; *from && *from != 'e' && (*from < '0' || *from > '9'); from++) {
        if (to == from) *to = '.';
    }
    if (from != to) to++;
    memmove(to, from, strlen(from) + 1);
    return (int)strlen(s);
}

static int tc__show_float(const tc__show_state *w, double v, char *s) {
    if (v != v) return snprintf(s, TC__SHOW_DIGITS, "nan");
    if (v == tc__infinity()) return snprintf(s, TC__SHOW_DIGITS, "inf");
    if (v == -tc__infinity()) return snprintf(s, TC__SHOW_DIGITS, "-inf");
    if (w->form == TC__SHOW_WHOLE) return snprintf(s, TC__SHOW_DIGITS, "%.0f.", v);
    snprintf(s, TC__SHOW_DIGITS, w->form == TC__SHOW_FIXED ? "%.4f" : "%.4e", v);
    return tc__show_point(s);
}

static int tc__show_number(const tc__show_state *w, int64_t at, char *s) {
    tc__value v = tc__value_load(w->data, at, w->l->dtype);
    if (tc__is_float(w->l->dtype)) return tc__show_float(w, v.f, s);
    if (w->l->dtype == TC_BOOL)
        return snprintf(s, TC__SHOW_DIGITS, "%s", v.i ? "True" : "False");
    return snprintf(s, TC__SHOW_DIGITS, "%lld", (long long)v.i);
}

// Takes one element into account: first for the choice of the form, later for the width.
static void tc__show_measure(tc__show_state *w, int64_t at) {
    char s[TC__SHOW_DIGITS];
    if (w->pass == TC__SHOW_WIDTH) {
        int n = tc__show_number(w, at, s);
        w->width = n > w->width ? n : w->width;
        return;
    }
    double v = tc__value_load(w->data, at, w->l->dtype).f, size = v < 0 ? -v : v;
    if (!(size > 0) || size == tc__infinity()) return;
    if (!w->any || size < w->low) w->low = size;
    if (!w->any || size > w->high) w->high = size;
    w->any = 1;
    if (size < 9007199254740992.0 && size != (double)(int64_t)size) w->fraction = 1;
}

static tc__show_form tc__show_choose(const tc__show_state *w) {
    if (!w->any) return TC__SHOW_WHOLE;
    if (w->high / w->low > 1000 || w->high > 1e8) return TC__SHOW_EXPONENT;
    if (w->fraction && w->low < 1e-4) return TC__SHOW_EXPONENT;
    return w->fraction ? TC__SHOW_FIXED : TC__SHOW_WHOLE;
}

// ---- layout ----

static int tc__show_is_cut(const tc__show_state *w, int dim) {
    return w->cut && w->l->dims[dim] > 2 * TC__SHOW_EDGE;
}

static void tc__show_indent(const tc__show_state *w, int n) {
    tc__put(w->out, "%*s", n, "");
}

// The last dimension from element `at`: as many numbers per line as fit.
static void tc__show_row(tc__show_state *w, int64_t at, int dim, int indent) {
    char s[TC__SHOW_DIGITS];
    int64_t n = w->l->dims[dim], step = w->l->strides[dim];
    int per_line = (TC__SHOW_LINE - indent) / (w->width + 2), cut = tc__show_is_cut(w, dim);
    if (per_line < 1) per_line = 1;
    for (int64_t i = 0, shown = 0; i < n; i++, shown++) {
        if (shown) tc__put(w->out, shown % per_line ? ", " : ",\n");
        if (shown && shown % per_line == 0) tc__show_indent(w, indent + 1);
        if (cut && i == TC__SHOW_EDGE) {
            tc__put(w->out, " ...");
            i = n - TC__SHOW_EDGE - 1;
            continue;
        }
        int size = tc__show_number(w, at + i * step, s);
        tc__show_indent(w, w->width - size);
        tc__put_raw(w->out, s, (size_t)size);
    }
}

// Between two blocks of dimension `dim`: as many newlines as dimensions are closed.
static void tc__show_next_block(const tc__show_state *w, int dim, int indent) {
    tc__put(w->out, ",");
    for (int i = dim + 1; i < w->l->rank; i++) tc__put(w->out, "\n");
    tc__show_indent(w, indent + 1);
}

// Dimension `dim` and those behind it, from element `at`. Recursion is at most TC_MAX_RANK
// deep.
static void tc__show_block(tc__show_state *w, int64_t at, int dim, int indent) {
    const tc__layout *l = w->l;
    int print = w->pass == TC__SHOW_PRINT, last = dim == l->rank - 1;
    if (print) tc__put(w->out, "[");
    if (print && last) tc__show_row(w, at, dim, indent);
    for (int64_t i = 0; i < l->dims[dim] && !(print && last); i++) {
        if (i && print) tc__show_next_block(w, dim, indent);
        if (tc__show_is_cut(w, dim) && i == TC__SHOW_EDGE) {
            if (print) tc__put(w->out, "...");
            i = l->dims[dim] - TC__SHOW_EDGE - 1;
            continue;
        }
        if (last)
            tc__show_measure(w, at + i * l->strides[dim]);
        else
            tc__show_block(w, at + i * l->strides[dim], dim + 1, indent + 1);
    }
    if (print) tc__put(w->out, "]");
}

static void tc__show_whole(tc__show_state *w, int64_t at, int indent) {
    char s[TC__SHOW_DIGITS];
    if (w->l->rank)
        tc__show_block(w, at, 0, indent);
    else if (w->pass != TC__SHOW_PRINT)
        tc__show_measure(w, at);
    else
        tc__put_raw(w->out, s, (size_t)tc__show_number(w, at, s));
}

// What the numbers do not tell: sizes of an empty tensor, and a dtype that is not the usual
// one.
static void tc__show_suffix(const tc__show_state *w) {
    int t = w->l->dtype;
    if (!w->l->numel && w->l->rank != 1) {
        tc__put(w->out, ", size=(");
        for (int i = 0; i < w->l->rank; i++)
            tc__put(w->out, "%s%lld", i ? ", " : "", (long long)w->l->dims[i]);
        tc__put(w->out, ")");
    }
    if (t != TC_F32 && t != TC_I64 && t != TC_BOOL)
        tc__put(w->out, ", dtype=%s", tc__dtype(t)->name);
}

// Appends the tensor and a newline; 0 = out of memory (reported).
static int tc__show(tc__text *out, const void *data, const tc__layout *l, int64_t offset) {
    static const char head[] = "tensor(";
    tc__show_state w;
    memset(&w, 0, sizeof w);
    w.out = out, w.data = data, w.l = l, w.cut = l->numel > TC__SHOW_ALL;
    if (l->numel && tc__is_float(l->dtype)) {
        w.pass = TC__SHOW_RANGE;
        tc__show_whole(&w, offset, 0);
        w.form = tc__show_choose(&w);
    }
    if (l->numel) {
        w.pass = TC__SHOW_WIDTH;
        tc__show_whole(&w, offset, 0);
    }
    w.pass = TC__SHOW_PRINT;
    tc__put(out, "%s", head);
    if (l->numel)
        tc__show_whole(&w, offset, (int)sizeof head - 1);
    else
        tc__put(out, "[]");
    tc__show_suffix(&w);
    tc__put(out, ")\n");
    return !out->failed;
}
