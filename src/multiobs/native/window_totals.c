/* Totals of polynomial kernels over all tuples of sorted windows, without listing one.
 *
 * A row has base values (features, labels, weight); columns are products of base values; the sums
 * of the columns over the partners of each anchor are running sums. Whatever a kernel needs is a
 * sum over anchors of (product of the anchor's own values) x (product of partner sums): a short
 * program of products and inner products, compiled by _totals.py and run here on blocks of anchors.
 */
#include "native.h"

#define BLOCK 256
#define PITCH (BLOCK + 8) /* from one register to the next: not a power of two, for the cache */
#define STEP 64           /* rows between two stored suffix sums */
#define NARROW 4096       /* windows whose suffix sums are all kept */
#define HELD \
    (1 << 22) /* numbers: columns of a chunk up to 32 MB are held, of more made when needed */
#define ALIGN 64
#define SAMPLE 101 /* labels looked at for the level of a long run */

/* The same operations in the same order on wider registers: the same bits, sooner. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* The first whole cache line of some memory, so that no vector lies across two. */
INLINE double *aligned(void *memory)
{
    return (double *)(((uintptr_t)memory + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
}

struct rows {
    const double *value; /* base values of local rows, each base `pitch` after the one before */
    int64_t pitch, columns, count;
    const int32_t *column; /* columns x 2: an earlier column (-1: one) times a base value */
    double *F; /* columns of all local rows, or NULL where that would be too much memory */
};

struct some_rows { /* columns of STEP consecutive rows, where not all are held */
    double *F;
    int64_t group;
};

struct window {
    double *tail; /* suffix sums of rows base .. base + step - 1 */
    double *mark; /* suffix sums of every step-th row */
    double *head; /* sum of rows pivot .. end - 1 */
    int64_t room; /* marks that fit */
    int64_t step;
    int64_t origin, base, pivot, end;
    struct some_rows before, after; /* for the suffix sums, for the head */
};

/* Columns of STEP rows: one column after the other, so that no product waits for the one before. */
WIDE static void fill(const struct rows *r, int64_t width, int64_t group, double *F)
{
    const int64_t from = group * STEP, left = r->count - from, size = left < STEP ? left : STEP;
    for (int64_t d = 0; d < r->columns; d++) {
        const int32_t before = r->column[2 * d];
        const double *v = r->value + r->column[2 * d + 1] * r->pitch + from;
        double *f = F + d;
        if (before < 0)
            for (int64_t j = 0; j < size; j++) f[j * width] = v[j];
        else
            for (int64_t j = 0; j < size; j++) f[j * width] = F[j * width + before] * v[j];
    }
}

static const double *made_row(const struct rows *r, int64_t width, int64_t row,
                              struct some_rows *some)
{
    if (row / STEP != some->group) fill(r, width, some->group = row / STEP, some->F);
    return some->F + row % STEP * width;
}

INLINE const double *columns_of(const struct rows *r, const int64_t width, int64_t row,
                                struct some_rows *some)
{
    return r->F ? r->F + row * width : made_row(r, width, row, some);
}

INLINE void add_row(const struct rows *r, const int64_t width, int64_t row, struct some_rows *some,
                    double *sum)
{
    const double *f = columns_of(r, width, row, some);
    for (int64_t d = 0; d < width; d++) sum[d] += f[d];
}

/* Suffix sums of rows from .. to - 1, given that of row `to` in `sum`. */
INLINE void suffix(const struct rows *r, const int64_t width, int64_t from, int64_t to,
                   struct some_rows *some, double *sum, double *tail)
{
    for (int64_t k = to - 1; k >= from; k--) {
        add_row(r, width, k, some, sum);
        for (int64_t d = 0; d < width; d++) tail[(k - from) * width + d] = sum[d];
    }
}

/* Partner sums of `a` anchors from local row `first`, in out[i * width + d].
 * Two stacks, as in mo_window_sums: nothing is subtracted. Of wide windows the suffix sums are
 * kept at every STEP-th row and made again for the rows between, so that even a window of all rows
 * needs little memory. */
INLINE int partner_sums(const struct rows *r, const int64_t width, const int64_t *stop,
                        int64_t shift, int64_t first, int64_t a, struct window *w, double *sum,
                        double *head, double *out)
{
    const int64_t step = w->step;
    for (int64_t d = 0; d < width; d++) head[d] = w->head[d];
    for (int64_t i = 0; i < a; i++) {
        const int64_t l = first + i + 1, h = stop[i] - shift;
        if (l >= w->pivot) {
            const int64_t marks = (h - l) / step + 1;
            if (marks > w->room) {
                free(w->mark);
                w->room = marks + marks / 2;
                w->mark = malloc((size_t)(w->room * width) * sizeof(double));
                if (!w->mark) return 1;
            }
            for (int64_t d = 0; d < width; d++) sum[d] = head[d] = 0.0;
            int64_t to = h;
            for (int64_t k = marks - 1; k > 0; k--) {
                for (int64_t j = to - 1; j >= l + k * step; j--)
                    add_row(r, width, j, &w->before, sum);
                to = l + k * step;
                memcpy(w->mark + k * width, sum, (size_t)width * sizeof(double));
            }
            suffix(r, width, l, to, &w->before, sum, w->tail);
            if (h == l) memset(w->tail, 0, (size_t)width * sizeof(double));
            w->origin = w->base = l;
            w->pivot = w->end = h;
        } else {
            if (l >= w->base + step) {
                const int64_t k = (l - w->origin) / step;
                int64_t to = w->origin + (k + 1) * step;
                w->base = w->origin + k * step;
                for (int64_t d = 0; d < width; d++) sum[d] = 0.0;
                if (to < w->pivot)
                    memcpy(sum, w->mark + (k + 1) * width, (size_t)width * sizeof(double));
                if (to > w->pivot) to = w->pivot;
                suffix(r, width, w->base, to, &w->before, sum, w->tail);
            }
            for (; w->end < h; w->end++) add_row(r, width, w->end, &w->after, head);
        }
        const double *t = w->tail + (l - w->base) * width;
        for (int64_t d = 0; d < width; d++) out[i * width + d] = t[d] + head[d];
    }
    memcpy(w->head, head, (size_t)width * sizeof(double));
    return 0;
}

/* out[k] = sum of the first k rows of F, or of the last k for step -width, k = 0 .. size. */
INLINE void running(const double *F, const int64_t width, int64_t size, const int64_t step,
                    double *out)
{
    double sum[width];
    for (int64_t d = 0; d < width; d++) out[d] = sum[d] = 0.0;
    for (int64_t k = 0; k < size; k++) {
        F += step;
        out += step;
        for (int64_t d = 0; d < width; d++) out[d] = sum[d] += F[d];
    }
}

/* The same for windows narrower than NARROW with columns held: all suffix sums up to the pivot, all
 * prefix sums beyond it as far as an anchor before the pivot reaches, no branch that depends on
 * data. */
INLINE void narrow_sums(const double *F, const int64_t width, const int64_t *stop, int64_t shift,
                        int64_t first, int64_t a, int64_t last, struct window *w, double *out)
{
    for (int64_t i = 0; i < a;) {
        const int64_t l = first + i + 1;
        if (l >= w->pivot) {
            const int64_t pivot = stop[i] - shift;
            const int64_t furthest = pivot - 1 < last ? pivot - 1 : last; /* anchor + 1 */
            const int64_t end =
                (furthest > first + i ? stop[furthest - 1 - first] : stop[i]) - shift;
            w->base = l;
            w->pivot = pivot;
            running(F + pivot * width, width, pivot - l, -width, w->tail + (pivot - l) * width);
            running(F + (pivot - 1) * width, width, end - pivot, width, w->mark);
        }
        /* all anchors of this block before the pivot, at least this one */
        int64_t to = w->pivot - 1 - first;
        to = to > a ? a : to <= i ? i + 1 : to;
        const double *t = w->tail + (l - w->base) * width,
                     *m = w->mark - (w->pivot + shift) * width;
        for (; i < to; i++, t += width)
            for (int64_t d = 0; d < width; d++) out[i * width + d] = t[d] + m[stop[i] * width + d];
    }
}

/* A constant width lets the compiler keep the running sums in registers. */
#define WIDTH(C)                                                             \
    case C: {                                                                \
        double sum[C], head[C];                                              \
        if (w->step == NARROW) {                                             \
            narrow_sums(r->F, C, stop, shift, first, a, last, w, out);       \
            return 0;                                                        \
        }                                                                    \
        return partner_sums(r, C, stop, shift, first, a, w, sum, head, out); \
    }

/* Anchors `first` .. `first + a - 1` of the `last` anchors of a chunk. */
WIDE static int sums_of_block(const struct rows *r, int64_t width, const int64_t *stop,
                              int64_t shift, int64_t first, int64_t a, int64_t last,
                              struct window *w, double *out)
{
    switch (width) {
        WIDTH(4)
        WIDTH(8)
        WIDTH(12)
        WIDTH(16)
    }
    double *work = w->tail + (w->step + 1) * width;
    if (w->step == NARROW) {
        narrow_sums(r->F, width, stop, shift, first, a, last, w, out);
        return 0;
    }
    return partner_sums(r, width, stop, shift, first, a, w, work, work + width, out);
}

/* From rows of sums to one register for each column. */
WIDE static void transpose(const double *rows, int64_t width, int64_t columns, int64_t a,
                           double *reg)
{
    for (int64_t d = 0; d < columns; d++)
        for (int64_t i = 0; i < a; i++) reg[d * PITCH + i] = rows[i * width + d];
}

WIDE static void multiply(const double *a, const double *b, double *out)
{
    for (int i = 0; i < BLOCK; i++) out[i] = a[i] * b[i];
}

WIDE static double inner(const double *a, const double *b)
{
    double lane[8] = {0};
    for (int i = 0; i < BLOCK; i += 8)
        for (int d = 0; d < 8; d++) lane[d] += a[i + d] * b[i + d];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* (from - shift) / scale of the rows of a chunk, in order. */
WIDE static void gather(const double *from, int64_t stride, double shift, double scale,
                        const int64_t *order, int64_t rows, double *to)
{
    if (stride == 1)
        for (int64_t j = 0; j < rows; j++) to[j] = from[order[j]];
    else
        for (int64_t j = 0; j < rows; j++) to[j] = from[order[j] * stride];
    if (shift != 0.0 || scale != 1.0)
        for (int64_t j = 0; j < rows; j++) to[j] = (to[j] - shift) / scale;
}

/* A middle label of rows from .. to - 1: any value among them is right, a typical one keeps power
 * sums small. */
static double level_of(const double *value, int64_t from, int64_t to)
{
    double s[SAMPLE];
    const int64_t size = to - from, k = size < 5 ? size : size <= 512 ? 5 : SAMPLE;
    for (int64_t i = 0; i < k; i++) {
        const double v = value[from + (k > 1 ? (size - 1) * i / (k - 1) : 0)];
        int64_t j = i;
        for (; j > 0 && s[j - 1] > v; j--) s[j] = s[j - 1];
        s[j] = v;
    }
    return s[k / 2];
}

/* Measure the marked base values of each run of overlapping windows from a level of their own: no
 * tuple crosses from one run to the next. */
static void centre(double *value, int64_t pitch, int64_t bases, const int32_t *centred,
                   const int64_t *stop, int64_t first, int64_t rows)
{
    for (int64_t from = 0, to; from < rows; from = to) {
        to = from + 1;
        while (to < rows && stop[first + to - 1] > first + to) to++;
        for (int64_t b = 0; b < bases; b++) {
            if (!centred[b]) continue;
            double *v = value + b * pitch;
            const double level = level_of(v, from, to);
            for (int64_t j = from; j < to; j++) v[j] -= level;
        }
    }
}

/* out[d] += sum over anchors of register dot[2d] x register dot[2d + 1]. Registers hold a block of
 * anchors: 0 is one (zero where there are fewer than `need` partners), 1 the number of partners,
 * then the anchor's own base values (zero likewise), the partner sums of the columns, and the
 * products. */
API int mo_window_totals(const int64_t *order, const int64_t *stop, int64_t n,
                         const double *const *base, const int64_t *stride, const double *shift,
                         const double *scale, const int32_t *centred, int64_t bases,
                         const int32_t *column, int64_t columns, const int32_t *product,
                         int64_t products, const int32_t *dot, int64_t dots, int64_t need,
                         double *out)
{
    int64_t widest = 0, total = 0, any = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t partners = stop[i] - i - 1;
        total += partners;
        if (partners > widest) widest = partners;
    }
    for (int64_t b = 0; b < bases; b++) any |= centred[b];
    /* A chunk is long beside a window, and short enough for the cache and for one level. */
    int64_t chunk = n ? 8 * (total / n) : 0;
    chunk = chunk < 2048 ? 2048 : chunk > 32768 ? 32768 : chunk;
    if (chunk < widest / 2) chunk = widest / 2;
    const int64_t width = (columns / 4 + 1) * 4, registers = 2 + bases + columns + products;
    const int64_t rows_held = chunk + widest < n ? chunk + widest : n;
    double *value = many((size_t)(rows_held * bases + 1) * sizeof(double));
    double *reg = malloc((size_t)(registers * PITCH) * sizeof(double));
    double *sums = malloc((size_t)(BLOCK * width) * sizeof(double) + ALIGN);
    double *part = malloc((size_t)(2 * dots + 1) * sizeof(double));
    /* head, tail, two vectors of work, then the columns of rows; columns beyond the last stay zero
     */
    const int whole = rows_held * width <= HELD;
    const int64_t step = whole && widest < NARROW ? NARROW : STEP, fixed = width * (step + 4);
    const int64_t numbers = fixed + width * (whole ? rows_held : 2 * STEP);
    double *held = malloc((size_t)numbers * sizeof(double) + ALIGN), *work = aligned(held);
    if (held) memset(work, 0, (size_t)numbers * sizeof(double));
    double *prefix = NULL;
    struct window w = {work + width, NULL, work, 0, step, 0, 0, 0, 0, {0}, {0}};
    if (step == NARROW) {
        w.room = NARROW + 1;
        prefix = malloc((size_t)(w.room * width) * sizeof(double) + ALIGN);
        w.mark = aligned(prefix);
    }
    int failed = !value || !reg || !sums || !part || !held || (step == NARROW && !prefix);
    double *lost = part + dots; /* what rounding took from out */
    if (!failed) memset(part, 0, (size_t)(2 * dots) * sizeof(double));
    for (int64_t first = 0; !failed && first < n; first += chunk) {
        const int64_t last = first + chunk < n ? first + chunk : n;
        const int64_t rows = stop[last - 1] - first;
        for (int64_t b = 0; b < bases; b++)
            gather(base[b], stride[b], shift[b], scale[b], order + first, rows,
                   value + b * rows_held);
        if (any) centre(value, rows_held, bases, centred, stop, first, rows);
        const struct rows r = {value, rows_held, columns,
                               rows,  column,    whole ? work + fixed : NULL};
        w.before = (struct some_rows){work + fixed, -1};
        w.after = (struct some_rows){work + fixed + width * STEP, -1};
        w.pivot = w.end = 0;
        for (int64_t g = 0; whole && g * STEP < rows; g++)
            fill(&r, width, g, r.F + g * STEP * width);
        for (int64_t i = 0; i < last - first && !failed; i += BLOCK) {
            const int64_t a = last - first - i < BLOCK ? last - first - i : BLOCK;
            if (a < BLOCK) memset(reg, 0, (size_t)((2 + bases + columns) * PITCH) * sizeof(double));
            for (int64_t k = 0; k < a; k++) {
                const int64_t partners = stop[first + i + k] - (first + i + k) - 1;
                reg[k] = partners >= need ? 1.0 : 0.0;
                reg[PITCH + k] = (double)partners;
            }
            for (int64_t b = 0; b < bases; b++)
                for (int64_t k = 0; k < a; k++)
                    reg[(2 + b) * PITCH + k] = reg[k] * value[b * rows_held + i + k];
            failed = sums_of_block(&r, width, stop + first + i, first, i, a, last - first, &w,
                                   aligned(sums));
            if (failed) break;
            transpose(aligned(sums), width, columns, a, reg + (2 + bases) * PITCH);
            double *next = reg + (2 + bases + columns) * PITCH;
            for (int64_t k = 0; k < products; k++, next += PITCH)
                multiply(reg + product[2 * k] * PITCH, reg + product[2 * k + 1] * PITCH, next);
            for (int64_t k = 0; k < dots; k++)
                part[k] += inner(reg + dot[2 * k] * PITCH, reg + dot[2 * k + 1] * PITCH);
        }
        for (int64_t k = 0; k < dots; k++) { /* compensated: the number of chunks costs no digit */
            const double term = part[k] - lost[k], sum = out[k] + term;
            lost[k] = (sum - out[k]) - term;
            out[k] = sum;
            part[k] = 0.0;
        }
    }
    free(value);
    free(reg);
    free(part);
    free(sums);
    free(held);
    free(step == NARROW ? prefix : w.mark);
    return failed;
}
