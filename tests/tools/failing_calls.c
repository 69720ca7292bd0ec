/* Makes the n-th call of a kind fail, loaded by LD_PRELOAD.

   Calls on files count only below one folder. An allocation counts from `LARGE` bytes
   on, wherever it comes from. Each count begins when `fail_call` is called, or when the
   library is loaded with FAIL_FOLDER, FAIL_KIND, FAIL_AT and FAIL_ERROR set.

   Allocation needs the names that the GNU C library gives its own functions. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LARGE 4096
enum { NONE, WRITE, SYNC, RENAME, CREATE, MEMORY };
static const char *const names[] = {"", "write", "sync", "rename", "create", "memory"};

static char folder[PATH_MAX];
static atomic_int kind;
static int fails_with;
static atomic_long left;
static atomic_long made; /* calls of the kind so far */

/* Make the `at`-th call of a kind fail with an error number, once; "" disarms.
   Return how many calls of the kind before were counted. */
long fail_call(const char *below, const char *name, long at, int error) {
  atomic_store(&kind, NONE);
  long before = atomic_exchange(&made, 0);
  for (int each = WRITE; each <= MEMORY; each++)
    if (!strcmp(name, names[each])) {
      if (!realpath(below, folder)) return -1;
      fails_with = error;
      atomic_store(&left, at);
      atomic_store(&kind, each);
    }
  return before;
}

__attribute__((constructor)) static void read_environment(void) {
  const char *below = getenv("FAIL_FOLDER"), *name = getenv("FAIL_KIND");
  const char *at = getenv("FAIL_AT"), *error = getenv("FAIL_ERROR");
  if (below && name && at && error) fail_call(below, name, atol(at), atoi(error));
}

/* Count a call; return true if it is the one to fail. */
static int fails(void) {
  atomic_fetch_add(&made, 1);
  if (atomic_fetch_sub(&left, 1) != 1) return 0;
  errno = fails_with;
  return 1;
}

static int is_below(const char *path) {
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == 0 || path[length] == '/');
}

static int fails_at(int which, int at, const char *path) {
  char whole[2 * PATH_MAX], found[PATH_MAX];
  if (kind != which || !path) return 0;
  int error = errno;
  if (path[0] == '/' || at == AT_FDCWD)
    snprintf(whole, sizeof whole, "%s%s", path[0] == '/' ? "" : "./", path);
  else
    snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", at, path);
  char *slash = strrchr(whole, '/');
  if (slash && slash != whole) *slash = 0;
  int counts = realpath(whole, found) && is_below(found);
  errno = error;
  return counts && fails();
}

static int fails_on(int which, int fd) {
  char link[64], found[PATH_MAX];
  if (kind != which) return 0;
  int error = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, found, sizeof found - 1);
  found[length > 0 ? length : 0] = 0;
  errno = error;
  return is_below(found) && fails();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define ON(which, type, name, given, passed)                                         \
  type name given { return fails_on(which, fd) ? -1 : REAL(name) passed; }
ON(WRITE, ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
ON(WRITE, ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at),
   (fd, from, size, at))
ON(WRITE, ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at),
   (fd, from, size, at))
ON(WRITE, ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
ON(WRITE, ssize_t, sendfile, (int fd, int from, off_t *at, size_t size),
   (fd, from, at, size))
ON(WRITE, ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t size),
   (fd, from, at, size))
ON(WRITE, ssize_t, copy_file_range,
   (int from, off64_t *at, int fd, off64_t *to, size_t size, unsigned flags),
   (from, at, fd, to, size, flags))
ON(SYNC, int, fsync, (int fd), (fd))
ON(SYNC, int, fdatasync, (int fd), (fd))

#define AT(which, name, given, at, path, passed)                                     \
  int name given { return fails_at(which, at, path) ? -1 : REAL(name) passed; }
AT(RENAME, rename, (const char *from, const char *to), AT_FDCWD, to, (from, to))
AT(RENAME, renameat, (int at, const char *from, int to_at, const char *to), to_at, to,
   (at, from, to_at, to))
AT(RENAME, renameat2,
   (int at, const char *from, int to_at, const char *to, unsigned flags), to_at, to,
   (at, from, to_at, to, flags))
AT(CREATE, mkdir, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))
AT(CREATE, mkdirat, (int at, const char *path, mode_t mode), at, path,
   (at, path, mode))

static int opened(int at, const char *path, int flags, mode_t mode) {
  if ((flags & O_CREAT) && fails_at(CREATE, at, path)) return -1;
  return syscall(SYS_openat, at, path, flags, mode);
}
#include "open_calls.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int no_memory(size_t size) {
  return kind == MEMORY && size >= LARGE && fails();
}

void *malloc(size_t size) { return no_memory(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t number, size_t size) {
  return no_memory(number * size) ? NULL : __libc_calloc(number, size);
}
void *realloc(void *old, size_t size) {
  return no_memory(size) ? NULL : __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
  return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return no_memory(size) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **to, size_t alignment, size_t size) {
  if (no_memory(size)) return ENOMEM;
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *to = found;
  return 0;
}
