/*
 * The client of a daemon. Arguments: the socket of examples/daemon.rs, the file of a private key,
 * and the pipe that is the daemon's standard input: the daemon ends with it.
 */
#define _POSIX_C_SOURCE 200809L
#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const unsigned char KEY[32] = {5};
static const char *path, *pem_path;
static lc_device *device;
static int daemon_end;

static void connections(void) {
    lc_device *other = (lc_device *)KEY;
    char longer[5000];
    memset(longer, 'a', sizeof longer), longer[4999] = 0;
    EQUAL(lc_device_connect(&other, "/nonexistent/socket"), LC_ERR_NO_DAEMON);
    CHECK(other == NULL);
    EQUAL(lc_device_connect(&other, longer), LC_ERR_TOO_LONG);
    longer[300] = 0;
    EQUAL(lc_device_connect(&other, longer), LC_ERR_TOO_LONG);
    EQUAL(lc_device_connect(NULL, path), LC_ERR_NULL_POINTER);
    {
        union {
            lc_device *device;
            char path[16];
        } both;
        memset(&both, 0, sizeof both), both.path[0] = '/';
        EQUAL(lc_device_connect(&both.device, both.path), LC_ERR_OVERLAP);
        EQUAL(both.path[0], '/');
    }
    EQUAL(lc_device_connect(&other, path), LC_OK);
    lc_device_free(other);
    lc_device_free(NULL);
}

static void sessions(void) {
    uint32_t one = 7, two = 7, three = 7;
    EQUAL(lc_device_session_new(device, &one, LC_AES_128_GCM, KEY, 17), LC_ERR_KEY_LENGTH);
    EQUAL(one, 0);
    EQUAL(lc_device_session_new(device, &one, 999, KEY, 16), LC_ERR_UNKNOWN_ALGORITHM);
    EQUAL(lc_device_session_new(device, NULL, LC_AES_128_GCM, KEY, 16), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_session_new(NULL, &one, LC_AES_128_GCM, KEY, 16), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_session_new(device, &one, LC_AES_128_GCM, NULL, 16), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_session_named(device, &one, "nobody"), LC_ERR_DENIED);
    EQUAL(lc_device_session_named(device, &one, "\xff"), LC_ERR_DENIED);
    EQUAL(lc_device_session_named(device, &one, NULL), LC_ERR_NULL_POINTER);
    EQUAL(one, 0);
    {
        union {
            uint32_t session;
            unsigned char key[16];
            char name[16];
        } both;
        memset(&both, 'b', sizeof both), both.key[15] = 0;
        EQUAL(lc_device_session_new(device, &both.session, LC_AES_128_GCM, both.key, 16),
              LC_ERR_OVERLAP);
        EQUAL(lc_device_session_named(device, &both.session, both.name), LC_ERR_OVERLAP);
        EQUAL(both.key[0], 'b');
    }
    EQUAL(lc_device_session_new(device, &one, LC_AES_128_GCM, KEY, 16), LC_OK);
    EQUAL(lc_device_session_generated(device, &two, LC_CHACHA20_POLY1305), LC_OK);
    CHECK(one && two && one != two);
    EQUAL(lc_device_session_tag_len(device, one), 16);
    EQUAL(lc_device_session_signature_len(device, one), 0);
    EQUAL(lc_device_session_tag_len(device, 0), 0);
    EQUAL(lc_device_session_tag_len(device, 99), 0);
    EQUAL(lc_device_session_free(device, one), LC_OK);
    EQUAL(lc_device_session_free(device, one), LC_ERR_NO_SESSION);
    EQUAL(lc_device_session_free(device, 0), LC_ERR_NO_SESSION);
    EQUAL(lc_device_session_free(device, (uint32_t)-1), LC_ERR_NO_SESSION);
    EQUAL(lc_device_session_generated(device, &three, LC_AES_256_GCM), LC_OK);
    EQUAL(three, one);
    EQUAL(lc_device_session_free(device, two), LC_OK);
    EQUAL(lc_device_session_free(device, three), LC_OK);
}

/* The daemon seals what this process opens, and the other way round. */
static void messages(void) {
    unsigned char nonce[12] = {1}, made[12], packet[116], other[116];
    lc_session *here;
    uint32_t there, named;
    memset(packet, 3, sizeof packet), memset(other, 3, sizeof other);
    EQUAL(lc_session_new(&here, LC_CHACHA20_POLY1305, KEY, 32), LC_OK);
    EQUAL(lc_device_session_new(device, &there, LC_CHACHA20_POLY1305, KEY, 32), LC_OK);
    EQUAL(lc_seal(here, nonce, 12, "aad", 3, packet, 116), LC_OK);
    EQUAL(lc_device_seal(device, there, nonce, 12, "aad", 3, other, 116), LC_OK);
    CHECK(!memcmp(packet, other, 116));
    EQUAL(lc_device_open(device, there, nonce, 12, "aad", 3, packet, 116), LC_OK);
    CHECK(packet[0] == 3 && packet[99] == 3);
    EQUAL(lc_device_open(device, there, nonce, 12, "dad", 3, other, 116), LC_ERR_AUTHENTICATION);
    /* What is not authentic is wiped. */
    {
        int i, left = 0;
        for (i = 0; i < 100; i++) left |= other[i];
        EQUAL(left, 0);
    }
    EQUAL(lc_device_seal(device, there, nonce, 11, "aad", 3, other, 116), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_device_seal(device, there, other + 1, 12, "aad", 3, other, 116), LC_ERR_OVERLAP);
    EQUAL(lc_device_seal(device, there, nonce, 12, other + 115, 1, other, 116), LC_ERR_OVERLAP);
    EQUAL(lc_device_seal(device, 99, nonce, 12, "aad", 3, other, 116), LC_ERR_NO_SESSION);
    EQUAL(lc_device_seal(device, there, NULL, 12, "aad", 3, other, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_seal(device, there, nonce, 12, NULL, 3, other, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_seal(device, there, nonce, 12, NULL, 0, NULL, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_open(device, there, nonce, 12, NULL, 0, NULL, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_seal(NULL, there, nonce, 12, NULL, 0, other, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_sign(device, there, KEY, 1, other, 116), LC_ERR_UNSUPPORTED);
    EQUAL(lc_device_session_named(device, &named, "backup"), LC_OK);
    EQUAL(lc_device_seal(device, named, nonce, 12, NULL, 0, other, 116), LC_ERR_NOT_ALLOWED);
    memset(made, 0, sizeof made);
    EQUAL(lc_device_seal_next(device, named, made, 12, NULL, 0, other, 116), LC_OK);
    CHECK(memcmp(made, "\0\0\0\0\0\0\0\0\0\0\0\0", 12));
    EQUAL(lc_device_seal_next(device, named, made, 11, NULL, 0, other, 116), LC_ERR_NONCE_LENGTH);
    EQUAL(lc_device_seal_next(device, named, other, 12, NULL, 0, other, 116), LC_ERR_OVERLAP);
    EQUAL(lc_device_seal_next(device, named, NULL, 12, NULL, 0, other, 116), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_seal_next(device, there, made, 12, NULL, 0, other, 116), LC_ERR_NOT_ALLOWED);
    EQUAL(lc_device_open(device, named, nonce, 12, NULL, 0, other, 116), LC_ERR_NOT_ALLOWED);
    memset(other, 0, sizeof other);
    EQUAL(lc_device_random(device, other, 116), LC_OK);
    CHECK(memcmp(other, packet, 116) && (other[0] | other[50] | other[115] | other[7]));
    EQUAL(lc_device_random(device, NULL, 1), LC_ERR_NULL_POINTER);
    lc_session_free(here);
}

static void signatures(void) {
    static unsigned char pem[1 << 14], made[2][256];
    FILE *file = fopen(pem_path, "rb");
    size_t len = file ? fread(pem, 1, sizeof pem, file) : 0;
    lc_session *here;
    uint32_t there;
    if (file) fclose(file);
    EQUAL(lc_signature_session_new(&here, LC_RSA_PKCS1V15_SHA256, pem, len), LC_OK);
    EQUAL(lc_device_rsa_session_new(device, &there, LC_RSA_PKCS1V15_SHA256, pem, len), LC_OK);
    EQUAL(lc_device_session_signature_len(device, there), 256);
    EQUAL(lc_sign(here, "message", 7, made[0], 256), LC_OK);
    EQUAL(lc_device_sign(device, there, "message", 7, made[1], 256), LC_OK);
    CHECK(!memcmp(made[0], made[1], 256));
    EQUAL(lc_device_verify(device, there, "message", 7, made[0], 256), LC_OK);
    EQUAL(lc_device_verify(device, there, "massage", 7, made[0], 256), LC_ERR_AUTHENTICATION);
    EQUAL(lc_device_sign(device, there, made[0], 7, made[0], 256), LC_ERR_OVERLAP);
    EQUAL(lc_device_rsa_session_new(device, &there, LC_RSA_PKCS1V15_SHA256, pem, len / 2),
          LC_ERR_KEY_ENCODING);
    EQUAL(lc_device_rsa_session_new(device, &there, 77, pem, len), LC_ERR_UNKNOWN_ALGORITHM);
    EQUAL(lc_device_rsa_session_new(device, &there, LC_ED25519, pem, len),
          LC_ERR_UNKNOWN_ALGORITHM);
    lc_session_free(here);
}

#define MANY 1000

/* More than fit at once, with a header each; every one comes back once. */
static void many_in_flight(void) {
    static unsigned char buffers[MANY][3 + 50 + 16], right[50 + 16];
    static int seen[MANY];
    unsigned char nonce[12] = {0};
    struct lc_completion done;
    lc_session *here;
    uint32_t there;
    unsigned i, submitted = 0, completed = 0;
    int error;
    EQUAL(lc_device_poll(device, &done), LC_ERR_NOTHING);
    EQUAL(lc_device_wait(device, &done), LC_ERR_NOTHING);
    EQUAL(lc_device_abandoned(device, &done), LC_ERR_NOTHING);
    EQUAL(lc_device_session_new(device, &there, LC_AES_128_GCM, KEY, 16), LC_OK);
    EQUAL(lc_device_submit(device, there, 0, nonce, 12, buffers[0], 69, 3, 0),
          LC_ERR_UNKNOWN_OPERATION);
    EQUAL(lc_device_submit(device, there, LC_SEAL, nonce, 12, NULL, 69, 3, 0), LC_ERR_NULL_POINTER);
    EQUAL(lc_device_submit(device, there, LC_SEAL, buffers[0], 12, buffers[0], 69, 3, 0),
          LC_ERR_OVERLAP);
    EQUAL(lc_device_submit(device, 99, LC_SEAL, nonce, 12, buffers[0], 69, 3, 0),
          LC_ERR_NO_SESSION);
    while (completed < MANY && wrong == 0) {
        while (submitted < MANY) {
            memset(buffers[submitted], (int)submitted, 53);
            memcpy(nonce, &submitted, sizeof submitted);
            error = lc_device_submit(device, there, LC_SEAL, nonce, 12, buffers[submitted], 69, 3,
                                     submitted);
            if (error == LC_ERR_FULL) break;
            EQUAL(error, LC_OK);
            submitted++;
        }
        EQUAL(lc_device_wait(device, NULL), LC_ERR_NULL_POINTER);
        EQUAL(lc_device_wait(device, &done), LC_OK);
        EQUAL(done.outcome, LC_OK);
        CHECK(done.user < MANY && done.len == 69);
        CHECK(done.buffer == buffers[done.user]);
        seen[done.user]++;
        completed++;
    }
    EQUAL(lc_session_new(&here, LC_AES_128_GCM, KEY, 16), LC_OK);
    for (i = 0; i < MANY; i++) {
        memset(right, (int)i, 50);
        memcpy(nonce, &i, sizeof i);
        EQUAL(seen[i], 1);
        EQUAL(lc_seal(here, nonce, 12, buffers[i], 3, right, 66), LC_OK);
        CHECK(!memcmp(right, buffers[i] + 3, 66));
    }
    lc_session_free(here);
}

/* Also not to what was in flight. The child's free leaves the parent's connection as it is. */
static void a_child_has_no_connection(void) {
    unsigned char some[32] = {0}, nonce[12] = {0};
    struct lc_completion done;
    uint32_t there;
    int status = -1;
    pid_t child;
    EQUAL(lc_device_session_generated(device, &there, LC_AES_128_GCM), LC_OK);
    EQUAL(lc_device_submit(device, there, LC_SEAL, nonce, 12, some, 32, 0, 7), LC_OK);
    child = fork();
    if (child == 0) {
        unsigned char own[16];
        int bad = lc_device_random(device, own, 16) != LC_ERR_FORKED;
        bad |= (lc_device_poll(device, &done) != LC_ERR_FORKED) << 1;
        bad |= (lc_device_wait(device, &done) != LC_ERR_FORKED) << 2;
        bad |= (lc_device_submit(device, there, LC_SEAL, nonce, 12, own, 16, 0, 7) !=
                LC_ERR_FORKED) << 3;
        bad |= (lc_device_abandoned(device, &done) != LC_ERR_NOTHING) << 4;
        bad |= (lc_device_session_free(device, there) != LC_ERR_FORKED) << 5;
        lc_device_free(device);
        _exit(bad);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
    EQUAL(lc_device_wait(device, &done), LC_OK);
    CHECK(done.user == 7 && done.outcome == LC_OK && done.buffer == some);
    EQUAL(lc_device_random(device, some, 16), LC_OK);
    EQUAL(lc_device_session_free(device, there), LC_OK);
}

/* What is in flight when the daemon ends comes back, served or abandoned. */
static void the_daemon_ends(void) {
    unsigned char nonce[12] = {0}, buffers[8][32] = {{0}};
    struct lc_completion done;
    uint32_t there;
    int i, error, back = 0;
    EQUAL(lc_device_session_generated(device, &there, LC_AES_128_GCM), LC_OK);
    close(daemon_end);
    for (i = 0; i < 8; i++) {
        nonce[0] = (unsigned char)i;
        error = lc_device_submit(device, there, LC_SEAL, nonce, 12, buffers[i], 32, 0, 1);
        if (error) break;
    }
    while ((error = lc_device_wait(device, &done)) == LC_OK) back++;
    if (error == LC_ERR_DISCONNECTED)
        while (lc_device_abandoned(device, &done) == LC_OK) {
            EQUAL(done.outcome, LC_ERR_DISCONNECTED);
            back++;
        }
    EQUAL(back, i);
    while ((error = lc_device_random(device, buffers[0], 16)) == LC_OK) continue;
    EQUAL(error, LC_ERR_DISCONNECTED);
    EQUAL(lc_device_session_generated(device, &there, LC_AES_128_GCM), LC_ERR_DISCONNECTED);
    EQUAL(there, 0);
}

int main(int count, char **paths) {
    const struct timespec pause = {0, 10000000};
    int tries = 1000, error;
    if (count != 4) return 2;
    path = paths[1], pem_path = paths[2];
    /* Waits until the daemon is about to start. */
    daemon_end = open(paths[3], O_WRONLY);
    if (daemon_end < 0) return 2;
    while ((error = lc_device_connect(&device, path)) == LC_ERR_NO_DAEMON && --tries)
        nanosleep(&pause, NULL);
    if (error) {
        printf("no connection: %s\n", lc_strerror(error));
        return 2;
    }
    RUN(connections);
    RUN(sessions);
    RUN(messages);
    RUN(signatures);
    RUN(many_in_flight);
    RUN(a_child_has_no_connection);
    RUN(the_daemon_ends);
    lc_device_free(device);
    return finish();
}
