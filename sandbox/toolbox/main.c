/* One static program of many: what pods of the sandbox run, and what makes their namespaces. */
#include "toolbox.h"

#include <stdio.h>
#include <string.h>

static const struct { const char *name; applet *run; const char *help; } APPLETS[] = {
    {"serve", serve_main, "answer HTTP, UDP, TCP and SCTP, and record probes (also without a command)"},
    {"netexec", serve_main, "the same, under the name that agnhost gives it"},
    {"connect", connect_main, "connect to one address or name, with the answers that agnhost gives"},
    {"probe", probe_main, "send many probes at once, one per line of stdin"},
    {"seen", seen_main, "ask the server of this pod which probes arrived"},
    {"pause", pause_main, "hold namespaces open"},
    {"container", container_main, "start a container and stay with it"},
    {"enter", enter_main, "run a command in the namespaces of a process"},
    {"netns", netns_main, "add or delete a network namespace that a file keeps"},
    {"proxy", proxy_main, "hand TCP connections on to a unix socket"},
    {"janitor", janitor_main, "clean up when stdin ends"},
    {"features", features_main, "say what the kernel has"},
    {"guest-init", guest_init_main, "be the first process of a guest"},
    {"guest-serve", guest_serve_main, "in a guest: run commands for its machine"},
    {"guest-run", guest_run_main, "run a command in a guest"},
};

static int help(FILE *to) {
  fputs("usage: toolbox [COMMAND] [OPTIONS]\n", to);
  for (size_t i = 0; i < sizeof APPLETS / sizeof *APPLETS; i++) fprintf(to, "  %-11s %s\n", APPLETS[i].name, APPLETS[i].help);
  return to == stdout ? 0 : 2;
}

int main(int argc, char **argv) {
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) return help(stdout);
  if (argc == 1 || !strncmp(argv[1], "--", 2)) return serve_main(argc, argv);
  for (size_t i = 0; i < sizeof APPLETS / sizeof *APPLETS; i++)
    if (!strcmp(APPLETS[i].name, argv[1])) return APPLETS[i].run(argc - 1, argv + 1);
  fprintf(stderr, "toolbox: no command %s\n", argv[1]);
  return help(stderr);
}
