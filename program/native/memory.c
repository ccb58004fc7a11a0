/*
 * malloc_trim(3): gives the C library's free memory back to the kernel.
 *
 * trim()
 */
#include <malloc.h>
#include <node_api.h>

static napi_value trim(napi_env env, napi_callback_info info) {
  (void)env, (void)info;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "trim", NAPI_AUTO_LENGTH, trim, NULL, &function) != napi_ok) return NULL;
  napi_set_named_property(env, exports, "trim", function);
  return exports;
}
