/* A recorder of what a process does to the files of one folder, loaded by LD_PRELOAD.

   Each call that changes a file or a name, and each sync, becomes a line of the log:
   its kind, two paths below the folder, an offset and a number of bytes, with tabs
   between them; then these bytes. Only what succeeded is noted, in its order. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static int log_file = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* From now on, note what happens below a folder; NULL ends it. */
void record_disk(const char *below, const char *log) {
  pthread_mutex_lock(&order);
  if (log_file >= 0) syscall(SYS_close, log_file);
  log_file = -1;
  if (below && realpath(below, folder))
    log_file = syscall(SYS_openat, AT_FDCWD, log,
                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  pthread_mutex_unlock(&order);
}

static void put(const void *data, size_t size) {
  const char *rest = data;
  while (size > 0) {
    long done = syscall(SYS_write, log_file, rest, size);
    if (done <= 0) abort(); /* A log with a gap would be no log. */
    rest += done, size -= done;
  }
}

static void note(const char *kind, const char *path, const char *other, long offset,
                 const void *data, size_t size) {
  char line[3 * PATH_MAX];
  int error = errno;
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%ld\t%zu\n", kind, path,
                        other, offset, size);
  put(line, length);
  put(data, size);
  errno = error;
}

/* Cut the folder from a path; NULL if it is not below the folder. */
static const char *below(const char *path) {
  size_t length = strlen(folder);
  if (log_file < 0 || strncmp(path, folder, length)) return NULL;
  if (path[length] == 0) return ".";
  return path[length] == '/' ? path + length + 1 : NULL;
}

/* The place of a name, whose folder exists, though it need not itself. */
static const char *place(int at, const char *path, char *found) {
  char whole[2 * PATH_MAX], base[PATH_MAX];
  int error = errno;
  const char *answer = NULL;
  if (log_file < 0 || path == NULL) return NULL;
  if (path[0] == '/' || at == AT_FDCWD)
    snprintf(whole, sizeof whole, "%s%s", path[0] == '/' ? "" : "./", path);
  else
    snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", at, path);
  while (strlen(whole) > 1 && whole[strlen(whole) - 1] == '/')
    whole[strlen(whole) - 1] = 0;
  char *slash = strrchr(whole, '/');
  if (slash && slash != whole) {
    *slash = 0;
    if (realpath(whole, base)) {
      snprintf(found, PATH_MAX, "%.2000s/%.2000s", base, slash + 1);
      answer = below(found);
    }
  }
  errno = error;
  return answer;
}

static const char *place_of(int fd, char *found) {
  char link[64];
  int error = errno;
  if (log_file < 0) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, found, PATH_MAX - 1);
  errno = error;
  if (length <= 0) return NULL;
  found[length] = 0;
  return below(found);
}

/* Opening may make a file, or empty it. */
static int opened(int at, const char *path, int flags, mode_t mode) {
  char found[PATH_MAX];
  struct stat was;
  pthread_mutex_lock(&order);
  const char *name = place(at, path, found);
  int was_there = name && !fstatat(at, path, &was, 0);
  int fd = syscall(SYS_openat, at, path, flags, mode);
  if (fd >= 0 && name) {
    if ((flags & O_CREAT) && !was_there) note("create", name, "", 0, "", 0);
    else if (flags & O_TRUNC) note("truncate", name, "", 0, "", 0);
  }
  pthread_mutex_unlock(&order);
  return fd;
}

#include "open_calls.h"

/* Calls that return how many bytes they wrote; `from` is where these are. */
#define WRITES(name, given, passed, offset, before, copy)                            \
  ssize_t name given {                                                               \
    char found[PATH_MAX];                                                            \
    pthread_mutex_lock(&order);                                                      \
    before;                                                                          \
    ssize_t done = REAL(name) passed;                                                \
    const char *path = done > 0 ? place_of(fd, found) : NULL;                        \
    if (path) {                                                                      \
      long start = offset;                                                           \
      char *from = malloc(done);                                                     \
      copy;                                                                          \
      note("write", path, "", start, from, done);                                    \
      free(from);                                                                    \
    }                                                                                \
    pthread_mutex_unlock(&order);                                                    \
    return done;                                                                     \
  }
#define HERE (lseek(fd, 0, SEEK_CUR) - done)
WRITES(write, (int fd, const void *data, size_t size), (fd, data, size), HERE, ,
       memcpy(from, data, done))
WRITES(pwrite, (int fd, const void *data, size_t size, off_t at),
       (fd, data, size, at), at, , memcpy(from, data, done))
WRITES(pwrite64, (int fd, const void *data, size_t size, off64_t at),
       (fd, data, size, at), at, , memcpy(from, data, done))

static void gather(char *to, const struct iovec *parts, size_t size) {
  for (; size > 0; parts++) {
    size_t length = parts->iov_len < size ? parts->iov_len : size;
    memcpy(to, parts->iov_base, length);
    to += length, size -= length;
  }
}
WRITES(writev, (int fd, const struct iovec *parts, int number), (fd, parts, number),
       HERE, , gather(from, parts, done))

/* Those that copy in the kernel: what was copied is read from its source. */
ssize_t sendfile(int, int, off_t *, size_t);
ssize_t sendfile64(int, int, off64_t *, size_t);
#define SOURCE off64_t first = at ? *at : lseek(source, 0, SEEK_CUR)
#define READ                                                                         \
  if (pread(source, from, done, first) != done) abort()
WRITES(sendfile, (int fd, int source, off_t *at, size_t size), (fd, source, at, size),
       HERE, SOURCE, READ)
WRITES(sendfile64, (int fd, int source, off64_t *at, size_t size),
       (fd, source, at, size), HERE, SOURCE, READ)
WRITES(copy_file_range,
       (int source, off64_t *at, int fd, off64_t *to, size_t size, unsigned flags),
       (source, at, fd, to, size, flags), to ? *to - done : HERE, SOURCE, READ)

/* Calls that return 0. */
#define CHANGES(name, given, passed, path_is, other_is, kind, offset)                \
  int name given {                                                                   \
    char found[PATH_MAX], other[PATH_MAX];                                           \
    (void)other;                                                                     \
    pthread_mutex_lock(&order);                                                      \
    const char *path = path_is, *second = other_is;                                  \
    int answer = REAL(name) passed;                                                  \
    if (answer == 0 && (path || *second))                                            \
      note(kind, path ? path : "", second, offset, "", 0);                           \
    pthread_mutex_unlock(&order);                                                    \
    return answer;                                                                   \
  }
static const char *or_none(const char *path) { return path ? path : ""; }
#define AT(at, path) place(at, path, found)
#define TO(at, path) or_none(place(at, path, other))
#define FD place_of(fd, found)

CHANGES(fsync, (int fd), (fd), FD, "", "sync", 0)
CHANGES(fdatasync, (int fd), (fd), FD, "", "sync", 0)
CHANGES(ftruncate, (int fd, off_t size), (fd, size), FD, "", "truncate", size)
CHANGES(ftruncate64, (int fd, off64_t size), (fd, size), FD, "", "truncate", size)
CHANGES(truncate, (const char *name, off_t size), (name, size), AT(AT_FDCWD, name),
        "", "truncate", size)
CHANGES(truncate64, (const char *name, off64_t size), (name, size),
        AT(AT_FDCWD, name), "", "truncate", size)
CHANGES(mkdir, (const char *name, mode_t mode), (name, mode), AT(AT_FDCWD, name), "",
        "mkdir", 0)
CHANGES(mkdirat, (int at, const char *name, mode_t mode), (at, name, mode),
        AT(at, name), "", "mkdir", 0)
CHANGES(unlink, (const char *name), (name), AT(AT_FDCWD, name), "", "remove", 0)
CHANGES(rmdir, (const char *name), (name), AT(AT_FDCWD, name), "", "remove", 0)
CHANGES(unlinkat, (int at, const char *name, int flags), (at, name, flags),
        AT(at, name), "", "remove", 0)
CHANGES(rename, (const char *from, const char *to), (from, to), AT(AT_FDCWD, from),
        TO(AT_FDCWD, to), "rename", 0)
CHANGES(renameat, (int at, const char *from, int to_at, const char *to),
        (at, from, to_at, to), AT(at, from), TO(to_at, to), "rename", 0)
