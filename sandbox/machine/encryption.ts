/**
 * What encrypts tunnels of nodes, as Debian's openvswitch-ipsec runs it: ovs-monitor-ipsec starts strongSwan and configures it by what
 * ovn-controller and the agent write into the Open_vSwitch database.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Authority } from '../api/kube/certificate.ts';
import { systemId } from '../plan/bridge.ts';
import { ENCRYPTION_FILES } from '../plan/encryption.ts';
import type { HostPlan } from '../plan/netplan.ts';
import type { Machine } from './types.ts';

/** A certificate of the node, with the name of its chassis, and strongSwan's settings. */
export const installCredentials = async (authority: Authority, node: Machine, host: HostPlan): Promise<void> => {
  const name = systemId(host);
  const { certificate, key } = authority.issue({ commonName: name, organizations: ['sandbox'] }, [name], 'rsa');
  const files = {
    [ENCRYPTION_FILES.certificate]: certificate,
    [ENCRYPTION_FILES.key]: key,
    [ENCRYPTION_FILES.authority]: authority.certificate,
    '/etc/strongswan.d/sandbox.conf': STRONGSWAN,
  };
  await Promise.all(
    Object.entries(files).map(async ([path, content]) => {
      const target = node.pathOf(path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content, { mode: 0o600 });
    }),
  );
};

/**
 * An exchange that nobody answers is restarted after seconds: the other node may just start. ovs-monitor-ipsec wants that
 * as well, and misspells it (`xfrm_ack_expires`).
 */
const STRONGSWAN = `
charon {
  retransmit_timeout = 1
  retransmit_tries = 3
  plugins {
    kernel-netlink {
      xfrm_acq_expires = 3
    }
  }
  filelog {
    log {
      path = /var/log/charon.log
      flush_line = yes
    }
  }
}
`;
