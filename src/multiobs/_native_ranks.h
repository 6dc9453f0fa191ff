/* The rank tree for one arity and shape; _native_ranks.c includes this file once for each arity.
 *
 * M: the arity;  FULL: 0 when only the smallest order statistic is wanted;  NC: components of a ring
 * element, 2 with a column U and 1 without. The includer defines M, or ANY for an arity known only at
 * run time, and this file includes itself for the shapes. NAME(f) is the name of f for this shape.
 *
 * Ring: numbers v + zeta v' with zeta^2 = 0, so that exp(zeta u) = 1 + zeta u carries the sum of the
 * members' u along with each product. A member l is x_l = w_l exp(zeta u_l).
 * State of a run of rows, in rank order, two truncated polynomials over the ring:
 *   Q(t)    = prod_l (1 + t x_l)                  (degrees 1..M-1; degree 0 is 1, not stored)
 *   V(s, t) = sum_j x_j y_j prod_{l below j} (1 + s x_l) prod_{l above j} (1 + t x_l)   (to M-2)
 * of which FULL = 0 keeps the part without s. Two runs side by side join by
 *   Q = Q_L Q_R,   V = V_L(s,t) Q_R(t) + Q_L(s) V_R(s,t).
 * There is no subtraction anywhere: what has been removed leaves no residue. */

#ifndef FULL
#define FULL 0
#define NC 1
#include "_native_ranks.h"
#define FULL 0
#define NC 2
#include "_native_ranks.h"
#define FULL 1
#define NC 1
#include "_native_ranks.h"
#define FULL 1
#define NC 2
#include "_native_ranks.h"
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

#define QN (M - 1)
#define VN (FULL ? M * (M - 1) / 2 : M - 1)
#define NN ((QN + VN) * NC)
#define AMAX (FULL ? M - 2 : 0)
#define Q(p, k) ((p) + ((k) - 1) * NC)
#define V(p, a, b) ((p) + (QN + (a) * (M - 1) - (a) * ((a) - 1) / 2 + (b)) * NC)

/* o = L joined with R; the state of an anchor's own side needs only Q or only V when FULL = 0. */
FORCED void NAME(join)(const work *s, const double *restrict L, const double *restrict R,
                       double *restrict o, const int with_q, const int with_v)
{
    if (with_q) {
        UNROLL for (int k = 1; k < M; k++) {
            ring_sum(Q(o, k), Q(L, k), Q(R, k), NC);
            UNROLL for (int j = 1; j < k; j++) ring_fma(Q(o, k), Q(L, j), Q(R, k - j), NC);
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++) {
            UNROLL for (int b = 0; b <= M - 2 - a; b++) {
                ring_sum(V(o, a, b), V(L, a, b), V(R, a, b), NC);
                UNROLL for (int k = 1; k <= b; k++)
                    ring_fma(V(o, a, b), V(L, a, b - k), Q(R, k), NC);
                UNROLL for (int k = 1; k <= a; k++)
                    ring_fma(V(o, a, b), Q(L, k), V(R, a - k, b), NC);
            }
        }
    }
}

/* Adjoint of join: from g = dT/do, add dT/dL to gL and dT/dR to gR. */
FORCED void NAME(unjoin)(const work *s, const double *restrict g, const double *restrict L,
                         const double *restrict R, double *restrict gL, double *restrict gR,
                         const int with_q, const int with_v)
{
    if (with_q) {
        UNROLL for (int k = 1; k < M; k++) {
            ring_add(Q(gL, k), Q(g, k), NC);
            ring_add(Q(gR, k), Q(g, k), NC);
            UNROLL for (int j = 1; j < k; j++) {
                ring_fma(Q(gL, j), Q(g, k), Q(R, k - j), NC);
                ring_fma(Q(gR, k - j), Q(g, k), Q(L, j), NC);
            }
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++) {
            UNROLL for (int b = 0; b <= M - 2 - a; b++) {
                ring_add(V(gL, a, b), V(g, a, b), NC);
                ring_add(V(gR, a, b), V(g, a, b), NC);
                UNROLL for (int k = 1; k <= b; k++) {
                    ring_fma(V(gL, a, b - k), V(g, a, b), Q(R, k), NC);
                    ring_fma(Q(gR, k), V(g, a, b), V(L, a, b - k), NC);
                }
                UNROLL for (int k = 1; k <= a; k++) {
                    ring_fma(Q(gL, k), V(g, a, b), V(R, a - k, b), NC);
                    ring_fma(V(gR, a - k, b), V(g, a, b), Q(L, k), NC);
                }
            }
        }
    }
}

/* Join P with the one row (x, y) above it, in place. */
FORCED void NAME(append)(const work *s, double *restrict P, const double *restrict x, const double y,
                         const int with_q, const int with_v)
{
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++) {
            UNROLL for (int b = M - 2 - a; b >= 1; b--)
                ring_fma(V(P, a, b), V(P, a, b - 1), x, NC);
            if (a) ring_fma_scaled(V(P, a, 0), y, x, Q(P, a), NC);
            else ring_add_scaled(V(P, 0, 0), y, x, NC);
        }
    }
    if (with_q) {
        UNROLL for (int k = M - 1; k >= 2; k--) ring_fma(Q(P, k), Q(P, k - 1), x, NC);
        ring_add(Q(P, 1), x, NC);
    }
}

/* Adjoint of append: g becomes the gradient with respect to the state P before it; R += x dT/dx. */
FORCED void NAME(unappend)(const work *s, double *restrict g, const double *restrict P,
                           const double *restrict x, const double y, double *restrict R,
                           const int with_q, const int with_v)
{
    double gx[NC];
    UNROLL for (int d = 0; d < NC; d++) gx[d] = 0.0;
    if (with_q) {
        ring_add(gx, Q(g, 1), NC);
        UNROLL for (int k = 2; k < M; k++) {
            ring_fma(gx, Q(g, k), Q(P, k - 1), NC);
            ring_fma(Q(g, k - 1), Q(g, k), x, NC);
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++) {
            if (a) {
                ring_fma_scaled(gx, y, V(g, a, 0), Q(P, a), NC);
                ring_fma_scaled(Q(g, a), y, V(g, a, 0), x, NC);
            } else {
                ring_add_scaled(gx, y, V(g, 0, 0), NC);
            }
            UNROLL for (int b = 1; b <= M - 2 - a; b++) {
                ring_fma(gx, V(g, a, b), V(P, a, b - 1), NC);
                ring_fma(V(g, a, b - 1), V(g, a, b), x, NC);
            }
        }
    }
    ring_fma(R, x, gx, NC);
}

/* T = coefficients of the whole: anchor (x, y) between the runs P below and S above it. */
static void NAME(finish)(const work *s, const double *P, const double *S, const double *x, double y,
                         double *T)
{
    double in[NC], sum[NC];
    for (int d = 0; d < NC; d++) sum[d] = 0.0;
    for (int r = 0; r <= (FULL ? M - 1 : 0); r++) {
        const double c = s->coefs[r];
        if (c == 0.0) continue;
        for (int d = 0; d < NC; d++) in[d] = 0.0;
        if (r == 0) ring_add_scaled(in, y, Q(S, M - 1), NC);
        else if (r == M - 1) ring_add_scaled(in, y, Q(P, M - 1), NC);
        else ring_fma_scaled(in, y, Q(P, r), Q(S, M - 1 - r), NC);
        if (r <= M - 2) {
            ring_add(in, V(P, r, M - 2 - r), NC);
            for (int k = 1; k <= M - 2 - r; k++) ring_fma(in, V(P, r, M - 2 - r - k), Q(S, k), NC);
        }
        if (r >= 1) {
            ring_add(in, V(S, r - 1, M - 1 - r), NC);
            for (int k = 1; k <= r - 1; k++) ring_fma(in, Q(P, k), V(S, r - 1 - k, M - 1 - r), NC);
        }
        ring_add_scaled(sum, c, in, NC);
    }
    for (int d = 0; d < NC; d++) T[d] = 0.0;
    ring_fma(T, x, sum, NC);
}

/* Adjoint of finish: gradients of T with respect to P and S, added to gP and gS. */
static void NAME(unfinish)(const work *s, const double *P, const double *S, const double *x,
                           double y, double *gP, double *gS)
{
    double g[NC];
    for (int r = 0; r <= (FULL ? M - 1 : 0); r++) {
        const double c = s->coefs[r];
        if (c == 0.0) continue;
        for (int d = 0; d < NC; d++) g[d] = c * x[d];
        if (r == 0) {
            ring_add_scaled(Q(gS, M - 1), y, g, NC);
        } else if (r == M - 1) {
            ring_add_scaled(Q(gP, M - 1), y, g, NC);
        } else {
            ring_fma_scaled(Q(gP, r), y, g, Q(S, M - 1 - r), NC);
            ring_fma_scaled(Q(gS, M - 1 - r), y, g, Q(P, r), NC);
        }
        if (r <= M - 2) {
            ring_add(V(gP, r, M - 2 - r), g, NC);
            for (int k = 1; k <= M - 2 - r; k++) {
                ring_fma(V(gP, r, M - 2 - r - k), g, Q(S, k), NC);
                ring_fma(Q(gS, k), g, V(P, r, M - 2 - r - k), NC);
            }
        }
        if (r >= 1) {
            ring_add(V(gS, r - 1, M - 1 - r), g, NC);
            for (int k = 1; k <= r - 1; k++) {
                ring_fma(Q(gP, k), g, V(S, r - 1 - k, M - 1 - r), NC);
                ring_fma(V(gS, r - 1 - k, M - 1 - r), g, Q(P, k), NC);
            }
        }
    }
}

static void NAME(join_nodes)(const work *s, int64_t node)
{
    NAME(join)(s, s->value + 2 * node * NN, s->value + (2 * node + 1) * NN, s->value + node * NN, 1, 1);
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

/* Sum over the tuples of the anchor (x, y) in this leaf, whose own rows below and above it are listed
 * in s->below and s->above; with `reverse` also the sums of the tuples that contain each partner. */
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
        NAME(unjoin)(s, gS, S, s->value + (node + 1) * NN, spare, s->gradient + (node + 1) * NN, 1, FULL);
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
        NAME(unjoin)(s, gP, P, s->value + (node - 1) * NN, spare, s->gradient + (node - 1) * NN, FULL, 1);
        s->waiting[node - 1] = 1;
        memset(gP, 0, NN * sizeof(double));
        old = gP, gP = spare, spare = old;
    }
}

static void NAME(ask)(const work *s, int64_t leaf, int n_below, int n_above, const double *x, double y,
                      double *T)
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
INLINE void NAME(sweep)(const work *s, const int64_t *stop, int64_t first, int64_t last, double *out,
                        const int reverse)
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
static void NAME(list)(const work *s, int n_below, int n_above, const double *x, double y, double *T,
                       int reverse)
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
