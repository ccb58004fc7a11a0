/** A network of another plugin that a pod selects: whether this node runs its plugins, and whether they can follow the selection. Pure. */
import { mayAttach } from '../../../api/attachment-scope.ts';
import { capabilityOf } from '../../../api/foreign-capabilities.ts';
import { refusedArguments, refusedPlugins } from '../../../api/foreign-plugins.ts';
import { type ForeignAttachment, nadOf, type Selection } from '../../model/attachments.ts';
import type { View } from '../../model/view.ts';

export interface ForeignSelection {
  readonly foreign?: ForeignAttachment;
  /** Why ADD refuses the pod, without a full stop. */
  readonly refused?: string;
}

/** Neither where Multus runs the plugins. */
export const foreignAttachment = (selection: Selection, podNamespace: string, view: View): ForeignSelection => {
  const nad = nadOf(selection);
  const fact = view.foreignNad(nad);
  if (view.multiNetwork === 'delegated' || fact === undefined) return {};
  const { interfaceName, nadKey, namespace } = selection;
  const refuse = (reason: string): ForeignSelection => ({ refused: `${nad} as ${interfaceName}: ${reason}` });
  if ('unreadable' in fact) return refuse(fact.unreadable);
  const { conf } = fact;
  if (!mayAttach({ namespace, role: 'secondary', isHandmade: true }, podNamespace, view.cluster))
    return refuse(`network ${conf.name} is not for namespace ${podNamespace}: use a NetworkAttachmentDefinition of it`);
  const reason =
    refusedPlugins(conf, namespace, view.foreignPlugins ?? []) ??
    refusedArguments(selection.cniArgs) ??
    impossibleRequest(selection, conf.plugins);
  return reason === undefined ? { foreign: { nadKey, interfaceName, conf, selection } } : refuse(reason);
};

/** Section 4.1.2.1: without a plugin that has the capability, the request must fail. */
const impossibleRequest = (selection: Selection, plugins: ForeignAttachment['conf']['plugins']): string | undefined => {
  if (selection.ipamClaim !== undefined)
    return 'ipam-claim-reference: only networks of ovn-udn have persistent addresses';
  const asked = capabilityOf(selection).find(({ name }) => !plugins.some((one) => one.capabilities.includes(name)));
  return asked && `${asked.key}: no plugin of the network has the capability ${asked.name}`;
};
