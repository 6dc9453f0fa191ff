/* The rank tree for one arity and shape; rank_sums.c includes this file once for each arity.
 *
 * M: the arity;  FULL: 0 when only the smallest order statistic is wanted;  NC: components of a
 * ring element, 2 with a column U and 1 without. The includer defines M, or ANY for an arity known
 * only at run time, and this file includes itself for the shapes. NAME(f) is the name of f for this
 * shape. */

#ifndef FULL
#define FULL 0
#define NC 1
#include "rank_sums.h"
#define FULL 0
#define NC 2
#include "rank_sums.h"
#define FULL 1
#define NC 1
#include "rank_sums.h"
#define FULL 1
#define NC 2
#include "rank_sums.h"
#undef M
#else

#ifdef ANY
#define M (s->m)
#define NAME(f) PASTE(f, any, FULL, NC)
#define UNROLL
#define FORCED static
#else
#define NAME(f) PASTE(f, M, FULL, NC)
#define UNROLL _Pragma("GCC unroll 16")
#define FORCED INLINE
#endif

#include "polynomials.h"

static void NAME(join_nodes)(const work *s, int64_t node)
{
    NAME(join)(s, s->value + 2 * node * NN, s->value + (2 * node + 1) * NN, s->value + node * NN, 1,
               1);
}

static void NAME(fill_leaf)(const work *s, int64_t leaf)
{
    double *P = s->value + (s->leaves + leaf) * NN;
    const int count = collect(s, leaf * s->block, (leaf + 1) * s->block, s->below);
    memset(P, 0, NN * sizeof(double));
    for (int e = 0; e < count; e++)
        NAME(append)(s, P, s->x + (int64_t)s->below[e] * NC, s->y[s->below[e]], 1, 1);
}

/* Gradients waiting at a node go to its children, or at a leaf to the rows themselves. */
static void NAME(settle)(const work *s, int64_t node)
{
    double *g = s->gradient + node * NN;
    if (!s->waiting[node]) return;
    s->waiting[node] = 0;
    if (node < s->leaves) {
        NAME(unjoin)(s, g, s->value + 2 * node * NN, s->value + (2 * node + 1) * NN,
                     s->gradient + 2 * node * NN, s->gradient + (2 * node + 1) * NN, 1, 1);
        s->waiting[2 * node] = s->waiting[2 * node + 1] = 1;
    } else {
        const int64_t first = (node - s->leaves) * s->block;
        const int count = collect(s, first, first + s->block, s->below);
        double *P = s->states;
        memset(P, 0, NN * sizeof(double));
        for (int e = 0; e + 1 < count; e++, P += NN) {
            memcpy(P + NN, P, NN * sizeof(double));
            NAME(append)(s, P + NN, s->x + (int64_t)s->below[e] * NC, s->y[s->below[e]], 1, 1);
        }
        for (int e = count - 1; e >= 0; e--, P -= NN) {
            const int64_t r = s->below[e];
            NAME(unappend)(s, g, P, s->x + r * NC, s->y[r], s->shares + r * NC, 1, 1);
        }
    }
    memset(g, 0, NN * sizeof(double));
}

/* Insert or delete the row of this rank. */
INLINE void NAME(toggle)(const work *s, int64_t rank, const int reverse)
{
    const int64_t leaf = rank / s->block;
    if (reverse && s->leaves > 1)
        for (int h = s->depth; h >= 0; h--) NAME(settle)(s, (s->leaves + leaf) >> h);
    s->bits[rank >> 6] ^= (uint64_t)1 << (rank & 63);
    if (s->leaves == 1) return;
    NAME(fill_leaf)(s, leaf);
    for (int64_t node = (s->leaves + leaf) >> 1; node; node >>= 1) NAME(join_nodes)(s, node);
}

/* Sum over the tuples of the anchor (x, y) in this leaf, whose own rows below and above it are
 * listed in s->below and s->above; with `reverse` also the sums of the tuples that contain each
 * partner. */
INLINE void NAME(query)(const work *s, int64_t leaf, int n_below, int n_above, const double *x,
                        double y, double *T, const int reverse)
{
    const int64_t self = s->leaves + leaf;
    double *P = s->states, *S, *old;
    memset(P, 0, NN * sizeof(double));
    for (int h = s->depth - 1; h >= 0; h--) {
        const int64_t node = self >> h;
        if (node & 1) {
            NAME(join)(s, P, s->value + (node - 1) * NN, P + NN, FULL, 1);
            P += NN;
        }
    }
    for (int e = 0; e < n_below; e++) {
        const int64_t r = s->below[e];
        if (reverse) memcpy(P + NN, P, NN * sizeof(double)), P += NN;
        NAME(append)(s, P, s->x + r * NC, s->y[r], FULL, 1);
    }
    S = P + NN;
    memset(S, 0, NN * sizeof(double));
    for (int e = 0; e < n_above; e++) {
        const int64_t r = s->above[e];
        if (reverse) memcpy(S + NN, S, NN * sizeof(double)), S += NN;
        NAME(append)(s, S, s->x + r * NC, s->y[r], 1, FULL);
    }
    for (int64_t node = self; node > 1; node >>= 1) {
        if (!(node & 1)) {
            NAME(join)(s, S, s->value + (node + 1) * NN, S + NN, 1, FULL);
            S += NN;
        }
    }
    NAME(finish)(s, P, S, x, y, T);
    if (!reverse) return;

    double *gP = s->own, *gS = gP + NN, *spare = gS + NN;
    memset(gP, 0, 3 * NN * sizeof(double));
    NAME(unfinish)(s, P, S, x, y, gP, gS);
    for (int h = s->depth - 1; h >= 0; h--) {
        const int64_t node = self >> h;
        if (node & 1) continue;
        S -= NN;
        NAME(unjoin)(s, gS, S, s->value + (node + 1) * NN, spare, s->gradient + (node + 1) * NN, 1,
                     FULL);
        s->waiting[node + 1] = 1;
        memset(gS, 0, NN * sizeof(double));
        old = gS, gS = spare, spare = old;
    }
    for (int e = n_above - 1; e >= 0; e--) {
        const int64_t r = s->above[e];
        S -= NN;
        NAME(unappend)(s, gS, S, s->x + r * NC, s->y[r], s->shares + r * NC, 1, FULL);
    }
    for (int e = n_below - 1; e >= 0; e--) {
        const int64_t r = s->below[e];
        P -= NN;
        NAME(unappend)(s, gP, P, s->x + r * NC, s->y[r], s->shares + r * NC, FULL, 1);
    }
    for (int64_t node = self; node > 1; node >>= 1) {
        if (!(node & 1)) continue;
        P -= NN;
        NAME(unjoin)(s, gP, P, s->value + (node - 1) * NN, spare, s->gradient + (node - 1) * NN,
                     FULL, 1);
        s->waiting[node - 1] = 1;
        memset(gP, 0, NN * sizeof(double));
        old = gP, gP = spare, spare = old;
    }
}

static void NAME(ask)(const work *s, int64_t leaf, int n_below, int n_above, const double *x,
                      double y, double *T)
{
    NAME(query)(s, leaf, n_below, n_above, x, y, T, 0);
}

static void NAME(ask_back)(const work *s, int64_t leaf, int n_below, int n_above, const double *x,
                           double y, double *T)
{
    NAME(query)(s, leaf, n_below, n_above, x, y, T, 1);
}

/* Ask for the memory of a rank that is needed soon: wide windows do not fit the nearest cache. */
INLINE void NAME(foresee)(const work *s, int64_t rank, const int reverse)
{
    const int64_t leaf = rank / s->block, first = leaf * s->block;
    prefetch(s->x + first * NC, s->block * NC);
    prefetch(s->y + first, s->block);
    if (reverse) prefetch(s->shares + first * NC, s->block * NC);
    for (int64_t node = s->leaves + leaf, h = 0; node > 1 && h < 4; node >>= 1, h++) {
        const int64_t pair = node & ~(int64_t)1;
        prefetch(s->value + pair * NN, 2 * NN);
        if (reverse) prefetch(s->gradient + pair * NN, 2 * NN);
    }
}

/* Anchors first..last-1 of one chunk; rank[0] belongs to row `first`. */
INLINE void NAME(sweep)(const work *s, const int64_t *stop, int64_t first, int64_t last,
                        double *out, const int reverse)
{
    int64_t end = stop[first];
    for (int64_t j = first + 1; j < end; j++) {
        const int64_t r = s->rank[j - first];
        s->bits[r >> 6] |= (uint64_t)1 << (r & 63);
    }
    if (s->leaves > 1) {
        for (int64_t k = 0; k < s->leaves; k++) NAME(fill_leaf)(s, k);
        for (int64_t node = s->leaves - 1; node; node--) NAME(join_nodes)(s, node);
    }
    for (int64_t i = first; i < last; i++) {
        const int64_t r = s->rank[i - first], leaf = r / s->block;
        if (s->leaves > 512) {
            if (i + 1 < last) NAME(foresee)(s, s->rank[i + 1 - first], reverse);
            if (end + 1 < stop[last - 1]) NAME(foresee)(s, s->rank[end + 1 - first], reverse);
        }
        if (i > first && i < end) NAME(toggle)(s, r, reverse);
        if (end <= i) end = i + 1;
        for (; end < stop[i]; end++) NAME(toggle)(s, s->rank[end - first], reverse);
        const int n_below = collect(s, leaf * s->block, r, s->below);
        const int n_above = collect(s, r + 1, (leaf + 1) * s->block, s->above);
        (reverse ? NAME(ask_back) : NAME(ask))(s, leaf, n_below, n_above, s->x + r * NC, s->y[r],
                                               out + (i - first) * NC);
    }
    if (reverse && s->leaves > 1)
        for (int64_t node = 1; node < 2 * s->leaves; node++) NAME(settle)(s, node);
}

static void NAME(sums)(const work *s, const int64_t *stop, int64_t first, int64_t last, double *out)
{
    NAME(sweep)(s, stop, first, last, out, 0);
}

static void NAME(rows)(const work *s, const int64_t *stop, int64_t first, int64_t last, double *out)
{
    NAME(sweep)(s, stop, first, last, out, 1);
}

/* One anchor whose partners are listed in rank order: one leaf and no tree. */
static void NAME(list)(const work *s, int n_below, int n_above, const double *x, double y,
                       double *T, int reverse)
{
    (reverse ? NAME(ask_back) : NAME(ask))(s, 0, n_below, n_above, x, y, T);
}

#undef QN
#undef VN
#undef NN
#undef AMAX
#undef Q
#undef V
#undef FULL
#undef NC
#undef NAME
#undef UNROLL
#undef FORCED
#ifdef ANY
#undef M
#endif
#endif
