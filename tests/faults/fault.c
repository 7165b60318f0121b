// SPDX-License-Identifier: GPL-2.0-only
//
// Preloaded into a server under test: makes fsync and fdatasync of some files fail with EIO, large allocations with ENOMEM, or a
// rename or the opening of a file wait.
//
// While the file that ROWSOCKET_TEST_FAULT names exists, syncing a file whose path holds the text in it fails. The call is really
// made before it is made to fail, so that the file is whole: what is tested is what the server does after it was told otherwise.
// With "hold TEXT" in it, syncing such a file waits until the control file is gone.
// With "rename TEXT" in it, renaming such a file waits until the control file is gone. Meanwhile there is a file of the control
// file's name and ".rename". A second line "open TEXT" does the same to the opening of a file, with ".open".
// With "allocation SIZE" in it, allocations of SIZE to SIZE + 99 bytes fail instead (SIZE: 50000 or more).
// With "new w NUMBER" in it, the allocation of that number fails which RowSocket makes with operator new in a thread that writes;
// with "new r NUMBER", in one that reads. The control file is gone then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static ssize_t read_control(char* text, size_t size) {
  const char* const control = getenv("ROWSOCKET_TEST_FAULT");
  const int control_file = control == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC);
  if (control_file < 0) {
    return -1;
  }
  const ssize_t text_size = read(control_file, text, size);
  close(control_file);
  return text_size;
}

/// Whether a line of the control file has the prefix, and the path what stands behind the prefix.
static int is_path_named(const char* prefix, const char* path) {
  char text[PATH_MAX] = "";
  const size_t prefix_size = strlen(prefix);
  char* rest = NULL;
  const char* line = read_control(text, sizeof(text) - 1) > 0 ? strtok_r(text, "\n", &rest) : NULL;
  for (; line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    if (strncmp(line, prefix, prefix_size) == 0 && line[prefix_size] != '\0' && strstr(path, line + prefix_size) != NULL) {
      return 1;
    }
  }
  return 0;
}

/// The same of an open file.
static int is_named(const char* prefix, int file) {
  char link[64];
  char path[PATH_MAX] = "";
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  return readlink(link, path, sizeof(path) - 1) > 0 && is_path_named(prefix, path);
}

/// `what` is "rename" or "open".
static void wait_while_named(const char* what, const char* path) {
  char prefix[16];
  char waits[PATH_MAX];
  snprintf(prefix, sizeof(prefix), "%s ", what);
  if (is_path_named(prefix, path)) {
    snprintf(waits, sizeof(waits), "%s.%s", getenv("ROWSOCKET_TEST_FAULT"), what);
    close((int)syscall(SYS_openat, AT_FDCWD, waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (is_path_named(prefix, path)) {
      usleep(1000);
    }
    unlink(waits);
  }
}

static int sync_with(const char* name, int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const int result = real(file);
  const int real_errno = errno;
  while (is_named("hold ", file)) {
    usleep(1000);
  }
  if (is_named("", file)) {
    errno = EIO;
    return -1;
  }
  errno = real_errno;
  return result;
}

int fsync(int file) { return sync_with("fsync", file); }
int fdatasync(int file) { return sync_with("fdatasync", file); }

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  wait_while_named("rename", from);
  return real(from, to);
}

/// The server opens files by this name alone: it is built for large ones.
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open64");
  wait_while_named("open", path);
  return real(path, flags, mode);
}

static int is_refused(size_t size) {
  if (size < 50000) {
    return 0;
  }
  const int real_errno = errno;
  char wanted[64] = "";
  size_t refused = 0;
  const int is_meant = read_control(wanted, sizeof(wanted) - 1) > 0 && sscanf(wanted, "allocation %zu", &refused) == 1 &&
                       size >= refused && size < refused + 100;
  errno = is_meant ? ENOMEM : real_errno;
  return is_meant;
}

extern void* __libc_malloc(size_t size);
extern void* __libc_realloc(void* place, size_t size);

void* malloc(size_t size) { return is_refused(size) ? NULL : __libc_malloc(size); }
void* realloc(void* place, size_t size) { return is_refused(size) ? NULL : __libc_realloc(place, size); }

struct code {
  uintptr_t place;
  int is_ours;
};

/// Of RowSocket, or of the library in which its containers may be compiled.
static int look_for_code(struct dl_phdr_info* loaded, size_t size, void* wanted) {
  struct code* const code = wanted;
  (void)size;
  if (strstr(loaded->dlpi_name, "rowsocket.so") == NULL && strstr(loaded->dlpi_name, "libstdc++") == NULL) {
    return 0;
  }
  for (int number = 0; number < loaded->dlpi_phnum; ++number) {
    const uintptr_t begin = loaded->dlpi_addr + loaded->dlpi_phdr[number].p_vaddr;
    code->is_ours |= code->place >= begin && code->place < begin + loaded->dlpi_phdr[number].p_memsz;
  }
  return 0;
}

/// There is one such thread, so that nobody else counts.
static int is_new_refused(void* caller) {
  static int counted, counted_for;
  static __thread int is_asking;
  char name[17] = "";
  char text[64] = "";
  char kind = 0;
  int wanted = 0;
  if (is_asking || prctl(PR_GET_NAME, name) != 0 || strncmp(name, "rowsocket-", 10) != 0) {
    return 0;
  }
  is_asking = 1;
  if (read_control(text, sizeof(text) - 1) > 0 && sscanf(text, "new %c %d", &kind, &wanted) == 2 && kind == name[10]) {
    struct code code = {(uintptr_t)caller, 0};
    dl_iterate_phdr(look_for_code, &code);
    counted = counted_for == wanted ? counted + code.is_ours : code.is_ours;
    counted_for = wanted;
  }
  const int is_refused = wanted != 0 && kind == name[10] && counted == wanted;
  if (is_refused) {
    counted_for = 0;
    unlink(getenv("ROWSOCKET_TEST_FAULT"));
  }
  is_asking = 0;
  return is_refused;
}

/// operator new(size_t)
void* _Znwm(size_t size) {
  static void* (*real)(size_t);
  if (real == NULL) {
    real = (void* (*)(size_t))dlsym(RTLD_NEXT, "_Znwm");
  }
  if (is_new_refused(__builtin_return_address(0))) {
    ((void (*)(void))dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv"))();
  }
  return real(size);
}
