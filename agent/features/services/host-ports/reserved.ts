/** Ports that no pod gets, whatever it asks for: a setting, and what this node would not work without. */
import { type HostPort, isLoopback } from '../../../../api/host-ports.ts';
import { reservedPortId } from '../../../../api/reserved-host-ports.ts';
import type { Ip } from '../../../../net/ip.ts';
import { GENEVE_PORT } from '../../../model/services/external-addresses.ts';
import type { View } from '../../../model/view.ts';

/** @param addresses of the node @returns why */
export const reserved = (
  { protocol, hostPort }: Pick<HostPort, 'protocol' | 'hostPort'>,
  addresses: readonly Ip[],
  view: View,
): string | undefined => {
  if (protocol === 'UDP' && hostPort === GENEVE_PORT) return 'the tunnels between nodes have it';
  if (protocol === 'UDP' && view.encryption !== undefined && IKE_PORTS.includes(hostPort))
    return 'the encryption of tunnels has it';
  if (protocol === 'TCP' && isApiServers(hostPort, addresses, view)) return 'the agent reaches the API server by it';
  return view.reservedHostPorts?.includes(reservedPortId(protocol, hostPort)) ? 'it is reserved' : undefined;
};

/** RFC 7296 §2, RFC 3948. */
const IKE_PORTS = [500, 4500];

/** As that of k3s' load balancer at `127.0.0.1`: who has its port has the agent's requests, and the node's. */
const isApiServers = (port: number, addresses: readonly Ip[], { apiServer }: View): boolean =>
  apiServer?.port === port && (isLoopback(apiServer.ip) || addresses.includes(apiServer.ip));
