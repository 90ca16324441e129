/*
 * Test vectors through the library: every line of the files that are named as arguments, by each
 * call that can serve it, and all messages of a file once more in batches.
 *
 * A line is an object of JSON without nested objects; fields are in hex. Those that begin in the
 * middle of a keystream or are digests of it are for other interfaces, and are counted as such.
 */
#include "test.h"

struct line {
    const lc_session *session;
    unsigned char *key, *iv, *aad, *pt, *ct, *tag;
    size_t key_len, iv_len, aad_len, len, tag_len;
    int refused; /* the message must be refused: pt is null */
};

/* The value of a field, behind the colon and blanks; NULL if there is none. */
static const char *field(const char *line, const char *name) {
    char quoted[32];
    const char *found;
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    found = strstr(line, quoted);
    if (!found) return NULL;
    found += strlen(quoted);
    while (*found == ' ') found++;
    return found;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a field in hex; none if there is no such field or it is null. */
static unsigned char *hex(const char *line, const char *name, size_t *len) {
    const char *from = field(line, name);
    const char *end;
    unsigned char *made;
    size_t i;
    *len = 0;
    if (!from || *from != '"') return bytes(0);
    end = strchr(++from, '"');
    if (!end) abort();
    *len = (size_t)(end - from) / 2;
    made = bytes(*len);
    for (i = 0; i < *len; i++)
        made[i] = (unsigned char)(digit(from[2 * i]) << 4 | digit(from[2 * i + 1]));
    return made;
}

static int algorithm_of(const char *line) {
    char name[64];
    const char *from = field(line, "alg");
    size_t len;
    if (!from || *from != '"') return 0;
    len = strcspn(++from, "\"");
    if (len >= sizeof name) abort();
    memcpy(name, from, len);
    name[len] = 0;
    return lc_algorithm_by_name(name);
}

/* A message of a cipher that authenticates, by every call. */
static void packet(const struct line *v) {
    size_t all = v->len + v->tag_len;
    unsigned char *right = bytes(all), *packet = bytes(all), *apart = bytes(all);
    unsigned char *text = bytes(v->len), *tag = bytes(v->tag_len);
    int opened = v->refused ? LC_ERR_AUTHENTICATION : LC_OK;
    if (v->len) memcpy(right, v->ct, v->len);
    memcpy(right + v->len, v->tag, v->tag_len);

    if (!v->refused) {
        if (v->len) memcpy(packet, v->pt, v->len);
        EQUAL(lc_seal(v->session, v->iv, v->iv_len, v->aad, v->aad_len, packet, all), LC_OK);
        CHECK(!memcmp(packet, right, all));
        EQUAL(lc_seal_to(v->session, v->iv, v->iv_len, v->aad, v->aad_len, v->pt, v->len, apart,
                         all),
              LC_OK);
        CHECK(!memcmp(apart, right, all));
        EQUAL(lc_seal_detached(v->session, v->iv, v->iv_len, v->aad, v->aad_len, v->pt, text,
                               v->len, tag, v->tag_len),
              LC_OK);
        CHECK(!memcmp(text, v->ct, v->len) && !memcmp(tag, v->tag, v->tag_len));
    }

    memcpy(packet, right, all);
    EQUAL(lc_open(v->session, v->iv, v->iv_len, v->aad, v->aad_len, packet, all), opened);
    if (!v->refused) CHECK(!memcmp(packet, v->pt, v->len));
    EQUAL(lc_open_to(v->session, v->iv, v->iv_len, v->aad, v->aad_len, right, all, text, v->len),
          opened);
    if (!v->refused) CHECK(!memcmp(text, v->pt, v->len));
    EQUAL(lc_open_detached(v->session, v->iv, v->iv_len, v->aad, v->aad_len, v->ct, text, v->len,
                           v->tag, v->tag_len),
          opened);
    if (!v->refused) CHECK(!memcmp(text, v->pt, v->len));

    /* One bit is another. The message is wiped. */
    memcpy(packet, right, all);
    packet[all - 1] ^= 1;
    if (!v->refused) {
        EQUAL(lc_open(v->session, v->iv, v->iv_len, v->aad, v->aad_len, packet, all),
              LC_ERR_AUTHENTICATION);
        memset(text, 0, v->len);
        CHECK(!memcmp(packet, text, v->len));
    }
    free(right), free(packet), free(apart), free(text), free(tag);
}

/* A message of a raw cipher, apart and in place. */
static void raw(const struct line *v) {
    unsigned char *out = bytes(v->len);
    EQUAL(lc_hazmat_encrypt(v->session, v->iv, v->iv_len, v->pt, out, v->len), LC_OK);
    CHECK(!memcmp(out, v->ct, v->len));
    EQUAL(lc_hazmat_decrypt(v->session, v->iv, v->iv_len, out, out, v->len), LC_OK);
    CHECK(!memcmp(out, v->pt, v->len));
    free(out);
}

/* All messages of a file, forwards and then backwards, in one batch each. */
static void batch(const struct line *lines, size_t count, int authenticates) {
    struct lc_request *requests = (struct lc_request *)calloc(count + 1, sizeof *requests);
    lc_batch_buffer *room;
    size_t i;
    int backwards, error, bad = 0;
    if (!requests) abort();
    EQUAL(lc_batch_buffer_new(&room, 256), LC_OK);
    for (backwards = 0; backwards < 2; backwards++) {
        for (i = 0; i < count; i++) {
            const struct line *v = &lines[i];
            struct lc_request *r = &requests[i];
            r->session = v->session;
            r->operation = authenticates ? (backwards ? LC_OPEN : LC_SEAL)
                                         : (backwards ? LC_HAZMAT_DECRYPT : LC_HAZMAT_ENCRYPT);
            r->outcome = -1;
            r->nonce = v->iv, r->nonce_len = v->iv_len;
            r->aad = v->aad, r->aad_len = v->aad_len;
            r->len = v->len;
            r->from = backwards || v->refused ? v->ct : v->pt;
            r->to = bytes(v->len);
            r->tag = backwards ? copy(v->tag, v->tag_len) : bytes(v->tag_len);
            r->tag_len = v->tag_len;
            bad |= v->refused;
        }
        error = lc_process(room, requests, count);
        EQUAL(error, bad && backwards ? LC_ERR_BATCH_FAILED : LC_OK);
        for (i = 0; i < count; i++) {
            const struct line *v = &lines[i];
            struct lc_request *r = &requests[i];
            EQUAL(r->outcome, v->refused && backwards ? LC_ERR_AUTHENTICATION : LC_OK);
            if (!v->refused) {
                CHECK(!memcmp(r->to, backwards ? v->pt : v->ct, v->len));
                CHECK(!memcmp(r->tag, v->tag, v->tag_len));
            }
            free(r->to), free(r->tag);
        }
    }
    lc_batch_buffer_free(room);
    free(requests);
}

/* The bytes of a file, and a zero. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text;
    long len;
    if (!file || fseek(file, 0, SEEK_END) || (len = ftell(file)) < 0) {
        perror(path);
        exit(2);
    }
    rewind(file);
    text = (char *)bytes((size_t)len + 1);
    if (fread(text, 1, (size_t)len, file) != (size_t)len) abort();
    fclose(file);
    text[len] = 0;
    return text;
}

/* One line; 0 if it is for other interfaces. */
static int parse(const char *line, struct line *v, int *authenticates) {
    struct lc_algorithm_info info;
    int algorithm = algorithm_of(line), error;
    const char *pt = field(line, "pt"), *counter = field(line, "counter");
    size_t ct_len;
    lc_session *session = NULL;
    if (!algorithm || field(line, "skip") || field(line, "xor_digest") || !pt) return 0;
    EQUAL(lc_algorithm_info(algorithm, &info), LC_OK);
    *authenticates = info.authenticates;
    memset(v, 0, sizeof *v);
    v->key = hex(line, "key", &v->key_len);
    v->iv = hex(line, "iv", &v->iv_len);
    v->aad = hex(line, "aad", &v->aad_len);
    v->pt = hex(line, "pt", &v->len);
    v->ct = hex(line, "ct", &ct_len);
    v->tag = hex(line, "tag", &v->tag_len);
    v->refused = *pt != '"';
    if (v->refused) v->len = ct_len;
    EQUAL(v->len, ct_len);
    if (counter) {
        /* Before the nonce, little-endian; together they have 16 bytes. */
        unsigned long first = strtoul(counter, NULL, 10);
        unsigned char *block = bytes(16);
        size_t i, at = 16 - v->iv_len;
        memset(block, 0, at);
        for (i = 0; i < 4; i++) block[i] = (unsigned char)(first >> (8 * i));
        memcpy(block + at, v->iv, v->iv_len);
        free(v->iv);
        v->iv = block, v->iv_len = 16;
    }
    error = info.authenticates
                ? lc_session_new_with_tag(&session, algorithm, v->key, v->key_len, v->tag_len)
                : lc_hazmat_session_new(&session, algorithm, v->key, v->key_len);
    EQUAL(error, LC_OK);
    v->session = session;
    if (info.authenticates) EQUAL(lc_session_tag_len(session), v->tag_len);
    EQUAL(lc_session_algorithm(session), algorithm);
    return 1;
}

static void file(const char *path) {
    char *text = read_file(path), *next = text, *line;
    size_t count = 0, left = 0, room = 1, i;
    int authenticates = 0;
    struct line *lines;
    for (line = text; (line = strchr(line, '\n')); line++) room++;
    lines = (struct line *)calloc(room, sizeof *lines);
    if (!lines) abort();
    wrong = 0;
    while (*(line = next)) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (!field(line, "alg")) continue;
        if (parse(line, &lines[count], &authenticates)) {
            if (authenticates) {
                packet(&lines[count]);
            } else {
                raw(&lines[count]);
            }
            count++;
        } else {
            left++;
        }
    }
    batch(lines, count, authenticates);
    /* Nothing was tested if a file has another form. */
    CHECK(count > 5);
    for (i = 0; i < count; i++) {
        struct line *v = &lines[i];
        lc_session_free((lc_session *)v->session);
        free(v->key), free(v->iv), free(v->aad), free(v->pt), free(v->ct), free(v->tag);
    }
    free(lines);
    free(text);
    printf("%s: %lu vectors, %lu for other interfaces\n", path, (unsigned long)count,
           (unsigned long)left);
    done(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
}

int main(int count, char **paths) {
    int i;
    for (i = 1; i < count; i++) file(paths[i]);
    return finish();
}
