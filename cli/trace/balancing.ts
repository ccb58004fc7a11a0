/** Which load balancer of this node takes a packet to a Service, and what it does with it. */
import type { BalancerStatus, ServiceStatus } from '../../api/agent-status.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { CliError } from '../errors.ts';
import type { Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { mapOf, setOf } from '../node/wire-values.ts';
import type { Protocol } from './packet.ts';
import { portsText } from './service-target.ts';

export interface BalancedPacket {
  readonly destination: Ip;
  readonly port: number;
  readonly protocol: Protocol;
  /** The network of the pod that sends it; undefined: the host, or somebody outside. */
  readonly network?: string | undefined;
}

interface Common {
  readonly service: ServiceStatus;
  /** `10.96.0.4:80/tcp` */
  readonly what: string;
}

export type Balancing = Common &
  (
    | {
        readonly kind: 'balanced';
        /** Its row in the northbound database. */
        readonly balancer: string;
        /** `address:port`, as the row has them; none: refused. */
        readonly endpoints: readonly string[];
        /** By addresses, and not by chance: a client has always the same. */
        readonly byClient: boolean;
        /** The packet begins in another network, and comes by the gateway bridge. */
        readonly isAcross: boolean;
      }
    /** Of another network than the packet, of another port, or of nobody on this node. */
    | { readonly kind: 'elsewhere' | 'no-port' | 'absent'; readonly why: string }
  );

/** Undefined: the destination is of no Service. */
export const balancingOf = async (
  { agent, northbound }: { readonly agent: Pick<AgentClient, 'services'>; readonly northbound: Transact },
  packet: BalancedPacket,
): Promise<Balancing | undefined> => {
  const { destination, port, protocol, network } = packet;
  if (protocol === 'icmp') return undefined;
  const vip = withPort(destination, port);
  const services = await servicesAt(agent, vip);
  // Several Services may have an address, each with ports of its own; or want it, and one of them has it.
  const isMeant = (one: ServiceStatus): boolean => network === undefined || one.network === network;
  const hasIt = (one: ServiceStatus): boolean =>
    one.loadBalancers.some((balancer) => balancer.protocol === protocol && vip in balancer.vips);
  const service =
    services.find((one) => isMeant(one) && hasIt(one)) ?? services.find(hasIt) ?? services.find(isMeant) ?? services[0];
  if (service === undefined) return undefined;
  const common = { service, what: `${vip}/${protocol}` };
  const name = `${service.namespace}/${service.name}`;
  const isOther = network !== undefined && service.network !== network;
  if (isOther && !service.otherIps.includes(destination)) {
    const why = `Service ${name} is on network ${service.network ?? 'none yet'}, whose load balancers serve that network only; the packet is in network ${network}`;
    return { ...common, kind: 'elsewhere', why };
  }
  const fitting = service.loadBalancers.filter((one) => one.protocol === protocol && vip in one.vips);
  const balancer = fitting.find((one) => isMetBy(one, isOther ? undefined : network)) ?? fitting[0];
  if (balancer === undefined) return { ...common, ...nobody(service, name, `${port}/${protocol}`) };
  return { ...common, ...(await rowOf(northbound, balancer.name, vip, isOther)) };
};

/** As OVN writes it. */
const withPort = (ip: Ip, port: number): string => (ipFamily(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`);

/** An agent that does not know the question reports no Service. */
const servicesAt = async (agent: Pick<AgentClient, 'services'>, vip: string): Promise<ServiceStatus[]> => {
  try {
    return await agent.services(vip);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
};

/** What pods send meets the switch first, what others send the gateway router. */
const isMetBy = ({ places }: BalancerStatus, network: string | undefined): boolean =>
  places.some((target) => !target.startsWith(network === undefined ? 'Logical_Switch/' : 'Logical_Router/'));

const nobody = (
  service: ServiceStatus,
  name: string,
  port: string,
): { readonly kind: 'no-port' | 'absent'; readonly why: string } =>
  service.message === undefined && service.loadBalancers.length > 0
    ? { kind: 'no-port', why: `Service ${name} has no port ${port}; it has ${portsText(service)}` }
    : { kind: 'absent', why: service.message ?? `this node has no load balancer for Service ${name}` };

const rowOf = async (northbound: Transact, balancer: string, vip: string, isAcross: boolean) => {
  const columns = ['vips', 'selection_fields'];
  const [found] = await northbound([
    { op: 'select', table: 'Load_Balancer', where: [['name', '==', balancer]], columns },
  ]);
  const [row] = found?.rows ?? [];
  const endpoints = mapOf(row?.['vips']).get(vip);
  if (row === undefined || endpoints === undefined) {
    const what = row === undefined ? 'does not exist' : `does not have ${vip}`;
    return { kind: 'absent' as const, why: `load balancer ${balancer} ${what} in the northbound database` };
  }
  return {
    kind: 'balanced' as const,
    ...{ balancer, isAcross },
    endpoints: endpoints === '' ? [] : endpoints.split(','),
    byClient: setOf(row['selection_fields']).length > 0,
  };
};
