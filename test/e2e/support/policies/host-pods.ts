/** Host-network pods as peers: nothing in a packet tells processes of a node apart, so that one is its node. */
import { it } from 'vitest';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { expectAnswers } from '../../../oracles/policies/expected.ts';
import { applyAndWait, deletePods } from '../cluster/cluster.ts';
import { hostNetworkPod } from '../cluster/manifests.ts';
import { networkPolicy } from './manifests.ts';
import { attempts, type Member } from './members.ts';
import { app, withPolicies } from './with-policies.ts';

const NAME = 'plain-router';
const ROUTERS = { podSelector: { matchLabels: { app: 'router' } } } as const;

/** On node-2: the server's own node, node-1, reaches it whatever policies say. */
const router = (label: string): ManifestObject => {
  const made = hostNetworkPod('plain', 'node-2', NAME);
  return { ...made, metadata: { ...made.metadata, labels: { app: label } } };
};

/** Call it where tests are declared. */
export const hostPods = (cluster: () => Sandbox, member: (name: string) => Member): void => {
  it('a host-network pod is let in by a selector of its labels, from its node', async () => {
    const from: Member = { namespace: 'plain', name: NAME, key: `plain/${NAME}`, addresses: [] };
    const server = member('plain-server');
    await applyAndWait(cluster(), [router('none')]);
    const routers = networkPolicy('plain', 'routers', { podSelector: app('web'), ingress: [{ from: [ROUTERS] }] });
    await expectAnswers(cluster(), attempts(from, server, true));
    await withPolicies(cluster(), [routers], async () => {
      await expectAnswers(cluster(), attempts(from, server, false));
      await (await cluster().objects()).apply([router('router')]);
      await expectAnswers(cluster(), [
        ...attempts(from, server, true),
        ...attempts(member('plain-friend'), server, false),
      ]);
    });
    await deletePods(cluster(), `plain/${NAME}`);
  });
};
