#include "toolbox.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void bring_up_loopback(void) {
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strcpy(request.ifr_name, "lo");
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0) die_errno("can't bring up lo");
  close(fd);
}
