/** Flows of the gateway bridge, as text. */
import type { Variant } from '../../test/unit/golden/worked-cluster.ts';
import type { GatewayFact } from '../model/facts.ts';
import type { TestCluster } from './cluster.ts';

export const DUAL: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
export const PATCH = 'patch-br-ex_blue_node1-to-br-int';
export const flowsOf = (cluster: TestCluster): string[] => [...(cluster.render().openflow['br-ex'] ?? [])];
/** Of a conjunctive match: it does nothing by itself. */
export const isClause = (text: string): boolean => /actions=conjunction\(1,[0-9]\/3\)$/.test(text);

/** Its datapath is the kernel's. */
export const onKernel = (cluster: TestCluster): TestCluster => {
  const gateway = cluster.facts.get('gateway', 'node1') as GatewayFact;
  cluster.facts.set('gateway', 'node1', { ...gateway, cannotAdvertise: true });
  return cluster;
};

/** Of `senders`: this one, or all. */
export const isSender = (text: string, port = ''): boolean =>
  /table=0, priority=7[23]0, /.test(text) && text.includes(`in_port=${port}`);
/** Matches what a network has sent, whichever it is. */
export const isShared = (text: string): boolean => /\breg3=0x[0-9a-f]+\/0x[0-9a-f]+\b/.test(text);
