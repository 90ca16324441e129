/*
 * Seals and opens files of any length with a key from a file of 32 bytes.
 *
 *     cc seal.c -o seal $(pkg-config --cflags --libs lanecrypt)
 *     fill 32 >key
 *     seal key <report.pdf >report.sealed
 *     seal -d key <report.sealed >report.pdf
 *
 * A file is cut into chunks with a tag each, so that no byte is written before it is authentic. The
 * nonce of a chunk is a random prefix, which stands before the first one, the chunk's number, and a
 * flag in the last one: chunks that are changed, swapped, left out or cut off are refused. That is
 * the construction STREAM, which the Rust crate `lanecrypt-stream` reads and writes, too.
 */
#define _DEFAULT_SOURCE /* for explicit_bzero */
#include <lanecrypt.h>

#include <stdio.h>
#include <string.h>

enum { KEY = 32, PREFIX = 19, NONCE = 24, CHUNK = 1 << 16, TAG = 16 };

static int complain(const char *what) {
    fprintf(stderr, "seal: %s\n", what);
    return 1;
}

/* One chunk in, one chunk out, until the input ends. */
static int run(const lc_session *session, lc_nonces *nonces, int opens) {
    static unsigned char chunks[2][CHUNK + TAG];
    const size_t whole = opens ? CHUNK + TAG : CHUNK;
    unsigned char nonce[NONCE];
    size_t len = fread(chunks[0], 1, whole, stdin), next = 0;
    int now = 0, last = 0, error;
    for (; !last; now ^= 1, len = next) {
        unsigned char *chunk = chunks[now];
        /* Whether a chunk is the last one shows only behind it. */
        next = len == whole ? fread(chunks[now ^ 1], 1, whole, stdin) : 0;
        if (ferror(stdin)) return complain("cannot read");
        last = next == 0;
        error = lc_nonces_next_flagged(nonces, (uint8_t)last, nonce, NONCE);
        if (!error && opens) {
            error = lc_open(session, nonce, NONCE, NULL, 0, chunk, len);
            len = len > TAG ? len - TAG : 0;
        } else if (!error) {
            error = lc_seal(session, nonce, NONCE, NULL, 0, chunk, len + TAG);
            len += TAG;
        }
        if (error) return complain(lc_strerror(error));
        if (fwrite(chunk, 1, len, stdout) != len) return complain("cannot write");
    }
    return fflush(stdout) ? complain("cannot write") : 0;
}

int main(int count, char **words) {
    const int opens = count == 3 && !strcmp(words[1], "-d");
    unsigned char key[KEY + 1], prefix[PREFIX];
    lc_session *session = NULL;
    lc_nonces *nonces = NULL;
    FILE *file;
    size_t len;
    int error, status;
    if (count != 2 + opens) {
        fprintf(stderr, "usage: seal [-d] KEYFILE <FROM >TO\n");
        return 2;
    }
    file = fopen(words[count - 1], "rb");
    if (!file) return complain("cannot open the file of the key");
    len = fread(key, 1, sizeof key, file);
    fclose(file);
    error = len == KEY ? lc_session_new(&session, LC_XCHACHA20_POLY1305, key, KEY)
                       : LC_ERR_KEY_LENGTH;
    /* Compilers leave out a memset of what nobody reads again. */
    explicit_bzero(key, sizeof key);
    if (!error && opens && fread(prefix, 1, PREFIX, stdin) != PREFIX) error = LC_ERR_AUTHENTICATION;
    if (!error && !opens) error = lc_random(prefix, PREFIX);
    if (!error) error = lc_nonces_flagged(&nonces, LC_XCHACHA20_POLY1305, prefix, PREFIX, 0);
    if (error) {
        status = complain(lc_strerror(error));
    } else if (!opens && fwrite(prefix, 1, PREFIX, stdout) != PREFIX) {
        status = complain("cannot write");
    } else {
        status = run(session, nonces, opens);
    }
    lc_nonces_free(nonces);
    lc_session_free(session);
    return status;
}
