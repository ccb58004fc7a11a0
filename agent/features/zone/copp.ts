/**
 * Control-plane protection: at most 25 packets a second of each kind go from a router to ovn-controller, and of DHCP from a switch, so that
 * a pod cannot keep it busy. ovn-nb(5), Copp table.
 */
import { type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { COPP_NAME, DHCP_COPP_NAME } from '../../model/names.ts';
import { coppKey, meterBandKey, meterKey } from '../../model/row-keys.ts';

export const coppRows = (): DesiredRow<OvnNorthbound>[] => [
  { table: 'Meter_Band', key: meterBandKey(COPP_NAME), columns: { action: 'drop', rate: PACKETS_PER_SECOND } },
  ...[...Object.values(METERS), ...Object.values(DHCP_METERS)].map(
    (name): DesiredRow<OvnNorthbound> => meter(name, COPP_NAME),
  ),
  { table: 'Copp', key: coppKey(COPP_NAME), columns: { name: COPP_NAME, meters: METERS } },
  { table: 'Copp', key: coppKey(DHCP_COPP_NAME), columns: { name: DHCP_COPP_NAME, meters: DHCP_METERS } },
];

/** In packets per second; `fair` is about meters of ACLs (ovn-nb(5)): what names one here shares its rate on the node. */
export const meter = (name: string, band: string): DesiredRow<OvnNorthbound> => ({
  table: 'Meter',
  key: meterKey(name),
  columns: { name, unit: 'pktps', fair: true, bands: [rowRef(meterBandKey(band))] },
});

const PACKETS_PER_SECOND = 25;

/** Protocol → meter. */
const METERS: Readonly<Record<string, string>> = {
  arp: 'arp-rate-limiter',
  'arp-resolve': 'arp-resolve-rate-limiter',
  bfd: 'bfd-rate-limiter',
  'event-elb': 'event-elb-rate-limiter',
  'icmp4-error': 'icmp4-error-rate-limiter',
  'icmp6-error': 'icmp6-error-rate-limiter',
  'nd-ra-opts': 'nd-ra-opts-rate-limiter',
  reject: 'reject-rate-limiter',
  'svc-monitor': 'svc-monitor-rate-limiter',
  'tcp-reset': 'tcp-reset-rate-limiter',
};

/** Of switches. */
const DHCP_METERS: Readonly<Record<string, string>> = {
  'dhcpv4-opts': 'dhcpv4-opts-rate-limiter',
  'dhcpv6-opts': 'dhcpv6-opts-rate-limiter',
};
