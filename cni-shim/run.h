/* Plugins of other networks, which the agent has the shim run: they and their files are on the host. */
#ifndef UDN_CNI_RUN_H
#define UDN_CNI_RUN_H
#include <stddef.h>

#define LIMIT (1 << 20)

struct outcome {
  const char *how; /* exit, signal, absent, refused, late, long, failed */
  int number;      /* exit status, signal, errno */
  size_t length;   /* of what it has written to stdout */
};

long long now_ms(void);

/*
 * Runs a program of CNI_PATH and waits for it.
 * `environment` has its name, then NAME=value strings, each ended by a NUL. What it writes goes to `output`, at most LIMIT bytes.
 */
struct outcome run_plugin(char *environment, size_t environment_length, const char *input, size_t input_length,
                          long long until, char *output);

#endif
