/**
 * Limits of an interface's bandwidth, as rows of OVN's table QoS on its switch: ovn-controller makes a meter of each, which drops what is
 * over the limit. Both directions have the same means, on the kernel's datapath and on that of userspace, and need no queue of a device.
 */
import type { PodNetworkEntry } from '../../../api/annotations/pod-networks.ts';
import type { Bandwidth } from '../../../api/annotations/selection-element.ts';
import { type DesiredFragment, type DesiredRow, rowRef } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { databaseId } from '../../model/database-ids.ts';
import type { PodFact } from '../../model/facts.ts';
import { controllerName } from '../../model/names.ts';
import { QOS_PRIORITIES } from '../../model/registry/qos.ts';
import { qosKey, switchKey } from '../../model/row-keys.ts';

/** What the pod's annotations say of this interface: of its primary one those of Kubernetes, of a selected one its selection. */
export const bandwidthOf = (
  { bandwidth, selected = [], keptLimits }: Pick<PodFact, 'bandwidth' | 'selected' | 'keptLimits'>,
  nadKey: string,
  { role }: Pick<PodNetworkEntry, 'role'>,
): Bandwidth | undefined =>
  role === 'primary'
    ? bandwidth
    : (selected.find((selection) => selection.nadKey === nadKey)?.bandwidth ?? keptLimits?.get(nadKey));

interface LimitedPort {
  /** Of the switch port. */
  readonly name: string;
  readonly network: string;
  readonly logicalSwitch: string;
}

export const portLimits = (port: LimitedPort, bandwidth: Bandwidth | undefined): DesiredFragment<OvnNorthbound> => {
  if (bandwidth === undefined) return {};
  const { ingressRate, ingressBurst, egressRate, egressBurst } = bandwidth;
  const rows = [
    ...(ingressRate === undefined ? [] : [limit(port, 'Ingress', ingressRate, ingressBurst)]),
    ...(egressRate === undefined ? [] : [limit(port, 'Egress', egressRate, egressBurst)]),
  ];
  const row = switchKey(port.logicalSwitch);
  return {
    rows,
    members: rows.map(({ key }) => ({ table: 'Logical_Switch', row, column: 'qos_rules', value: rowRef(key) })),
  };
};

/** As the pod sees it: it receives what leaves the switch by its port. */
const limit = (
  { name, network }: LimitedPort,
  direction: 'Ingress' | 'Egress',
  rate: number,
  burst: number | undefined,
): DesiredRow<OvnNorthbound> => {
  const { id, externalIds } = databaseId(controllerName(network), 'PodBandwidth', {
    'k8s.ovn.org/name': name,
    direction,
  });
  return {
    table: 'QoS',
    key: qosKey(id),
    columns: {
      direction: direction === 'Egress' ? 'from-lport' : 'to-lport',
      priority: QOS_PRIORITIES.podBandwidth.priority,
      match: `${direction === 'Egress' ? 'inport' : 'outport'} == "${name}"`,
      bandwidth: { rate: kilobits(rate), burst: Math.max(kilobits(burst ?? rate / 4), LEAST_BURST) },
      external_ids: externalIds,
    },
  };
};

/** OVN counts in these, from 1 to what 32 bits hold: 4 Tbit/s are no limit to anybody. */
const kilobits = (bits: number): number => Math.min(Math.max(Math.ceil(bits / 1000), 1), 0xffff_ffff);

/**
 * In kilobits. Kernels hand over segments of up to 64 KiB, 525 kbit: a meter that holds less than one would drop every one of them,
 * however slowly they come.
 */
const LEAST_BURST = 1000;
