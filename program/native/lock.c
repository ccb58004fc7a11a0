/*
 * flock(2), which Node.js does not have. The kernel releases the lock when the last process that has the open file ends, however it ends.
 *
 * tryLock(fd) -> whether it is held now; false: somebody else holds it
 */
#include <errno.h>
#include <node_api.h>
#include <string.h>
#include <sys/file.h>

static napi_value try_lock(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argument, result;
  int32_t fd;
  if (napi_get_cb_info(env, info, &argc, &argument, NULL, NULL) != napi_ok || argc < 1 ||
      napi_get_value_int32(env, argument, &fd) != napi_ok) {
    napi_throw_type_error(env, NULL, "a file descriptor is needed");
    return NULL;
  }
  int status;
  do status = flock(fd, LOCK_EX | LOCK_NB);
  while (status != 0 && errno == EINTR);
  if (status != 0 && errno != EWOULDBLOCK) {
    napi_throw_error(env, NULL, strerror(errno));
    return NULL;
  }
  return napi_get_boolean(env, status == 0, &result) == napi_ok ? result : NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "tryLock", NAPI_AUTO_LENGTH, try_lock, NULL, &function) != napi_ok ||
      napi_set_named_property(env, exports, "tryLock", function) != napi_ok)
    return NULL;
  return exports;
}
