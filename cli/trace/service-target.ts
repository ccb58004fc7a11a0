/** What a trace to a Service goes to: one of its addresses, and one of its ports. */
import type { ServiceStatus } from '../../api/agent-status.ts';
import { type Family, type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { PROTOCOLS, type Protocol } from './packet.ts';

export interface ServiceTarget {
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface TargetOptions {
  /** `service/NS/NAME[:PORT]`, or something else. */
  readonly to: string;
  readonly family: Family | undefined;
  /** Of its ports; undefined: the first that fits. */
  readonly port: number | undefined;
  readonly protocol: Protocol | undefined;
}

/** Undefined where `to` is no Service. @throws CliError when there is no such Service, port or address */
export const serviceTarget = async (
  agent: Pick<AgentClient, 'services'>,
  options: TargetOptions,
): Promise<ServiceTarget | undefined> => {
  const [, namespace, name, desired] = /^service\/([^/\s:]+)\/([^/\s:]+)(?::([^/\s:]+))?$/.exec(options.to) ?? [];
  if (namespace === undefined || name === undefined) {
    if (!options.to.startsWith('service/')) return undefined;
    throw new CliError(`a Service is service/NAMESPACE/NAME or service/NAMESPACE/NAME:PORT, not "${options.to}"`, 2);
  }
  const [service] = await agent.services(`${namespace}/${name}`);
  if (service === undefined)
    throw new CliError(`this node does not know a Service ${namespace}/${name} with ClusterIPs`);
  return { ip: addressOf(service, options.family), ...portOf(service, desired, options) };
};

const addressOf = ({ namespace, name, clusterIps }: ServiceStatus, family: Family | undefined): Ip => {
  const found = clusterIps.map(parseIp).find((ip) => family === undefined || ipFamily(ip) === family);
  if (found !== undefined) return found;
  const kind = family === undefined ? 'ClusterIP' : `IPv${family} ClusterIP`;
  throw new CliError(`Service ${namespace}/${name} has no ${kind}`);
};

const portOf = (
  service: ServiceStatus,
  desired: string | undefined,
  { port, protocol }: TargetOptions,
): Omit<ServiceTarget, 'ip'> => {
  const asked = desired ?? port?.toString();
  const found = service.ports.find(
    (one) =>
      (asked === undefined || String(one.port) === asked || one.name === asked) &&
      (protocol === undefined || one.protocol.toLowerCase() === protocol),
  );
  const known = PROTOCOLS.find((one) => one === found?.protocol.toLowerCase());
  if (found !== undefined && known !== undefined) return { port: found.port, protocol: known };
  const what = [asked === undefined ? 'port' : `port ${asked}`, ...(protocol === undefined ? [] : [`of ${protocol}`])];
  throw new CliError(
    `Service ${service.namespace}/${service.name} has no ${what.join(' ')}; it has ${portsText(service)}`,
  );
};

/** `80/tcp (http), 53/udp` */
export const portsText = ({ ports }: Pick<ServiceStatus, 'ports'>): string =>
  ports
    .map(({ name, port, protocol }) => `${port}/${protocol.toLowerCase()}${name === '' ? '' : ` (${name})`}`)
    .join(', ');
