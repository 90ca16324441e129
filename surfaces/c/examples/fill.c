/*
 * Writes random bytes to standard output: `fill 1000000 >noise`, or without end where no number is
 * given.
 *
 *     cc fill.c -o fill $(pkg-config --cflags --libs lanecrypt)
 */
#define _DEFAULT_SOURCE /* for explicit_bzero */
#include <lanecrypt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    static unsigned char block[1 << 16];
    unsigned long long left = 0;
    int endless = count < 2, error;
    if (!endless) {
        char *end;
        left = strtoull(words[1], &end, 10);
        if (count > 2 || words[1][0] < '0' || words[1][0] > '9' || *end) {
            fprintf(stderr, "usage: fill [BYTES]\n");
            return 2;
        }
    }
    while (endless || left) {
        size_t len = endless || left > sizeof block ? sizeof block : (size_t)left;
        error = lc_random(block, len);
        if (error) {
            fprintf(stderr, "fill: %s\n", lc_strerror(error));
            return 1;
        }
        if (fwrite(block, 1, len, stdout) != len) break;
        left -= endless ? 0 : len;
    }
    explicit_bzero(block, sizeof block); /* it may have been a key */
    if (fflush(stdout) || ferror(stdout)) {
        perror("fill");
        return 1;
    }
    return 0;
}
