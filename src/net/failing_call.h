// SPDX-License-Identifier: GPL-2.0-only
//
// For tests: an action runs while one of the system's calls fails with an error that the test chose. The
// kernel itself refuses the call (seccomp). The action runs on a thread of its own, because such a filter can
// not be taken away again.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <thread>

namespace rowsocket::net {

/// Call `action` on another thread, in which call number `call` (SYS_...) fails with `error`. False if this
/// system can not do that; then `action` was not called.
template <typename Action>
[[nodiscard]] bool while_call_fails(long call, int error, Action action) {
  bool is_refused = false;
  std::thread thread([&] {
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<__u32>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof steps / sizeof steps[0], steps};
    is_refused = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                 ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (is_refused) {
      action();
    }
  });
  thread.join();
  return is_refused;
}

}  // namespace rowsocket::net
