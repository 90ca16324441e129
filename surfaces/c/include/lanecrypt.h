/*
 * lanecrypt.h: small cryptographic requests, fast. For C99 and C++11, or later.
 *
 *     lc_session *session = NULL;
 *     unsigned char key[16], nonce[12], packet[5 + 16] = "hello";
 *
 *     int error = lc_random(key, sizeof key);
 *     if (!error) error = lc_random(nonce, sizeof nonce);
 *     if (!error) error = lc_session_new(&session, LC_AES_128_GCM, key, sizeof key);
 *     if (!error) error = lc_seal(session, nonce, 12, "header", 6, packet, sizeof packet);
 *     if (error) puts(lc_strerror(error));
 *     lc_session_free(session);
 *
 * Compile with `cc program.c $(pkg-config --cflags --libs lanecrypt)`.
 *
 * Errors. Functions that can fail return an int: 0 (LC_OK), or a number of enum lc_error. After an
 * error nothing has been written, except where a function says otherwise: above all, an opening
 * that fails with LC_ERR_AUTHENTICATION wipes its output. With an error, a function that makes an
 * object writes NULL, and one that makes a session of a daemon writes 0, unless it refuses that
 * place itself.
 *
 * Arguments. Lengths are in bytes. A pointer with a length may be NULL if the length is 0. These
 * answer an error in every function that returns one, and no buffer has been read or written then:
 * null pointers (LC_ERR_NULL_POINTER), misaligned pointers to objects, numbers and structures
 * (LC_ERR_MISALIGNED), output that overlaps other output or input of the same call (LC_ERR_OVERLAP;
 * where input and output may be the same buffer, it says so; lc_process checks each message by
 * itself), and lengths above PTRDIFF_MAX (LC_ERR_TOO_LONG). Functions that return a length or a
 * number return 0. Nobody can check that memory is there, that an object has not been freed, or
 * that it is one of this library: such calls are undefined, as everywhere in C.
 *
 * Threads. Any number of threads may use one lc_session at the same time, without a lock. It may be
 * freed when none of them uses it any more. lc_nonces, lc_batch_buffer, lc_file and lc_device
 * belong to one thread at a time: pass them on, or lock them. Every thread has its own generator of
 * random numbers.
 *
 * Forks. Sessions and rooms work in a forked child as before. Random numbers differ in parent and
 * child. Sequences of nonces, files that are being encrypted and connections to a daemon answer
 * LC_ERR_FORKED in the child, which may free its copies of them: the parent's stay as they are.
 *
 * Secrets. Keys are expanded when a session is made, and wiped when it is freed. Wipe your own
 * copy, with explicit_bzero where there is one: compilers leave out a last memset. Time does not
 * depend on keys, on messages or on where a tag is wrong. It depends on lengths, nonces' lengths,
 * the algorithm, and whether a message is authentic.
 *
 * Memory. Calls for single messages of ciphers and for random numbers do not allocate. Where memory
 * for an object or the output of a file cannot be had, the process ends. So it does where the
 * system gives no random bytes to a function that does not answer LC_ERR_ENTROPY. Ciphers take at
 * most 40 KiB of stack, also in batches. The library stays loaded after dlclose.
 *
 * MIT or Apache-2.0, at your option.
 */
#ifndef LANECRYPT_H
#define LANECRYPT_H

#include <stddef.h>
#include <stdint.h>

#define LC_VERSION_MAJOR 0
#define LC_VERSION_MINOR 1
#define LC_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define LC_CHECK __attribute__((warn_unused_result))
#else
#define LC_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Numbers are never used again for something else. Later versions may have more of them. */
enum lc_error {
    LC_OK = 0,

    LC_ERR_NULL_POINTER = 1,      /* a pointer is NULL that must not be */
    LC_ERR_MISALIGNED = 2,        /* no such object can begin at this address */
    LC_ERR_OVERLAP = 3,           /* output overlaps input or other output */
    LC_ERR_TOO_LONG = 4,          /* longer than PTRDIFF_MAX; a string, longer than 4,095 bytes */
    LC_ERR_UNKNOWN_ALGORITHM = 5, /* no algorithm has this number */
    LC_ERR_UNKNOWN_OPERATION = 6, /* no operation has this number */
    LC_ERR_RANGE = 7,             /* a number is out of its range */

    LC_ERR_AUTHENTICATION = 16, /* not the message that was sealed or signed; output is wiped */
    LC_ERR_BATCH_FAILED = 17,   /* at least one request failed; each has its own outcome */

    LC_ERR_KEY_LENGTH = 32,    /* the algorithm has no keys of this length */
    LC_ERR_NONCE_LENGTH = 33,  /* the algorithm has no nonces of this length */
    LC_ERR_AAD_LENGTH = 34,    /* more associated data than the algorithm allows */
    LC_ERR_DATA_LENGTH = 35,   /* more than the algorithm allows, or no whole number of blocks */
    LC_ERR_TAG_LENGTH = 36,    /* the session's tags have another length */
    LC_ERR_OUTPUT_LENGTH = 37, /* the output does not have the length that it must have */

    LC_ERR_UNSUPPORTED = 48,         /* the session or algorithm does not do this */
    LC_ERR_WEAK_KEY = 49,            /* the two halves of a key of XTS are the same */
    LC_ERR_NONCES_EXHAUSTED = 50,    /* no nonces are left: use another key */
    LC_ERR_KEYSTREAM_EXHAUSTED = 51, /* the message runs past the end of the keystream */
    LC_ERR_FORKED = 52,              /* the parent process made this; the child needs its own */
    LC_ERR_ENTROPY = 53,             /* the system gave no random bytes */
    LC_ERR_FAULT = 54,               /* a wrong result was discarded: processor or memory erred */
    LC_ERR_INTERNAL = 55,            /* a defect of this library; please report it */
    LC_ERR_MEMORY = 56,              /* there is no memory for the passphrase of a file */

    LC_ERR_KEY_ENCODING = 64,  /* no PEM or DER of such a key */
    LC_ERR_KEY_ENCRYPTED = 65, /* the key is encrypted: decrypt it first */
    LC_ERR_KEY_ALGORITHM = 66, /* a key of another algorithm */
    LC_ERR_KEY_SIZE = 67,      /* RSA: not 2048 to 8192 bits */
    LC_ERR_KEY_NUMBERS = 68,   /* its numbers or its point are unsuitable */

    LC_ERR_NO_DAEMON = 80,    /* there is no socket at the path, or no daemon behind it */
    LC_ERR_FORBIDDEN = 81,    /* the permissions of the socket forbid it */
    LC_ERR_VERSION = 82,      /* the daemon has another version of the protocol, or is none */
    LC_ERR_DENIED = 83,       /* the daemon refused this user, session, name or key */
    LC_ERR_NO_SESSION = 84,   /* the connection has no such session */
    LC_ERR_NOT_ALLOWED = 85,  /* the key may not be used for this operation */
    LC_ERR_FULL = 86,         /* too many requests in flight: take completions first */
    LC_ERR_DISCONNECTED = 87, /* the daemon is gone; what was in flight may have been served */
    LC_ERR_SYSTEM = 88,       /* the system refused something else */
    LC_ERR_NOTHING = 89,      /* nothing has come */

    LC_ERR_FILE_FORMAT = 96,            /* it does not begin as encrypted files do */
    LC_ERR_FILE_VERSION = 97,           /* a version, algorithm, chunk or secret not known here */
    LC_ERR_FILE_SECRET = 98,            /* another key or passphrase, or its header was changed */
    LC_ERR_FILE_NEEDS_KEY = 99,         /* it is encrypted with a key, not with a passphrase */
    LC_ERR_FILE_NEEDS_PASSPHRASE = 100, /* it is encrypted with a passphrase, not with a key */
    LC_ERR_FILE_COST = 101,             /* the cost of its passphrase is beyond the limits */
    LC_ERR_FILE_TRUNCATED = 102         /* its end is missing */
};

/* The text of an error, in English, without a full stop. Never NULL; never freed. */
const char *lc_strerror(int error);

/* The version of the library that is running, such as "0.1.0". Never freed. */
const char *lc_version(void);

/* ---- Random numbers -------------------------------------------------------------------------- */

/*
 * Each thread has a generator with fast key erasure: what was handed out is not in memory any
 * more. The kernel seeds it and adds to it. All functions may be called in signal handlers with
 * 16 KiB of stack, and keep errno. A copy of a running virtual machine repeats at most 64 KiB.
 */

/* Fills memory with random bytes. LC_ERR_ENTROPY: part may be written, and must not be used. */
LC_CHECK int lc_random(void *out, size_t len);

/* A random number of 32 bits. Ends the process if the system gives no random bytes. */
uint32_t lc_random_u32(void);

/* A random number of 64 bits. Ends the process if the system gives no random bytes. */
uint64_t lc_random_u64(void);

/*
 * A random number from 0 to bound - 1, all equally likely; 0 if bound is 0. Ends the process if
 * the system gives no random bytes.
 */
uint64_t lc_random_below(uint64_t bound);

/*
 * A random number from low to high, both included, all equally likely. LC_ERR_RANGE if low is
 * above high. Ends the process if the system gives no random bytes.
 */
LC_CHECK int lc_random_range(uint64_t low, uint64_t high, uint64_t *out);

/* ---- Algorithms ------------------------------------------------------------------------------ */

enum lc_algorithm {
    /* They seal and open messages. Which one? AES-128-GCM, or ChaCha20-Poly1305 where processors
     * have no AES instructions; XChaCha20-Poly1305 for random nonces; a SIV where a nonce might be
     * used twice. */
    LC_AES_128_GCM = 1,
    LC_AES_192_GCM = 2,
    LC_AES_256_GCM = 3,
    LC_CHACHA20_POLY1305 = 4,
    LC_XCHACHA20_POLY1305 = 5,
    LC_AES_128_GCM_SIV = 6,
    LC_AES_256_GCM_SIV = 7,
    LC_AES_SIV_256 = 8,
    LC_AES_SIV_512 = 9,
    LC_AEGIS_128L = 10,
    LC_AEGIS_256 = 11,

    /* Encrypt-then-MAC: the key of the code, then that of the cipher. */
    LC_AES_128_CBC_HMAC_SHA1 = 32,
    LC_AES_128_CBC_HMAC_SHA256 = 33,
    LC_AES_128_CBC_HMAC_SHA384 = 34,
    LC_AES_192_CBC_HMAC_SHA1 = 35,
    LC_AES_192_CBC_HMAC_SHA256 = 36,
    LC_AES_192_CBC_HMAC_SHA384 = 37,
    LC_AES_256_CBC_HMAC_SHA1 = 38,
    LC_AES_256_CBC_HMAC_SHA256 = 39,
    LC_AES_256_CBC_HMAC_SHA384 = 40,
    LC_AES_128_CTR_HMAC_SHA1 = 41,
    LC_AES_128_CTR_HMAC_SHA256 = 42,
    LC_AES_128_CTR_HMAC_SHA384 = 43,
    LC_AES_256_CTR_HMAC_SHA1 = 44,
    LC_AES_256_CTR_HMAC_SHA256 = 45,
    LC_AES_256_CTR_HMAC_SHA384 = 46,

    /* They do not authenticate: for lc_hazmat_session_new only. */
    LC_AES_128_CBC = 64,
    LC_AES_192_CBC = 65,
    LC_AES_256_CBC = 66,
    LC_AES_128_CTR = 67,
    LC_AES_192_CTR = 68,
    LC_AES_256_CTR = 69,
    LC_AES_128_ECB = 70,
    LC_AES_192_ECB = 71,
    LC_AES_256_ECB = 72,
    LC_AES_128_XTS = 73,
    LC_AES_256_XTS = 74,
    LC_CHACHA8_DJB = 80,
    LC_CHACHA12_DJB = 81,
    LC_CHACHA20_DJB = 82,
    LC_CHACHA8_IETF = 83,
    LC_CHACHA12_IETF = 84,
    LC_CHACHA20_IETF = 85,
    LC_SALSA20_8 = 86,
    LC_SALSA20_12 = 87,
    LC_SALSA20_20 = 88,
    LC_SERPENT_128_CBC = 96,
    LC_SERPENT_192_CBC = 97,
    LC_SERPENT_256_CBC = 98,
    LC_SERPENT_128_CTR = 99,
    LC_SERPENT_192_CTR = 100,
    LC_SERPENT_256_CTR = 101,
    LC_SERPENT_128_ECB = 102,
    LC_SERPENT_192_ECB = 103,
    LC_SERPENT_256_ECB = 104,
    LC_NULL = 127 /* protects nothing; for measurements */
};

/* What an algorithm needs. Lengths are in bytes. */
struct lc_algorithm_info {
    int authenticates;       /* 1: for lc_session_new; 0: for lc_hazmat_session_new */
    int random_nonces;       /* 1: nonces must be random; a counter will not do */
    size_t key_len;          /* of the longest key */
    size_t shortest_key_len; /* of the shortest key; most algorithms have one length */
    size_t nonce_len;        /* of nonces; GCM and AES-SIV take others, too */
    size_t tag_len;          /* by which a sealed message is longer; 0 without authentication */
    size_t block_len;        /* messages are multiples of this */
};

/* The number of an algorithm by its name, such as "aes-128-gcm"; 0 if there is none. */
int lc_algorithm_by_name(const char *name);

/* The name of an algorithm; NULL if there is none with this number. Never freed. */
const char *lc_algorithm_name(int algorithm);

/* What an algorithm needs. LC_ERR_UNKNOWN_ALGORITHM. */
LC_CHECK int lc_algorithm_info(int algorithm, struct lc_algorithm_info *info);

/* ---- Sessions: an expanded key --------------------------------------------------------------- */

typedef struct lc_session lc_session;

/*
 * Expands a key for an algorithm that authenticates. That costs more than a short message: keep
 * the session for all messages under the key.
 * LC_ERR_UNKNOWN_ALGORITHM, LC_ERR_KEY_LENGTH; LC_ERR_UNSUPPORTED if it does not authenticate.
 */
LC_CHECK int lc_session_new(lc_session **session, int algorithm, const void *key, size_t key_len);

/*
 * The same with tags of tag_len bytes: for GCM 12 to 16, or 4 and 8 with the limits of NIST SP
 * 800-38D, appendix C, which the caller has to count; with HMAC at least 12 (SHA-1), 16 (SHA-256)
 * or 24 (SHA-384). 0 is the usual length.
 * As lc_session_new, and LC_ERR_TAG_LENGTH.
 */
LC_CHECK int lc_session_new_with_tag(lc_session **session, int algorithm, const void *key,
                                     size_t key_len, size_t tag_len);

/* Wipes a session of any kind and frees it. NULL is left alone. */
void lc_session_free(lc_session *session);

/* The number of its algorithm; 0 with a key of signatures. */
int lc_session_algorithm(const lc_session *session);

/* The length of its tags; 0 if it does not seal messages. */
size_t lc_session_tag_len(const lc_session *session);

/* ---- Sealing and opening one message --------------------------------------------------------- */

/*
 * A sealed message, a packet, is the encrypted message and behind it a tag of lc_session_tag_len
 * bytes. Associated data (aad) is authenticated and not sent: a header, a number.
 *
 * A nonce must not be used twice under one key: an attacker could then read both messages and
 * forge others. Only AES-GCM-SIV and AES-SIV survive it. lc_nonces makes nonces that do not
 * repeat.
 *
 * All: LC_ERR_NONCE_LENGTH, LC_ERR_AAD_LENGTH, LC_ERR_DATA_LENGTH; LC_ERR_UNSUPPORTED if the
 * session is none of lc_session_new. Constant time in key and message. With GCM, nonces should
 * have 12 bytes: the time of a message with another one depends on a hash of it under the key.
 */

/*
 * Seals a message in place. packet_len counts the message and the room for the tag behind it: the
 * last lc_session_tag_len bytes are overwritten, whatever they hold.
 * LC_ERR_OUTPUT_LENGTH if there is no room for the tag.
 */
LC_CHECK int lc_seal(const lc_session *session, const void *nonce, size_t nonce_len,
                     const void *aad, size_t aad_len, void *packet, size_t packet_len);

/*
 * Opens a packet in place. The message is then at its front, and shorter by a tag.
 * LC_ERR_AUTHENTICATION if it is not the packet that was sealed, or is shorter than a tag: the
 * message is wiped.
 */
LC_CHECK int lc_open(const lc_session *session, const void *nonce, size_t nonce_len,
                     const void *aad, size_t aad_len, void *packet, size_t packet_len);

/*
 * Seals a message into a packet. packet_len is message_len + lc_session_tag_len, otherwise
 * LC_ERR_OUTPUT_LENGTH. The message may begin where the packet does.
 */
LC_CHECK int lc_seal_to(const lc_session *session, const void *nonce, size_t nonce_len,
                        const void *aad, size_t aad_len, const void *message, size_t message_len,
                        void *packet, size_t packet_len);

/*
 * Opens a packet into a message. message_len is packet_len - lc_session_tag_len, otherwise
 * LC_ERR_OUTPUT_LENGTH, as for every packet that is shorter than a tag. The message may begin where
 * the packet does. LC_ERR_AUTHENTICATION: the message is wiped.
 */
LC_CHECK int lc_open_to(const lc_session *session, const void *nonce, size_t nonce_len,
                        const void *aad, size_t aad_len, const void *packet, size_t packet_len,
                        void *message, size_t message_len);

/*
 * Encrypts len bytes from one place to another, or in place (from == to), and writes the tag to a
 * place of its own, which may be right behind. LC_ERR_TAG_LENGTH.
 */
LC_CHECK int lc_seal_detached(const lc_session *session, const void *nonce, size_t nonce_len,
                              const void *aad, size_t aad_len, const void *from, void *to,
                              size_t len, void *tag, size_t tag_len);

/*
 * Decrypts len bytes from one place to another, or in place (from == to), if the tag is right.
 * LC_ERR_TAG_LENGTH. LC_ERR_AUTHENTICATION: the output is wiped.
 */
LC_CHECK int lc_open_detached(const lc_session *session, const void *nonce, size_t nonce_len,
                              const void *aad, size_t aad_len, const void *from, void *to,
                              size_t len, const void *tag, size_t tag_len);

/* ---- Nonces that do not repeat --------------------------------------------------------------- */

/* One sequence for one key, and one thread at a time. A forked child gets LC_ERR_FORKED. */
typedef struct lc_nonces lc_nonces;

/*
 * A fixed field, then a big-endian counter of at least 4 bytes. Senders that share a key need
 * different fixed fields. first: how many nonces of this sequence have been used before; 0 for a
 * new key.
 * LC_ERR_NONCE_LENGTH if the field is too long; LC_ERR_UNSUPPORTED if nonces must be random.
 */
LC_CHECK int lc_nonces_counter(lc_nonces **nonces, int algorithm, const void *fixed,
                               size_t fixed_len, uint64_t first);

/*
 * TLS 1.3 and QUIC (RFC 8446, section 5.3): an initialization vector of the length of a nonce,
 * XORed with a counter. Errors as lc_nonces_counter.
 */
LC_CHECK int lc_nonces_masked(lc_nonces **nonces, int algorithm, const void *iv, size_t iv_len,
                              uint64_t first);

/*
 * A fixed field, a counter and one byte for a flag, such as that of the last message; of STREAM
 * with 5 bytes less than a nonce in the fixed field. Errors as lc_nonces_counter.
 */
LC_CHECK int lc_nonces_flagged(lc_nonces **nonces, int algorithm, const void *fixed,
                               size_t fixed_len, uint64_t first);

/*
 * Random nonces. Those of 12 bytes end after 2^32, those of 16 bytes after 2^48: with more, two
 * would be the same too likely.
 * used: how many messages were sealed under the key before.
 * LC_ERR_UNSUPPORTED if the algorithm does not authenticate.
 */
LC_CHECK int lc_nonces_random(lc_nonces **nonces, int algorithm, uint64_t used);

/*
 * Writes the next nonce. nonce_len is that of the algorithm, otherwise LC_ERR_NONCE_LENGTH.
 * LC_ERR_NONCES_EXHAUSTED, LC_ERR_FORKED. Random nonces end the process if the system gives no
 * random bytes.
 */
LC_CHECK int lc_nonces_next(lc_nonces *nonces, void *nonce, size_t nonce_len);

/* The same with a flag; lc_nonces_next has flag 0. LC_ERR_UNSUPPORTED if the nonces have none. */
LC_CHECK int lc_nonces_next_flagged(lc_nonces *nonces, uint8_t flag, void *nonce, size_t nonce_len);

/*
 * Seals a message in place as lc_seal does, with the next nonce, and writes the nonce. No nonce
 * is used up by an error. Errors of both.
 */
LC_CHECK int lc_seal_next(const lc_session *session, lc_nonces *nonces, void *nonce,
                          size_t nonce_len, const void *aad, size_t aad_len, void *packet,
                          size_t packet_len);

/* Frees a sequence. NULL is left alone. */
void lc_nonces_free(lc_nonces *nonces);

/* ---- Many messages at once ------------------------------------------------------------------- */

enum lc_operation {
    LC_SEAL = 1,
    LC_OPEN = 2,
    LC_SIGN = 3,
    LC_VERIFY = 4,
    LC_HAZMAT_ENCRYPT = 17,
    LC_HAZMAT_DECRYPT = 18
};

/*
 * One message of a batch. Every message has its own session, operation and lengths. Set what is
 * not needed to 0 (`struct lc_request request = {0}`).
 *
 *                     nonce   aad   from       to            tag
 *   LC_SEAL           yes     yes   message    ciphertext    is written
 *   LC_OPEN           yes     yes   ciphertext message       is read
 *   LC_SIGN                         message    -             signature, is written
 *   LC_VERIFY                       message    -             signature, is read
 *   LC_HAZMAT_*       yes           input      output        -
 *
 * from and to have len bytes, and may be the same. The tag may be right behind `to`, as in a
 * packet.
 */
struct lc_request {
    const lc_session *session;
    int operation; /* of enum lc_operation */
    int outcome;   /* is written: LC_OK, or why this message failed */
    const void *nonce;
    size_t nonce_len;
    const void *aad;
    size_t aad_len;
    const void *from;
    void *to;
    size_t len;
    void *tag;
    size_t tag_len;
};

/* Memory for batches, kept from one to the next. One thread at a time. */
typedef struct lc_batch_buffer lc_batch_buffer;

/* Room for batches of about this many messages, 1 to 65,536; otherwise LC_ERR_RANGE. */
LC_CHECK int lc_batch_buffer_new(lc_batch_buffer **buffer, size_t messages);

/* Frees the memory of batches. NULL is left alone. */
void lc_batch_buffer_free(lc_batch_buffer *buffer);

/*
 * Serves an array of messages, in any order, side by side where that is faster:
 * ChaCha20-Poly1305, AES-CBC, AES-GCM-SIV, Serpent and signatures gain from company, AES-GCM and
 * AES-CTR are as fast alone. All outcomes are written. It does not allocate, but for signatures and
 * failures.
 *
 * What one message writes must not overlap what another one reads or writes, or the array. That
 * is not checked; within each message it is. A session may serve any number of the messages.
 *
 * LC_ERR_BATCH_FAILED if at least one failed; all others have been served. LC_ERR_INTERNAL: some
 * may have been served; use no output. Other errors: nothing was served, and no outcome is written.
 */
LC_CHECK int lc_process(lc_batch_buffer *buffer, struct lc_request *requests, size_t count);

/* ---- Files ----------------------------------------------------------------------------------- */

/*
 * Files and pipes of any length, in pieces, as the programs `lanecrypt encrypt` and `lanecrypt
 * decrypt` write and read them: a header, then chunks of 64 KiB that are authenticated one by one.
 * Each file has a key of its own, so one secret serves any number of files. A file grows by 80
 * bytes (key) or 104 (passphrase), and by 16 for each chunk, of which it has at least one.
 *
 * An lc_file takes one file in one direction: lc_file_update with each piece, in order, of any
 * length; then lc_file_finish, and lc_file_free. Its output is in its own memory, and valid until
 * the next call with it. Memory does not grow with the file: it is less than 5 times the longest
 * piece and a chunk together. Readers accept chunks of 1 KiB to 16 MiB from other writers.
 *
 * Only verified plaintext is given, and a file is whole only if lc_file_finish returned LC_OK. What
 * came before an error is the authentic beginning: write to a temporary file, and rename it at the
 * end. After an error that is none of arguments, each later call returns it, too. After
 * lc_file_finish they return LC_ERR_UNSUPPORTED.
 *
 * Constant time in keys and data. From half of its first pass on, Argon2id reads memory at places
 * that depend on the passphrase.
 */

enum lc_file_secret {
    LC_FILE_KEY = 1,       /* 32 random bytes; never a passphrase, nor its hash */
    LC_FILE_PASSPHRASE = 2 /* bytes of any number, that people remember */
};

/* How a file is encrypted. Set what is not needed to 0, for the default. */
struct lc_file_options {
    int algorithm; /* LC_AES_256_GCM (default), LC_CHACHA20_POLY1305, LC_XCHACHA20_POLY1305 */
    /* What trying a passphrase costs, by Argon2id (RFC 9106). Without effect on keys. */
    uint32_t memory; /* in KiB: 65,536 (default); 8 for each lane to 1,048,576 */
    uint32_t passes; /* over the memory: 3 (default); 1 to 16 */
    uint32_t lanes;  /* 4 (default); 1 to 4 */
};

/* One file on its way. */
typedef struct lc_file lc_file;

/*
 * Begins to encrypt a file with a secret of enum lc_file_secret. Without options it has the
 * defaults. A passphrase takes the time and the memory of Argon2id in this call. The header is part
 * of the first output.
 * LC_ERR_RANGE (the kind of the secret), LC_ERR_KEY_LENGTH, LC_ERR_UNKNOWN_ALGORITHM,
 * LC_ERR_FILE_COST, LC_ERR_MEMORY, LC_ERR_ENTROPY; LC_ERR_UNSUPPORTED for other algorithms.
 */
LC_CHECK int lc_file_encrypt(lc_file **file, const struct lc_file_options *options, int kind,
                             const void *secret, size_t secret_len);

/*
 * Begins to decrypt a file. The secret is copied, and wiped when the header has come. The limits
 * of the options hold for headers, too: a hostile one takes at most 1 GiB and 16 passes.
 * LC_ERR_RANGE (the kind of the secret), LC_ERR_KEY_LENGTH.
 */
LC_CHECK int lc_file_decrypt(lc_file **file, int kind, const void *secret, size_t secret_len);

/*
 * Takes a piece of input, and gives the output that there is, perhaps none; with an error NULL and
 * 0. An encrypting file keeps up to a chunk, because it may be the last one: LC_ERR_FORKED in a
 * child, LC_ERR_DATA_LENGTH after 256 TiB.
 * A decrypting file gives a chunk when the next one begins. The call in which the header becomes
 * whole takes the time and the memory of Argon2id. LC_ERR_AUTHENTICATION: a chunk was changed,
 * moved or added, or cut in its middle. The errors LC_ERR_FILE_... and LC_ERR_MEMORY.
 */
LC_CHECK int lc_file_update(lc_file *file, const void *from, size_t from_len, const void **to,
                            size_t *to_len);

/*
 * Ends the input, and gives the rest of the output. Errors as lc_file_update. LC_ERR_FILE_TRUNCATED
 * if the end of the file is missing.
 */
LC_CHECK int lc_file_finish(lc_file *file, const void **to, size_t *to_len);

/* Wipes keys and plaintext of a file, and frees it; its output, too. NULL is left alone. */
void lc_file_free(lc_file *file);

/* ---- Signatures ------------------------------------------------------------------------------ */

/*
 * Many signatures, of any keys and algorithms, are made or checked by one lc_process, which runs
 * those of one algorithm side by side, 32 at a time. Each has its own outcome, and a wrong one does
 * not disturb the others. To open a public key of a curve costs about as much as to check one
 * signature of a batch: keep the sessions of keys that come again.
 */

enum lc_signature_algorithm {
    LC_RSA_PSS_SHA256 = 1, /* RFC 8017, with a salt as long as the hash; PS256 of JOSE */
    LC_RSA_PSS_SHA384 = 2,
    LC_RSA_PSS_SHA512 = 3,
    LC_RSA_PKCS1V15_SHA256 = 17, /* RFC 8017, PKCS #1 v1.5; RS256 of JOSE */
    LC_RSA_PKCS1V15_SHA384 = 18,
    LC_RSA_PKCS1V15_SHA512 = 19,
    LC_ED25519 = 32,          /* RFC 8032, 64 bytes; EdDSA of JOSE */
    LC_ECDSA_P256_SHA256 = 33 /* FIPS 186-5, 64 bytes: r and s; ES256 of JOSE */
};

/*
 * A session with a private key, which signs and verifies, or with a public key, which verifies.
 * PEM or DER, not encrypted: PKCS #8 or SPKI; of RSA also PKCS #1, of P-256 also SEC 1. Public keys
 * may be bare, too: of Ed25519 32 bytes, of P-256 a point of 65 or 33 bytes, whose first is 4, 2 or
 * 3 (with a 4 before the 64 bytes of DNSSEC). The key is checked: numbers, which takes milliseconds
 * with a private RSA key of 2048 to 8192 bits; points, which must not have a small order.
 * LC_ERR_UNKNOWN_ALGORITHM, LC_ERR_KEY_ENCODING and the other errors of keys.
 */
LC_CHECK int lc_signature_session_new(lc_session **session, int algorithm, const void *key,
                                      size_t key_len);

/* The length of its signatures: 64, or that of the RSA modulus; 0 if it makes and checks none. */
size_t lc_session_signature_len(const lc_session *session);

/*
 * Signs a message. signature_len is lc_session_signature_len. Constant time in the key. Ed25519:
 * the same signature each time. ECDSA: the nonce comes from key, message and new random bytes.
 * RSA: a fraction of a millisecond with 2048 bits; blinded; checked before it is written.
 * LC_ERR_OUTPUT_LENGTH, LC_ERR_ENTROPY, LC_ERR_FAULT; LC_ERR_KEY_LENGTH if the RSA modulus is too
 * short for the padding; LC_ERR_UNSUPPORTED without a private key.
 */
LC_CHECK int lc_sign(const lc_session *session, const void *message, size_t message_len,
                     void *signature, size_t signature_len);

/*
 * Checks the signature of a message. Not constant time: everything in it is public. Ed25519 is
 * strict: one encoding of each number and point, without the cofactor.
 * LC_ERR_AUTHENTICATION if it is wrong, whatever its length; LC_ERR_UNSUPPORTED without a key of
 * signatures.
 */
LC_CHECK int lc_verify(const lc_session *session, const void *message, size_t message_len,
                       const void *signature, size_t signature_len);

/*
 * Writes a signature of ECDSA, r and s of 32 bytes each, in DER, as X.509 and TLS have it. *der_len
 * is the room, of which 72 bytes always suffice, and becomes the length. Not constant time.
 * LC_ERR_DATA_LENGTH if signature_len is not 64; LC_ERR_OUTPUT_LENGTH without room.
 */
LC_CHECK int lc_ecdsa_to_der(const void *signature, size_t signature_len, void *der,
                             size_t *der_len);

/*
 * Reads a signature of ECDSA from DER, for lc_verify and lc_process. signature_len is 64, otherwise
 * LC_ERR_OUTPUT_LENGTH. Not constant time.
 * LC_ERR_AUTHENTICATION if it is no DER of two numbers of at most 32 bytes: 64 zeros are written,
 * which no key verifies, so that a batch may take them.
 */
LC_CHECK int lc_ecdsa_from_der(const void *der, size_t der_len, void *signature,
                               size_t signature_len);

/* ---- Ciphers that do not authenticate -------------------------------------------------------- */

/*
 * Correct, and not secure by themselves: who can change a message can change its plaintext. For
 * protocols that authenticate in their own way.
 */

/*
 * Expands a key for an algorithm that does not authenticate.
 * LC_ERR_UNKNOWN_ALGORITHM, LC_ERR_KEY_LENGTH, LC_ERR_WEAK_KEY; LC_ERR_UNSUPPORTED if it
 * authenticates.
 */
LC_CHECK int lc_hazmat_session_new(lc_session **session, int algorithm, const void *key,
                                   size_t key_len);

/*
 * Encrypts one whole message without padding from one place to another, or in place (from == to).
 * With XTS it is one data unit of 16 bytes to 16 MiB, and iv its tweak. With ChaCha and Salsa20,
 * an iv of 16 bytes is the number of the first block and the nonce.
 * LC_ERR_NONCE_LENGTH, LC_ERR_DATA_LENGTH, LC_ERR_KEYSTREAM_EXHAUSTED; LC_ERR_UNSUPPORTED if the
 * session is none of lc_hazmat_session_new. Constant time in key and message.
 */
LC_CHECK int lc_hazmat_encrypt(const lc_session *session, const void *iv, size_t iv_len,
                               const void *from, void *to, size_t len);

/* Decrypts one whole message; as lc_hazmat_encrypt. */
LC_CHECK int lc_hazmat_decrypt(const lc_session *session, const void *iv, size_t iv_len,
                               const void *from, void *to, size_t len);

/*
 * Wipes the vector registers and the next 44 KiB of the stack, which hold rests of what calls
 * did.
 */
void lc_hazmat_burn_stack(void);

/* ---- Keys in a process of their own ---------------------------------------------------------- */

/*
 * The program `lanecrypt serve` is a daemon that keeps keys and serves other processes by shared
 * memory: nobody who reads this process's memory finds them. Linux. A connection belongs to one
 * thread at a time, and to the process that made it: LC_ERR_FORKED. If the daemon ends, all calls
 * return LC_ERR_DISCONNECTED. Operations on a session answer the errors of those without a
 * daemon, and: LC_ERR_NO_SESSION, LC_ERR_NOT_ALLOWED, LC_ERR_TOO_LONG (longer than the shared
 * memory, 1 MiB). Time depends on keys no more than without a daemon.
 */
typedef struct lc_device lc_device;

/*
 * Connects to the daemon with the socket at this path; NULL is the usual path
 * ($XDG_RUNTIME_DIR/lanecrypt.sock, or /run/lanecrypt.sock).
 * LC_ERR_NO_DAEMON, LC_ERR_FORBIDDEN, LC_ERR_VERSION, LC_ERR_DENIED, LC_ERR_SYSTEM.
 */
LC_CHECK int lc_device_connect(lc_device **device, const char *path);

/*
 * Ends a connection, and with it its sessions. Messages in flight are lost, and their buffers are
 * not touched any more. NULL is left alone.
 */
void lc_device_free(lc_device *device);

/* Opens a session with this key, which is sent to the daemon. LC_ERR_DENIED, LC_ERR_KEY_LENGTH. */
LC_CHECK int lc_device_session_new(lc_device *device, uint32_t *session, int algorithm,
                                   const void *key, size_t key_len);

/* Opens a session with a key that the daemon makes, and that nobody ever sees. LC_ERR_DENIED. */
LC_CHECK int lc_device_session_generated(lc_device *device, uint32_t *session, int algorithm);

/* Opens a session with a key that the daemon has under this name. LC_ERR_DENIED. */
LC_CHECK int lc_device_session_named(lc_device *device, uint32_t *session, const char *name);

/* Opens a session with an RSA key, which is sent to the daemon. As lc_signature_session_new. */
LC_CHECK int lc_device_rsa_session_new(lc_device *device, uint32_t *session, int algorithm,
                                       const void *key, size_t key_len);

/* Closes a session. Its number may be used again for another one. LC_ERR_NO_SESSION. */
LC_CHECK int lc_device_session_free(lc_device *device, uint32_t session);

/* The length of its tags; 0 if it has none. */
size_t lc_device_session_tag_len(const lc_device *device, uint32_t session);

/* The length of its signatures; 0 if it has no key of signatures. */
size_t lc_device_session_signature_len(const lc_device *device, uint32_t session);

/* Fills memory with random bytes of the daemon's generator. After an error, part may be written. */
LC_CHECK int lc_device_random(lc_device *device, void *out, size_t len);

/* Seals a message in place, as lc_seal, and waits for it. */
LC_CHECK int lc_device_seal(lc_device *device, uint32_t session, const void *nonce,
                            size_t nonce_len, const void *aad, size_t aad_len, void *packet,
                            size_t packet_len);

/* Seals a message in place, as lc_seal, with a nonce that the daemon makes and writes to `nonce`,
 * which has the length of the algorithm's: for named keys, whose nonces the daemon makes unless its
 * settings say otherwise. lc_device_seal returns LC_ERR_NOT_ALLOWED for them. */
LC_CHECK int lc_device_seal_next(lc_device *device, uint32_t session, void *nonce,
                                 size_t nonce_len, const void *aad, size_t aad_len, void *packet,
                                 size_t packet_len);

/* Opens a packet in place, as lc_open, and waits for it. */
LC_CHECK int lc_device_open(lc_device *device, uint32_t session, const void *nonce,
                            size_t nonce_len, const void *aad, size_t aad_len, void *packet,
                            size_t packet_len);

/* Signs a message, as lc_sign, and waits for it. */
LC_CHECK int lc_device_sign(lc_device *device, uint32_t session, const void *message,
                            size_t message_len, void *signature, size_t signature_len);

/* Checks a signature, as lc_verify, and waits for it. */
LC_CHECK int lc_device_verify(lc_device *device, uint32_t session, const void *message,
                              size_t message_len, const void *signature, size_t signature_len);

/*
 * Submits a message and does not wait. Many in flight share the cost of waking the daemon, and
 * run side by side. The buffer is
 *
 *     | header_len bytes of associated data | message | room for the tag |
 *
 * (LC_SEAL, LC_OPEN), data (LC_HAZMAT_*), or message and signature (LC_SIGN, LC_VERIFY). It
 * belongs to the connection until its completion: do not touch it, and do not free it. The nonce is
 * copied. LC_ERR_FULL: take completions first. LC_ERR_AAD_LENGTH if header_len is more than len.
 * After an error the buffer is yours.
 */
LC_CHECK int lc_device_submit(lc_device *device, uint32_t session, int operation, const void *nonce,
                              size_t nonce_len, void *buffer, size_t len, size_t header_len,
                              uint64_t user);

/* What has become of a message in flight. */
struct lc_completion {
    uint64_t user; /* as it was submitted; so are buffer and len */
    void *buffer;
    size_t len;
    int outcome; /* LC_OK, or why it was not served */
};

/*
 * Takes a completion, if there is one; otherwise LC_ERR_NOTHING. Completions come in any order.
 * LC_ERR_DISCONNECTED.
 */
LC_CHECK int lc_device_poll(lc_device *device, struct lc_completion *completion);

/* Waits for a completion. LC_ERR_NOTHING if nothing is in flight; LC_ERR_DISCONNECTED. */
LC_CHECK int lc_device_wait(lc_device *device, struct lc_completion *completion);

/*
 * After LC_ERR_DISCONNECTED: takes a message back that has no answer. It may have been served, so
 * its nonce counts as used. LC_ERR_NOTHING if there is none.
 */
LC_CHECK int lc_device_abandoned(lc_device *device, struct lc_completion *completion);

#ifdef __cplusplus
}
#endif

#endif /* LANECRYPT_H */
