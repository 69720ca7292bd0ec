/* The calls that open a file, each passed to `opened(folder, path, flags, mode)`. */

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

#define OPENS(name, at, given)                                                       \
  int name given {                                                                   \
    va_list more;                                                                    \
    va_start(more, flags);                                                           \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;        \
    va_end(more);                                                                    \
    return opened(at, path, flags, mode);                                            \
  }
OPENS(open, AT_FDCWD, (const char *path, int flags, ...))
OPENS(open64, AT_FDCWD, (const char *path, int flags, ...))
OPENS(openat, at, (int at, const char *path, int flags, ...))
OPENS(openat64, at, (int at, const char *path, int flags, ...))
