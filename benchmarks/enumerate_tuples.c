/* The plain way, for comparison: every tuple of every window is visited.
 * Rows are sorted by x; stop[i] is one past the last partner of row i.
 * out[0] = sum of h, out[1] = sum of h times the mean of the members' x. */
#include <stdint.h>

void variance_of_pairs(const double *x, const double *y, const int64_t *stop, int64_t n, double *out)
{
    double total = 0.0, moved = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < stop[i]; j++) {
            const double d = y[i] - y[j], h = d * d / 2;
            total += h;
            moved += h * (x[i] + x[j]) / 2;
        }
    out[0] = total;
    out[1] = moved;
}

void least_of_four(const double *x, const double *y, const int64_t *stop, int64_t n, double *out)
{
    double total = 0.0, moved = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < stop[i]; j++) {
            const double a = y[i] < y[j] ? y[i] : y[j];
            for (int64_t k = j + 1; k < stop[i]; k++) {
                const double b = a < y[k] ? a : y[k];
                for (int64_t l = k + 1; l < stop[i]; l++) {
                    const double h = b < y[l] ? b : y[l];
                    total += h;
                    moved += h * (x[i] + x[j] + x[k] + x[l]) / 4;
                }
            }
        }
    out[0] = total;
    out[1] = moved;
}
