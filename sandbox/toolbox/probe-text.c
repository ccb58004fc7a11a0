/* The lines that `toolbox probe` reads and writes. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct probe *refuse(struct probe *probe, const char *line, const char *why) {
  fprintf(stderr, "toolbox: %s: %s\n", why, line);
  free(probe);
  return NULL;
}

/* The characters of the id that a nonce may have. */
static void derive_nonce(struct probe *probe) {
  size_t n = 0;
  for (const char *c = probe->id; *c && n < NONCE_MAX; c++)
    probe->nonce[n++] = (char)((*c >= '0' && *c <= '9') || ((*c | 32) >= 'a' && (*c | 32) <= 'z') || strchr("._-", *c) ? *c : '-');
  probe->nonce[n] = 0;
}

struct probe *parse_probe(const char *line, const struct probe_settings *settings) {
  char family[8], protocol[8], address[64], interface[16] = "-", nonce[NONCE_MAX + 1] = "";
  struct probe *probe = must_alloc(sizeof *probe);
  probe->fd = -1;
  if (sscanf(line, "%127s %7s %7s %63s %15s %63s", probe->id, family, protocol, address, interface, nonce) < 4)
    return refuse(probe, line, "not `id family protocol address [interface|-] [nonce]`");
  probe->family = !strcmp(family, "4") ? 4 : !strcmp(family, "6") ? 6 : 0;
  if (probe->family == 0) return refuse(probe, line, "the family must be 4 or 6");
  if (!strcmp(protocol, "icmp")) probe->protocol = PROBE_ICMP;
  else if (!strcmp(protocol, "tcp")) probe->protocol = PROBE_TCP;
  else if (!strcmp(protocol, "udp")) probe->protocol = PROBE_UDP;
  else if (!strcmp(protocol, "sctp")) probe->protocol = PROBE_SCTP;
  else return refuse(probe, line, "the protocol must be icmp, tcp, udp or sctp");
  int port = probe->protocol == PROBE_UDP ? settings->udp_port : settings->tcp_port;
  if (!parse_address(address, probe->family, port, &probe->to, &probe->to_length))
    return refuse(probe, line, "not an address of this family");
  if (strcmp(interface, "-")) strcpy(probe->interface, interface);
  if (nonce[0]) strcpy(probe->nonce, nonce);
  else derive_nonce(probe);
  return probe;
}

static void print_text(const char *name, const char *text) {
  char escaped[1024];
  json_escape(escaped, sizeof escaped, text ? text : "");
  printf(text ? ",\"%s\":\"%s\"" : ",\"%s\":null", name, escaped);
}

void print_probe(const struct probe *probe) {
  char id[1024];
  json_escape(id, sizeof id, probe->id);
  printf("{\"id\":\"%s\",\"answered\":%s", id, probe->error ? "false" : "true");
  print_text("who", probe->error || probe->protocol == PROBE_ICMP ? NULL : probe->answer);
  print_text("error", probe->error);
  if (probe->error) printf(",\"rtt_us\":null");
  else printf(",\"rtt_us\":%lld", (long long)(now_us() - probe->sent_at));
  printf(",\"tries\":%d", probe->tries);
  print_text("nonce", probe->nonce);
  puts("}");
  fflush(stdout);
}
