/* What the header promises of each call: results, errors, hostile arguments, threads, forks. */
#define _POSIX_C_SOURCE 200809L
#include "curves.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char KEY[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const unsigned char NONCE[16] = {9, 8, 7};
static const char *pem_path, *public_path, *signature_path;

static lc_session *opened(int algorithm) {
    struct lc_algorithm_info info;
    lc_session *session = NULL;
    EQUAL(lc_algorithm_info(algorithm, &info), LC_OK);
    EQUAL(info.authenticates ? lc_session_new(&session, algorithm, KEY, info.key_len)
                             : lc_hazmat_session_new(&session, algorithm, KEY, info.key_len),
          LC_OK);
    CHECK(session != NULL);
    return session;
}

static lc_batch_buffer *room_for(size_t messages) {
    lc_batch_buffer *room = NULL;
    EQUAL(lc_batch_buffer_new(&room, messages), LC_OK);
    return room;
}

/* ---- Versions and errors ---- */

static void versions_and_texts(void) {
    char version[32];
    int i;
    snprintf(version, sizeof version, "%d.%d.%d", LC_VERSION_MAJOR, LC_VERSION_MINOR,
             LC_VERSION_PATCH);
    CHECK(!strcmp(version, lc_version()));
    CHECK(!strcmp(lc_strerror(LC_OK), "success"));
    CHECK(!strcmp(lc_strerror(LC_ERR_AUTHENTICATION), "authentication failed"));
    for (i = -1000; i < 1000; i++) CHECK(lc_strerror(i) && strlen(lc_strerror(i)) > 3);
    CHECK(!strcmp(lc_strerror(-2147483647 - 1), "unknown error"));
}

static void algorithms_by_name_and_number(void) {
    struct lc_algorithm_info info;
    char *longer = (char *)bytes(5000);
    int i, known = 0;
    for (i = -10; i < 300; i++) {
        const char *name = lc_algorithm_name(i);
        if (name) {
            known++;
            EQUAL(lc_algorithm_by_name(name), i);
            EQUAL(lc_algorithm_info(i, &info), LC_OK);
        } else {
            EQUAL(lc_algorithm_info(i, &info), LC_ERR_UNKNOWN_ALGORITHM);
        }
    }
    CHECK(known > 40);
    EQUAL(lc_algorithm_by_name("aes-128-gcm"), LC_AES_128_GCM);
    EQUAL(lc_algorithm_by_name("chacha20-poly1305"), LC_CHACHA20_POLY1305);
    EQUAL(lc_algorithm_by_name("AES-128-GCM"), 0);
    EQUAL(lc_algorithm_by_name(""), 0);
    EQUAL(lc_algorithm_by_name(NULL), 0);
    memset(longer, 'a', 4999), longer[4999] = 0;
    EQUAL(lc_algorithm_by_name(longer), 0);
    free(longer);
    EQUAL(lc_algorithm_info(LC_XCHACHA20_POLY1305, &info), LC_OK);
    CHECK(info.authenticates == 1 && info.random_nonces == 0 && info.key_len == 32);
    CHECK(info.shortest_key_len == 32 && info.nonce_len == 24 && info.tag_len == 16);
    EQUAL(info.block_len, 1);
    EQUAL(lc_algorithm_info(LC_AES_128_GCM, NULL), LC_ERR_NULL_POINTER);
    EQUAL(lc_algorithm_info(LC_AES_128_GCM, (struct lc_algorithm_info *)((char *)&info + 1)),
          LC_ERR_MISALIGNED);
}

/* ---- Random numbers ---- */

static void random_numbers(void) {
    unsigned char *some = bytes(100000);
    unsigned seen[256] = {0};
    uint64_t number = 0, high = 0, all = 0;
    int i, few = 0;
    memset(some, 0, 100000);
    EQUAL(lc_random(some, 100000), LC_OK);
    for (i = 0; i < 100000; i++) seen[some[i]]++;
    for (i = 0; i < 256; i++) CHECK(seen[i] > 200 && seen[i] < 600);
    EQUAL(lc_random(NULL, 0), LC_OK);
    EQUAL(lc_random(NULL, 1), LC_ERR_NULL_POINTER);
    EQUAL(lc_random(some, (size_t)PTRDIFF_MAX + 1), LC_ERR_TOO_LONG);
    EQUAL(lc_random(some, (size_t)-1), LC_ERR_TOO_LONG);
    for (i = 0; i < 1000; i++) {
        all |= lc_random_u64();
        high |= lc_random_u32();
        CHECK(lc_random_below(7) < 7);
        EQUAL(lc_random_range(10, 12, &number), LC_OK);
        CHECK(number >= 10 && number <= 12);
        few |= 1 << (number - 10);
    }
    CHECK(all == (uint64_t)-1 && high == (uint32_t)-1 && few == 7);
    EQUAL(lc_random_below(0), 0);
    EQUAL(lc_random_below(1), 0);
    number = 5;
    EQUAL(lc_random_range(1, 0, &number), LC_ERR_RANGE);
    EQUAL(number, 5);
    EQUAL(lc_random_range(3, 3, &number), LC_OK);
    EQUAL(number, 3);
    EQUAL(lc_random_range(0, (uint64_t)-1, &number), LC_OK);
    EQUAL(lc_random_range(0, 1, NULL), LC_ERR_NULL_POINTER);
    EQUAL(lc_random_range(0, 1, (uint64_t *)(some + 1)), LC_ERR_MISALIGNED);
    errno = 77;
    EQUAL(lc_random(some, 100000), LC_OK);
    EQUAL(errno, 77);
    free(some);
}

/* ---- Sessions ---- */

static void sessions_are_refused(void) {
    lc_session *session = (lc_session *)KEY;
    EQUAL(lc_session_new(NULL, LC_AES_128_GCM, KEY, 16), LC_ERR_NULL_POINTER);
    EQUAL(lc_session_new((lc_session **)((char *)&session + 1), LC_AES_128_GCM, KEY, 16),
          LC_ERR_MISALIGNED);
    CHECK(session == (lc_session *)KEY);
#define REFUSED(call, error)                                                                       \
    do {                                                                                           \
        session = (lc_session *)KEY;                                                               \
        EQUAL(call, error);                                                                        \
        CHECK(session == NULL);                                                                    \
    } while (0)
    REFUSED(lc_session_new(&session, 0, KEY, 16), LC_ERR_UNKNOWN_ALGORITHM);
    REFUSED(lc_session_new(&session, 10000, KEY, 16), LC_ERR_UNKNOWN_ALGORITHM);
    REFUSED(lc_session_new(&session, -1, KEY, 16), LC_ERR_UNKNOWN_ALGORITHM);
    REFUSED(lc_session_new(&session, LC_AES_128_GCM, NULL, 16), LC_ERR_NULL_POINTER);
    REFUSED(lc_session_new(&session, LC_AES_128_GCM, NULL, 0), LC_ERR_KEY_LENGTH);
    REFUSED(lc_session_new(&session, LC_AES_128_GCM, KEY, 17), LC_ERR_KEY_LENGTH);
    REFUSED(lc_session_new(&session, LC_AES_128_GCM, KEY, (size_t)-1), LC_ERR_TOO_LONG);
    REFUSED(lc_session_new(&session, LC_AES_128_CTR, KEY, 16), LC_ERR_UNSUPPORTED);
    REFUSED(lc_hazmat_session_new(&session, LC_AES_128_GCM, KEY, 16), LC_ERR_UNSUPPORTED);
    REFUSED(lc_hazmat_session_new(&session, LC_AES_128_XTS, KEY + 32, 32), LC_ERR_WEAK_KEY);
    REFUSED(lc_session_new_with_tag(&session, LC_AES_128_GCM, KEY, 16, 11), LC_ERR_TAG_LENGTH);
    REFUSED(lc_session_new_with_tag(&session, LC_CHACHA20_POLY1305, KEY, 32, 12),
            LC_ERR_TAG_LENGTH);
    REFUSED(lc_session_new_with_tag(&session, LC_AES_128_GCM, KEY, 16, (size_t)-1),
            LC_ERR_TAG_LENGTH);
    /* What would be written there is the key. */
    {
        union {
            lc_session *session;
            lc_nonces *nonces;
            unsigned char bytes[64];
        } both, before;
        size_t at;
        memcpy(both.bytes, KEY, sizeof both.bytes);
        before = both;
        for (at = 0; at < 8; at++) {
            EQUAL(lc_session_new(&both.session, LC_AES_128_GCM, both.bytes + at, 16),
                  LC_ERR_OVERLAP);
            EQUAL(lc_hazmat_session_new(&both.session, LC_AES_128_CTR, both.bytes + at, 16),
                  LC_ERR_OVERLAP);
            EQUAL(lc_signature_session_new(&both.session, LC_RSA_PSS_SHA256, both.bytes + at, 16),
                  LC_ERR_OVERLAP);
            EQUAL(lc_nonces_counter(&both.nonces, LC_AES_128_GCM, both.bytes + at, 4, 0),
                  LC_ERR_OVERLAP);
            EQUAL(lc_nonces_flagged(&both.nonces, LC_AES_128_GCM, both.bytes + at, 4, 0),
                  LC_ERR_OVERLAP);
            EQUAL(lc_nonces_masked(&both.nonces, LC_AES_128_GCM, both.bytes + at, 12, 0),
                  LC_ERR_OVERLAP);
        }
        CHECK(!memcmp(&both, &before, sizeof both));
        EQUAL(lc_session_new(&both.session, LC_AES_128_GCM, both.bytes + sizeof both.session, 16),
              LC_OK);
        lc_session_free(both.session);
    }
    lc_session_free(NULL);
    EQUAL(lc_session_tag_len(NULL), 0);
    EQUAL(lc_session_algorithm(NULL), 0);
    EQUAL(lc_session_signature_len((lc_session *)1), 0);
}

/* ---- Single messages: what comes back, and what is refused ---- */

static void messages_come_back(void) {
    int algorithm;
    for (algorithm = 1; algorithm < 60; algorithm++) {
        struct lc_algorithm_info info;
        lc_session *session;
        size_t len;
        if (!lc_algorithm_name(algorithm)) continue;
        EQUAL(lc_algorithm_info(algorithm, &info), LC_OK);
        session = opened(algorithm);
        EQUAL(lc_session_tag_len(session), info.tag_len);
        for (len = 0; len < 200; len += info.block_len) {
            size_t all = len + info.tag_len;
            unsigned char *text = bytes(len), *packet = bytes(all), *back = bytes(len);
            unsigned char *nonce = copy(NONCE, 0);
            free(nonce), nonce = bytes(info.nonce_len);
            EQUAL(lc_random(nonce, info.nonce_len), LC_OK);
            EQUAL(lc_random(text, len), LC_OK);
            EQUAL(lc_seal_to(session, nonce, info.nonce_len, KEY, len % 17, text, len, packet, all),
                  LC_OK);
            CHECK(len < 16 || memcmp(text, packet, len));
            EQUAL(lc_open_to(session, nonce, info.nonce_len, KEY, len % 17, packet, all, back, len),
                  LC_OK);
            CHECK(!memcmp(text, back, len));
            /* In place: the message at the front of the packet, in both directions. */
            EQUAL(lc_open_to(session, nonce, info.nonce_len, KEY, len % 17, packet, all, packet,
                             len),
                  LC_OK);
            CHECK(!memcmp(text, packet, len));
            memcpy(back, text, len);
            EQUAL(lc_seal_to(session, nonce, info.nonce_len, KEY, len % 17, packet, len, packet,
                             all),
                  LC_OK);
            /* The tag right behind the message. */
            EQUAL(lc_seal_detached(session, nonce, info.nonce_len, KEY, len % 17, back, back, len,
                                   text, 0),
                  LC_ERR_TAG_LENGTH);
            memcpy(text, packet, len);
            EQUAL(lc_open_detached(session, nonce, info.nonce_len, KEY, len % 17, packet, packet,
                                   len, packet + len, info.tag_len),
                  LC_OK);
            CHECK(!memcmp(packet, back, len));
            EQUAL(lc_seal_detached(session, nonce, info.nonce_len, KEY, len % 17, packet, packet,
                                   len, packet + len, info.tag_len),
                  LC_OK);
            CHECK(!memcmp(packet, text, len));
            EQUAL(lc_open(session, nonce, info.nonce_len, KEY, len % 17 + 1, packet, all),
                  LC_ERR_AUTHENTICATION);
            free(text), free(packet), free(back), free(nonce);
        }
        lc_session_free(session);
    }
}

static void wrong_lengths_change_nothing(void) {
    lc_session *session = opened(LC_AES_128_GCM), *poly = opened(LC_CHACHA20_POLY1305);
    unsigned char packet[48], before[48];
    memset(packet, 0x5a, sizeof packet);
    memcpy(before, packet, sizeof packet);
    EQUAL(lc_seal(session, NONCE, 12, NULL, 0, packet, 15), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_seal(session, NONCE, 0, NULL, 0, packet, 48), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_seal(poly, NONCE, 11, NULL, 0, packet, 48), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_open(poly, NONCE, 13, NULL, 0, packet, 48), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_seal_to(session, NONCE, 12, NULL, 0, before, 31, packet, 48), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_seal_to(session, NONCE, 12, NULL, 0, before, 48, packet, 32), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_open_to(session, NONCE, 12, NULL, 0, before, 48, packet, 31), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_open_to(session, NONCE, 12, NULL, 0, before, 15, packet, 0), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_seal_detached(session, NONCE, 12, NULL, 0, before, packet, 16, packet + 32, 15),
          LC_ERR_TAG_LENGTH);
    EQUAL(lc_open_detached(session, NONCE, 12, NULL, 0, before, packet, 16, packet + 32, 12),
          LC_ERR_TAG_LENGTH);
    EQUAL(lc_hazmat_encrypt(session, NONCE, 16, packet, packet, 16), LC_ERR_UNSUPPORTED);
    EQUAL(lc_sign(session, packet, 1, packet + 16, 16), LC_ERR_UNSUPPORTED);
    EQUAL(lc_verify(session, packet, 1, packet + 16, 16), LC_ERR_UNSUPPORTED);
    CHECK(!memcmp(packet, before, sizeof packet));
    EQUAL(lc_open(session, NONCE, 12, NULL, 0, packet, 15), LC_ERR_AUTHENTICATION);
    CHECK(!memcmp(packet, before, sizeof packet));
    lc_session_free(session), lc_session_free(poly);
}

/* Every pointer null, and every length too long, one after the other. */
static void null_and_too_long(void) {
    lc_session *session = opened(LC_AES_128_GCM);
    const size_t none = 0, over = (size_t)PTRDIFF_MAX + 1;
    unsigned char packet[48] = {0}, message[32] = {0}, tag[16] = {0};
    EQUAL(lc_seal(NULL, NONCE, 12, NULL, 0, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal(session, NULL, 12, NULL, 0, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal(session, NONCE, 12, NULL, 1, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal(session, NONCE, 12, NULL, 0, NULL, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal(session, NONCE, over, NULL, 0, packet, 48), LC_ERR_TOO_LONG);
    EQUAL(lc_seal(session, NONCE, 12, KEY, over, packet, 48), LC_ERR_TOO_LONG);
    EQUAL(lc_seal(session, NONCE, 12, NULL, 0, packet, (size_t)-1), LC_ERR_TOO_LONG);
    EQUAL(lc_seal((lc_session *)((char *)session + 1), NONCE, 12, NULL, 0, packet, 48),
          LC_ERR_MISALIGNED);
    EQUAL(lc_open(NULL, NONCE, 12, NULL, 0, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_open(session, NULL, 12, NULL, 0, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_open(session, NONCE, 12, NULL, 9, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_open(session, NONCE, 12, NULL, 0, NULL, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_open(session, NONCE, 12, NULL, 0, packet, over), LC_ERR_TOO_LONG);
    EQUAL(lc_seal_to(session, NONCE, 12, NULL, 0, NULL, 32, packet, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal_to(session, NONCE, 12, NULL, 0, message, 32, NULL, 48), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal_to(session, NONCE, 12, NULL, 0, message, over, packet, over + 16),
          LC_ERR_TOO_LONG);
    EQUAL(lc_open_to(session, NONCE, 12, NULL, 0, NULL, 48, message, 32), LC_ERR_NULL_POINTER);
    EQUAL(lc_open_to(session, NONCE, 12, NULL, 0, packet, 48, NULL, 32), LC_ERR_NULL_POINTER);
    EQUAL(lc_seal_detached(session, NONCE, 12, NULL, 0, NULL, message, 32, tag, 16),
          LC_ERR_NULL_POINTER);
    EQUAL(lc_seal_detached(session, NONCE, 12, NULL, 0, packet, NULL, 32, tag, 16),
          LC_ERR_NULL_POINTER);
    EQUAL(lc_seal_detached(session, NONCE, 12, NULL, 0, packet, message, 32, NULL, 16),
          LC_ERR_NULL_POINTER);
    EQUAL(lc_open_detached(session, NONCE, 12, NULL, 0, packet, message, 32, NULL, 16),
          LC_ERR_NULL_POINTER);
    EQUAL(lc_hazmat_encrypt(NULL, NONCE, 16, packet, packet, 16), LC_ERR_NULL_POINTER);
    EQUAL(lc_sign(NULL, packet, 16, message, 32), LC_ERR_NULL_POINTER);
    EQUAL(lc_verify(NULL, packet, 16, message, 32), LC_ERR_NULL_POINTER);
    /* Nothing may stand anywhere, also inside of the packet. */
    EQUAL(lc_seal(session, NONCE, 12, packet + 7, none, packet, 48), LC_OK);
    EQUAL(lc_open(session, NONCE, 12, NULL, none, packet, 48), LC_OK);
    EQUAL(lc_seal_detached(session, NONCE, 12, NULL, 0, NULL, NULL, none, tag, 16), LC_OK);
    lc_session_free(session);
}

/* One message as a batch; its outcome. */
static int alone(lc_batch_buffer *room, const lc_session *session, int operation, const void *nonce,
                 size_t nonce_len, const void *aad, size_t aad_len, const void *from, void *to,
                 size_t len, void *tag, size_t tag_len) {
    struct lc_request r;
    int error;
    memset(&r, 0, sizeof r);
    r.session = session, r.operation = operation;
    r.nonce = nonce, r.nonce_len = nonce_len, r.aad = aad, r.aad_len = aad_len;
    r.from = from, r.to = to, r.len = len, r.tag = tag, r.tag_len = tag_len;
    error = lc_process(room, &r, 1);
    EQUAL(error, r.outcome ? LC_ERR_BATCH_FAILED : LC_OK);
    return r.outcome;
}

/* All places of two arguments in one buffer: refused if, and only if, they share a byte. Each with
 * the calls for one message, and in a batch. */
static void overlaps_are_refused(void) {
    lc_session *session = opened(LC_AES_128_GCM), *raw = opened(LC_AES_128_CTR);
    lc_batch_buffer *room = room_for(4);
    unsigned char area[128], end[16], nonce[12] = {0};
    size_t a, b;
#define APART(a, alen, b, blen) ((a) + (alen) <= (b) || (b) + (blen) <= (a))
#define AS_IF(apart) ((apart) ? LC_OK : LC_ERR_OVERLAP)
    memset(area, 0, sizeof area);
    for (a = 0; a < 60; a++) {
        for (b = 0; b < 60; b++) {
            int apart = APART(a, 20, b, 5), same = a == b;
            EQUAL(lc_seal(session, nonce, 12, area + b, 5, area + a, 20), AS_IF(apart));
            EQUAL(lc_seal(session, area + b, 5, NULL, 0, area + a, 20), AS_IF(apart));
            EQUAL(lc_open(session, nonce, 12, area + b, 5, area + a, 20) == LC_ERR_OVERLAP, !apart);
            EQUAL(lc_open(session, area + b, 5, NULL, 0, area + a, 20) == LC_ERR_OVERLAP, !apart);
            apart = APART(a, 20, b, 4);
            EQUAL(lc_seal_to(session, nonce, 12, NULL, 0, area + b, 4, area + a, 20),
                  AS_IF(apart || same));
            EQUAL(lc_open_to(session, nonce, 12, NULL, 0, area + a, 20, area + b, 4) ==
                      LC_ERR_OVERLAP,
                  !(apart || same));
            apart = APART(a, 7, b, 7);
            EQUAL(lc_seal_detached(session, nonce, 12, NULL, 0, area + a, area + b, 7, area + 100,
                                   16),
                  AS_IF(apart || same));
            EQUAL(lc_open_detached(session, nonce, 12, NULL, 0, area + a, area + b, 7, area + 100,
                                   16) == LC_ERR_OVERLAP,
                  !(apart || same));
            EQUAL(lc_hazmat_encrypt(raw, KEY, 16, area + a, area + b, 7), AS_IF(apart || same));
            EQUAL(lc_hazmat_decrypt(raw, KEY, 16, area + a, area + b, 7), AS_IF(apart || same));
            EQUAL(alone(room, session, LC_SEAL, nonce, 12, NULL, 0, area + a, area + b, 7, end, 16),
                  AS_IF(apart || same));
            EQUAL(alone(room, raw, LC_HAZMAT_ENCRYPT, KEY, 16, NULL, 0, area + a, area + b, 7, NULL,
                        0),
                  AS_IF(apart || same));
            /* What is written in place and associated data or nonce. */
#define SEALS(call_nonce, call_nonce_len, aad, aad_len, to, tag)                                   \
    do {                                                                                           \
        EQUAL(lc_seal_detached(session, call_nonce, call_nonce_len, aad, aad_len, to, to, 7, tag,  \
                               16),                                                                \
              AS_IF(apart));                                                                       \
        EQUAL(alone(room, session, LC_SEAL, call_nonce, call_nonce_len, aad, aad_len, to, to, 7,   \
                    tag, 16),                                                                      \
              AS_IF(apart));                                                                       \
    } while (0)
#define OPENS(call_nonce, call_nonce_len, aad, aad_len, to, tag)                                   \
    do {                                                                                           \
        EQUAL(lc_open_detached(session, call_nonce, call_nonce_len, aad, aad_len, to, to, 7, tag,  \
                               16) == LC_ERR_OVERLAP,                                              \
              !apart);                                                                             \
        EQUAL(alone(room, session, LC_OPEN, call_nonce, call_nonce_len, aad, aad_len, to, to, 7,   \
                    tag, 16) == LC_ERR_OVERLAP,                                                    \
              !apart);                                                                             \
    } while (0)
            SEALS(nonce, 12, area + b, 7, area + a, end);
            OPENS(nonce, 12, area + b, 7, area + a, end);
            SEALS(area + b, 7, NULL, 0, area + a, end);
            OPENS(area + b, 7, NULL, 0, area + a, end);
            apart = APART(a, 7, b, 16);
            /* The tag, which is written or read, and all the others. */
            SEALS(nonce, 12, NULL, 0, area + a, area + b);
            OPENS(nonce, 12, NULL, 0, area + a, area + b);
            SEALS(nonce, 12, area + a, 7, area + 100, area + b);
            SEALS(area + a, 7, NULL, 0, area + 100, area + b);
            EQUAL(lc_seal_detached(session, nonce, 12, NULL, 0, area + a, area + 100, 7, area + b,
                                   16),
                  AS_IF(apart));
            EQUAL(alone(room, session, LC_SEAL, nonce, 12, NULL, 0, area + a, area + 100, 7,
                        area + b, 16),
                  AS_IF(apart));
            EQUAL(lc_seal_detached(session, nonce, 12, NULL, 0, KEY, area + a, 7, area + b, 16),
                  AS_IF(apart));
            EQUAL(lc_hazmat_encrypt(raw, area + b, 16, area + a, area + a, 7), AS_IF(apart));
            EQUAL(alone(room, raw, LC_HAZMAT_ENCRYPT, area + b, 16, NULL, 0, area + a, area + a, 7,
                        NULL, 0),
                  AS_IF(apart));
            apart = APART(a, 23, b, 5);
            EQUAL(lc_seal_to(session, nonce, 12, area + b, 5, KEY, 7, area + a, 23), AS_IF(apart));
            EQUAL(lc_seal_to(session, area + b, 5, NULL, 0, KEY, 7, area + a, 23), AS_IF(apart));
            apart = APART(a, 7, b, 5);
            EQUAL(lc_open_to(session, nonce, 12, area + b, 5, KEY, 23, area + a,
                             7) == LC_ERR_OVERLAP,
                  !apart);
            EQUAL(lc_open_to(session, area + b, 5, NULL, 0, KEY, 23, area + a, 7) == LC_ERR_OVERLAP,
                  !apart);
        }
    }
    lc_batch_buffer_free(room);
    lc_session_free(session), lc_session_free(raw);
}

/* ---- Nonces ---- */

static void nonces_do_not_repeat(void) {
    static const unsigned char first[12] = {7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 5};
    lc_nonces *nonces;
    unsigned char nonce[12], other[12], packet[20] = {0};
    lc_session *session = opened(LC_AES_128_GCM);
    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_GCM, "\7\7\7\7", 4, 5), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
    CHECK(!memcmp(nonce, first, 12));
    EQUAL(lc_nonces_next(nonces, nonce, 11), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_nonces_next_flagged(nonces, 1, nonce, 12), LC_ERR_UNSUPPORTED);
    EQUAL(lc_nonces_next(NULL, nonce, 12), LC_ERR_NULL_POINTER);
    EQUAL(lc_nonces_next(nonces, NULL, 12), LC_ERR_NULL_POINTER);
    /* What is refused uses up no nonce. */
    EQUAL(lc_seal_next(session, nonces, nonce, 12, NULL, 0, packet, 15), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_seal_next(session, nonces, nonce, 11, NULL, 0, packet, 20), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_seal_next(session, nonces, packet, 12, NULL, 0, packet, 20), LC_ERR_OVERLAP);
    EQUAL(lc_seal_next(session, nonces, nonce, 12, nonce + 11, 1, packet, 20), LC_ERR_OVERLAP);
    EQUAL(lc_seal_next(session, nonces, nonce, 12, packet + 19, 1, packet, 20), LC_ERR_OVERLAP);
    EQUAL(lc_seal_next(session, nonces, nonce, 12, "aad", 3, packet, 20), LC_OK);
    EQUAL(nonce[11], 6);
    EQUAL(lc_open(session, nonce, 12, "aad", 3, packet, 20), LC_OK);
    lc_nonces_free(nonces);

    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_GCM, KEY, 9, 0), LC_ERR_NONCE_LENGTH);
    CHECK(nonces == NULL);
    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_CBC_HMAC_SHA256, NULL, 0, 0), LC_ERR_UNSUPPORTED);
    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_CTR, NULL, 0, 0), LC_ERR_UNSUPPORTED);
    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_GCM, KEY, 8, 0xffffffff), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_ERR_NONCES_EXHAUSTED);
    lc_nonces_free(nonces);

    EQUAL(lc_nonces_masked(&nonces, LC_AES_128_GCM, first, 12, 1), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
    EQUAL(nonce[11], 4);
    lc_nonces_free(nonces);

    EQUAL(lc_nonces_flagged(&nonces, LC_AES_128_GCM, KEY, 7, 0), LC_OK);
    EQUAL(lc_nonces_next_flagged(nonces, 9, nonce, 12), LC_OK);
    EQUAL(nonce[11], 9);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
    CHECK(nonce[10] == 1 && nonce[11] == 0);
    lc_nonces_free(nonces);

    EQUAL(lc_nonces_random(&nonces, LC_AES_128_GCM, 0), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
    EQUAL(lc_nonces_next(nonces, other, 12), LC_OK);
    CHECK(memcmp(nonce, other, 12));
    EQUAL(lc_nonces_next_flagged(nonces, 9, nonce, 12), LC_ERR_UNSUPPORTED);
    lc_nonces_free(nonces);
    EQUAL(lc_nonces_random(&nonces, LC_AES_128_GCM, (uint64_t)1 << 32), LC_OK);
    EQUAL(lc_nonces_next(nonces, nonce, 12), LC_ERR_NONCES_EXHAUSTED);
    lc_nonces_free(nonces);
    EQUAL(lc_nonces_random(&nonces, LC_AES_128_ECB, 0), LC_ERR_UNSUPPORTED);
    EQUAL(lc_nonces_random(NULL, LC_AES_128_GCM, 0), LC_ERR_NULL_POINTER);
    lc_nonces_free(NULL);
    lc_session_free(session);
}

/* ---- Batches ---- */

#define MANY 600

/* Messages of all algorithms and lengths, served together and one by one: the same bytes. */
static void batches_do_what_single_calls_do(void) {
    static const int algorithms[] = {LC_AES_128_GCM, LC_CHACHA20_POLY1305, LC_AES_256_GCM_SIV,
                                     LC_AES_256_CBC_HMAC_SHA256, LC_XCHACHA20_POLY1305};
    struct lc_request *requests = (struct lc_request *)calloc(MANY, sizeof *requests);
    lc_session *sessions[5];
    lc_batch_buffer *room = room_for(64);
    unsigned char nonces[MANY][24];
    size_t i;
    int round;
    for (i = 0; i < 5; i++) sessions[i] = opened(algorithms[i]);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < MANY; i++) {
            struct lc_algorithm_info info;
            struct lc_request *r = &requests[i];
            unsigned char *packet;
            EQUAL(lc_algorithm_info(algorithms[i % 5], &info), LC_OK);
            EQUAL(lc_random(nonces[i], 24), LC_OK);
            r->session = sessions[i % 5];
            r->operation = LC_SEAL;
            r->outcome = 1234;
            r->nonce = nonces[i], r->nonce_len = info.nonce_len;
            r->aad = KEY, r->aad_len = i % 30;
            r->len = i * 7 % 400 / info.block_len * info.block_len;
            packet = bytes(r->len + info.tag_len);
            memset(packet, (int)i, r->len);
            /* In place with the tag behind it, and every third one apart. */
            r->to = packet;
            r->from = i % 3 ? packet : copy(packet, r->len);
            r->tag = packet + r->len, r->tag_len = info.tag_len;
        }
        EQUAL(lc_process(room, requests, MANY), LC_OK);
        for (i = 0; i < MANY; i++) {
            struct lc_request *r = &requests[i];
            size_t all = r->len + r->tag_len;
            unsigned char *packet = bytes(all);
            memset(packet, (int)i, r->len);
            EQUAL(r->outcome, LC_OK);
            EQUAL(lc_seal(r->session, r->nonce, r->nonce_len, r->aad, r->aad_len, packet, all),
                  LC_OK);
            CHECK(!memcmp(packet, r->to, all));
            free(packet);
            if (r->from != r->to) free((void *)r->from);
            r->from = r->to;
            r->operation = LC_OPEN;
            if (i % 10 == 3) ((unsigned char *)r->tag)[0] ^= 1;
        }
        EQUAL(lc_process(room, requests, MANY), LC_ERR_BATCH_FAILED);
        for (i = 0; i < MANY; i++) {
            struct lc_request *r = &requests[i];
            size_t at;
            int right = i % 10 == 3 ? 0 : (int)(i & 255);
            EQUAL(r->outcome, i % 10 == 3 ? LC_ERR_AUTHENTICATION : LC_OK);
            for (at = 0; at < r->len; at++) CHECK(((unsigned char *)r->to)[at] == right);
            free(r->to);
        }
    }
    for (i = 0; i < 5; i++) lc_session_free(sessions[i]);
    lc_batch_buffer_free(room);
    free(requests);
}

/* One request that is refused concerns no other, wherever it stands. */
static void hostile_requests_fail_alone(void) {
    lc_session *session = opened(LC_CHACHA20_POLY1305), *raw = opened(LC_AES_128_CBC);
    lc_batch_buffer *room = room_for(1);
    struct lc_request requests[20];
    unsigned char packets[20][80];
    size_t i;
    memset(requests, 0, sizeof requests);
    memset(packets, 0, sizeof packets);
    for (i = 0; i < 20; i++) {
        struct lc_request *r = &requests[i];
        r->session = session, r->operation = LC_SEAL;
        r->nonce = NONCE, r->nonce_len = 12;
        r->from = r->to = packets[i], r->len = 64;
        r->tag = packets[i] + 64, r->tag_len = 16;
    }
    requests[0].session = NULL;
    requests[1].session = (lc_session *)((char *)session + 8);
    requests[2].operation = 0;
    requests[3].operation = 99;
    requests[4].nonce = NULL;
    requests[5].nonce_len = 11;
    requests[6].from = packets[6] + 1;
    requests[7].tag = packets[7] + 63;
    requests[8].tag_len = 15;
    requests[9].len = (size_t)-1;
    requests[10].to = NULL;
    requests[11].aad = packets[11] + 5, requests[11].aad_len = 3;
    requests[12].operation = LC_SIGN;
    requests[13].operation = LC_VERIFY;
    requests[14].operation = LC_HAZMAT_ENCRYPT;
    requests[15].session = raw;
    requests[16].session = raw, requests[16].operation = LC_HAZMAT_ENCRYPT;
    requests[16].nonce_len = 16, requests[16].len = 63;
    requests[17].nonce = packets[17] + 60;
    requests[18].session = raw, requests[18].operation = LC_HAZMAT_ENCRYPT;
    requests[18].nonce_len = 16;
    EQUAL(lc_process(room, requests, 20), LC_ERR_BATCH_FAILED);
    {
        static const int right[20] = {
            LC_ERR_NULL_POINTER,  LC_ERR_MISALIGNED,        LC_ERR_UNKNOWN_OPERATION,
            LC_ERR_UNKNOWN_OPERATION, LC_ERR_NULL_POINTER,  LC_ERR_NONCE_LENGTH,
            LC_ERR_OVERLAP,       LC_ERR_OVERLAP,           LC_ERR_TAG_LENGTH,
            LC_ERR_TOO_LONG,      LC_ERR_NULL_POINTER,      LC_ERR_OVERLAP,
            LC_ERR_UNSUPPORTED,   LC_ERR_UNSUPPORTED,       LC_ERR_UNSUPPORTED,
            LC_ERR_UNSUPPORTED,   LC_ERR_DATA_LENGTH,       LC_ERR_OVERLAP,
            LC_OK,                LC_OK};
        for (i = 0; i < 20; i++) {
            if (requests[i].outcome != right[i]) printf("request %d:\n", (int)i);
            EQUAL(requests[i].outcome, right[i]);
        }
    }
    EQUAL(lc_open(session, NONCE, 12, NULL, 0, packets[19], 80), LC_OK);
    /* Without any other failure. */
    for (i = 0; i < 20; i++) requests[i] = requests[19];
    for (i = 0; i < 20; i++) {
        requests[i].from = requests[i].to = packets[i], requests[i].tag = packets[i] + 64;
        requests[i].outcome = 1234;
    }
    requests[7].operation = 0;
    EQUAL(lc_process(room, requests, 20), LC_ERR_BATCH_FAILED);
    for (i = 0; i < 20; i++) EQUAL(requests[i].outcome, i == 7 ? LC_ERR_UNKNOWN_OPERATION : LC_OK);
    EQUAL(lc_process(NULL, NULL, 0), LC_ERR_NULL_POINTER);
    EQUAL(lc_process(room, NULL, 0), LC_OK);
    EQUAL(lc_process(room, NULL, 1), LC_ERR_NULL_POINTER);
    EQUAL(lc_process(NULL, requests, 20), LC_ERR_NULL_POINTER);
    EQUAL(lc_process(room, (struct lc_request *)((char *)requests + 4), 1), LC_ERR_MISALIGNED);
    EQUAL(lc_process(room, requests, (size_t)-1), LC_ERR_TOO_LONG);
    lc_batch_buffer_free(room);
    EQUAL(lc_batch_buffer_new(&room, 0), LC_ERR_RANGE);
    EQUAL(lc_batch_buffer_new(&room, (size_t)-1), LC_ERR_RANGE);
    CHECK(room == NULL);
    EQUAL(lc_batch_buffer_new(NULL, 1), LC_ERR_NULL_POINTER);
    lc_batch_buffer_free(NULL);
    lc_session_free(session), lc_session_free(raw);
}

/* ---- RSA ---- */

static void rsa_signatures(void) {
    size_t pem_len, public_len, right_len, i;
    unsigned char *pem = whole(pem_path, &pem_len), *public_pem = whole(public_path, &public_len);
    unsigned char *right = whole(signature_path, &right_len);
    unsigned char made[8][256];
    struct lc_request requests[8];
    lc_session *private_key, *public_key, *pss;
    lc_batch_buffer *room = room_for(8);
    EQUAL(lc_signature_session_new(&private_key, LC_RSA_PKCS1V15_SHA256, pem, pem_len), LC_OK);
    EQUAL(lc_signature_session_new(&public_key, LC_RSA_PKCS1V15_SHA256, public_pem, public_len),
          LC_OK);
    EQUAL(lc_signature_session_new(&pss, LC_RSA_PSS_SHA384, pem, pem_len), LC_OK);
    EQUAL(lc_session_signature_len(private_key), 256);
    EQUAL(lc_session_tag_len(private_key), 0);
    EQUAL(lc_session_algorithm(private_key), 0);
    /* One that OpenSSL has made. */
    EQUAL(right_len, 256);
    EQUAL(lc_sign(private_key, "message", 7, made[0], 256), LC_OK);
    CHECK(!memcmp(made[0], right, 256));
    EQUAL(lc_verify(public_key, "message", 7, right, 256), LC_OK);
    EQUAL(lc_verify(private_key, "message", 7, right, 256), LC_OK);
    EQUAL(lc_verify(public_key, "massage", 7, right, 256), LC_ERR_AUTHENTICATION);
    EQUAL(lc_verify(public_key, "message", 7, right, 255), LC_ERR_AUTHENTICATION);
    EQUAL(lc_verify(pss, "message", 7, right, 256), LC_ERR_AUTHENTICATION);
    EQUAL(lc_sign(public_key, "message", 7, made[0], 256), LC_ERR_UNSUPPORTED);
    EQUAL(lc_sign(private_key, "message", 7, made[0], 255), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_sign(private_key, made[0] + 9, 7, made[0], 256), LC_ERR_OVERLAP);
    EQUAL(lc_seal(private_key, NONCE, 12, NULL, 0, made[0], 256), LC_ERR_UNSUPPORTED);
    EQUAL(lc_seal_to(private_key, NONCE, 12, NULL, 0, KEY, 16, made[0], 32), LC_ERR_UNSUPPORTED);
    EQUAL(lc_open_to(private_key, NONCE, 12, NULL, 0, KEY, 32, made[0], 16), LC_ERR_UNSUPPORTED);
    EQUAL(lc_hazmat_encrypt(private_key, NONCE, 16, made[0], made[0], 256), LC_ERR_UNSUPPORTED);
    EQUAL(alone(room, private_key, LC_SIGN, NULL, 0, NULL, 0, made[0] + 255, NULL, 7, made[0], 256),
          LC_ERR_OVERLAP);
    memset(requests, 0, sizeof requests);
    for (i = 0; i < 8; i++) {
        requests[i].session = i % 2 ? pss : private_key;
        requests[i].operation = LC_SIGN;
        requests[i].from = "message", requests[i].len = 7;
        requests[i].tag = made[i], requests[i].tag_len = 256;
    }
    EQUAL(lc_process(room, requests, 8), LC_OK);
    CHECK(!memcmp(made[0], right, 256) && memcmp(made[1], made[3], 256));
    for (i = 0; i < 8; i++) requests[i].operation = LC_VERIFY;
    made[5][9] ^= 1;
    EQUAL(lc_process(room, requests, 8), LC_ERR_BATCH_FAILED);
    for (i = 0; i < 8; i++) EQUAL(requests[i].outcome, i == 5 ? LC_ERR_AUTHENTICATION : LC_OK);
    lc_session_free(private_key), lc_session_free(public_key), lc_session_free(pss);

    EQUAL(lc_signature_session_new(&pss, 0, pem, pem_len), LC_ERR_UNKNOWN_ALGORITHM);
    EQUAL(lc_signature_session_new(&pss, LC_RSA_PSS_SHA256, "", 0), LC_ERR_KEY_ENCODING);
    EQUAL(lc_signature_session_new(&pss, LC_RSA_PSS_SHA256, pem, pem_len / 2), LC_ERR_KEY_ENCODING);
    EQUAL(lc_signature_session_new(&pss, LC_RSA_PSS_SHA256, "-----\xff", 6), LC_ERR_KEY_ENCODING);
    CHECK(pss == NULL);
    for (i = 0; i < pem_len; i += 37) {
        int kept = pem[i];
        pem[i] ^= 1;
        EQUAL(lc_signature_session_new(&pss, LC_RSA_PSS_SHA256, pem, pem_len) == LC_OK,
              pss != NULL);
        lc_session_free(pss);
        pem[i] = (unsigned char)kept;
    }
    lc_batch_buffer_free(room);
    free(pem), free(public_pem), free(right);
}

/* ---- Threads and forks ---- */

#define THREADS 4

static lc_session *shared;

/* A small stack: that of many servers. */
static void *seals_and_draws(void *argument) {
    unsigned char *drawn = (unsigned char *)argument, packet[80], nonce[12];
    struct lc_request request;
    lc_batch_buffer *room = NULL;
    intptr_t bad = 0;
    int i;
    bad += lc_batch_buffer_new(&room, 16) != LC_OK;
    for (i = 0; i < 2000; i++) {
        memset(packet, i, 64);
        bad += lc_random(nonce, 12) != LC_OK;
        bad += lc_seal(shared, nonce, 12, "aad", 3, packet, 80) != LC_OK;
        memset(&request, 0, sizeof request);
        request.session = shared, request.operation = LC_OPEN;
        request.nonce = nonce, request.nonce_len = 12, request.aad = "aad", request.aad_len = 3;
        request.from = request.to = packet, request.len = 64;
        request.tag = packet + 64, request.tag_len = 16;
        bad += lc_process(room, &request, 1) != LC_OK || packet[63] != (i & 255);
    }
    bad += lc_random(drawn, 32) != LC_OK;
    lc_batch_buffer_free(room);
    return (void *)bad;
}

static void threads_share_a_session(void) {
    pthread_t threads[THREADS];
    pthread_attr_t small;
    unsigned char drawn[THREADS][32];
    long least;
    int i, k;
    shared = opened(LC_CHACHA20_POLY1305);
    EQUAL(pthread_attr_init(&small), 0);
    /* On arm64 the least is more. */
    least = sysconf(_SC_THREAD_STACK_MIN);
    EQUAL(pthread_attr_setstacksize(&small, least > 64 << 10 ? (size_t)least : 64 << 10), 0);
    for (i = 0; i < THREADS; i++)
        EQUAL(pthread_create(&threads[i], &small, seals_and_draws, drawn[i]), 0);
    for (i = 0; i < THREADS; i++) {
        void *bad = NULL;
        EQUAL(pthread_join(threads[i], &bad), 0);
        CHECK(bad == NULL);
        for (k = 0; k < i; k++) CHECK(memcmp(drawn[i], drawn[k], 32));
    }
    pthread_attr_destroy(&small);
    lc_session_free(shared);
}

/* Parent and child draw on where the other one does, again and again; the child's child, too. */
static void forks_draw_different_bytes(void) {
    enum { GENERATIONS = 3, LENGTH = 64 };
    unsigned char drawn[GENERATIONS + 1][2][LENGTH];
    lc_nonces *nonces;
    lc_session *session = opened(LC_AES_128_GCM);
    int pipes[2], generation, k, root = 1, in_child = 0;
    EQUAL(lc_nonces_counter(&nonces, LC_AES_128_GCM, NULL, 0, 0), LC_OK);
    EQUAL(pipe(pipes), 0);
    memset(drawn, 0, sizeof drawn);
    /* A buffer is there that a child could repeat. */
    EQUAL(lc_random(drawn[0][0], LENGTH), LC_OK);
    EQUAL(lc_random(drawn[0][1], LENGTH), LC_OK);
    for (generation = 0; generation < GENERATIONS; generation++) {
        unsigned char packet[32] = {0}, nonce[12];
        pid_t child;
        fflush(stdout);
        child = fork();
        CHECK(child >= 0);
        if (child > 0) {
            int status;
            if (lc_random(packet, 32)) CHECK(0);
            if (root) {
                EQUAL(lc_nonces_next(nonces, nonce, 12), LC_OK);
                memcpy(drawn[GENERATIONS][0], packet, 32);
            }
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            break;
        }
        root = 0, in_child = 1;
        EQUAL(lc_random(drawn[0][0], LENGTH), LC_OK);
        EQUAL(lc_nonces_next(nonces, nonce, 12), LC_ERR_FORKED);
        EQUAL(lc_seal_next(session, nonces, nonce, 12, NULL, 0, packet, 32), LC_ERR_FORKED);
        EQUAL(lc_seal(session, NONCE, 12, NULL, 0, packet, 32), LC_OK);
        CHECK(write(pipes[1], drawn[0][0], LENGTH) == LENGTH);
    }
    lc_nonces_free(nonces);
    lc_session_free(session);
    if (in_child) _exit(wrong != 0);
    close(pipes[1]);
    for (generation = 1; generation < GENERATIONS + 1; generation++)
        CHECK(read(pipes[0], drawn[generation - 1][1], LENGTH) == LENGTH);
    close(pipes[0]);
    for (generation = 0; generation < GENERATIONS; generation++) {
        for (k = 0; k < generation; k++)
            CHECK(memcmp(drawn[generation][1], drawn[k][1], LENGTH));
        CHECK(memcmp(drawn[generation][1], drawn[GENERATIONS][0], 32));
        CHECK(memcmp(drawn[generation][1], drawn[0][0], LENGTH));
    }
}

static void burning_the_stack_harms_nothing(void) {
    int before = wrong;
    lc_hazmat_burn_stack();
    EQUAL(wrong, before);
}

int main(int count, char **paths) {
    if (count != 4) return 2;
    pem_path = paths[1], public_path = paths[2], signature_path = paths[3];
    RUN(versions_and_texts);
    RUN(algorithms_by_name_and_number);
    RUN(random_numbers);
    RUN(sessions_are_refused);
    RUN(messages_come_back);
    RUN(wrong_lengths_change_nothing);
    RUN(null_and_too_long);
    RUN(overlaps_are_refused);
    RUN(nonces_do_not_repeat);
    RUN(batches_do_what_single_calls_do);
    RUN(hostile_requests_fail_alone);
    RUN(rsa_signatures);
    RUN(curves_have_published_signatures);
    RUN(keys_of_curves_are_refused);
    RUN(signatures_of_ecdsa_in_der);
    RUN(signatures_of_many_keys_are_checked_at_once);
    RUN(threads_share_a_session);
    RUN(forks_draw_different_bytes);
    RUN(burning_the_stack_harms_nothing);
    return finish();
}
