/** Ports of a node that no pod gets by `hostPort`: a setting of agents. */
import { ApiError } from './errors.ts';
import { commaList } from './scalars.ts';
import type { ServiceProtocol } from './service.ts';

/**
 * sshd, etcd, kube-apiserver, our own metrics, the kubelet: its health check and its API, kube-proxy: its metrics and what load balancers
 * ask, kube-controller-manager, kube-scheduler. And the node's DHCP client: what answers a broadcast is no reply to conntrack, and whoever
 * has the port would have it.
 */
export const DEFAULT_RESERVED_HOST_PORTS = [
  ...['TCP/22', 'TCP/2379', 'TCP/2380', 'TCP/6443', 'TCP/9410', 'TCP/9411', 'TCP/9412', 'TCP/9413'],
  ...['TCP/10248', 'TCP/10249', 'TCP/10250', 'TCP/10256', 'TCP/10257', 'TCP/10259'],
  ...['UDP/68', 'UDP/546'],
].join(',');

const NONE = 'none';

/** `TCP/22` */
export const reservedPortId = (protocol: ServiceProtocol, port: number): string => `${protocol}/${port}`;

/** A comma list of `PROTOCOL/PORT`, or `none`. @throws ApiError ERR_API_FIELD */
export const parseReservedHostPorts = (text: string): readonly string[] => {
  if (text.trim() === NONE) return [];
  const ids = [...new Set(commaList(text))];
  const bad = ids.find((id) => !isPort(id));
  if (bad === undefined && ids.length > 0) return ids;
  throw new ApiError('ERR_API_FIELD', `"${bad ?? text}" is not a port, as TCP/22 is, nor "${NONE}"`, {
    object: 'udn-agent',
    field: 'reserved-host-ports',
  });
};

const isPort = (id: string): boolean => {
  const [, port] = /^(?:TCP|UDP|SCTP)\/([1-9][0-9]{0,4})$/.exec(id) ?? [];
  return Number(port) <= 65_535;
};
