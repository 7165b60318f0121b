// SPDX-License-Identifier: GPL-2.0-only
//
// The `rowsocket.so` of a package that holds builds for several point releases of the server. A build fits
// one point release alone, and a plugin of its kind (daemon) is refused by every other server. This library
// picks the build that fits, so that an upgrade of the server needs no other configuration.
//
//     plugins/rowsocket.so              this library
//     plugins/rowsocket/10.11.18.so     builds: the plugin itself
//     plugins/rowsocket/10.11.19.so
//
// The server loads the library and then looks at the plugins that it declares. In between, the
// library's constructor runs. It loads the build for the running server and takes over the build's
// declarations. So the server sees the build's plugin with its variables, and checks the build's version once
// more.
//
// Where no build fits, one plugin is declared: an audit plugin, since that interface has had one version for
// years. It only says in the error log what is missing, and is not loaded. The server starts without it.
//
// The server fills in the addresses of its services by name, in the library that it has loaded. They are
// handed on to the build before its plugin starts.
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <dlfcn.h>
#include <mysql/plugin_audit.h>

#include <array>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "mariadb/services_list.h"

#define ROWSOCKET_SERVICE(name, version) extern void* name##_pointer __asm__(#name);
extern "C" {
ROWSOCKET_SERVICES
}
#undef ROWSOCKET_SERVICE

namespace rowsocket::mariadb {
namespace {

using Start = int (*)(void*);

constexpr size_t plugins_max = 8;  ///< that a build may declare

struct Service {
  const char* name;
  void** address;  ///< what the server has filled in
};
const Service services[] = {
#define ROWSOCKET_SERVICE(name, version) {#name, &name##_pointer},
    ROWSOCKET_SERVICES
#undef ROWSOCKET_SERVICE
};

void* build = nullptr;
std::array<Start, plugins_max> starts_of_build{};
std::string failure;

int fail(void*) {
  sql_print_error("rowsocket: %s: not loaded. The server runs without RowSocket.", failure.c_str());
  my_printf_error(ER_CANT_INITIALIZE_UDF, "rowsocket: %s", MYF(0), failure.c_str());
  return 1;
}

void ignore_event(MYSQL_THD, unsigned, const void*) {}

st_mysql_audit nothing_to_audit = {
    MYSQL_AUDIT_INTERFACE_VERSION, nullptr, ignore_event, {MYSQL_AUDIT_GENERAL_CLASSMASK}};

}  // namespace
}  // namespace rowsocket::mariadb

// The server finds these by name, once the constructor has run.
#pragma GCC visibility push(default)
extern "C" {
int _maria_plugin_interface_version_ = MARIA_PLUGIN_INTERFACE_VERSION;
int _maria_sizeof_struct_st_plugin_ = sizeof(st_maria_plugin);
// The last one is the end of the list.
st_maria_plugin _maria_plugin_declarations_[rowsocket::mariadb::plugins_max + 1] = {{
    MYSQL_AUDIT_PLUGIN,
    &rowsocket::mariadb::nothing_to_audit,
    "rowsocket",
    "The RowSocket authors",
    "Says that no build of RowSocket fits this server",
    PLUGIN_LICENSE_GPL,
    rowsocket::mariadb::fail,
    nullptr,
    0x0001,
    nullptr,
    nullptr,
    ROWSOCKET_VERSION,
    MariaDB_PLUGIN_MATURITY_EXPERIMENTAL,
}};
}
#pragma GCC visibility pop

namespace rowsocket::mariadb {
namespace {

/// In place of a build's own function: the server fills in services just before it starts a plugin.
template <size_t number>
int start(void* argument) {
  for (const Service& service : services) {
    if (void* const of_build = dlsym(build, service.name); of_build != nullptr) {
      *static_cast<void**>(of_build) = *service.address;
    }
  }
  const Start start_of_build = starts_of_build[number];
  return start_of_build != nullptr ? start_of_build(argument) : 0;
}

template <size_t... numbers>
constexpr std::array<Start, plugins_max> all_starts(std::index_sequence<numbers...>) {
  return {start<numbers>...};
}

/// "10.11.18" of "10.11.18-MariaDB-0+deb12u1".
std::string release_of(std::string_view version) {
  return std::string(version.substr(0, version.find_first_not_of("0123456789.")));
}

/// Where the builds are: beside this library, in a folder of its name.
std::filesystem::path folder_of_builds() {
  Dl_info library;
  if (dladdr(&nothing_to_audit, &library) == 0) {
    return {};
  }
  return std::filesystem::path(library.dli_fname).replace_extension();
}

std::string names_of_builds(const std::filesystem::path& folder) {
  std::string names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    names += (names.empty() ? "" : ", ") + file.path().stem().string();
  }
  return names.empty() ? "none" : names;
}

/// False if the build declares what this library can not pass on.
bool take_over_declarations() {
  const auto* const version = static_cast<const int*>(dlsym(build, "_maria_plugin_interface_version_"));
  const auto* const size = static_cast<const int*>(dlsym(build, "_maria_sizeof_struct_st_plugin_"));
  const auto* const plugins =
      static_cast<const st_maria_plugin*>(dlsym(build, "_maria_plugin_declarations_"));
  if (version == nullptr || size == nullptr || plugins == nullptr || *size != sizeof(st_maria_plugin)) {
    return false;
  }
  size_t count = 0;
  while (plugins[count].info != nullptr) {
    if (++count > plugins_max) {
      return false;
    }
  }
  constexpr std::array<Start, plugins_max> starts = all_starts(std::make_index_sequence<plugins_max>());
  for (size_t number = 0; number < count; ++number) {
    st_maria_plugin& declared = _maria_plugin_declarations_[number];
    declared = plugins[number];
    starts_of_build[number] = std::exchange(declared.init, starts[number]);
  }
  _maria_plugin_interface_version_ = *version;
  return true;
}

void choose() {
  const std::string release = release_of(server_version);
  const std::filesystem::path folder = folder_of_builds();
  const std::filesystem::path file = folder / (release + ".so");
  if (!std::filesystem::exists(file)) {
    failure = "there is no build for MariaDB " + release + " in " + folder.string() +
              " (there is: " + names_of_builds(folder) + ")";
    return;
  }
  build = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (build == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of this thread
    const char* const reason = dlerror();
    failure = "the build for MariaDB " + release + " does not load: " + (reason != nullptr ? reason : "");
    return;
  }
  if (!take_over_declarations()) {
    failure = "the build for MariaDB " + release + " is none of this package";
  }
}

/// The last variable of this file: the others are there when it is made. Nothing is thrown through the
/// loader.
class Choice {
 public:
  Choice() noexcept {
    try {
      choose();
    } catch (const std::exception& exception) {
      failure = exception.what();
    }
  }
  ~Choice() {
    if (build != nullptr) {
      dlclose(build);
    }
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;
};

const Choice choice;

}  // namespace
}  // namespace rowsocket::mariadb
