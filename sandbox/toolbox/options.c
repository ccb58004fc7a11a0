#include "toolbox.h"

#include <string.h>

/* Takes one option with its value; returns how many arguments that were. */
static int take_option(int left, char **argv, const struct option_spec *specs, void *into) {
  const char *equals = strchr(argv[0], '=');
  size_t length = equals ? (size_t)(equals - argv[0]) - 2 : strlen(argv[0]) - 2;
  for (const struct option_spec *spec = specs; spec->name; spec++) {
    if (strlen(spec->name) != length || memcmp(spec->name, argv[0] + 2, length)) continue;
    if (spec->is_flag || equals) {
      spec->take(into, equals ? equals + 1 : "");
      return 1;
    }
    if (left < 2) die("%s needs a value", argv[0]);
    spec->take(into, argv[1]);
    return 2;
  }
  die("unknown option %s", argv[0]);
}

int parse_options(int argc, char **argv, const struct option_spec *specs, void *into) {
  int i = 1;
  while (i < argc && !strncmp(argv[i], "--", 2)) {
    if (argv[i][2] == 0) return i + 1;
    i += take_option(argc - i, argv + i, specs, into);
  }
  return i;
}
