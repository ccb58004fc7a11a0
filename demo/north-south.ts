/**
 * The way out: pods of several tenants talk to the same server outside of the cluster at the same time, from the same
 * source port and, where their networks overlap, from the same address.
 */
import { messageOf } from '../base/error-message.ts';
import { addressOf } from '../net/cidr.ts';
import { FAMILIES, type Ip, ipFamily } from '../net/ip.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { planNetwork } from '../sandbox/plan/netplan.ts';
import { holdConnections } from '../test/oracles/reachability/held-connections.ts';
import type { ReachabilityPod } from '../test/oracles/reachability/types.ts';
import type { Terminal } from './terminal.ts';

export const SOURCE_PORT = 40_000;

/** One connection, as it left the pod and as it arrived. */
export interface NorthSouth {
  readonly from: string;
  readonly network: string;
  readonly protocol: 'tcp' | 'udp';
  readonly source: string;
  readonly destination: string;
  /** What the server saw; null: nothing. */
  readonly seenAs: string | null;
  /** It was the node's address, another one than of the others, and stayed the same. */
  readonly ok: boolean;
}

/** Of each network the first pod of the node. */
export const northSouthSenders = (pods: readonly ReachabilityPod[], node: string): ReachabilityPod[] => {
  const byNetwork = new Map<string, ReachabilityPod>();
  for (const pod of pods) {
    const network = networkOf(pod);
    if (pod.node === node && !byNetwork.has(network)) byNetwork.set(network, pod);
  }
  return [...byNetwork.values()];
};

/** @param nodes how many the cluster has */
export const measureNorthSouth = async (
  sandbox: Pick<Sandbox, 'exec'>,
  senders: readonly ReachabilityPod[],
  nodes: number,
  { note }: Pick<Terminal, 'note'>,
): Promise<NorthSouth[]> => {
  const plan = planNetwork('dual', nodes);
  const results: NorthSouth[] = [];
  for (const server of plan.outside.addresses.map(addressOf)) {
    for (const protocol of ['tcp', 'udp'] as const) {
      results.push(...(await talk(sandbox, senders, { server, protocol, note })));
    }
  }
  const good = results.filter(({ ok }) => ok).length;
  note(`${good} of ${results.length} connections told apart and answered`);
  return results;
};

const talk = async (
  sandbox: Pick<Sandbox, 'exec'>,
  senders: readonly ReachabilityPod[],
  {
    server,
    protocol,
    note,
  }: { readonly server: Ip; readonly protocol: 'tcp' | 'udp'; readonly note: Terminal['note'] },
): Promise<NorthSouth[]> => {
  const options = { pods: senders.map(({ key }) => key), protocol, sourcePort: SOURCE_PORT, server };
  const connections = await holdConnections(sandbox, options).catch((error: unknown) => {
    note(`${protocol} to ${server}: ${messageOf(error)}`);
    return [];
  });
  const seen = connections.map(({ first }) => first);
  return senders.map((pod, index) => {
    const connection = connections[index];
    const isOwn = connection !== undefined && seen.filter((one) => one === connection.first).length === 1;
    return {
      from: pod.key,
      network: networkOf(pod),
      protocol,
      source: endpoint(addressFor(pod, server), SOURCE_PORT),
      destination: endpoint(server, protocol === 'tcp' ? 8080 : 8081),
      seenAs: connection?.first ?? null,
      ok: isOwn && connection.first === connection.second,
    };
  });
};

export const renderNorthSouth = (results: readonly NorthSouth[], { paint }: Pick<Terminal, 'paint'>): string => {
  const width = (of: (one: NorthSouth) => string): number => Math.max(...results.map((one) => of(one).length));
  const [from, source] = [width((one) => one.from), width((one) => one.source)];
  const destination = width((one) => one.destination);
  return results
    .map((one) => {
      const line = [
        one.protocol,
        one.from.padEnd(from),
        one.source.padEnd(source),
        '→',
        one.destination.padEnd(destination),
        `seen as ${one.seenAs ?? 'nothing'}`,
      ].join('  ');
      return paint(one.ok ? 'good' : 'bad', `${one.ok ? '✓' : '✗'}  ${line}`);
    })
    .join('\n');
};

export const isNorthSouthRight = (results: readonly NorthSouth[]): boolean =>
  results.length >= FAMILIES.length && results.every(({ ok }) => ok);

const networkOf = ({ attachments }: ReachabilityPod): string => attachments[0]?.network ?? '';

const addressFor = ({ attachments }: ReachabilityPod, server: Ip): Ip =>
  attachments[0]?.addresses.find((address) => ipFamily(address) === ipFamily(server)) ?? server;

const endpoint = (ip: Ip, port: number): string => (ipFamily(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`);
