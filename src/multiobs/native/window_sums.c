/* Loops over sorted rows: window ends, window sums, stable argsort.
 *
 * Plain C and libc; no Python header, so one library serves every interpreter. Loaded by loader.py.
 * Every function trusts its arguments: the Python side owns shapes, types and contiguity.
 * Functions that need memory return 0, or 1 when there is none.
 */
#include "native.h"

/* One group, rows i .. e - 1: each turn moves one of the two pointers, without a branch to
 * mispredict. */
INLINE void group_stops(const double *x, double epsilon, int64_t i, int64_t s, int64_t e,
                        int64_t *stop)
{
    if (s <= i) s = i + 1;
    while (s < e) {
        const int64_t within = !(x[s] - x[i] > epsilon);
        stop[i] = s;
        s += within;
        i += !within;
        s += s == i;
    }
    for (; i < e; i++) stop[i] = e;
}

/* First s > i with x[s] - x[i] > epsilon, at most n; the test is monotone, so bisection is exact.
 */
static int64_t stop_of(const double *x, double epsilon, int64_t i, int64_t n)
{
    int64_t low = i + 1, high = n;
    while (low < high) {
        const int64_t s = low + (high - low) / 2;
        if (x[s] - x[i] > epsilon) high = s;
        else low = s + 1;
    }
    return low;
}

API int64_t mo_interface(void) { return INTERFACE; }

/* stop[i]: first s > i with x[s] - x[i] > epsilon, at most end[i] (NULL: n). */
API void mo_window_stops(const double *x, int64_t n, double epsilon, const int64_t *end,
                         int64_t *stop)
{
    if (end || n < 1024) {
        for (int64_t i = 0, e; i < n; i = e) {
            e = end ? end[i] : n;
            group_stops(x, epsilon, i, i + 1, e, stop);
        }
        return;
    }
    /* Each turn waits for the one before; four runs of anchors at once fill the waiting time. */
    int64_t i[4], s[4], last[4];
    for (int k = 0; k < 4; k++) {
        i[k] = n / 4 * k;
        last[k] = k < 3 ? n / 4 * (k + 1) : n;
        s[k] = stop_of(x, epsilon, i[k], n);
    }
    while (s[0] < n && s[1] < n && s[2] < n && s[3] < n && i[0] < last[0] && i[1] < last[1] &&
           i[2] < last[2] && i[3] < last[3])
        for (int k = 0; k < 4; k++) {
            const int64_t within = !(x[s[k]] - x[i[k]] > epsilon);
            stop[i[k]] = s[k];
            s[k] += within;
            i[k] += !within;
            s[k] += s[k] == i[k];
        }
    for (int k = 0; k < 4; k++) {
        while (s[k] < n && i[k] < last[k]) {
            const int64_t within = !(x[s[k]] - x[i[k]] > epsilon);
            stop[i[k]] = s[k];
            s[k] += within;
            i[k] += !within;
            s[k] += s[k] == i[k];
        }
        for (; i[k] < last[k]; i[k]++) stop[i[k]] = n;
    }
}

/* ---- window sums -------------------------------------------------------------------------------
 * Two stacks: `tail` holds the sums of rows l..pivot-1 for every l not yet passed, `head` the sum
 * of rows pivot..hi-1. A window is one entry of the first plus the second; when lo passes the pivot
 * the current window becomes the new tail. Nothing is ever subtracted, so a value that has left the
 * window leaves no rounding residue behind, and each row is added twice whatever the windows are.
 */
INLINE int window_sums(const double *F, const int64_t c, const int64_t *lo, const int64_t *hi,
                       int64_t a, double *out, double *head)
{
    double *tail = NULL;
    int64_t room = 0, base = 0, pivot = 0, end = 0; /* lo >= pivot at the first window */
    for (int64_t i = 0; i < a; i++) {
        const int64_t l = lo[i], h = hi[i];
        double *o = out + i * c;
        if (l >= pivot) {
            if (h - l > room) {
                room = (h - l) + (h - l) / 2 + 64;
                free(tail);
                tail = malloc((size_t)(room * c) * sizeof(double));
                if (!tail) return 1;
            }
            for (int64_t d = 0; d < c; d++) head[d] = 0.0;
            for (int64_t k = h - 1; k >= l; k--) {
                double *t = tail + (k - l) * c;
                const double *f = F + k * c;
                for (int64_t d = 0; d < c; d++) t[d] = head[d] += f[d];
            }
            for (int64_t d = 0; d < c; d++) o[d] = head[d], head[d] = 0.0;
            base = l;
            pivot = end = h;
        } else {
            const double *t = tail + (l - base) * c;
            for (; end < h; end++) {
                const double *f = F + end * c;
                for (int64_t d = 0; d < c; d++) head[d] += f[d];
            }
            for (int64_t d = 0; d < c; d++) o[d] = t[d] + head[d];
        }
    }
    free(tail);
    return 0;
}

/* A constant number of columns lets the compiler keep `head` in registers. */
#define COLUMNS(C)                                      \
    case C: {                                           \
        double head[C];                                 \
        return window_sums(F, C, lo, hi, a, out, head); \
    }

API int mo_window_sums(const double *F, int64_t c, const int64_t *lo, const int64_t *hi, int64_t a,
                       double *out)
{
    switch (c) {
        COLUMNS(1)
        COLUMNS(2)
        COLUMNS(3)
        COLUMNS(4)
        COLUMNS(5)
        COLUMNS(6)
        COLUMNS(7)
        COLUMNS(8)
        COLUMNS(9)
        COLUMNS(10)
        COLUMNS(11)
        COLUMNS(12)
    }
    double *head = malloc((size_t)c * sizeof(double) + 1);
    if (!head) return 1;
    const int failed = window_sums(F, c, lo, hi, a, out, head);
    free(head);
    return failed;
}

/* ---- stable argsort ----------------------------------------------------------------------------
 * Rows are packed as (leading bits of the key, row number) in 64 bits and sorted by three counting
 * passes on the leading bits, of 8 bits each for few rows and 11 for many. Runs that agree in those
 * bits are finished by the full key: short ones by insertion, long ones by the same method on their
 * own, narrower, range of keys. */
#define PASSES 3
#define WIDEST 11
#define SHORT 40

/* Monotone map of doubles to integers; -0.0 becomes 0.0 and all NaN become one last value. */
INLINE uint64_t key_of(double v)
{
    uint64_t u;
    if (v != v) return UINT64_MAX;
    v += 0.0;
    memcpy(&u, &v, sizeof u);
    return u ^ ((uint64_t)((int64_t)u >> 63) | 0x8000000000000000u);
}

static int bits_of(uint64_t v)
{
    int b = 0;
    while (v) b++, v >>= 1;
    return b;
}

static void insertion(const double *x, int64_t *row, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const int64_t r = row[i];
        const uint64_t k = key_of(x[r]);
        int64_t j = i;
        for (; j > 0 && key_of(x[row[j - 1]]) > k; j--) row[j] = row[j - 1];
        row[j] = r;
    }
}

/* See native.h. Packed entries hold positions in `row`. */
int sort_rows(const double *x, int64_t *row, int64_t n, uint64_t *a, uint64_t *b, int fresh)
{
    if (n <= SHORT) {
        if (fresh)
            for (int64_t i = 0; i < n; i++) row[i] = i;
        insertion(x, row, n);
        return 0;
    }
    uint64_t lowest = UINT64_MAX, highest = 0;
    int64_t count[PASSES][1 << WIDEST];
    const int digit = n < 4096 ? 8 : WIDEST, buckets = 1 << digit;
    int ordered = 1;
    uint64_t previous = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t k = key_of(x[fresh ? i : row[i]]);
        if (k < lowest) lowest = k;
        if (k > highest) highest = k;
        ordered &= previous <= k;
        previous = k;
    }
    if (ordered) {
        if (fresh)
            for (int64_t i = 0; i < n; i++) row[i] = i;
        return 0;
    }
    const int place = bits_of((uint64_t)n), width = bits_of(highest - lowest);
    const int used = PASSES * digit; /* place + used <= 64 while n < 2^31 */
    const int shift = width > used ? width - used : 0;
    const uint64_t mask = ((uint64_t)1 << place) - 1;
    for (int d = 0; d < PASSES; d++) memset(count[d], 0, (size_t)buckets * sizeof count[d][0]);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t k = (key_of(x[fresh ? i : row[i]]) - lowest) >> shift;
        a[i] = (k << place) | (uint64_t)i;
        for (int d = 0; d < PASSES; d++) count[d][(k >> (d * digit)) & (uint64_t)(buckets - 1)]++;
    }
    for (int d = 0; d < PASSES; d++) {
        const int at = place + d * digit;
        int64_t *c = count[d], total = 0;
        if (c[(a[0] >> at) & (uint64_t)(buckets - 1)] == n)
            continue; /* one value: nothing to move */
        for (int v = 0; v < buckets; v++) {
            const int64_t m = c[v];
            c[v] = total;
            total += m;
        }
        for (int64_t i = 0; i < n; i++) b[c[(a[i] >> at) & (uint64_t)(buckets - 1)]++] = a[i];
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
    /* Positions become row numbers; `b` keeps the old ones, since `row` is overwritten in place. */
    if (!fresh)
        for (int64_t i = 0; i < n; i++) b[i] = (uint64_t)row[i];
    for (int64_t i = 0, e; i < n; i = e) {
        const uint64_t key = a[i] >> place;
        e = i;
        do {
            const int64_t at = (int64_t)(a[e] & mask); /* read first: `a` may be `row` */
            row[e++] = fresh ? at : (int64_t)b[at];
        } while (e < n && (a[e] >> place) == key);
        if (e - i == 1 || !shift) continue;
        if (e - i <= SHORT) {
            insertion(x, row + i, e - i);
            continue;
        }
        uint64_t *work = malloc((size_t)(e - i) * 2 * sizeof(uint64_t));
        const int failed = !work || sort_rows(x, row + i, e - i, work, work + (e - i), 0);
        free(work);
        if (failed) return 1;
    }
    return 0;
}

/* Row numbers by x, and x in that order unless `ordered` is NULL. */
API int mo_stable_argsort(const double *x, int64_t n, int64_t *row, double *ordered)
{
    if (n >= (int64_t)1 << 31) return 2; /* the packed entries hold 31-bit positions */
    /* `ordered` is written last: until then it is room to sort in. */
    uint64_t *work = ordered ? (uint64_t *)ordered : many((size_t)n * sizeof(uint64_t));
    if (!work) return 1;
    /* Fresh pages are met in order here, which is cheaper than one by one in the scattered writes.
     */
    for (int64_t i = 0; i < n; i += 512) row[i] = 0;
    for (int64_t i = 0; i < n; i += 512) ((volatile uint64_t *)work)[i] = 0;
    const int failed = sort_rows(x, row, n, work, (uint64_t *)row, 1);
    if (!ordered) free(work);
    if (ordered && !failed)
        for (int64_t i = 0; i < n; i++) ordered[i] = x[row[i]];
    return failed;
}
