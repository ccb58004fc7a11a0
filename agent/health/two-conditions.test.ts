import { expect, it } from 'vitest';
import { NETWORK_MTU_TOO_LARGE, NETWORK_UNAVAILABLE } from '../../api/node-condition.ts';
import { systemClock } from '../../base/clock.ts';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { NODES } from '../../kube/resources.ts';
import { createWriter } from '../../kube/writer/writer.ts';
import { NodeCondition } from './node-condition.ts';

it('both conditions of a Node stay, and with them those of others', async () => {
  const server = createEmbeddedCluster();
  const client = server.client('udn-agent');
  await client.create(NODES, { metadata: { name: 'n1' } });
  const writer = createWriter({ client, fieldManager: 'udn-agent' });
  const errors: unknown[] = [];
  const open = (type: string, fieldManager?: string) =>
    new NodeCondition({
      ...{ node: 'n1', type, fieldManager, client, writer, clock: systemClock },
      onError: (error) => errors.push(error),
    });
  const [unavailable, mtu] = [open(NETWORK_UNAVAILABLE), open(NETWORK_MTU_TOO_LARGE, 'udn-agent-mtu')];
  try {
    mtu.set({ status: 'False', reason: 'MTUFits', message: 'a' });
    unavailable.set({ status: 'False', reason: 'OVNUDNIsUp', message: 'b' });
    await expect
      .poll(async () => (await client.get(NODES, { name: 'n1' }))['status'])
      .toMatchObject({
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: NETWORK_UNAVAILABLE, reason: 'OVNUDNIsUp' }),
          expect.objectContaining({ type: NETWORK_MTU_TOO_LARGE, reason: 'MTUFits' }),
        ]),
      });
    expect(errors).toEqual([]);
  } finally {
    unavailable.stop();
    mtu.stop();
    server.close();
  }
});
