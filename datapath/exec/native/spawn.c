/*
 * Starts programs by posix_spawn(3), which copies nothing of this process: fork(2), as libuv does it, copies its page tables,
 * and afterwards every page that is written to is taken for written the first time.
 *
 * start(file, args, env, cwd | undefined, hasInput) -> [pid, stdin | -1, stdout, stderr, end]
 *   The numbers are our ends of pipes. `end` tells nothing but that the program is gone, however early it closes the others.
 * reap(pid) -> status of waitpid(2); to be called when `end` has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the program has its end of the pipe that tells of its end. */
#define END_FD 3

static napi_value throw_errno(napi_env env, int number) {
  napi_throw_error(env, strerrorname_np(number), strerror(number));
  return NULL;
}

/* Undefined is NULL. To be freed. */
static char *text_of(napi_env env, napi_value value) {
  size_t length;
  char *text;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return NULL;
  if ((text = malloc(length + 1)) == NULL) return NULL;
  if (napi_get_value_string_utf8(env, value, text, length + 1, &length) == napi_ok) return text;
  free(text);
  return NULL;
}

static void free_texts(char **texts) {
  for (char **text = texts; text != NULL && *text != NULL; text++) free(*text);
  free(texts);
}

/* Ends with NULL. To be freed by free_texts. */
static char **texts_of(napi_env env, napi_value array) {
  uint32_t length;
  if (napi_get_array_length(env, array, &length) != napi_ok) return NULL;
  char **texts = calloc(length + 1, sizeof *texts);
  for (uint32_t i = 0; texts != NULL && i < length; i++) {
    napi_value value;
    if (napi_get_element(env, array, i, &value) == napi_ok && (texts[i] = text_of(env, value)) != NULL) continue;
    free_texts(texts);
    return NULL;
  }
  return texts;
}

struct pipes {
  int in[2], out[2], err[2], end[2];
};

static void close_all(const int *descriptors, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (descriptors[i] >= 0) close(descriptors[i]);
}

/* Above what the program gets them as: one that is in its place already would be closed when the program starts. */
static int open_pipe(int ends[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) return errno;
  for (int i = 0; i < 2; i++) {
    ends[i] = low[i] > END_FD ? low[i] : fcntl(low[i], F_DUPFD_CLOEXEC, END_FD + 1);
    int error = errno;
    if (ends[i] != low[i]) close(low[i]);
    if (ends[i] >= 0) continue;
    if (i == 0) close(low[1]);
    return error;
  }
  return 0;
}

static int spawn(const char *file, char **args, char **environment, const char *cwd, struct pipes *pipes, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  /* Node ignores SIGPIPE, which a program would inherit. */
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  if (pipes->in[0] >= 0) posix_spawn_file_actions_adddup2(&actions, pipes->in[0], STDIN_FILENO);
  else posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipes->out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes->err[1], STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes->end[1], END_FD);
  if (cwd != NULL) posix_spawn_file_actions_addchdir_np(&actions, cwd);
  int error = posix_spawn(pid, file, &actions, &attributes, args, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static napi_value numbers(napi_env env, const int *values, uint32_t count) {
  napi_value array, value;
  if (napi_create_array_with_length(env, count, &array) != napi_ok) return NULL;
  for (uint32_t i = 0; i < count; i++)
    if (napi_create_int32(env, values[i], &value) != napi_ok || napi_set_element(env, array, i, value) != napi_ok)
      return NULL;
  return array;
}

static napi_value start(napi_env env, napi_callback_info info) {
  size_t argc = 5;
  napi_value arguments[5];
  bool has_input;
  if (napi_get_cb_info(env, info, &argc, arguments, NULL, NULL) != napi_ok || argc < 5 ||
      napi_get_value_bool(env, arguments[4], &has_input) != napi_ok) {
    napi_throw_type_error(env, NULL, "a program, arguments, an environment, a folder and whether it has input are needed");
    return NULL;
  }
  char *file = text_of(env, arguments[0]), **args = texts_of(env, arguments[1]), **environment = texts_of(env, arguments[2]);
  char *cwd = text_of(env, arguments[3]);
  struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  pid_t pid = -1;
  int error = file == NULL || args == NULL || environment == NULL ? EINVAL : 0;
  if (error == 0 && has_input) error = open_pipe(pipes.in);
  if (error == 0) error = open_pipe(pipes.out);
  if (error == 0) error = open_pipe(pipes.err);
  if (error == 0) error = open_pipe(pipes.end);
  if (error == 0) error = spawn(file, args, environment, cwd, &pipes, &pid);
  const int theirs[] = {pipes.in[0], pipes.out[1], pipes.err[1], pipes.end[1]};
  const int ours[] = {pipes.in[1], pipes.out[0], pipes.err[0], pipes.end[0]};
  close_all(theirs, 4);
  if (error != 0) close_all(ours, 4);
  free(file);
  free_texts(args);
  free_texts(environment);
  free(cwd);
  if (error != 0) return throw_errno(env, error);
  const int values[] = {pid, ours[0], ours[1], ours[2], ours[3]};
  return numbers(env, values, 5);
}

static napi_value reap(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argument, result;
  int32_t pid;
  int status;
  if (napi_get_cb_info(env, info, &argc, &argument, NULL, NULL) != napi_ok || argc < 1 ||
      napi_get_value_int32(env, argument, &pid) != napi_ok || pid <= 0) {
    napi_throw_type_error(env, NULL, "a process id is needed");
    return NULL;
  }
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return throw_errno(env, errno);
  return napi_create_int32(env, status, &result) == napi_ok ? result : NULL;
}

static bool export(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  return napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, NULL, &function) == napi_ok &&
         napi_set_named_property(env, exports, name, function) == napi_ok;
}

NAPI_MODULE_INIT() {
  return export(env, exports, "start", start) && export(env, exports, "reap", reap) ? exports : NULL;
}
