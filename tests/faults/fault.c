// SPDX-License-Identifier: GPL-2.0-only
//
// Preloaded into a server under test: makes fsync and fdatasync of some files fail with EIO.
//
// While the file that ROWSOCKET_TEST_FAULT names exists, syncing a file whose path holds the text in it fails. The call is really
// made before it is made to fail, so that the file is whole: what is tested is what the server does after it was told otherwise.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_to_fail(int file) {
  const char* const control = getenv("ROWSOCKET_TEST_FAULT");
  const int control_file = control == NULL ? -1 : open(control, O_RDONLY | O_CLOEXEC);
  if (control_file < 0) {
    return 0;
  }
  char wanted[PATH_MAX] = "";
  const ssize_t wanted_size = read(control_file, wanted, sizeof(wanted) - 1);
  close(control_file);
  char link[64];
  char path[PATH_MAX] = "";
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  return wanted_size > 0 && readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, wanted) != NULL;
}

static int sync_with(const char* name, int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const int result = real(file);
  const int real_errno = errno;
  if (is_to_fail(file)) {
    errno = EIO;
    return -1;
  }
  errno = real_errno;
  return result;
}

int fsync(int file) { return sync_with("fsync", file); }
int fdatasync(int file) { return sync_with("fdatasync", file); }
