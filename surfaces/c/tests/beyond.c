/* A mistake that Valgrind has to see: a key that ends 8 bytes behind its memory. Argument: the
 * algorithm's name, or "file" for the key of a file. */
#include "test.h"

int main(int count, char **names) {
    struct lc_algorithm_info info;
    const int is_file = count == 2 && !strcmp(names[1], "file");
    int algorithm = is_file      ? LC_AES_256_GCM
                    : count == 2 ? lc_algorithm_by_name(names[1])
                                 : 0;
    lc_session *session = NULL;
    lc_file *file = NULL;
    unsigned char *memory;
    size_t i;
    if (lc_algorithm_info(algorithm, &info)) return 2;
    memory = bytes(info.key_len);
    for (i = 0; i < info.key_len; i++) memory[i] = (unsigned char)i;
    if (is_file              ? lc_file_encrypt(&file, NULL, LC_FILE_KEY, memory + 8, info.key_len)
        : info.authenticates ? lc_session_new(&session, algorithm, memory + 8, info.key_len)
                             : lc_hazmat_session_new(&session, algorithm, memory + 8, info.key_len))
        return 2;
    lc_session_free(session), lc_file_free(file);
    free(memory);
    (void)finish, (void)done, (void)copy;
    return 0;
}
