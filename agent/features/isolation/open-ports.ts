/** Ports of a locked interface that everybody may reach, as its pod's annotation has them. */
import type { OpenPort } from '../../../api/annotations/open-default-ports.ts';
import { DEFAULT_NETWORK_NAME } from '../../../api/names.ts';
import type { DesiredRow } from '../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../ovsdb/models/ovn-northbound.gen.ts';
import { type PodFact, podKey } from '../../model/facts.ts';
import { podPortName } from '../../model/names.ts';
import { isolationAcl } from './acls.ts';

/** The pod may answer neighbours that ask for it, and what was let in is let out again (`allow-related`). */
export const openPortAcls = (pod: PodFact): DesiredRow<OvnNorthbound>[] => {
  const { openPorts = [] } = pod;
  if (openPorts.length === 0) return [];
  const name = `OpenPort-${podKey(pod)}`;
  const port = podPortName(DEFAULT_NETWORK_NAME, pod.namespace, pod.name);
  const open = [...new Set(openPorts.map(portMatch))].join(' || ');
  return [
    isolationAcl(name, 'Ingress', 'allow-related', `outport == "${port}" && (arp || nd || (${open}))`),
    isolationAcl(name, 'Egress', 'allow', `inport == "${port}" && (arp || nd)`),
  ];
};

/** `icmp` is of both families, ovn-sb(5), "Logical_Flow". */
const portMatch = (open: OpenPort): string =>
  open.protocol === 'icmp' ? 'icmp' : `${open.protocol}.dst == ${open.port}`;
