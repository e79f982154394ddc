/* A disk that fails on command, for a whole process: LD_PRELOAD this.
 *
 * FAULTY_DISK names a file of three bytes that the test changes while the process runs: the errno
 * that writing, syncing and reading shall give (0: none). Only files of the ledger are concerned
 * (a path with "groupx.db" in it).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static volatile unsigned char *control;

__attribute__((constructor)) static void open_control(void) {
    const char *path = getenv("FAULTY_DISK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *found = mmap(NULL, 3, PROT_READ, MAP_SHARED, fd, 0);
    control = found == MAP_FAILED ? NULL : found;
    close(fd);
}

static int is_ledger(int fd) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strstr(path, "groupx.db") != NULL;
}

static int fails(int kind, int fd) {
    int code = control ? control[kind] : 0;
    if (code == 0 || !is_ledger(fd))
        return 0;
    errno = code;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    return fails(0, fd) ? -1 : NEXT(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    return fails(0, fd) ? -1 : NEXT(pwrite)(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    return fails(0, fd) ? -1 : NEXT(pwrite64)(fd, data, size, at);
}
int ftruncate(int fd, off_t size) { return fails(0, fd) ? -1 : NEXT(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails(0, fd) ? -1 : NEXT(ftruncate64)(fd, size); }
int fsync(int fd) { return fails(1, fd) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return fails(1, fd) ? -1 : NEXT(fdatasync)(fd); }
ssize_t pread(int fd, void *data, size_t size, off_t at) {
    return fails(2, fd) ? -1 : NEXT(pread)(fd, data, size, at);
}
ssize_t pread64(int fd, void *data, size_t size, off64_t at) {
    return fails(2, fd) ? -1 : NEXT(pread64)(fd, data, size, at);
}
