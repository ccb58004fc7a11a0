/**
 * The networks that a pod selects by its annotation (multi-network specification v1.3, section 4.1). One that
 * cannot be followed refuses the pod: without an attachment that it has asked for it must not come up (section 7.2).
 */
import { mayAttach, notFor } from '../../../api/attachment-scope.ts';
import { type Attachment, type ForeignAttachment, nadOf, type Selection, scopedNad } from '../../model/attachments.ts';
import type { NetworkFact, PodFact } from '../../model/facts.ts';
import { unmappedNetwork } from '../../model/physical-networks.ts';
import type { View } from '../../model/view.ts';
import { foreignAttachment } from './foreign.ts';

export type DesiredAttachment = Pick<Attachment, 'nadKey' | 'network' | 'role' | 'interfaceName' | 'selection'>;

export interface SelectedNetworks {
  /** In the order of the annotation. */
  readonly networks: readonly DesiredAttachment[];
  /** Those of other plugins that this node is to run, in the same order. */
  readonly foreign: readonly ForeignAttachment[];
  /** Why ADD refuses the pod, without full stops. */
  readonly refused: readonly string[];
  /** What it waits for. */
  readonly waitingFor: readonly string[];
}

export const selectedNetworks = ({ namespace, selected = [] }: PodFact, view: View): SelectedNetworks => {
  const found = selected.map((selection) => resolve(selection, namespace, view));
  return {
    networks: found.flatMap(({ network }) => network ?? []),
    foreign: found.flatMap(({ foreign }) => foreign ?? []),
    refused: found.flatMap(({ refused }) => refused ?? []),
    waitingFor: found.flatMap(({ waitingFor }) => waitingFor ?? []),
  };
};

interface Resolved {
  readonly network?: DesiredAttachment;
  readonly foreign?: ForeignAttachment;
  readonly refused?: string;
  readonly waitingFor?: string;
}

const resolve = (selection: Selection, podNamespace: string, view: View): Resolved => {
  const { nadKey, interfaceName } = selection;
  const nad = nadOf(selection);
  const owner = view.nadOwner(nad);
  if (owner === 'foreign') return foreignAttachment(selection, podNamespace, view);
  if (owner === undefined) {
    const missing = `NetworkAttachmentDefinition ${nad} does not exist, or cannot be read`;
    return { refused: `${missing}: the pod selects it as ${interfaceName}` };
  }
  const network = view.networkOfNad(nad);
  if (network === undefined) return withoutNetwork(nad, interfaceName, view);
  if (network.role !== 'secondary')
    return { refused: `${nad} as ${interfaceName}: a primary network cannot be selected` };
  const scoped = scopedNad(selection, network, view);
  if (!mayAttach(scoped, podNamespace, view.cluster)) return { refused: notFor(scoped, podNamespace) };
  const beside = view.multiNetwork === 'native' ? view.pluginsBeside(nad) : [];
  if (beside.length > 0)
    return { refused: `${nad} as ${interfaceName}: plugins: ${beside.join(', ')} beside ours would not be executed` };
  const { physical } = network;
  if (physical !== undefined && view.physicalBridge(physical.name) === undefined)
    return { refused: `${nad} as ${interfaceName}: ${unmappedNetwork(network.name, physical.name, view.node)}` };
  const impossible = impossibleRequest(selection, network);
  if (impossible !== undefined) return { refused: `${nad} as ${interfaceName}: ${impossible}` };
  return { network: { nadKey, network, role: 'secondary', interfaceName, selection } };
};

const withoutNetwork = (nad: string, interfaceName: string, view: View): Resolved => {
  const problem = view.nadProblem(nad);
  if (problem?.contradicts) return { refused: `${nad} as ${interfaceName}: ${problem.message}` };
  return { waitingFor: problem?.message ?? `the network of NetworkAttachmentDefinition ${nad} has no id yet` };
};

/** What the topology cannot follow. */
const impossibleRequest = ({ ips, ipamClaim }: Selection, { topology }: NetworkFact): string | undefined => {
  if (topology !== 'layer3') return undefined;
  // Its address has to be one of the node's subnets, which whoever makes the pod does not know.
  if (ips.length > 0) return 'ips: an address of a layer-3 network is its node’s to give';
  return ipamClaim === undefined ? undefined : 'ipam-claim-reference: a layer-3 network has no persistent addresses';
};
