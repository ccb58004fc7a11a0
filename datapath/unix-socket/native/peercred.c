/*
 * Who is at the other end of a unix stream socket: SO_PEERCRED of unix(7). The kernel took the credentials when the peer
 * called connect(2), so they cannot be forged.
 *
 * peerCredentials(fd) -> [pid, uid, gid]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <node_api.h>
#include <string.h>
#include <sys/socket.h>

static napi_value throw_errno(napi_env env) {
  napi_throw_error(env, NULL, strerror(errno));
  return NULL;
}

static napi_value peer_credentials(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argument, result;
  int32_t fd;
  if (napi_get_cb_info(env, info, &argc, &argument, NULL, NULL) != napi_ok || argc < 1 ||
      napi_get_value_int32(env, argument, &fd) != napi_ok) {
    napi_throw_type_error(env, NULL, "a file descriptor is needed");
    return NULL;
  }
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return throw_errno(env);

  const int64_t values[] = {peer.pid, peer.uid, peer.gid};
  if (napi_create_array_with_length(env, 3, &result) != napi_ok) return NULL;
  for (uint32_t i = 0; i < 3; i++) {
    napi_value value;
    if (napi_create_int64(env, values[i], &value) != napi_ok || napi_set_element(env, result, i, value) != napi_ok)
      return NULL;
  }
  return result;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "peerCredentials", NAPI_AUTO_LENGTH, peer_credentials, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "peerCredentials", function) != napi_ok)
    return NULL;
  return exports;
}
