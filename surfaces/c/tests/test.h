/* What the tests share: counts, and one line for each test. For C99 and C++17. */
#ifndef TEST_H
#define TEST_H

#include <lanecrypt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed, wrong;

/* Counts what does not hold, and says where. */
#define CHECK(holds)                                                                               \
    do {                                                                                           \
        if (!(holds) && ++wrong <= 10) printf("%s:%d: %s\n", __FILE__, __LINE__, #holds);          \
    } while (0)

#define EQUAL(left, right)                                                                         \
    do {                                                                                           \
        long long l_ = (long long)(left), r_ = (long long)(right);                                 \
        if (l_ != r_ && ++wrong <= 10)                                                             \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #left, l_, r_);            \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        wrong = 0;                                                                                 \
        test();                                                                                    \
        done(#test);                                                                               \
    } while (0)

static void done(const char *name) {
    printf("test %s %s\n", name, wrong ? "FAILED" : "ok");
    fflush(stdout);
    if (wrong) {
        failed++;
    } else {
        passed++;
    }
}

static int finish(void) {
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

/* Memory on the heap, so that AddressSanitizer and Valgrind see every byte beside it. */
static inline unsigned char *bytes(size_t len) {
    unsigned char *made = (unsigned char *)malloc(len ? len : 1);
    if (!made) abort();
    return made;
}

static inline unsigned char *copy(const void *from, size_t len) {
    unsigned char *made = bytes(len);
    if (len) memcpy(made, from, len);
    return made;
}

/* A file of at most 64 KiB. */
static inline unsigned char *whole(const char *path, size_t *len) {
    unsigned char *made = bytes(1 << 16);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    *len = fread(made, 1, 1 << 16, file);
    fclose(file);
    return made;
}

#endif
