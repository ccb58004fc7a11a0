/** What a pod needs of this node before it can be added, and whether it is there. */
import type { findNoFilters } from '../cni/keep-filters.ts';
import { VswitchPorts } from '../cni/vswitch-ports.ts';
import { type EncryptionState, encryptionState } from '../encryption/encryption.ts';
import type { LocalNode } from '../node/local-node.ts';
import { IsolationState } from '../reconcile/isolation-state.ts';
import type { NodeDatapath } from '../reconcile/node-datapath.ts';
import { Readiness, reasonsNotReady } from '../status/readiness.ts';
import type { AgentContext } from './context.ts';
import type { Core } from './core.ts';
import type { Edges } from './edges.ts';

interface Parts {
  readonly edges: Edges;
  readonly core: Core;
  readonly local: LocalNode;
  readonly datapath: NodeDatapath;
  readonly noFilters: ReturnType<typeof findNoFilters>;
}

export interface Prerequisites {
  readonly ports: VswitchPorts;
  readonly isolation: IsolationState;
  readonly encryption: EncryptionState;
  readonly readiness: Readiness;
}

export const openPrerequisites = async (
  { options }: AgentContext,
  { edges, core, local, datapath, noFilters }: Parts,
): Promise<Prerequisites> => {
  const { netlink, inputs } = edges;
  const { session, replica } = edges.databases.openvswitch;
  const ports = new VswitchPorts(session, replica);
  const isolation = new IsolationState(datapath.nftables);
  const encryption = encryptionState({ encryption: options.encryption, replica, isolation });
  const looked = {
    ...{ node: local.name, inputs, facts: core.facts, ports, netlink, isolation, encryption },
    noFilters: await noFilters,
  };
  const readiness = new Readiness();
  readiness.check = () => reasonsNotReady(looked);
  return { ports, isolation, encryption, readiness };
};
