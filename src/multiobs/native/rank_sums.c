/* Sums of order statistics over the tuples of each anchor, by a tree over the ranks of y.
 *
 * The tree's nodes hold truncated generating polynomials (polynomials.h); its leaves are short
 * runs of ranks that are recomputed when one of their rows enters or leaves the window. Anchors are
 * taken in chunks of about a window's length, so ranks and tree stay local and memory is O(window).
 * The sums of all tuples that contain a row are derivatives: the total T is linear in each x_j, so
 * they are x_j dT/dx_j, found in reverse mode; gradients wait at a node until a row below it moves.
 */
#include "native.h"

typedef struct {
    int m, nc, depth;      /* arity; ring components, 1 or 2; 2^depth leaves */
    int64_t leaves, block; /* leaves and ranks in each */
    const double *coefs;   /* (m,) */
    double *x, *y;         /* rows of the chunk in rank order: ring elements (., nc) and values */
    int64_t *place, *rank; /* row of the data set at each rank; rank of each row of the chunk */
    uint64_t *bits;        /* which ranks are in the window */
    double *value, *gradient;
    uint8_t *waiting;       /* nodes that hold a gradient not yet passed on */
    double *states, *own;   /* states along one query; gradients of its two sides */
    int32_t *below, *above; /* ranks of the anchor's own leaf */
    double *shares;         /* sums of the tuples that contain each partner, in rank order */
    uint64_t *sort;
    double *labels; /* y of the chunk in row order, to be sorted */
} work;

INLINE void ring_sum(double *o, const double *x, const double *y, const int nc)
{
    for (int d = 0; d < nc; d++) o[d] = x[d] + y[d];
}

INLINE void ring_add(double *o, const double *x, const int nc)
{
    for (int d = 0; d < nc; d++) o[d] += x[d];
}

INLINE void ring_add_scaled(double *o, const double c, const double *x, const int nc)
{
    for (int d = 0; d < nc; d++) o[d] += c * x[d];
}

INLINE void ring_fma(double *o, const double *x, const double *y, const int nc)
{
    const double x0 = x[0], y0 = y[0];
    o[0] += x0 * y0;
    if (nc > 1) o[1] += x0 * y[1] + x[1] * y0;
}

INLINE void ring_fma_scaled(double *o, const double c, const double *x, const double *y,
                            const int nc)
{
    const double x0 = c * x[0], y0 = c * y[0];
    o[0] += x0 * y[0];
    if (nc > 1) o[1] += x0 * y[1] + x[1] * y0;
}

INLINE void prefetch(const double *at, int64_t n)
{
    for (int64_t k = 0; k < n; k += 8) __builtin_prefetch(at + k);
}

/* Ranks in the window among first..last-1, in order. */
INLINE int collect(const work *s, int64_t first, int64_t last, int32_t *list)
{
    int count = 0;
    while (first < last) {
        const int64_t base = first & ~(int64_t)63;
        uint64_t word = s->bits[first >> 6] >> (first & 63) << (first & 63);
        if (last - base < 64) word &= ((uint64_t)1 << (last - base)) - 1;
        for (; word; word &= word - 1) list[count++] = (int32_t)(base + __builtin_ctzll(word));
        first = base + 64;
    }
    return count;
}

#define PASTE(f, m, full, nc) PASTE_(f, m, full, nc)
#define PASTE_(f, m, full, nc) f##_##m##_##full##_##nc
#define M 2
#include "rank_sums.h"
#define M 3
#include "rank_sums.h"
#define M 4
#include "rank_sums.h"
#define M 5
#include "rank_sums.h"
#define M 6
#include "rank_sums.h"
#define ANY
#include "rank_sums.h"

typedef struct {
    void (*sums)(const work *, const int64_t *, int64_t, int64_t, double *);
    void (*rows)(const work *, const int64_t *, int64_t, int64_t, double *);
    void (*list)(const work *, int, int, const double *, double, double *, int);
} shape;

#define SHAPE(m, f, c) {sums_##m##_##f##_##c, rows_##m##_##f##_##c, list_##m##_##f##_##c}
#define SHAPES(m)                                                            \
    {                                                                        \
        {SHAPE(m, 0, 1), SHAPE(m, 0, 2)}, { SHAPE(m, 1, 1), SHAPE(m, 1, 2) } \
    }
static const shape SHAPE_OF[6][2][2] = {SHAPES(2), SHAPES(3), SHAPES(4),
                                        SHAPES(5), SHAPES(6), SHAPES(any)};

static const shape *choose(int64_t m, int64_t full, int nc)
{
    return &SHAPE_OF[m <= 6 ? m - 2 : 5][full][nc - 1];
}

static void release(work *s)
{
    free(s->x);
    free(s->y);
    free(s->place);
    free(s->rank);
    free(s->bits);
    free(s->value);
    free(s->gradient);
    free(s->waiting);
    free(s->states);
    free(s->own);
    free(s->shares);
    free(s->below);
    free(s->above);
    free(s->sort);
    free(s->labels);
}

/* Room for `rows` rows in the leaves and depth already set; returns 1 when there is none. */
static int reserve(work *s, int64_t rows, int full, int reverse)
{
    const size_t word = sizeof(double), n = (size_t)rows,
                 b = (size_t)(s->leaves > 1 ? s->block : rows);
    const size_t node =
        (size_t)(s->m - 1 + (full ? s->m * (s->m - 1) / 2 : s->m - 1)) * s->nc * word;
    const size_t nodes = s->leaves > 1 ? 2 * (size_t)s->leaves : 0;
    release(s);
    s->x = malloc((n + 1) * s->nc * word);
    s->y = malloc((n + 1) * word);
    s->place = malloc((n + 1) * word);
    s->rank = malloc((n + 1) * word);
    s->bits = malloc((n / 64 + 2) * word);
    s->value = malloc(nodes * node + word);
    s->gradient = calloc(reverse ? nodes + 1 : 1, node);
    s->waiting = calloc(nodes + 2, 1);
    s->states = malloc((2 * (size_t)s->depth + (reverse ? b : 0) + 8) * node);
    s->own = malloc(3 * node);
    s->shares = malloc((reverse ? n + 1 : 1) * s->nc * word);
    s->below = malloc((b + 1) * sizeof(int32_t));
    s->above = malloc((b + 1) * sizeof(int32_t));
    s->sort = malloc((2 * n + 1) * word);
    s->labels = malloc((n + 1) * word);
    return !(s->x && s->y && s->place && s->rank && s->bits && s->value && s->gradient &&
             s->waiting && s->states && s->own && s->shares && s->below && s->above && s->sort &&
             s->labels);
}

INLINE void element(double *x, int64_t row, const double *u, const double *weight)
{
    x[0] = weight ? weight[row] : 1.0;
    if (u) x[1] = x[0] * u[row];
}

/* Add the shares of a chunk's n rows, and the sums of its anchors themselves, to the result. */
static void deliver(const work *s, int64_t n, const double *out, int64_t first, int64_t last,
                    double *rows)
{
    for (int64_t r = 0; r < n; r++)
        ring_add(rows + s->place[r] * s->nc, s->shares + r * s->nc, s->nc);
    for (int64_t i = first; i < last; i++) ring_add(rows + i * s->nc, out + i * s->nc, s->nc);
}

/* labels[0..n) are sorted; rank r holds row place[r], given the rows in the order of the labels. */
static int arrange(work *s, int64_t n, int64_t first, const int64_t *rows, const double *u,
                   const double *weight)
{
    if (sort_rows(s->labels, s->place, n, s->sort, s->sort + n, 1)) return 1;
    for (int64_t r = 0; r < n; r++) {
        const int64_t at = s->place[r], row = rows ? rows[at] : first + at;
        s->rank[at] = r;
        s->y[r] = s->labels[at];
        s->place[r] = row;
        element(s->x + r * s->nc, row, u, weight);
    }
    return 0;
}

/* u (n,): the column U, or NULL. out (n_anchors, nc): sums over the tuples of each anchor, nc = 1
 * or, with u, 2. rows (n, nc), or NULL: sums over all tuples that contain each row, added to what
 * is there. Windows of at most `narrow` rows are scanned; wider ones get a tree whose leaves hold
 * `block` ranks (a power of 2). */
API int mo_rank_windows(const double *y, const double *u, const double *weight, const double *coefs,
                        int64_t m, int64_t full, double *out, double *rows, const int64_t *stop,
                        int64_t n_anchors, int64_t narrow, int64_t block)
{
    work s = {0};
    const int nc = u ? 2 : 1;
    const shape *f = choose(m, full, nc);
    int64_t room = 0, leaves = 0;
    int failed = 0;
    s.m = (int)m;
    s.nc = nc;
    s.coefs = coefs;
    for (int64_t first = 0, last; first < n_anchors && !failed; first = last) {
        const int64_t width = stop[first] - first;
        s.leaves = 1;
        s.depth = 0;
        s.block = 256;
        if (width <= narrow) {
            while (s.block < 4 * width) s.block *= 2;
        } else {
            for (s.block = block; s.leaves * s.block < 2 * width; s.leaves *= 2) s.depth++;
        }
        const int64_t capacity = s.leaves * s.block;
        for (last = first + 1; last < n_anchors && stop[last] - first <= capacity;) last++;
        const int64_t n = stop[last - 1] - first;
        if (capacity > room || s.leaves != leaves) {
            failed = reserve(&s, capacity, (int)full, rows != NULL);
            room = capacity;
            leaves = s.leaves;
        }
        if (failed) break;
        memcpy(s.labels, y + first, (size_t)n * sizeof(double));
        memset(s.bits, 0, (size_t)(capacity / 64 + 1) * sizeof(uint64_t));
        failed = arrange(&s, n, first, NULL, u, weight);
        if (failed) break;
        if (rows) memset(s.shares, 0, (size_t)(n * s.nc) * sizeof(double));
        (rows ? f->rows : f->sums)(&s, stop, first, last, out + first * s.nc);
        if (rows) deliver(&s, n, out, first, last, rows);
    }
    release(&s);
    return failed;
}

/* The same for partners that are listed: those of anchor i, which is row i, are
 * indices[indptr[i]] .. indices[indptr[i+1] - 1]. */
API int mo_rank_lists(const double *y, const double *u, const double *weight, const double *coefs,
                      int64_t m, int64_t full, double *out, double *rows, const int64_t *indptr,
                      const int64_t *indices, int64_t n_anchors)
{
    work s = {0};
    const int nc = u ? 2 : 1;
    const shape *f = choose(m, full, nc);
    int64_t room = -1;
    int failed = 0;
    double x[2];
    s.m = (int)m;
    s.nc = nc;
    s.coefs = coefs;
    s.leaves = 1;
    for (int64_t i = 0; i < n_anchors; i++) {
        const int64_t *list = indices + indptr[i], n = indptr[i + 1] - indptr[i];
        int below = 0;
        if (n > room) {
            room = n + n / 2 + 16;
            failed = reserve(&s, room, (int)full, rows != NULL);
            if (failed) break;
        }
        for (int64_t e = 0; e < n; e++) s.labels[e] = y[list[e]];
        failed = arrange(&s, n, 0, list, u, weight);
        if (failed) break;
        while (below < n && s.y[below] < y[i]) s.below[below] = below, below++;
        for (int e = below; e < n; e++) s.above[e - below] = e;
        if (rows) memset(s.shares, 0, (size_t)(n * s.nc) * sizeof(double));
        element(x, i, u, weight);
        f->list(&s, below, (int)n - below, x, y[i], out + i * s.nc, rows != NULL);
        if (rows) deliver(&s, n, out, i, i + 1, rows);
    }
    release(&s);
    return failed;
}
