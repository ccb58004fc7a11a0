/** Where nodes have what their tunnels are encrypted with, and who reads it. */
import type { DaemonSpec } from './daemons.ts';

/** The agent's own defaults, `agent/options/encryption.ts`. */
export const ENCRYPTION_FILES = {
  certificate: '/etc/ipsec.d/certs/ovn-udn.pem',
  key: '/etc/ipsec.d/private/ovn-udn.pem',
  authority: '/etc/ipsec.d/cacerts/ovn-udn.pem',
} as const;

/** It starts strongSwan by itself, which is a daemon of its own (`ipsec start`). */
export const encryptionDaemon = (socket: string): DaemonSpec => ({
  name: 'ovs-monitor-ipsec',
  argv: [
    '/usr/share/openvswitch/scripts/ovs-monitor-ipsec',
    `unix:${socket}`,
    '--ike-daemon=strongswan',
    '--pidfile=/run/openvswitch/ovs-monitor-ipsec.pid',
    ...['-vconsole:info', '-vsyslog:off', '-vfile:off'],
  ],
});
