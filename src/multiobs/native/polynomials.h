/* Polynomials of a run of rows in rank order, for one arity and shape; part of rank_sums.h.
 *
 * Ring: numbers v + zeta v' with zeta^2 = 0, so that exp(zeta u) = 1 + zeta u carries the sum of
 * the members' u along with each product. A member l is x_l = w_l exp(zeta u_l). State of a run of
 * rows, in rank order, two truncated polynomials over the ring: Q(t)    = prod_l (1 + t x_l)
 * (degrees 1..M-1; degree 0 is 1, not stored) V(s, t) = sum_j x_j y_j prod_{l below j} (1 + s x_l)
 * prod_{l above j} (1 + t x_l)   (to M-2) of which FULL = 0 keeps the part without s. Two runs side
 * by side join by Q = Q_L Q_R,   V = V_L(s,t) Q_R(t) + Q_L(s) V_R(s,t). There is no subtraction
 * anywhere: what has been removed leaves no residue. */

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
        UNROLL for (int k = 1; k < M; k++)
        {
            ring_sum(Q(o, k), Q(L, k), Q(R, k), NC);
            UNROLL for (int j = 1; j < k; j++) ring_fma(Q(o, k), Q(L, j), Q(R, k - j), NC);
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++)
        {
            UNROLL for (int b = 0; b <= M - 2 - a; b++)
            {
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
        UNROLL for (int k = 1; k < M; k++)
        {
            ring_add(Q(gL, k), Q(g, k), NC);
            ring_add(Q(gR, k), Q(g, k), NC);
            UNROLL for (int j = 1; j < k; j++)
            {
                ring_fma(Q(gL, j), Q(g, k), Q(R, k - j), NC);
                ring_fma(Q(gR, k - j), Q(g, k), Q(L, j), NC);
            }
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++)
        {
            UNROLL for (int b = 0; b <= M - 2 - a; b++)
            {
                ring_add(V(gL, a, b), V(g, a, b), NC);
                ring_add(V(gR, a, b), V(g, a, b), NC);
                UNROLL for (int k = 1; k <= b; k++)
                {
                    ring_fma(V(gL, a, b - k), V(g, a, b), Q(R, k), NC);
                    ring_fma(Q(gR, k), V(g, a, b), V(L, a, b - k), NC);
                }
                UNROLL for (int k = 1; k <= a; k++)
                {
                    ring_fma(Q(gL, k), V(g, a, b), V(R, a - k, b), NC);
                    ring_fma(V(gR, a - k, b), V(g, a, b), Q(L, k), NC);
                }
            }
        }
    }
}

/* Join P with the one row (x, y) above it, in place. */
FORCED void NAME(append)(const work *s, double *restrict P, const double *restrict x,
                         const double y, const int with_q, const int with_v)
{
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++)
        {
            UNROLL for (int b = M - 2 - a; b >= 1; b--) ring_fma(V(P, a, b), V(P, a, b - 1), x, NC);
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
        UNROLL for (int k = 2; k < M; k++)
        {
            ring_fma(gx, Q(g, k), Q(P, k - 1), NC);
            ring_fma(Q(g, k - 1), Q(g, k), x, NC);
        }
    }
    if (with_v) {
        UNROLL for (int a = 0; a <= AMAX; a++)
        {
            if (a) {
                ring_fma_scaled(gx, y, V(g, a, 0), Q(P, a), NC);
                ring_fma_scaled(Q(g, a), y, V(g, a, 0), x, NC);
            } else {
                ring_add_scaled(gx, y, V(g, 0, 0), NC);
            }
            UNROLL for (int b = 1; b <= M - 2 - a; b++)
            {
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
