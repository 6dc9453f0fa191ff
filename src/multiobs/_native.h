/* Shared by the C files of the package. */
#ifndef MULTIOBS_NATIVE_H
#define MULTIOBS_NATIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define API __declspec(dllexport)
#define HIDDEN
#else
#define API __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#endif
#define INLINE static inline __attribute__((always_inline))

/* Sort row[0..n) by x, keeping the order of equal keys; `a` and `b` are work space of n words. With
 * `fresh` the rows are 0..n-1 and need not be read. n < 2^31. */
HIDDEN int sort_rows(const double *x, int64_t *row, int64_t n, uint64_t *a, uint64_t *b, int fresh);

#endif
