/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Authentication plugins for the tests, as GSSAPI's and others are seen from a client:
 *
 *   one_token ..... asks for one token, as Kerberos does, and answers with one of its own. Where it gets
 *                   nothing it asks again, as GSSAPI does for its client to negotiate
 *   another_token . asks for one token, which nobody has
 *   two_tokens .... asks for a second one, as other mechanisms of GSSAPI do
 *   many_questions  asks for a password twenty times, and takes any
 *   unheard_of .... speaks with a plugin of clients that RowSocket does not know
 *   another_name .. asks for a password in clear, takes any, and lets in as whom the account says
 *
 * The token is "\x60\0token\xff".
 */
#include <stdlib.h>
#include <string.h>

#include <mysql/plugin_auth.h>

static const unsigned char token[] = {0x60, 0, 't', 'o', 'k', 'e', 'n', 0xff};
static const unsigned char greeting[] = "mariadb/db.example.org@EXAMPLE.ORG\0kerberos";
static const unsigned char answer[] = {0x60, 'o', 'w', 'n'};

static int is_right(MYSQL_PLUGIN_VIO *vio) {
  unsigned char *packet;
  int size = vio->read_packet(vio, &packet);
  if (size == 0) {
    size = vio->write_packet(vio, answer, sizeof answer) ? -1 : vio->read_packet(vio, &packet);
  }
  return size == (int)sizeof token && memcmp(packet, token, sizeof token) == 0;
}

static int ask_once(MYSQL_PLUGIN_VIO *vio, MYSQL_SERVER_AUTH_INFO *info) {
  (void)info;
  if (vio->write_packet(vio, greeting, sizeof greeting) || !is_right(vio)) {
    return CR_ERROR;
  }
  return vio->write_packet(vio, answer, sizeof answer) ? CR_ERROR : CR_OK;
}

static int ask_in_vain(MYSQL_PLUGIN_VIO *vio, MYSQL_SERVER_AUTH_INFO *info) {
  unsigned char *packet;
  (void)info;
  if (!vio->write_packet(vio, greeting, sizeof greeting)) {
    vio->read_packet(vio, &packet);
  }
  return CR_ERROR;
}

static int ask_twice(MYSQL_PLUGIN_VIO *vio, MYSQL_SERVER_AUTH_INFO *info) {
  return ask_once(vio, info) == CR_OK && is_right(vio) ? CR_OK : CR_ERROR;
}

static int ask_often(MYSQL_PLUGIN_VIO *vio, MYSQL_SERVER_AUTH_INFO *info) {
  unsigned char *packet;
  int left;
  (void)info;
  for (left = 20; left > 0; --left) {
    if (vio->write_packet(vio, greeting, sizeof greeting) || vio->read_packet(vio, &packet) < 0) {
      return CR_ERROR;
    }
  }
  return CR_OK;
}

static int name_another(MYSQL_PLUGIN_VIO *vio, MYSQL_SERVER_AUTH_INFO *info) {
  unsigned char *packet;
  if (vio->read_packet(vio, &packet) < 0 || info->auth_string_length >= sizeof info->authenticated_as) {
    return CR_ERROR;
  }
  memcpy(info->authenticated_as, info->auth_string, info->auth_string_length);
  info->authenticated_as[info->auth_string_length] = 0;
  return CR_OK;
}

static struct st_mysql_auth one_token = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "auth_gssapi_client",
                                         ask_once};
static struct st_mysql_auth another_token = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "auth_gssapi_client",
                                             ask_in_vain};
static struct st_mysql_auth two_tokens = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "auth_gssapi_client",
                                          ask_twice};
static struct st_mysql_auth many_questions = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "dialog", ask_often};
static struct st_mysql_auth unheard_of = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "unheard_of_client",
                                          ask_once};

static struct st_mysql_auth another_name = {MYSQL_AUTHENTICATION_INTERFACE_VERSION, "mysql_clear_password",
                                            name_another};

#define DECLARED(name)                                                                              \
  {                                                                                                 \
    MYSQL_AUTHENTICATION_PLUGIN, &name, #name, "RowSocket", "for tests", PLUGIN_LICENSE_GPL, NULL, \
        NULL, 0x0100, NULL, NULL, "1.0", MariaDB_PLUGIN_MATURITY_EXPERIMENTAL                       \
  }

maria_declare_plugin(auth_steps) DECLARED(one_token), DECLARED(another_token),
    DECLARED(two_tokens), DECLARED(many_questions), DECLARED(unheard_of),
    DECLARED(another_name) maria_declare_plugin_end;
