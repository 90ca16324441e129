/* Signatures of Ed25519, and of ECDSA with P-256: a part of calls.c. */
#ifndef CURVES_H
#define CURVES_H

#include "test.h"

/* A key and a signature, in hexadecimal digits. */
struct vector {
    int algorithm;
    const char *secret, *public_key, *message, *signature;
};

static const struct vector VECTORS[] = {
    /* RFC 8032, section 7.1, tests 1 to 3. */
    {LC_ED25519, "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {LC_ED25519, "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
     "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {LC_ED25519, "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
     "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
    /* RFC 6979, section A.2.5, SHA-256: "sample" and "test". */
    {LC_ECDSA_P256_SHA256, "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
     "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
     "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299", "73616d706c65",
     "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
     "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"},
    {LC_ECDSA_P256_SHA256, "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
     "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6", "74657374",
     "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
     "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"},
};

enum { VECTOR_COUNT = sizeof VECTORS / sizeof *VECTORS };

/* What stands before a secret in PKCS #8, and before a public key in SPKI. */
static const char *const PKCS8[] = {
    "302e020100300506032b657004220420",
    "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"};
static const char *const SPKI[] = {"302a300506032b6570032100",
                                   "3059301306072a8648ce3d020106082a8648ce3d030107034200",
                                   "3039301306072a8648ce3d020106082a8648ce3d030107032200"};

/* Bytes of hexadecimal digits, in memory of their length. */
static unsigned char *of_digits(const char *front, const char *digits, size_t *len) {
    char both[512], *at = both;
    unsigned char *made;
    size_t i;
    strcpy(both, front);
    strcat(both, digits);
    *len = strlen(both) / 2;
    made = bytes(*len);
    for (i = 0; i < *len; i++, at += 2) {
        char two[3] = {at[0], at[1], 0};
        made[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    return made;
}

static lc_session *signer(int algorithm, const char *front, const char *digits) {
    size_t len;
    unsigned char *key = of_digits(front, digits, &len);
    lc_session *session = NULL;
    EQUAL(lc_signature_session_new(&session, algorithm, key, len), LC_OK);
    free(key);
    return session;
}

static const char *spki_of(const struct vector *vector) {
    if (vector->algorithm == LC_ED25519) return SPKI[0];
    return SPKI[strlen(vector->public_key) == 130 ? 1 : 2];
}

static void curves_have_published_signatures(void) {
    size_t i, k, len, message_len, signature_len;
    for (i = 0; i < VECTOR_COUNT; i++) {
        const struct vector *it = &VECTORS[i];
        unsigned char *message = of_digits("", it->message, &message_len), made[64];
        unsigned char *right = of_digits("", it->signature, &signature_len);
        lc_session *sessions[3];
        int is_p256 = it->algorithm == LC_ECDSA_P256_SHA256;
        sessions[0] = signer(it->algorithm, PKCS8[is_p256], it->secret);
        sessions[1] = signer(it->algorithm, spki_of(it), it->public_key);
        sessions[2] = signer(it->algorithm, "", it->public_key);
        memset(made, 0xa5, 64);
        for (k = 1; k < 3; k++)
            EQUAL(lc_sign(sessions[k], message, message_len, made, 64), LC_ERR_UNSUPPORTED);
        EQUAL(lc_sign(sessions[0], message, message_len, made, 63), LC_ERR_OUTPUT_LENGTH);
        CHECK(made[0] == 0xa5 && made[63] == 0xa5);
        EQUAL(lc_sign(sessions[0], made + 63, 1, made, 64), LC_ERR_OVERLAP);
        EQUAL(lc_sign(sessions[0], message, message_len, made, 64), LC_OK);
        /* Each signature of ECDSA has a nonce of its own. */
        CHECK(!memcmp(made, right, 64) == !is_p256);
        for (k = 0; k < 3; k++) {
            EQUAL(lc_session_signature_len(sessions[k]), 64);
            EQUAL(lc_session_tag_len(sessions[k]), 0);
            EQUAL(lc_session_algorithm(sessions[k]), 0);
            EQUAL(lc_verify(sessions[k], message, message_len, right, 64), LC_OK);
            EQUAL(lc_verify(sessions[k], message, message_len, made, 64), LC_OK);
            EQUAL(lc_verify(sessions[k], "other", 5, right, 64), LC_ERR_AUTHENTICATION);
            for (len = 0; len < 64; len += 21)
                EQUAL(lc_verify(sessions[k], message, message_len, right, len),
                      LC_ERR_AUTHENTICATION);
            for (len = 0; len < 64; len += 7) {
                right[len] ^= 64;
                EQUAL(lc_verify(sessions[k], message, message_len, right, 64),
                      LC_ERR_AUTHENTICATION);
                right[len] ^= 64;
            }
            EQUAL(lc_seal(sessions[k], "nonce of 12.", 12, NULL, 0, made, 64), LC_ERR_UNSUPPORTED);
            lc_session_free(sessions[k]);
        }
        free(message), free(right);
    }
}

#define REFUSED_KEY(algorithm, key, len, error)                                                    \
    do {                                                                                           \
        lc_session *made_ = (lc_session *)&VECTORS;                                                \
        EQUAL(lc_signature_session_new(&made_, algorithm, key, len), error);                       \
        CHECK(made_ == NULL);                                                                      \
    } while (0)

static void keys_of_curves_are_refused(void) {
    /* RFC 8410, section 10.3. */
    static const char PEM[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                              "-----END PRIVATE KEY-----\n";
    static const char ENCRYPTED[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n"
                                    "-----END ENCRYPTED PRIVATE KEY-----\n";
    unsigned char point[65] = {4, 1, 2, 3}, made[64];
    lc_session *session = NULL;
    size_t form, at, len;
    EQUAL(lc_signature_session_new(&session, LC_ED25519, PEM, sizeof PEM - 1), LC_OK);
    EQUAL(lc_sign(session, "", 0, made, 64), LC_OK);
    lc_session_free(session);
    REFUSED_KEY(LC_ECDSA_P256_SHA256, PEM, sizeof PEM - 1, LC_ERR_KEY_ALGORITHM);
    REFUSED_KEY(LC_RSA_PSS_SHA256, PEM, sizeof PEM - 1, LC_ERR_KEY_ALGORITHM);
    REFUSED_KEY(LC_ED25519, PEM, sizeof PEM - 30, LC_ERR_KEY_ENCODING);
    REFUSED_KEY(LC_ED25519, ENCRYPTED, sizeof ENCRYPTED - 1, LC_ERR_KEY_ENCRYPTED);
    for (at = 20; at < 40; at++)
        if (at != 32) REFUSED_KEY(LC_ED25519, point, at, LC_ERR_KEY_ENCODING);
    REFUSED_KEY(LC_ED25519, NULL, 0, LC_ERR_KEY_ENCODING);
    REFUSED_KEY(LC_ED25519, NULL, 32, LC_ERR_NULL_POINTER);
    REFUSED_KEY(LC_ED25519, PEM, (size_t)-1, LC_ERR_TOO_LONG);
    for (at = 20; at < 32; at++) REFUSED_KEY((int)at, PEM, 32, LC_ERR_UNKNOWN_ALGORITHM);
    /* No point of the curve, and points of small order: 0 and 1. */
    REFUSED_KEY(LC_ECDSA_P256_SHA256, point, 65, LC_ERR_KEY_NUMBERS);
    REFUSED_KEY(LC_ECDSA_P256_SHA256, point, 64, LC_ERR_KEY_ENCODING);
    REFUSED_KEY(LC_ECDSA_P256_SHA256, point + 1, 64, LC_ERR_KEY_ENCODING);
    REFUSED_KEY(LC_ED25519, point + 5, 32, LC_ERR_KEY_NUMBERS);
    point[5] = 1;
    REFUSED_KEY(LC_ED25519, point + 5, 32, LC_ERR_KEY_NUMBERS);
    /* The number 0. */
    {
        unsigned char *zero = of_digits(PKCS8[1], VECTORS[3].secret, &len);
        memset(zero + len - 32, 0, 32);
        REFUSED_KEY(LC_ECDSA_P256_SHA256, zero, len, LC_ERR_KEY_NUMBERS);
        free(zero);
    }
    /* Whatever changes in DER, there is a session or an error. */
    for (form = 0; form < 4; form++) {
        const struct vector *it = &VECTORS[form < 2 ? 0 : 3];
        const char *front = form % 2 ? spki_of(it) : PKCS8[form / 2];
        unsigned char *der = of_digits(front, form % 2 ? it->public_key : it->secret, &len);
        for (at = 0; at < len; at++) {
            unsigned char kept = der[at];
            der[at] = (unsigned char)(kept ^ 1 << at % 8);
            session = (lc_session *)&VECTORS;
            EQUAL(lc_signature_session_new(&session, it->algorithm, der, len) == LC_OK,
                  session != NULL);
            lc_session_free(session);
            der[at] = kept;
            /* 32 bytes are a public key of Ed25519, or not. */
            if (at != 32) REFUSED_KEY(it->algorithm, der, at, LC_ERR_KEY_ENCODING);
        }
        free(der);
    }
}

static void signatures_of_ecdsa_in_der(void) {
    static const unsigned char LEAST[] = {0x30, 6, 2, 1, 0, 2, 1, 0};
    const struct vector *it = &VECTORS[4];
    lc_session *session = signer(it->algorithm, "", it->public_key);
    unsigned char der[72], back[64], ones[64], zeros[64] = {0};
    size_t len, der_len = sizeof der, at;
    unsigned char *right = of_digits("", it->signature, &len);
    EQUAL(lc_ecdsa_to_der(right, 64, der, &der_len), LC_OK);
    /* r needs a zero in front, s is shorter. */
    EQUAL(der_len, 6 + 33 + 32);
    CHECK(der[0] == 0x30 && der[1] == 69 && der[2] == 2 && der[3] == 33 && der[4] == 0);
    EQUAL(lc_ecdsa_from_der(der, der_len, back, 64), LC_OK);
    CHECK(!memcmp(back, right, 64));
    EQUAL(lc_verify(session, "test", 4, back, 64), LC_OK);
    EQUAL(lc_verify(session, "test", 4, der, der_len), LC_ERR_AUTHENTICATION);
    /* The longest and the shortest. */
    memset(ones, 0xff, 64);
    der_len = 71;
    EQUAL(lc_ecdsa_to_der(ones, 64, der, &der_len), LC_ERR_OUTPUT_LENGTH);
    EQUAL(der_len, 71);
    der_len = 72;
    EQUAL(lc_ecdsa_to_der(ones, 64, der, &der_len), LC_OK);
    EQUAL(der_len, 72);
    EQUAL(lc_ecdsa_from_der(der, 72, back, 64), LC_OK);
    CHECK(!memcmp(back, ones, 64));
    EQUAL(lc_ecdsa_to_der(zeros, 64, der, &der_len), LC_OK);
    EQUAL(der_len, sizeof LEAST);
    CHECK(!memcmp(der, LEAST, sizeof LEAST));
    EQUAL(lc_ecdsa_from_der(der, der_len, back, 64), LC_OK);
    EQUAL(lc_verify(session, "test", 4, back, 64), LC_ERR_AUTHENTICATION);
    /* What is cut or longer is none, and becomes zeros. */
    der_len = sizeof der;
    EQUAL(lc_ecdsa_to_der(right, 64, der, &der_len), LC_OK);
    for (at = 0; at < der_len; at++) {
        memset(back, 0xa5, 64);
        EQUAL(lc_ecdsa_from_der(der, at, back, 64), LC_ERR_AUTHENTICATION);
        CHECK(!memcmp(back, zeros, 64));
    }
    memset(back, 0xa5, 64);
    EQUAL(lc_ecdsa_from_der(der, der_len + 1, back, 64), LC_ERR_AUTHENTICATION);
    CHECK(!memcmp(back, zeros, 64));
    EQUAL(lc_ecdsa_from_der(NULL, 0, back, 64), LC_ERR_AUTHENTICATION);
    /* Arguments. */
    memset(back, 0xa5, 64);
    EQUAL(lc_ecdsa_from_der(der, der_len, back, 63), LC_ERR_OUTPUT_LENGTH);
    EQUAL(lc_ecdsa_from_der(der, der_len, der + 8, 64), LC_ERR_OVERLAP);
    EQUAL(lc_ecdsa_from_der(der, der_len, NULL, 64), LC_ERR_NULL_POINTER);
    EQUAL(lc_ecdsa_from_der(NULL, 8, back, 64), LC_ERR_NULL_POINTER);
    CHECK(back[0] == 0xa5 && back[63] == 0xa5);
    der_len = sizeof der;
    EQUAL(lc_ecdsa_to_der(right, 63, der, &der_len), LC_ERR_DATA_LENGTH);
    EQUAL(lc_ecdsa_to_der(right, 64, der, NULL), LC_ERR_NULL_POINTER);
    EQUAL(lc_ecdsa_to_der(right, 64, NULL, &der_len), LC_ERR_NULL_POINTER);
    EQUAL(lc_ecdsa_to_der(der + 70, 64, der, &der_len), LC_ERR_OVERLAP);
    EQUAL(lc_ecdsa_to_der(right, 64, &der_len, &der_len), LC_ERR_OVERLAP);
    EQUAL(lc_ecdsa_to_der(right, 64, der, (size_t *)((char *)&der_len + 1)), LC_ERR_MISALIGNED);
    EQUAL(der_len, sizeof der);
    lc_session_free(session);
    free(right);
}

/* Keys of both curves, each in a session of its own; some signatures are wrong. */
static void signatures_of_many_keys_are_checked_at_once(void) {
    enum { KEYS = 150, ALL = 2 * KEYS };
    static unsigned char made[ALL][64], messages[ALL][5];
    static struct lc_request requests[ALL];
    lc_session *sessions[KEYS];
    lc_batch_buffer *room = NULL;
    size_t i, len;
    EQUAL(lc_batch_buffer_new(&room, 64), LC_OK);
    for (i = 0; i < KEYS; i++) {
        const struct vector *it = &VECTORS[i % 3 ? 0 : 3];
        unsigned char *der = of_digits(PKCS8[i % 3 == 0], it->secret, &len);
        der[len - 1] = (unsigned char)i;
        EQUAL(lc_signature_session_new(&sessions[i], it->algorithm, der, len), LC_OK);
        free(der);
    }
    for (i = 0; i < ALL; i++) {
        memset(messages[i], (int)i, 5);
        requests[i].session = sessions[i * 7 % KEYS];
        requests[i].operation = LC_SIGN, requests[i].outcome = 1234;
        requests[i].from = messages[i], requests[i].len = i % 6;
        requests[i].tag = made[i], requests[i].tag_len = 64;
    }
    EQUAL(lc_process(room, requests, ALL), LC_OK);
    for (i = 0; i < ALL; i++) {
        EQUAL(requests[i].outcome, LC_OK);
        EQUAL(lc_verify(requests[i].session, messages[i], i % 6, made[i], 64), LC_OK);
        requests[i].operation = LC_VERIFY, requests[i].outcome = 1234;
    }
    EQUAL(lc_process(room, requests, ALL), LC_OK);
    for (i = 0; i < ALL; i++) EQUAL(requests[i].outcome, LC_OK);
    for (i = 0; i < ALL; i++) {
        if (i % 11 == 3) made[i][i % 64] ^= 1;
        if (i % 11 == 5) requests[i].tag_len = i % 64;
        if (i % 11 == 7) requests[i].session = sessions[(i * 7 + 3) % KEYS];
        if (i % 11 == 9) memset(made[i], i % 2 ? 0 : 0xff, 64);
    }
    EQUAL(lc_process(room, requests, ALL), LC_ERR_BATCH_FAILED);
    for (i = 0; i < ALL; i++) {
        int is_right = i % 11 % 2 == 0 || i % 11 < 3;
        EQUAL(requests[i].outcome, is_right ? LC_OK : LC_ERR_AUTHENTICATION);
    }
    lc_batch_buffer_free(room);
    for (i = 0; i < KEYS; i++) lc_session_free(sessions[i]);
}

#endif
