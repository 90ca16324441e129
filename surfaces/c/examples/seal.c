/*
 * Seals and opens files of any length with a key from a file of 32 bytes.
 *
 *     cc seal.c -o seal $(pkg-config --cflags --libs lanecrypt)
 *     fill 32 >key
 *     seal key <report.pdf >report.pdf.lanecrypt
 *     seal -d key <report.pdf.lanecrypt >report.pdf
 *
 * The program `lanecrypt` does the same with `encrypt -k key` and `decrypt -k key`. No byte is
 * written before it is authentic, but the output is whole only if the status is 0.
 */
#define _DEFAULT_SOURCE /* for explicit_bzero */
#include <lanecrypt.h>

#include <stdio.h>
#include <string.h>

enum { KEY = 32 };

static int complain(const char *what) {
    fprintf(stderr, "seal: %s\n", what);
    return 1;
}

/* Piece by piece, until the input ends. */
static int run(lc_file *file) {
    static unsigned char piece[1 << 16];
    const void *out;
    size_t len, out_len;
    do {
        len = fread(piece, 1, sizeof piece, stdin);
        if (ferror(stdin)) return complain("cannot read");
        int error = len ? lc_file_update(file, piece, len, &out, &out_len)
                        : lc_file_finish(file, &out, &out_len);
        if (error) return complain(lc_strerror(error));
        if (fwrite(out, 1, out_len, stdout) != out_len) return complain("cannot write");
    } while (len);
    return fflush(stdout) ? complain("cannot write") : 0;
}

int main(int count, char **words) {
    const int opens = count == 3 && !strcmp(words[1], "-d");
    unsigned char key[KEY + 1];
    lc_file *file = NULL;
    FILE *from;
    size_t len;
    int error, status;
    if (count != 2 + opens) {
        fprintf(stderr, "usage: seal [-d] KEYFILE <FROM >TO\n");
        return 2;
    }
    from = fopen(words[count - 1], "rb");
    if (!from) return complain("cannot open the file of the key");
    len = fread(key, 1, sizeof key, from);
    fclose(from);
    error = opens ? lc_file_decrypt(&file, LC_FILE_KEY, key, len)
                  : lc_file_encrypt(&file, NULL, LC_FILE_KEY, key, len);
    /* Compilers leave out a memset of what nobody reads again. */
    explicit_bzero(key, sizeof key);
    status = error ? complain(lc_strerror(error)) : run(file);
    lc_file_free(file);
    return status;
}
