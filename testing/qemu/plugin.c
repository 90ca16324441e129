// A plugin for qemu-user 7.2 and later: what a program executes between marks.
//
//     cc -O2 -shared -fPIC -o plugin.so plugin.c
//     qemu-aarch64 -plugin plugin.so,do=trace PROGRAM
//
// A mark is the system call 10000, which Linux does not have. Its first argument says what it
// begins or ends, its second is a file of the program that the plugin writes to:
//
//     0      nothing is looked at from here on
//     1      everything is, again
//     2 FD   writes what there was since the last mark of this kind, and begins anew
//     3 FD   from here on, writes each step to that file
//
// `do=count` counts instructions. `do=trace` counts them, and hashes the addresses of executed
// blocks of instructions and those of accesses to memory. A line of the record has four numbers:
// instructions, hash of blocks, accesses, hash of accesses. A step has two numbers of 64 bits:
// the address of a block's last instruction, or of one that accesses memory, with the lowest bit
// set, which no instruction's address has; and the address of the block, or of the access.
//
// Debian has no package with qemu's header; these are the declarations of its interface, version 1.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_MEM_RW = 3, QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
typedef void on_block(unsigned cpu, void *data);
typedef void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_block *, int flags, void *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int op, void *, uint64_t);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access *, int flags, int rw,
                                      void *);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t,
                                          void (*)(qemu_plugin_id_t, unsigned, int64_t, uint64_t,
                                                   uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                   uint64_t, uint64_t));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { MARK = 10000, PAUSE = 0, RESUME = 1, RECORD = 2, STEPS = 3 };

// Programs that are traced have one thread.
static uint64_t instructions, blocks, accesses, addresses;
static bool is_tracing, is_on;
static int steps = -1;

// A block's addresses. Blocks are never freed, as the code that qemu makes of them.
struct block {
    uint64_t first, last, length;
};

static void mix(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
}

static void step(uint64_t at, uint64_t address)
{
    static uint64_t buffer[8192];
    static size_t used;
    if (at) {
        buffer[used++] = at;
        buffer[used++] = address;
    }
    if (used == 8192 || !at) {
        // A reader that has seen enough closes its end.
        if (write(steps, buffer, used * 8) != (ssize_t)(used * 8))
            _exit(3);
        used = 0;
    }
}

static void executed(unsigned cpu, void *data)
{
    const struct block *block = data;
    (void)cpu;
    if (!is_on)
        return;
    instructions += block->length;
    mix(&blocks, block->first);
    if (steps >= 0)
        step(block->last, block->first);
}

static void accessed(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)cpu, (void)info;
    if (!is_on)
        return;
    accesses++;
    mix(&addresses, address ^ (uint64_t)data << 20);
    if (steps >= 0)
        step((uint64_t)data | 1, address);
}

static struct block *block_of(const struct qemu_plugin_tb *tb)
{
    static struct block *free_blocks;
    static size_t left;
    size_t length = qemu_plugin_tb_n_insns(tb);
    if (left == 0) {
        left = 4096;
        free_blocks = malloc(left * sizeof *free_blocks);
        if (!free_blocks)
            _exit(3);
    }
    left--;
    *free_blocks = (struct block){
        .first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)),
        .last = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, length - 1)),
        .length = length,
    };
    return free_blocks++;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    if (!is_tracing) {
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &instructions,
                                                 qemu_plugin_tb_n_insns(tb));
        return;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS, block_of(tb));
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         (void *)qemu_plugin_insn_vaddr(insn));
    }
}

static void called(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t what, uint64_t file,
                   uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)cpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number != MARK)
        return;
    if (what == PAUSE || what == RESUME)
        is_on = what == RESUME;
    if (what == STEPS)
        steps = (int)file;
    if (what != RECORD)
        return;
    if (steps >= 0)
        step(0, 0);
    else
        dprintf((int)file, "%llu %llu %llu %llu\n", (unsigned long long)instructions,
                (unsigned long long)blocks, (unsigned long long)accesses,
                (unsigned long long)addresses);
    instructions = blocks = accesses = addresses = 0;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t *info, int count,
                                                               char **arguments)
{
    (void)info;
    for (int i = 0; i < count; i++)
        is_tracing |= strcmp(arguments[i], "do=trace") == 0;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
