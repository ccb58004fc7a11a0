/** An agent reports what its own node has of the networks, and of no other. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { NODES } from '../../../kube/resources.ts';
import type { KubeClient, ObjectInput } from '../../../kube/types.ts';
import { refusal } from '../../conformance/kube/harness.ts';
import { type AdmissionCluster, type Attempt, byPolicy, PROJECT, type Refused } from './cluster.ts';

const status = (ready: string) => ({
  rendering: 'Always',
  networks: { ready: 1, pending: 0, failed: 0 },
  ids: { ready, pending: '', failed: '' },
});

const ownedBy = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

export const reportCases = (cluster: () => AdmissionCluster): void => {
  let agent: KubeClient;
  const uids: Record<string, string> = {};
  beforeAll(async () => {
    const { admin, account } = cluster();
    agent = await account(PROJECT, 'udn-agent', 'node-1');
    for (const name of ['node-1', 'node-2']) uids[name] = (await admin.get(NODES, { name })).metadata.uid;
    const metadata = { name: 'node-2', ownerReferences: [ownedBy('node-2', uids['node-2'] ?? '')] };
    await admin.create(NODE_NETWORK_REPORTS, { metadata, status: status('0-7') });
  });
  const apply = (name: string, metadata: Partial<ObjectInput['metadata']> = {}, ready = '0', by = agent) => {
    const ownerReferences = [ownedBy(name, uids[name] ?? 'of-nobody')];
    const body = { metadata: { name, ownerReferences, ...metadata }, status: status(ready) };
    return by.patch(NODE_NETWORK_REPORTS, { name }, { type: 'apply', body, fieldManager: 'udn-agent', force: true });
  };

  const reports = (message: string) => byPolicy('ovn-udn-node-reports', message);
  const OWNED = 'a report is owned by the Node of its name alone and has no finalizers';
  const refused: readonly Refused[] = [
    {
      name: 'report what another node has',
      attempt: () => apply('node-2'),
      message: reports('the agent of the node node-1 may not report of the node node-2'),
    },
    {
      name: 'report of a node that is not there',
      attempt: () => apply('node-3'),
      message: reports('the agent of the node node-1 may not report of the node node-3'),
    },
    {
      name: 'make a report that stays when its node goes',
      attempt: () => apply('node-1', { ownerReferences: [] }),
      message: reports(OWNED),
    },
    {
      name: 'make a report that goes with another node',
      attempt: () => apply('node-1', { ownerReferences: [ownedBy('node-2', uids['node-2'] ?? '')] }),
      message: reports(OWNED),
    },
    {
      name: 'make a report that cannot be deleted',
      attempt: () => apply('node-1', { finalizers: ['example.com/never'] }),
      message: reports(OWNED),
    },
    {
      name: 'write ids that are none',
      attempt: () => apply('node-1', {}, 'all'),
      message: 'status.ids.ready in body should match',
    },
    {
      name: 'delete a report',
      attempt: () => agent.delete(NODE_NETWORK_REPORTS, { name: 'node-2' }),
      message: 'cannot delete resource "nodenetworkreports"',
    },
    {
      name: 'read all reports',
      attempt: () => agent.list(NODE_NETWORK_REPORTS),
      message: 'cannot list resource "nodenetworkreports"',
    },
  ];

  describe('an agent may not', () => {
    it.each(refused)('$name', async ({ attempt, message }) => {
      expect((await refusal(attempt())).message).toContain(message);
    });
  });

  // By now it has none.
  describe('an agent may', () => {
    const may: readonly Attempt[] = [
      { name: 'report what its node has', attempt: () => apply('node-1') },
      { name: 'report that it is another way', attempt: () => apply('node-1', {}, '0-1') },
      { name: 'read what it has reported', attempt: () => agent.get(NODE_NETWORK_REPORTS, { name: 'node-1' }) },
    ];
    it.each(may)('$name', async ({ attempt }) => {
      await expect(attempt()).resolves.toBeDefined();
    });
  });

  it('an agent whose token is not bound to a node reports nothing', async () => {
    const unbound = await cluster().account(PROJECT, 'udn-agent');
    const attempt = apply('node-1', {}, '0', unbound);
    expect((await refusal(attempt)).message).toContain(
      reports('the credentials of an agent must be bound to its node'),
    );
  });

  it('the cluster manager reads reports and writes none', async () => {
    const manager = await cluster().account(PROJECT, 'udn-cluster-manager');
    expect((await manager.list(NODE_NETWORK_REPORTS)).items.map(({ metadata }) => metadata.name)).toContain('node-2');
    expect((await refusal(apply('node-2', {}, '0', manager))).message).toContain(
      'cannot patch resource "nodenetworkreports"',
    );
  });
};
