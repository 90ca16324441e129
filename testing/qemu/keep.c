// Preloaded in programs whose instructions are counted: qemu refuses advice on memory, without which
// generators keep no bytes and ask the system for each draw. This says yes; nothing is forked there.

#include <stddef.h>

int madvise(void *address, size_t length, int advice)
{
    (void)address, (void)length, (void)advice;
    return 0;
}
