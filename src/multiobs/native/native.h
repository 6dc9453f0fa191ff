/* Shared by the C files of the package. */
#ifndef MULTIOBS_NATIVE_H
#define MULTIOBS_NATIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef _WIN32
#define API __declspec(dllexport)
#define HIDDEN
#else
#define API __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))
#endif
#define INLINE static inline __attribute__((always_inline))

/* Raised when a signature or its meaning changes; loader.py refuses a library with another one. */
#define INTERFACE 1

/* Memory for work on many rows. On Linux it asks for large pages: a page fault for every 4 kB of
 * fresh memory can cost as much as the sort that uses it. */
INLINE void *many(size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    void *found = NULL;
    if (bytes >= (size_t)4 << 20) {
        if (posix_memalign(&found, (size_t)2 << 20, bytes)) return NULL;
        madvise(found, bytes, MADV_HUGEPAGE); /* advice: a refusal changes nothing */
        return found;
    }
#endif
    return malloc(bytes + 1);
}

/* Sort row[0..n) by x, keeping the order of equal keys; `a` and `b` are work space of n words. With
 * `fresh` the rows are 0..n-1 and need not be read, and `b` may be `row` itself. n < 2^31. */
HIDDEN int sort_rows(const double *x, int64_t *row, int64_t n, uint64_t *a, uint64_t *b, int fresh);

#endif
