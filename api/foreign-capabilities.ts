/** What a selection asks of plugins of other networks, as `runtimeConfig` has it (CNI conventions, "Dynamic Plugin specific Fields"). Pure. */
import type { NetworkSelection } from './annotations/network-selection.ts';
import type { Bandwidth } from './annotations/selection-element.ts';

export interface AskedCapability {
  /** Of the selection. */
  readonly key: string;
  /** Of `capabilities` and `runtimeConfig`. */
  readonly name: string;
  readonly value: unknown;
}

export const capabilityOf = (selection: NetworkSelection): readonly AskedCapability[] => {
  const { ips, mac, portMappings, bandwidth, infinibandGuid } = selection;
  const all: AskedCapability[] = [
    { key: 'ips', name: 'ips', value: ips.length === 0 ? undefined : ips },
    { key: 'mac', name: 'mac', value: mac },
    { key: 'portMappings', name: 'portMappings', value: portMappings?.map(mappingOf) },
    { key: 'bandwidth', name: 'bandwidth', value: bandwidth && withBursts(bandwidth) },
    { key: 'infiniband-guid', name: 'infinibandGUID', value: infinibandGuid },
  ];
  return all.filter(({ value }) => value !== undefined);
};

const mappingOf = ({ hostPort, containerPort, protocol, hostIp }: PortMapping): object => ({
  ...{ hostPort, containerPort, protocol: protocol.toLowerCase() },
  ...(hostIp !== undefined && { hostIP: hostIp }),
});

type PortMapping = NonNullable<NetworkSelection['portMappings']>[number];

/** The plugin `bandwidth` wants a burst with each rate: as much as a runtime gives it for a pod without one. */
const withBursts = ({ ingressRate, ingressBurst, egressRate, egressBurst }: Bandwidth): object => ({
  ...(ingressRate !== undefined && { ingressRate, ingressBurst: ingressBurst ?? MAX_BURST }),
  ...(egressRate !== undefined && { egressRate, egressBurst: egressBurst ?? MAX_BURST }),
});

const MAX_BURST = 2_147_483_647;
