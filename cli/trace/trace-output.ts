/** What `udnctl trace` prints. Pure. */
import type { TextOutput } from '../output/format.ts';
import type { Balancing } from './balancing.ts';
import type { HostResult } from './host-isolation.ts';
import { logicalHead, logicalLines } from './logical-trace.ts';
import { flowText, type Packet } from './packet.ts';
import type { EndpointWay, ServiceFinding } from './service-ways.ts';
import type { Way } from './way.ts';

export interface OutputOptions {
  readonly verbose: boolean;
  readonly raw: boolean;
}

interface PacketFindings {
  readonly packet: Packet;
  readonly host: HostResult | undefined;
  readonly way: Way;
}

export const packetOutput = ({ packet, host, way }: PacketFindings, options: OutputOptions): TextOutput => {
  const { result, logical } = way;
  const isDropped = host?.kind === 'dropped';
  const head = headLines(host, result.message);
  return {
    data: {
      result: isDropped ? 'dropped' : result.kind,
      message: head[0],
      ...(host !== undefined && { host }),
      ...wayData(way, options),
      packet,
    },
    lines: [
      ...head,
      ...(logical === undefined ? [] : [logicalHead(logical)]),
      '',
      packetLine(packet),
      ...wayLines(way, options),
    ],
  };
};

interface ServiceFindings {
  readonly packet: Packet;
  readonly host: HostResult | undefined;
  readonly balancing: Balancing;
  readonly found: ServiceFinding;
}

export const serviceOutput = (findings: ServiceFindings, options: OutputOptions): TextOutput => {
  const { packet, host, balancing, found } = findings;
  const { endpoints, others, way } = found;
  const { namespace, name, network } = balancing.service;
  const isDropped = host?.kind === 'dropped';
  const head = headLines(host, found.message);
  const shown = options.verbose ? endpoints : differentWays(endpoints);
  return {
    data: {
      result: isDropped ? 'dropped' : found.result,
      message: head[0],
      ...(host !== undefined && { host }),
      service: { namespace, name, network, ...(balancing.kind === 'balanced' && { loadBalancer: balancing.balancer }) },
      endpoints: endpoints.map((one) => ({ endpoint: one.endpoint, node: one.node, ...wayData(one, options) })),
      ...(others.length > 0 && { notFollowed: others }),
      ...(way !== undefined && wayData(way, options)),
      packet,
    },
    lines: [
      ...head,
      ...endpoints.flatMap(endpointLines),
      ...(others.length > 0 ? [`  not followed: ${others.join(', ')}`] : []),
      ...(way === undefined ? [] : [way.result.message, ...(way.logical ? [logicalHead(way.logical)] : [])]),
      '',
      packetLine(packet),
      ...(way === undefined ? [] : wayLines(way, options)),
      ...shown.flatMap((one, index) => [...(index === 0 ? [] : ['']), `to ${one.endpoint}`, ...wayLines(one, options)]),
    ],
  };
};

const headLines = (host: HostResult | undefined, message: string): string[] =>
  host?.kind === 'dropped'
    ? [host.message, `otherwise: ${message}`]
    : [message, ...(host?.why === undefined ? [] : [host.why])];

const endpointLines = ({ endpoint, node, result, logical }: EndpointWay): string[] => [
  `  ${endpoint}${node === undefined ? '' : ` (${node})`}: ${result.message}`,
  ...(logical === undefined ? [] : [`    ${logicalHead(logical)}`]),
];

/** One of each kind is enough for who reads. */
const differentWays = (ways: readonly EndpointWay[]): readonly EndpointWay[] =>
  [...new Map(ways.toReversed().map((way) => [way.result.kind, way])).values()].toReversed();

const packetLine = (packet: Packet): string => `packet: ${packet.bridge} ${flowText(packet)}`;

const wayData = ({ result, logical, steps, raw }: Way, { raw: showRaw }: OutputOptions) => ({
  openVswitch: result,
  ...(logical !== undefined && { logical: withoutRaw(logical, showRaw) }),
  steps,
  ...(showRaw && { raw }),
});

const withoutRaw = (logical: NonNullable<Way['logical']>, showRaw: boolean): unknown => {
  if (logical.kind === 'failed' || showRaw) return logical;
  const { raw: _, ...rest } = logical;
  return rest;
};

const wayLines = ({ steps, logical, raw }: Way, { verbose, raw: showRaw }: OutputOptions): string[] => [
  ...steps.map((step) => `  ${step}`),
  ...(logical === undefined ? [] : logicalLines(logical, verbose)),
  ...(showRaw ? ['', ...raw.trimEnd().split('\n')] : []),
  ...(showRaw && logical !== undefined && logical.kind !== 'failed' ? ['', ...logical.raw.trimEnd().split('\n')] : []),
];
