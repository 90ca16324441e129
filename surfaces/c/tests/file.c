/*
 * Encrypted files: in pieces of all lengths, hostile ones, and those of Rust.
 *
 *     file FOLDER FILE...
 *
 * Decrypts the files, which Rust has written, and writes files to the folder that Rust reads.
 */
#define _POSIX_C_SOURCE 200809L
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, TAG = 16, OF_KEY = 80, OF_WORDS = 104 };

static const unsigned char KEY[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const char WORDS[] = "correct horse battery staple";
enum { WORDS_LEN = sizeof WORDS - 1 };
/* A passphrase that costs little, so that the tests are fast. */
static const struct lc_file_options CHEAP = {0, 32, 1, 2};
static char **paths;

/* What became of a file. */
struct outcome {
    unsigned char *data;
    size_t len;
    int error;
};

/* All of the input in pieces of these bytes, and the end. Frees the file. */
static struct outcome through(lc_file *file, const void *from, size_t len, size_t piece) {
    struct outcome result = {bytes(0), 0, LC_OK};
    const unsigned char *at = (const unsigned char *)from;
    size_t room = 0;
    int ended = 0;
    while (!ended && !result.error) {
        /* On the heap and of its own length, so that no byte beside it is read. */
        size_t now = len < piece ? len : piece, out_len = 12345;
        unsigned char *lent = copy(at, now);
        const void *out = &room;
        ended = !now;
        result.error = ended ? lc_file_finish(file, &out, &out_len)
                             : lc_file_update(file, lent, now, &out, &out_len);
        free(lent);
        at += now, len -= now;
        if (result.error) {
            const void *later = &room;
            CHECK(out == NULL && out_len == 0);
            /* It stays. */
            EQUAL(lc_file_update(file, KEY, 1, &later, &out_len), result.error);
            EQUAL(lc_file_finish(file, &later, &out_len), result.error);
            CHECK(later == NULL && out_len == 0);
        } else {
            CHECK(out != NULL);
            if (result.len + out_len > room) {
                room = 2 * (result.len + out_len);
                result.data = (unsigned char *)realloc(result.data, room);
                if (!result.data) abort();
            }
            if (out_len) memcpy(result.data + result.len, out, out_len);
            result.len += out_len;
        }
    }
    lc_file_free(file);
    return result;
}

static lc_file *encrypting(int algorithm, int kind) {
    struct lc_file_options options = CHEAP;
    lc_file *file = NULL;
    options.algorithm = algorithm;
    EQUAL(kind == LC_FILE_KEY ? lc_file_encrypt(&file, &options, kind, KEY, 32)
                              : lc_file_encrypt(&file, &options, kind, WORDS, WORDS_LEN),
          LC_OK);
    return file;
}

static lc_file *decrypting(int kind) {
    lc_file *file = NULL;
    EQUAL(kind == LC_FILE_KEY ? lc_file_decrypt(&file, kind, KEY, 32)
                              : lc_file_decrypt(&file, kind, WORDS, WORDS_LEN),
          LC_OK);
    return file;
}

static unsigned char *text_of(size_t len) {
    unsigned char *text = bytes(len);
    size_t i;
    for (i = 0; i < len; i++) text[i] = (unsigned char)(i * 31 >> 3);
    return text;
}

static struct outcome sealed_of(int algorithm, int kind, size_t len) {
    unsigned char *text = text_of(len);
    struct outcome sealed = through(encrypting(algorithm, kind), text, len, CHUNK);
    EQUAL(sealed.error, LC_OK);
    free(text);
    return sealed;
}

/* Decrypts in pieces, and expects the text of this length, or the error and the beginning. */
static void opens_as(int kind, const unsigned char *sealed, size_t sealed_len, size_t piece,
                     int error, size_t len) {
    struct outcome opened = through(decrypting(kind), sealed, sealed_len, piece);
    unsigned char *text = text_of(len);
    EQUAL(opened.error, error);
    EQUAL(opened.len, len);
    CHECK(opened.len == len && !memcmp(opened.data, text, len));
    free(opened.data), free(text);
}

static void files_come_back(void) {
    static const int algorithms[] = {LC_AES_256_GCM, LC_CHACHA20_POLY1305, LC_XCHACHA20_POLY1305};
    static const size_t lengths[] = {0,         1,         CHUNK - 1,     CHUNK,
                                     CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 3 * CHUNK + 777};
    static const size_t pieces[] = {1021, CHUNK - 1, CHUNK, CHUNK + TAG, CHUNK + TAG + 1, 1 << 20};
    size_t a, l, p;
    int kind;
    for (a = 0; a < 3; a++)
        for (kind = LC_FILE_KEY; kind <= LC_FILE_PASSPHRASE; kind++)
            for (l = 0; l < 8; l++) {
                size_t len = lengths[l], chunks = len ? (len + CHUNK - 1) / CHUNK : 1;
                size_t header = kind == LC_FILE_KEY ? OF_KEY : OF_WORDS;
                unsigned char *text = text_of(len);
                for (p = 0; p < 6; p++) {
                    struct outcome sealed =
                        through(encrypting(algorithms[a], kind), text, len, pieces[p]);
                    EQUAL(sealed.error, LC_OK);
                    EQUAL(sealed.len, header + len + TAG * chunks);
                    opens_as(kind, sealed.data, sealed.len, pieces[5 - p], LC_OK, len);
                    free(sealed.data);
                }
                free(text);
            }
}

/* Also the header, which is refused or read when it is whole. */
static void single_bytes_come_back(void) {
    int kind;
    for (kind = LC_FILE_KEY; kind <= LC_FILE_PASSPHRASE; kind++) {
        size_t len = kind == LC_FILE_KEY ? CHUNK + 9 : 300;
        unsigned char *text = text_of(len);
        struct outcome sealed = through(encrypting(0, kind), text, len, 1);
        EQUAL(sealed.error, LC_OK);
        opens_as(kind, sealed.data, sealed.len, 1, LC_OK, len);
        free(sealed.data), free(text);
    }
}

/* Plaintext is given when the next chunk begins, and not before. */
static void output_comes_with_the_next_chunk(void) {
    struct outcome sealed = sealed_of(0, LC_FILE_KEY, 2 * CHUNK);
    lc_file *file = decrypting(LC_FILE_KEY);
    const size_t first = OF_KEY + CHUNK + TAG;
    const void *out;
    size_t out_len;
    EQUAL(lc_file_update(file, sealed.data, first, &out, &out_len), LC_OK);
    EQUAL(out_len, 0);
    EQUAL(lc_file_update(file, NULL, 0, &out, &out_len), LC_OK);
    EQUAL(out_len, 0);
    EQUAL(lc_file_update(file, sealed.data + first, 1, &out, &out_len), LC_OK);
    EQUAL(out_len, CHUNK);
    EQUAL(lc_file_update(file, sealed.data + first + 1, CHUNK + TAG - 1, &out, &out_len), LC_OK);
    EQUAL(out_len, 0);
    EQUAL(lc_file_finish(file, &out, &out_len), LC_OK);
    EQUAL(out_len, CHUNK);
    /* Nothing follows the end. */
    EQUAL(lc_file_update(file, KEY, 1, &out, &out_len), LC_ERR_UNSUPPORTED);
    CHECK(out == NULL && out_len == 0);
    EQUAL(lc_file_finish(file, &out, &out_len), LC_ERR_UNSUPPORTED);
    lc_file_free(file);
    file = encrypting(0, LC_FILE_KEY);
    EQUAL(lc_file_finish(file, &out, &out_len), LC_OK);
    EQUAL(out_len, OF_KEY + TAG);
    EQUAL(lc_file_update(file, KEY, 1, &out, &out_len), LC_ERR_UNSUPPORTED);
    EQUAL(lc_file_finish(file, &out, &out_len), LC_ERR_UNSUPPORTED);
    lc_file_free(file);
    free(sealed.data);
}

static void refuses(int kind, const void *secret, size_t len, struct outcome sealed, int error) {
    struct outcome opened;
    lc_file *file;
    EQUAL(lc_file_decrypt(&file, kind, secret, len), LC_OK);
    opened = through(file, sealed.data, sealed.len, CHUNK);
    EQUAL(opened.error, error);
    EQUAL(opened.len, 0);
    free(opened.data);
}

static void another_secret_is_refused(void) {
    struct outcome of_key = sealed_of(0, LC_FILE_KEY, 100);
    struct outcome of_words = sealed_of(0, LC_FILE_PASSPHRASE, 100);
    unsigned char other[32];
    memcpy(other, KEY, 32), other[31] ^= 1;
    refuses(LC_FILE_KEY, other, 32, of_key, LC_ERR_FILE_SECRET);
    refuses(LC_FILE_KEY, KEY, 32, of_words, LC_ERR_FILE_NEEDS_PASSPHRASE);
    refuses(LC_FILE_PASSPHRASE, WORDS, WORDS_LEN, of_key, LC_ERR_FILE_NEEDS_KEY);
    refuses(LC_FILE_PASSPHRASE, WORDS, WORDS_LEN - 1, of_words, LC_ERR_FILE_SECRET);
    refuses(LC_FILE_PASSPHRASE, WORDS, WORDS_LEN + 1, of_words, LC_ERR_FILE_SECRET);
    refuses(LC_FILE_PASSPHRASE, NULL, 0, of_words, LC_ERR_FILE_SECRET);
    free(of_key.data), free(of_words.data);
}

static void cut_files_are_refused(void) {
    int kind;
    for (kind = LC_FILE_KEY; kind <= LC_FILE_PASSPHRASE; kind++) {
        const size_t header = kind == LC_FILE_KEY ? OF_KEY : OF_WORDS, full = CHUNK + TAG;
        struct outcome sealed = sealed_of(0, kind, 2 * CHUNK + 50);
        size_t end, chunk;
        EQUAL(sealed.len, header + 2 * full + 50 + TAG);
        for (end = 0; end < header; end++)
            opens_as(kind, sealed.data, end, 7,
                     end < 11 ? LC_ERR_FILE_FORMAT : LC_ERR_FILE_TRUNCATED, 0);
        for (chunk = 0; chunk <= 2; chunk++) {
            const size_t start = header + chunk * full, before = chunk ? chunk - 1 : 0;
            /* At its beginning, and in what is shorter than a tag. The chunk before may be the
             * last one, and is not. */
            opens_as(kind, sealed.data, start, CHUNK, LC_ERR_FILE_TRUNCATED, before * CHUNK);
            opens_as(kind, sealed.data, start + 1, CHUNK, LC_ERR_FILE_TRUNCATED, chunk * CHUNK);
            opens_as(kind, sealed.data, start + TAG - 1, 999, LC_ERR_FILE_TRUNCATED, chunk * CHUNK);
            /* In its middle, which is no different from a change. */
            opens_as(kind, sealed.data, start + TAG, CHUNK, LC_ERR_AUTHENTICATION, chunk * CHUNK);
            opens_as(kind, sealed.data, start + 50, CHUNK, LC_ERR_AUTHENTICATION, chunk * CHUNK);
        }
        opens_as(kind, sealed.data, sealed.len - 1, CHUNK, LC_ERR_AUTHENTICATION, 2 * CHUNK);
        free(sealed.data);
    }
}

static void changed_headers_are_refused(void) {
    int kind;
    for (kind = LC_FILE_KEY; kind <= LC_FILE_PASSPHRASE; kind++) {
        const size_t header = kind == LC_FILE_KEY ? OF_KEY : OF_WORDS;
        struct outcome sealed = sealed_of(0, kind, 50);
        size_t at;
        for (at = 0; at < header; at++) {
            struct outcome opened;
            /* Other sizes of chunks and costs are allowed ones. */
            int right = LC_ERR_FILE_SECRET;
            if (at < 10) right = LC_ERR_FILE_FORMAT;
            else if (at < 13 || (at == 16 && header == OF_WORDS)) right = LC_ERR_FILE_VERSION;
            else if (at > 16 && at < 22 && header == OF_WORDS) right = LC_ERR_FILE_COST;
            sealed.data[at] ^= 0x80;
            opened = through(decrypting(kind), sealed.data, sealed.len, 19);
            if (opened.error != right) printf("byte %d:\n", (int)at);
            EQUAL(opened.error, right);
            EQUAL(opened.len, 0);
            free(opened.data);
            sealed.data[at] ^= 0x80;
        }
        sealed.data[10] = 3;
        opens_as(kind, sealed.data, sealed.len, CHUNK, LC_ERR_FILE_VERSION, 0);
        free(sealed.data);
    }
    opens_as(LC_FILE_KEY, (const unsigned char *)"# An ordinary text", 18, CHUNK,
             LC_ERR_FILE_FORMAT, 0);
}

static void changed_chunks_are_refused(void) {
    const size_t full = CHUNK + TAG;
    struct outcome sealed = sealed_of(LC_CHACHA20_POLY1305, LC_FILE_KEY, 3 * CHUNK + 50);
    unsigned char *longer = bytes(sealed.len + full), *chunks = longer + OF_KEY;
    size_t chunk, i;
    for (chunk = 0; chunk < 4; chunk++) {
        const size_t start = OF_KEY + chunk * full, len = chunk < 3 ? CHUNK : 50;
        const size_t places[] = {start, start + len / 2, start + len - 1, start + len,
                                 start + len + TAG - 1};
        for (i = 0; i < 5; i++) {
            sealed.data[places[i]] ^= 4;
            opens_as(LC_FILE_KEY, sealed.data, sealed.len, 1000, LC_ERR_AUTHENTICATION,
                     chunk * CHUNK);
            sealed.data[places[i]] ^= 4;
        }
    }
    /* Two are exchanged; one is left out; one is twice there; something follows the last one. */
    memcpy(longer, sealed.data, sealed.len);
    memcpy(chunks, sealed.data + OF_KEY + full, full);
    memcpy(chunks + full, sealed.data + OF_KEY, full);
    opens_as(LC_FILE_KEY, longer, sealed.len, CHUNK, LC_ERR_AUTHENTICATION, 0);
    memcpy(chunks, sealed.data + OF_KEY, full);
    memcpy(chunks + full, sealed.data + OF_KEY + 2 * full, sealed.len - OF_KEY - 2 * full);
    opens_as(LC_FILE_KEY, longer, sealed.len - full, CHUNK, LC_ERR_AUTHENTICATION, CHUNK);
    memcpy(chunks + full, sealed.data + OF_KEY, sealed.len - OF_KEY);
    opens_as(LC_FILE_KEY, longer, sealed.len + full, CHUNK, LC_ERR_AUTHENTICATION, CHUNK);
    memcpy(longer, sealed.data, sealed.len);
    memset(longer + sealed.len, 0, full);
    opens_as(LC_FILE_KEY, longer, sealed.len + 1, CHUNK, LC_ERR_AUTHENTICATION, 3 * CHUNK);
    opens_as(LC_FILE_KEY, longer, sealed.len + full, CHUNK, LC_ERR_AUTHENTICATION, 3 * CHUNK);
    free(sealed.data), free(longer);
    /* The last chunk is a full one, and others follow. */
    sealed = sealed_of(0, LC_FILE_KEY, CHUNK);
    longer = bytes(sealed.len + 1);
    memcpy(longer, sealed.data, sealed.len), longer[sealed.len] = 0;
    opens_as(LC_FILE_KEY, longer, sealed.len + 1, CHUNK, LC_ERR_AUTHENTICATION, 0);
    free(sealed.data), free(longer);
}

/* Neither memory nor time is spent on what a header may not ask for. */
static void hostile_costs_are_refused(void) {
    static const uint32_t costs[][3] = {
        {(1 << 20) + 1, 1, 1}, {0xffffffff, 16, 4}, {64, 17, 1}, {64, 0xffff, 1}, {64, 0, 1},
        {64, 1, 5},            {1 << 20, 1, 255},   {64, 1, 0},  {31, 1, 4},      {0, 1, 1}};
    struct outcome sealed = sealed_of(0, LC_FILE_PASSPHRASE, 50);
    lc_file *file;
    size_t i;
    for (i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        const uint32_t memory = costs[i][0], passes = costs[i][1], lanes = costs[i][2];
        const struct lc_file_options options = {0, memory, passes, lanes};
        sealed.data[17] = (unsigned char)lanes;
        sealed.data[18] = (unsigned char)(passes >> 8), sealed.data[19] = (unsigned char)passes;
        sealed.data[20] = (unsigned char)(memory >> 24);
        sealed.data[21] = (unsigned char)(memory >> 16);
        sealed.data[22] = (unsigned char)(memory >> 8);
        sealed.data[23] = (unsigned char)memory;
        opens_as(LC_FILE_PASSPHRASE, sealed.data, sealed.len, CHUNK, LC_ERR_FILE_COST, 0);
        /* 0 is the default here. */
        if (!memory || !passes || !lanes) continue;
        EQUAL(lc_file_encrypt(&file, &options, LC_FILE_PASSPHRASE, WORDS, WORDS_LEN),
              LC_ERR_FILE_COST);
        CHECK(file == NULL);
        EQUAL(lc_file_encrypt(&file, &options, LC_FILE_KEY, KEY, 32), LC_OK);
        lc_file_free(file);
    }
    {
        /* Numbers that would fit if they were cut. */
        const struct lc_file_options passes = {0, 64, 65537, 1}, lanes = {0, 64, 1, 257};
        EQUAL(lc_file_encrypt(&file, &passes, LC_FILE_PASSPHRASE, "", 0), LC_ERR_FILE_COST);
        EQUAL(lc_file_encrypt(&file, &lanes, LC_FILE_PASSPHRASE, "", 0), LC_ERR_FILE_COST);
    }
    free(sealed.data);
}

static void hostile_arguments_change_nothing(void) {
    lc_file *file = (lc_file *)KEY;
    struct lc_file_options options = CHEAP;
    const void *out = NULL;
    size_t out_len = 0;
    unsigned char area[64];
    const void **odd = (const void **)(area + 1);
    int opens;
    memset(area, 0x5a, sizeof area);
    EQUAL(lc_file_encrypt(NULL, NULL, LC_FILE_KEY, KEY, 32), LC_ERR_NULL_POINTER);
    EQUAL(lc_file_decrypt(NULL, LC_FILE_KEY, KEY, 32), LC_ERR_NULL_POINTER);
    EQUAL(lc_file_encrypt((lc_file **)(area + 1), NULL, LC_FILE_KEY, KEY, 32), LC_ERR_MISALIGNED);
#define NO_FILE(call, error)                                                                       \
    do {                                                                                           \
        file = (lc_file *)KEY;                                                                     \
        EQUAL(call, error);                                                                        \
        CHECK(file == NULL);                                                                       \
    } while (0)
    NO_FILE(lc_file_encrypt(&file, NULL, LC_FILE_KEY, NULL, 32), LC_ERR_NULL_POINTER);
    NO_FILE(lc_file_encrypt(&file, NULL, LC_FILE_KEY, KEY, 31), LC_ERR_KEY_LENGTH);
    NO_FILE(lc_file_encrypt(&file, NULL, LC_FILE_KEY, KEY, (size_t)-1), LC_ERR_TOO_LONG);
    NO_FILE(lc_file_encrypt(&file, NULL, 0, KEY, 32), LC_ERR_RANGE);
    NO_FILE(lc_file_encrypt(&file, NULL, 3, KEY, 32), LC_ERR_RANGE);
    NO_FILE(lc_file_encrypt(&file, (struct lc_file_options *)(area + 1), LC_FILE_KEY, KEY, 32),
            LC_ERR_MISALIGNED);
    NO_FILE(lc_file_decrypt(&file, LC_FILE_KEY, NULL, 32), LC_ERR_NULL_POINTER);
    NO_FILE(lc_file_decrypt(&file, LC_FILE_KEY, KEY, 33), LC_ERR_KEY_LENGTH);
    NO_FILE(lc_file_decrypt(&file, 3, KEY, 32), LC_ERR_RANGE);
    options.algorithm = 9999;
    NO_FILE(lc_file_encrypt(&file, &options, LC_FILE_KEY, KEY, 32), LC_ERR_UNKNOWN_ALGORITHM);
    options.algorithm = LC_AES_128_GCM;
    NO_FILE(lc_file_encrypt(&file, &options, LC_FILE_KEY, KEY, 32), LC_ERR_UNSUPPORTED);
    /* The place of the object within the secret, or the options. */
    EQUAL(lc_file_decrypt((lc_file **)(void *)&out, LC_FILE_PASSPHRASE, &out, 8), LC_ERR_OVERLAP);

    for (opens = 0; opens < 2; opens++) {
        struct outcome rest;
        file = opens ? decrypting(LC_FILE_KEY) : encrypting(0, LC_FILE_KEY);
        EQUAL(lc_file_update(NULL, KEY, 1, &out, &out_len), LC_ERR_NULL_POINTER);
        CHECK(out == NULL && out_len == 0);
        EQUAL(lc_file_finish(NULL, &out, &out_len), LC_ERR_NULL_POINTER);
        EQUAL(lc_file_update((lc_file *)((char *)file + 1), KEY, 1, &out, &out_len),
              LC_ERR_MISALIGNED);
        EQUAL(lc_file_update(file, NULL, 1, &out, &out_len), LC_ERR_NULL_POINTER);
        EQUAL(lc_file_update(file, KEY, (size_t)-1, &out, &out_len), LC_ERR_TOO_LONG);
        EQUAL(lc_file_update(file, KEY, 1, NULL, &out_len), LC_ERR_NULL_POINTER);
        EQUAL(lc_file_update(file, KEY, 1, &out, NULL), LC_ERR_NULL_POINTER);
        EQUAL(lc_file_update(file, KEY, 1, odd, &out_len), LC_ERR_MISALIGNED);
        EQUAL(lc_file_update(file, KEY, 1, &out, (size_t *)(area + 1)), LC_ERR_MISALIGNED);
        EQUAL(lc_file_finish(file, NULL, &out_len), LC_ERR_NULL_POINTER);
        EQUAL(lc_file_finish(file, &out, NULL), LC_ERR_NULL_POINTER);
        /* The places within the input, and both in one. */
        EQUAL(lc_file_update(file, &out, sizeof out, &out, &out_len), LC_ERR_OVERLAP);
        EQUAL(lc_file_update(file, &out_len, 1, &out, &out_len), LC_ERR_OVERLAP);
        EQUAL(lc_file_update(file, KEY, 1, &out, (size_t *)(void *)&out), LC_ERR_OVERLAP);
        CHECK(area[1] == 0x5a && area[8] == 0x5a);
        /* None of them was fatal. */
        rest = through(file, KEY, opens ? 0 : 32, 5);
        EQUAL(rest.error, opens ? LC_ERR_FILE_FORMAT : LC_OK);
        EQUAL(rest.len, opens ? 0 : OF_KEY + 32 + TAG);
        free(rest.data);
    }
    /* Output is no input of the same file. */
    file = encrypting(0, LC_FILE_KEY);
    EQUAL(lc_file_update(file, KEY, 32, &out, &out_len), LC_OK);
    EQUAL(out_len, OF_KEY);
    {
        const void *later;
        EQUAL(lc_file_update(file, out, out_len, &later, &out_len), LC_ERR_OVERLAP);
    }
    EQUAL(lc_file_finish(file, &out, &out_len), LC_OK);
    EQUAL(out_len, 32 + TAG);
    lc_file_free(file);
    lc_file_free(NULL);
}

/* Parent and child would seal different chunks with one nonce. */
static void a_child_does_not_encrypt(void) {
    lc_file *file = encrypting(0, LC_FILE_KEY), *reads = decrypting(LC_FILE_KEY);
    struct outcome sealed = sealed_of(0, LC_FILE_KEY, 100);
    const void *out;
    size_t out_len;
    pid_t child;
    int status;
    EQUAL(lc_file_update(file, KEY, 32, &out, &out_len), LC_OK);
    EQUAL(lc_file_update(reads, sealed.data, 90, &out, &out_len), LC_OK);
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        EQUAL(lc_file_update(file, KEY, 1, &out, &out_len), LC_ERR_FORKED);
        CHECK(out == NULL && out_len == 0);
        EQUAL(lc_file_finish(file, &out, &out_len), LC_ERR_FORKED);
        lc_file_free(file);
        EQUAL(lc_file_update(reads, sealed.data + 90, sealed.len - 90, &out, &out_len), LC_OK);
        EQUAL(lc_file_finish(reads, &out, &out_len), LC_OK);
        EQUAL(out_len, 100);
        lc_file_free(reads);
        _exit(wrong != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    EQUAL(lc_file_finish(file, &out, &out_len), LC_OK);
    EQUAL(out_len, 32 + TAG);
    lc_file_free(file), lc_file_free(reads), free(sealed.data);
}

/* Those of a key have version 1 in their header, those of a passphrase version 2. */
static void files_of_rust_are_read(void) {
    static const char one[] =
        "This file was written by lanecrypt encrypt, when its format had one version.\n";
    static const char two[] = "A file of lanecrypt, format 2.";
    int kinds[3] = {0, 0, 0}, kind;
    char **path;
    for (path = paths; *path; path++) {
        size_t len, right_len;
        unsigned char *sealed = whole(*path, &len);
        const char *right;
        struct outcome opened;
        kind = len > 10 && sealed[10] == 2 ? LC_FILE_PASSPHRASE : LC_FILE_KEY;
        right = kind == LC_FILE_KEY ? one : two;
        right_len = strlen(right);
        kinds[kind]++;
        opened = through(decrypting(kind), sealed, len, 33);
        EQUAL(opened.error, LC_OK);
        EQUAL(opened.len, right_len);
        CHECK(opened.len == right_len && !memcmp(opened.data, right, right_len));
        free(sealed), free(opened.data);
    }
    CHECK(kinds[LC_FILE_KEY] && kinds[LC_FILE_PASSPHRASE]);
}

static const char *folder;

static void written(const char *name, const void *data, size_t len) {
    char path[4096];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    CHECK(file != NULL);
    if (!file) return;
    EQUAL(fwrite(data, 1, len, file), len);
    EQUAL(fclose(file), 0);
}

/* With the text, and the secrets, for the program. */
static void files_are_written_for_rust(void) {
    static const int algorithms[] = {LC_AES_256_GCM, LC_CHACHA20_POLY1305, LC_XCHACHA20_POLY1305};
    const size_t len = 2 * CHUNK + 77;
    unsigned char *text = text_of(len);
    char name[64];
    int a;
    for (a = 0; a < 3; a++) {
        struct outcome sealed = sealed_of(algorithms[a], LC_FILE_KEY, len);
        snprintf(name, sizeof name, "key-%d.lanecrypt", a);
        written(name, sealed.data, sealed.len);
        free(sealed.data);
        sealed = sealed_of(algorithms[a], LC_FILE_PASSPHRASE, len);
        snprintf(name, sizeof name, "passphrase-%d.lanecrypt", a);
        written(name, sealed.data, sealed.len);
        free(sealed.data);
    }
    written("text", text, len);
    written("key", KEY, 32);
    written("passphrase", WORDS, WORDS_LEN);
    free(text);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    folder = words[1], paths = words + 2;
    RUN(files_come_back);
    RUN(single_bytes_come_back);
    RUN(output_comes_with_the_next_chunk);
    RUN(another_secret_is_refused);
    RUN(cut_files_are_refused);
    RUN(changed_headers_are_refused);
    RUN(changed_chunks_are_refused);
    RUN(hostile_costs_are_refused);
    RUN(hostile_arguments_change_nothing);
    RUN(a_child_does_not_encrypt);
    RUN(files_of_rust_are_read);
    RUN(files_are_written_for_rust);
    return finish();
}
