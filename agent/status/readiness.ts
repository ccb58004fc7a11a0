/** Why no pod can be added to this node now. */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { abortable } from '../../base/abort.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import type { OvsPorts } from '../cni/ovs-ports.ts';
import { INTEGRATION_BRIDGE } from '../cni/vswitch-operations.ts';
import type { EncryptionState } from '../encryption/encryption.ts';
import type { ClusterInputs } from '../inputs/cluster-inputs.ts';
import type { FactStore } from '../model/fact-store.ts';
import { nodeSubnetsId } from '../model/facts.ts';
import type { IsolationState } from '../reconcile/isolation-state.ts';

export interface ReadinessSources {
  readonly node: string;
  readonly inputs: Pick<ClusterInputs, 'isSynced'>;
  readonly facts: FactStore;
  readonly ports: Pick<OvsPorts, 'isReady'>;
  readonly netlink: Pick<Netlink, 'oldestCallAge'>;
  readonly isolation: Pick<IsolationState, 'lackingOnNode'>;
  /** Why the kernel takes no filters of what pods hear, without which no pod is added; undefined: it does. */
  readonly noFilters: string | undefined;
  readonly encryption: Pick<EncryptionState, 'problems'>;
}

/** A kernel that has not answered for so long is stuck. */
const STUCK_MS = 10_000;

/** One message each, without an end; empty: ready. */
export const reasonsNotReady = (sources: ReadinessSources): string[] => {
  const { node, inputs, facts, ports, netlink, isolation, noFilters, encryption } = sources;
  const reasons: string[] = [];
  if (!inputs.isSynced()) reasons.push('the objects of the API server are not synced yet');
  const refused = facts.get('refusedNode', node);
  if (refused !== undefined) reasons.push(`node ${node} is ignored: ${refused}`);
  if (facts.get('nodeSubnets', nodeSubnetsId(node, DEFAULT_NETWORK_NAME)) === undefined) {
    reasons.push(`node ${node} has no subnet of the default network yet`);
  }
  if (!ports.isReady())
    reasons.push(`the Open_vSwitch database cannot be reached or has no bridge ${INTEGRATION_BRIDGE}`);
  if ((netlink.oldestCallAge() ?? 0) > STUCK_MS) reasons.push('the kernel does not answer netlink requests');
  if (noFilters !== undefined) reasons.push(noFilters);
  const open = isolation.lackingOnNode();
  if (open !== undefined) reasons.push(`processes of the node are not isolated from pods of primary networks: ${open}`);
  return [...reasons, ...encryption.problems()];
};

/** Whether pods can be added, and the moment from which they can. */
export class Readiness {
  /** Set when there is something to look at. */
  check: () => string[] = () => ['the agent is starting'];

  reasons(): string[] {
    return this.check();
  }

  /**
   * Resolves when nothing speaks against it any more.
   * @param subscribe each subscribes to what may change the answer, and returns what ends that
   * @throws the signal's reason
   */
  whenReady(subscribe: readonly ((look: () => void) => () => void)[], signal: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      const look = (): void => {
        if (this.check().length === 0) resolve();
      };
      const unsubscribe = subscribe.map((one) => one(look));
      look();
      return () => {
        for (const end of unsubscribe) end();
      };
    });
  }
}
