/*
 * A relay of media packets, such as that of a conference: it opens what came from the senders, and
 * seals it again for each receiver, under their own keys. All packets of a turn are one batch, so
 * that short ones run side by side. Packets look like those of SRTP with AEAD (RFC 7714): a header
 * of 12 bytes, which is authenticated, the payload, and a tag; the nonce is made of the header and
 * a salt. There is no network here: the senders' packets are made in memory.
 *
 *     cc -O2 relay.c -o relay $(pkg-config --cflags --libs lanecrypt)
 *     relay [STREAMS [PAYLOAD [ALGORITHM]]]
 *
 * It prints the packets that it opens and seals each second on one core, in batches and one by one.
 */
#define _DEFAULT_SOURCE /* for explicit_bzero and clock_gettime */
#include <lanecrypt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADER = 12, TAG = 16, NONCE = 12, MOST = 1400, TURNS = 500 };

/* One direction of one stream. */
struct stream {
    lc_session *session;
    unsigned char salt[NONCE];
};

/* A packet on its way, with what it takes to open or seal it. */
struct packet {
    unsigned char bytes[HEADER + MOST + TAG], nonce[NONCE];
};

static void check(int error) {
    if (!error) return;
    fprintf(stderr, "relay: %s\n", lc_strerror(error));
    exit(1);
}

static void *zeroed(size_t count, size_t size) {
    void *made = calloc(count, size);
    if (!made) {
        fprintf(stderr, "relay: no memory\n");
        exit(1);
    }
    return made;
}

static void open_stream(struct stream *stream, int algorithm, size_t key_len) {
    unsigned char key[64];
    if (key_len > sizeof key) check(LC_ERR_UNSUPPORTED);
    check(lc_random(key, key_len));
    check(lc_random(stream->salt, NONCE));
    check(lc_session_new(&stream->session, algorithm, key, key_len));
    explicit_bzero(key, sizeof key);
}

/* The nonce of RFC 7714, section 8.1: source and number of the packet, XORed with the salt. */
static void make_nonce(const struct stream *stream, struct packet *packet, uint32_t turn) {
    unsigned char *nonce = packet->nonce;
    int i;
    memset(nonce, 0, NONCE);
    memcpy(nonce + 2, packet->bytes + 8, 4); /* the source */
    for (i = 0; i < 4; i++) nonce[6 + i] = (unsigned char)((turn >> 16) >> (24 - 8 * i));
    memcpy(nonce + 10, packet->bytes + 2, 2); /* the sequence number */
    for (i = 0; i < NONCE; i++) nonce[i] ^= stream->salt[i];
}

static void make_header(struct packet *packet, size_t source, uint32_t turn) {
    int i;
    memset(packet->bytes, 0, HEADER);
    packet->bytes[0] = 0x80;
    packet->bytes[2] = (unsigned char)(turn >> 8), packet->bytes[3] = (unsigned char)turn;
    for (i = 0; i < 4; i++) packet->bytes[8 + i] = (unsigned char)(source >> (24 - 8 * i));
}

/* One request for a packet: in place, its tag right behind the payload. */
static void request(struct lc_request *r, int operation, const struct stream *stream,
                    struct packet *packet, size_t payload) {
    memset(r, 0, sizeof *r);
    r->session = stream->session;
    r->operation = operation;
    r->nonce = packet->nonce, r->nonce_len = NONCE;
    r->aad = packet->bytes, r->aad_len = HEADER;
    r->from = r->to = packet->bytes + HEADER, r->len = payload;
    r->tag = packet->bytes + HEADER + payload, r->tag_len = TAG;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Opens all packets and seals them for the receivers, and returns the seconds that it took. */
static double turn(lc_batch_buffer *room, struct lc_request *requests, const struct stream *senders,
                   const struct stream *receivers, struct packet *packets, size_t streams,
                   size_t payload, uint32_t number) {
    double begin = now();
    size_t i;
    for (i = 0; i < streams; i++) {
        make_nonce(&senders[i], &packets[i], number);
        if (room) {
            request(&requests[i], LC_OPEN, &senders[i], &packets[i], payload);
        } else {
            check(lc_open(senders[i].session, packets[i].nonce, NONCE, packets[i].bytes, HEADER,
                          packets[i].bytes + HEADER, payload + TAG));
        }
    }
    /* A packet that is not authentic would have to be left out here: see its outcome. */
    if (room) check(lc_process(room, requests, streams));
    for (i = 0; i < streams; i++) {
        make_nonce(&receivers[i], &packets[i], number);
        if (room) {
            request(&requests[i], LC_SEAL, &receivers[i], &packets[i], payload);
        } else {
            check(lc_seal(receivers[i].session, packets[i].nonce, NONCE, packets[i].bytes, HEADER,
                          packets[i].bytes + HEADER, payload + TAG));
        }
    }
    if (room) check(lc_process(room, requests, streams));
    return now() - begin;
}

int main(int count, char **words) {
    const size_t streams = count > 1 ? strtoul(words[1], NULL, 10) : 64;
    const size_t payload = count > 2 ? strtoul(words[2], NULL, 10) : 60;
    const char *name = count > 3 ? words[3] : "chacha20-poly1305";
    const int algorithm = lc_algorithm_by_name(name);
    struct lc_algorithm_info info;
    struct stream *senders, *receivers;
    struct packet *packets;
    struct lc_request *requests;
    const double packets_sent = (double)(TURNS * streams);
    double seconds[2] = {0, 0};
    lc_batch_buffer *room;
    uint32_t number;
    size_t i, k;
    if (streams < 1 || streams > 4096 || payload > MOST) {
        fprintf(stderr, "usage: relay [STREAMS [PAYLOAD [ALGORITHM]]]\n");
        return 2;
    }
    check(lc_algorithm_info(algorithm, &info));
    if (info.nonce_len != NONCE || info.tag_len != TAG) check(LC_ERR_UNSUPPORTED);
    senders = (struct stream *)zeroed(streams, sizeof *senders);
    receivers = (struct stream *)zeroed(streams, sizeof *receivers);
    packets = (struct packet *)zeroed(streams, sizeof *packets);
    requests = (struct lc_request *)zeroed(streams, sizeof *requests);
    check(lc_batch_buffer_new(&room, streams));
    for (i = 0; i < streams; i++) {
        open_stream(&senders[i], algorithm, info.key_len);
        open_stream(&receivers[i], algorithm, info.key_len);
    }
    for (number = 0; number < 2 * TURNS; number++) {
        /* Turns in batches and one by one take turns. */
        const int single = number & 1;
        for (i = 0; i < streams; i++) {
            struct packet *p = &packets[i];
            make_header(p, i, number);
            make_nonce(&senders[i], p, number);
            memset(p->bytes + HEADER, (int)(i + number), payload);
            check(lc_seal(senders[i].session, p->nonce, NONCE, p->bytes, HEADER, p->bytes + HEADER,
                          payload + TAG));
        }
        seconds[single] += turn(single ? NULL : room, requests, senders, receivers, packets,
                                streams, payload, number);
        /* What the receivers do. */
        for (i = 0; i < streams; i++) {
            struct packet *p = &packets[i];
            make_nonce(&receivers[i], p, number);
            check(lc_open(receivers[i].session, p->nonce, NONCE, p->bytes, HEADER,
                          p->bytes + HEADER, payload + TAG));
            for (k = 0; k < payload; k++)
                if (p->bytes[HEADER + k] != ((i + number) & 255)) check(LC_ERR_INTERNAL);
        }
    }
    printf("%s, %lu streams, %lu bytes: %.0f packets/s in batches, %.0f one by one\n", name,
           (unsigned long)streams, (unsigned long)payload, packets_sent / seconds[0],
           packets_sent / seconds[1]);
    for (i = 0; i < streams; i++) {
        lc_session_free(senders[i].session);
        lc_session_free(receivers[i].session);
    }
    lc_batch_buffer_free(room);
    free(senders), free(receivers), free(packets), free(requests);
    return 0;
}
